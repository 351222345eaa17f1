"""A parser child as its parent sees it: started, spoken to, watched, killed, and its death explained."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pipeline.config import WorkerSettings
from pipeline.errors import DocleaseError
from pipeline.reasons import Reason
from pipeline.worker.frames import BrokenFrame, Decoder, Frame, encode
from pipeline.worker.scratch import make_scratch

CHUNK_BYTES = 1 << 18
START_SECONDS = 60.0
END_SECONDS = 2.0  # how long a child that closed its pipe may take to end by itself: its exit says more than our signal
CHILD_MODULE = "pipeline.worker.child"
MEGABYTE = 1024 * 1024
# A child that dies by a signal with this much of its memory cap used died of memory: a buffer that is made twice as
# long needs room for the old and the new one.
NEAR_THE_CAP = 0.5
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
_HIGH_WATER = re.compile(r"^VmHWM:\s*(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended: the reason, a sentence, and the most memory it held, in bytes."""

    reason: Reason
    error: str
    peak_rss_bytes: int


class ChildDied(DocleaseError):
    """The child is gone; `death` says how."""

    def __init__(self, death: Death) -> None:
        self.death = death
        super().__init__(death.error)


class ChildProcess:
    """One parser child. Used by one thread, which must outlive it: the child dies with the thread that started it."""

    def __init__(self, settings: WorkerSettings, module: str = CHILD_MODULE) -> None:
        self._settings = settings
        self._module = module
        self._memory_bytes = settings.max_memory_megabytes * MEGABYTE
        self._process: subprocess.Popen[bytes] | None = None
        self._decoder = Decoder()
        self._scratch: Path | None = None
        self._stderr: IO[bytes] | None = None
        self._pidfd: int | None = None
        self._inherited_rss_bytes = 0
        self._documents = 0
        self._seen_peak_bytes = 0
        self.measures: tuple[str, ...] = ()

    @property
    def pid(self) -> int | None:
        """The child's process id, None when there is none."""
        return None if self._process is None else self._process.pid

    def ensure(self) -> None:
        """Have a child that is ready and not due for replacement. Raises ChildDied if it does not come up."""
        if self._process is not None and (self._process.poll() is not None or self._is_due()):
            self.kill()
        if self._process is None:
            self._start()

    def send(self, frame: Frame) -> None:
        """Give the child something to do. Raises ChildDied, also for a child that does not take it."""
        if self._stderr is not None:
            self._stderr.truncate(0)
        self._documents += 1
        pipe = self._running().stdin
        assert pipe is not None
        rest = memoryview(encode(frame))
        try:
            while rest:
                if not _poll(pipe.fileno(), select.POLLOUT, START_SECONDS):
                    raise ChildDied(Death(Reason.STALLED, "the parser does not take its work", self.kill()))
                rest = rest[os.write(pipe.fileno(), rest) :]
        except OSError:
            self._raise_death()

    def receive(self, timeout_seconds: float) -> Frame | None:
        """The next frame, None when the time is up. Raises ChildDied, also for a child that sends nonsense."""
        until = time.monotonic() + timeout_seconds
        try:
            while (frame := self._decoder.next()) is None:
                if not self._wait(until - time.monotonic()):
                    self._note_peak()
                    return None
                self._decoder.feed(self._read())
        except BrokenFrame as error:
            peak = self.kill()
            raise ChildDied(Death(Reason.CRASH, f"the parser answered nonsense: {error}", peak)) from error
        return frame

    def cpu_seconds(self) -> float:
        """Processor seconds the child has used since it started; 0.0 when it is gone."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return 0.0
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    def kill(self) -> int:
        """End the child and all it started, now; returns the most memory it held, in bytes. Safe to call again."""
        peak = 0
        if self._process is not None:
            _kill_group(self._process.pid)
            peak = self._own_peak(_reap(self._process))
        self._clean_up()
        return peak

    def _start(self) -> None:
        self._decoder = Decoder()
        self._documents = 0
        self._seen_peak_bytes = 0
        try:
            self._process = self._launch()
            self._pidfd = os.pidfd_open(self._process.pid)
        except OSError as error:
            self.kill()
            raise ChildDied(Death(Reason.INTERNAL_ERROR, f"no parser process can be started: {error}", 0)) from error
        ready = self.receive(START_SECONDS)
        if ready is None or ready["kind"] != "ready":
            peak = self.kill()
            raise ChildDied(Death(Reason.INTERNAL_ERROR, "the parser process did not start", peak))
        self.measures = tuple(str(each) for each in ready.get("measures", ()))
        self._inherited_rss_bytes = int(ready.get("inherited_rss_bytes", 0))

    def _launch(self) -> subprocess.Popen[bytes]:
        self._scratch = make_scratch()
        self._stderr = tempfile.TemporaryFile(buffering=0, mode="ab+")  # noqa: SIM115 - lives as long as the child
        # -P: the scratch folder, where documents may leave files, is no place to import from.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", self._module, str(self._memory_bytes), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            cwd=self._scratch,
            env=_environment(self._scratch),
            process_group=0,
        )
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def _is_due(self) -> bool:
        return (
            self._documents >= self._settings.max_documents_per_child
            or self._resident_bytes() > self._settings.recycle_memory_megabytes * MEGABYTE
        )

    def _resident_bytes(self) -> int:
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ChildDied(Death(Reason.INTERNAL_ERROR, "there is no parser process", 0))
        return self._process

    def _wait(self, timeout_seconds: float) -> bool:
        """Whether there is something to read. A death is seen also when a descendant holds the pipe open."""
        pipe = self._running().stdout
        assert pipe is not None
        assert self._pidfd is not None
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        poll.register(self._pidfd, select.POLLIN)
        if not poll.poll(max(timeout_seconds, 0) * 1000):
            return False
        if not _poll(pipe.fileno(), select.POLLIN, 0):
            self._raise_death()
        return True

    def _read(self) -> bytes:
        pipe = self._running().stdout
        assert pipe is not None
        data = os.read(pipe.fileno(), CHUNK_BYTES)
        if not data:
            self._raise_death()
        return data

    def _raise_death(self) -> None:
        process = self._running()
        if self._pidfd is not None:
            _poll(self._pidfd, select.POLLIN, END_SECONDS)
        _kill_group(process.pid)  # before it is reaped: as long as it is not, its number is nobody else's
        complaint = self._complaint()
        status, peak = _wait4(process)
        peak = self._own_peak(peak)
        self._clean_up()
        raise ChildDied(explain(status, peak, self._memory_bytes, complaint))

    def _own_peak(self, peak_rss_bytes: int) -> int:
        """The kernel counts the size of the parent, from before the exec, as the child's; then what was seen counts."""
        return peak_rss_bytes if peak_rss_bytes > self._inherited_rss_bytes else self._seen_peak_bytes

    def _note_peak(self) -> None:
        """What the child has held at most so far, while it can still be asked; proc(5) calls it VmHWM, in kB."""
        with suppress(OSError):
            status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8", errors="replace")
            held = _HIGH_WATER.search(status)
            self._seen_peak_bytes = int(held[1]) * 1024 if held else self._seen_peak_bytes

    def _complaint(self) -> str:
        if self._stderr is None:
            return ""
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def _clean_up(self) -> None:
        process, self._process = self._process, None
        for pipe in (process.stdin, process.stdout) if process is not None else ():
            if pipe is not None:
                pipe.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None


