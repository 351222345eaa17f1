"""A parser child as its parent sees it: started, spoken to, watched, killed, and its death explained."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, BinaryIO

from pipeline.config import WorkerSettings
from pipeline.reasons import Reason
from pipeline.worker.channel import CHUNK_BYTES, NotTaken, send
from pipeline.worker.deaths import MEGABYTE, ChildDied, Death, explain
from pipeline.worker.frames import BrokenFrame, Decoder, Frame, Purpose, encode
from pipeline.worker.provision import Provision
from pipeline.worker.scratch import make_scratch, overfull, remove_scratch

START_SECONDS = 60.0
LOOK_SECONDS = 0.25  # how often the scratch folder is looked into: no limit of the kernel covers all files together
END_SECONDS = 2.0  # how long a child that closed its pipe may take to end by itself: its exit says more than our signal
CHILD_MODULE = "pipeline.worker.child"
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
_SCRATCH_NAME = re.compile(r"[a-z0-9-]{1,40}")
_HIGH_WATER = re.compile(r"^VmHWM:\s*(\d+) kB$", re.MULTILINE)


class ChildProcess:
    """One parser child. Used by one thread, which must outlive it: the child dies with the thread that started it."""

    def __init__(
        self, settings: WorkerSettings, module: str = CHILD_MODULE, *, max_file_bytes: int = 500 * MEGABYTE
    ) -> None:
        self._settings = settings
        self._module = module
        self._max_file_bytes = max_file_bytes
        self._memory_bytes = settings.max_memory_megabytes * MEGABYTE
        self._purpose = Purpose.READING
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._decoder = Decoder()
        self._scratch: Path | None = None
        self._stderr: IO[bytes] | None = None
        self._pidfd: int | None = None
        self._inherited_rss_bytes = 0
        self._documents = 0
        self._seen_peak_bytes = 0
        self._look_at = 0.0
        self.measures: tuple[str, ...] = ()

    @property
    def pid(self) -> int | None:
        """The child's process id, None when there is none."""
        return None if self._process is None else self._process.pid

    def only_count(self) -> None:
        """From its next start on the child is asked for page counts alone, and loads no more than they take."""
        self._purpose = Purpose.COUNTING

    @property
    def documents_left(self) -> int:
        """How many more documents this child is given before it is replaced."""
        return self._settings.max_documents_per_child - self._documents

    def ensure(self) -> None:
        """Have a child that is ready and not due for replacement. Raises ChildDied if it does not come up."""
        if self._process is not None and (self._process.poll() is not None or self._is_due()):
            self.kill()
        if self._process is None:
            self._start()

    def assign(self, request: Frame, file: BinaryIO, provision: Provision, more: Iterable[Frame] = ()) -> None:
        """Give the child a document, as an open file, and what it may use for it. `more` follows. Raises ChildDied."""
        if self._stderr is not None:
            self._stderr.truncate(0)
        self._documents += 1
        self._send({**request, "provision": asdict(provision)}, file)
        for frame in more:
            self._send(frame, None)

    def go_on(self) -> None:
        """Tell the child that what it put into its scratch folder was taken. Raises ChildDied."""
        self._send({"kind": "taken"}, None)

    def tell(self, answer: Frame) -> None:
        """Answer what the child asked. Raises ChildDied."""
        self._send(answer, None)

    def scratch_file(self, name: str) -> Path:
        """Where a file that the child says it made would be. Raises ChildDied for a name that is none."""
        if self._scratch is None or not _SCRATCH_NAME.fullmatch(name):
            raise ChildDied(Death(Reason.CRASH, f"the parser named a file {name[:40]!r}", self.kill()))
        return self._scratch / name

    def _send(self, frame: Frame, file: BinaryIO | None) -> None:
        self._running()
        assert self._channel is not None
        try:
            send(self._channel, encode(frame), file, patience_seconds=START_SECONDS)
        except NotTaken:
            raise ChildDied(Death(Reason.STALLED, "the parser does not take its work", self.kill())) from None
        except OSError:
            self._raise_death()

    def receive(self, timeout_seconds: float) -> Frame | None:
        """The next frame, None when the time is up. Raises ChildDied, also for a child that sends nonsense."""
        until = time.monotonic() + timeout_seconds
        try:
            while (frame := self._decoder.next()) is None:
                self._require_room()
                left = until - time.monotonic()
                if self._wait(min(left, LOOK_SECONDS)):
                    self._decoder.feed(self._read())
                elif left <= LOOK_SECONDS:
                    self._note_peak()
                    return None
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
        self._scratch = scratch = make_scratch()
        self._stderr = tempfile.TemporaryFile(buffering=0, mode="ab+")  # noqa: SIM115 - lives as long as the child
        self._channel, theirs = socket.socketpair()
        # -P: the scratch folder, where documents may leave files, is no place to import from.
        with theirs:
            return self._popen(theirs, scratch)

    def _popen(self, channel: socket.socket, scratch: Path) -> subprocess.Popen[bytes]:
        arguments = (self._memory_bytes, self._max_file_bytes, os.getpid(), self._purpose)
        return subprocess.Popen(
            [sys.executable, "-P", "-m", self._module, *map(str, arguments)],
            stdin=channel.fileno(),
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            cwd=scratch,
            env=_environment(scratch),
            process_group=0,
        )

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

    def _require_room(self) -> None:
        """Raise ChildDied for a child that fills the disk: it has one file in its folder at a time, rarely two."""
        if self._scratch is None or time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + LOOK_SECONDS
        if found := overfull(self._scratch, 2 * self._max_file_bytes):
            raise ChildDied(Death(Reason.BOMB, f"the parser left {found} in its scratch folder", self.kill()))

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
        if process is not None and process.stdout is not None:
            process.stdout.close()
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None
        if self._scratch is not None:
            remove_scratch(self._scratch)
            self._scratch = None


def _environment(scratch: Path) -> Mapping[str, str]:
    """Nothing of ours that a parser has no business to know, least of all the database's password."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
    paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    own = {"HOME": str(scratch), "TMPDIR": str(scratch), "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    # One document, one core: with all slots busy, more threads only get in each other's way.
    return {**kept, **own, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}


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
