"""A parser child as its parent sees it: started, spoken to, watched, killed, and its death explained."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pipeline.config import WorkerSettings
from pipeline.errors import DocleaseError
from pipeline.reasons import Reason
from pipeline.worker.frames import BrokenFrame, Decoder, Frame, encode

CHUNK_BYTES = 1 << 18
START_SECONDS = 60.0
CHILD_MODULE = "pipeline.worker.child"
MEGABYTE = 1024 * 1024
NEAR_THE_CAP = 0.8  # a child that dies by a signal with this much of its memory cap used died of memory
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


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
        self._scratch: str | None = None
        self._stderr: IO[bytes] | None = None
        self._documents = 0
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
        """Give the child something to do. Raises ChildDied."""
        if self._stderr is not None:
            self._stderr.truncate(0)
        self._documents += 1
        pipe = self._running().stdin
        assert pipe is not None
        try:
            pipe.write(encode(frame))
            pipe.flush()
        except OSError:
            self._raise_death()

    def receive(self, timeout_seconds: float) -> Frame | None:
        """The next frame, None when the time is up. Raises ChildDied, also for a child that sends nonsense."""
        try:
            frame = self._decoder.next()
            if frame is None and self._wait(timeout_seconds):
                self._decoder.feed(self._read())
                frame = self._decoder.next()
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
        process, self._process = self._process, None
        peak = 0
        if process is not None:
            _kill_group(process.pid)
            peak = _reap(process)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        self._clean_up()
        return peak

    def _start(self) -> None:
        self._decoder = Decoder()
        self._documents = 0
        self._scratch = tempfile.mkdtemp(prefix="doclease-child-")
        self._stderr = tempfile.TemporaryFile(buffering=0, mode="ab+")  # noqa: SIM115 - lives as long as the child
        command = [sys.executable, "-m", self._module, str(self._memory_bytes), str(os.getpid())]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            cwd=self._scratch,
            env=_environment(self._scratch),
            process_group=0,
        )
        ready = self.receive(START_SECONDS)
        if ready is None or ready["kind"] != "ready":
            peak = self.kill()
            raise ChildDied(Death(Reason.INTERNAL_ERROR, "the parser process did not start", peak))
        self.measures = tuple(str(each) for each in ready.get("measures", ()))

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
        pipe = self._running().stdout
        assert pipe is not None
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        return bool(poll.poll(max(timeout_seconds, 0) * 1000))

    def _read(self) -> bytes:
        pipe = self._running().stdout
        assert pipe is not None
        data = os.read(pipe.fileno(), CHUNK_BYTES)
        if not data:
            self._raise_death()
        return data

    def _raise_death(self) -> None:
        process = self._running()
        _kill_group(process.pid)  # the pipe's end closed; what is left of the group goes too
        complaint = self._complaint()
        status, peak = _wait4(process)
        self._process = None
        self._clean_up()
        raise ChildDied(explain(status, peak, self._memory_bytes, complaint))

    def _complaint(self) -> str:
        if self._stderr is None:
            return ""
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def _clean_up(self) -> None:
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


def _environment(scratch: str) -> Mapping[str, str]:
    """Nothing of ours that a parser has no business to know, least of all the database's password."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
    paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    return {**kept, "HOME": scratch, "TMPDIR": scratch, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


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