def explain(status: int, peak_rss_bytes: int, memory_bytes: int, complaint: str) -> Death:
    """What a wait status means for a document; `complaint` is the last line the child wrote to its standard error."""
    if not os.WIFSIGNALED(status):
        code = os.waitstatus_to_exitcode(status)
        detail = f": {complaint}" if complaint else ""
        reason = Reason.OUT_OF_MEMORY if "MemoryError" in complaint else Reason.CRASH
        return Death(reason, f"the parser ended with exit code {code}{detail}", peak_rss_bytes)
    number = os.WTERMSIG(status)
    name = signal.Signals(number).name
    if number == signal.SIGXCPU:
        return Death(Reason.TIMEOUT, "the parser used up its processor time (SIGXCPU)", peak_rss_bytes)
    if peak_rss_bytes >= NEAR_THE_CAP * memory_bytes:
        megabytes = peak_rss_bytes // MEGABYTE
        return Death(Reason.OUT_OF_MEMORY, f"the parser died ({name}) holding {megabytes} MB", peak_rss_bytes)
    return Death(Reason.CRASH, f"the parser died of signal {number} ({name})", peak_rss_bytes)


def _environment(scratch: Path) -> Mapping[str, str]:
    """Nothing of ours that a parser has no business to know, least of all the database's password."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
    paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    return {**kept, "HOME": str(scratch), "TMPDIR": str(scratch), "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _poll(descriptor: int, events: int, timeout_seconds: float) -> bool:
    """Whether one of the events, or the end of it, came in time."""
    poll = select.poll()
    poll.register(descriptor, events)
    return bool(poll.poll(timeout_seconds * 1000))


def _wait4(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The wait status and peak resident bytes; the group was killed, so this returns at once."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return status, usage.ru_maxrss * 1024
        if time.monotonic() > deadline:
            return signal.SIGKILL, 0
        time.sleep(0.001)


def _reap(process: subprocess.Popen[bytes]) -> int:
    if process.returncode is not None:
        return 0
    try:
        return _wait4(process)[1]
    except ChildProcessError:
        return 0
