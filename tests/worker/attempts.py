"""What a process in the sandbox tries that it should not be able to do, and what it has to be able to do.

Each is harmless where it succeeds, so that the same can be tried without the sandbox.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import resource
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.worker.confining import calls

PTRACE_SEIZE = 0x4206  # unlike attaching it stops nobody
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder in which all may do everything, and the descriptor of a document that only others may read."""

    outside: Path
    document: int


Attempt = Callable[[Stage], object]


def lay_out(outside: Path) -> None:
    """Make the folder to do harm in. Everybody may do everything in it."""
    outside.mkdir()
    outside.chmod(0o777)
    for name in ("file", "gone", "old"):
        (outside / name).write_bytes(b"not yours")
        (outside / name).chmod(0o666)
    (outside / "empty").mkdir()


def is_unharmed(outside: Path) -> bool:
    """Whether all is as it was laid out."""
    names = sorted(path.name for path in outside.iterdir())
    return names == ["empty", "file", "gone", "old"] and (outside / "file").read_bytes() == b"not yours"


def outcome(attempt: Attempt, stage: Stage) -> str:
    """`done`, or the name of the kernel's error."""
    try:
        attempt(stage)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def _call(name: str, *arguments: int) -> int:
    """A system call past the C library. Raises OSError."""
    column = calls.MACHINES[platform.machine()][0]
    number = {**calls.REFUSED, **calls.MISSING, **calls.JUDGED}[name][column]
    library = ctypes.CDLL(None, use_errno=True)
    answer = int(library.syscall(ctypes.c_long(number or 0), *(ctypes.c_long(each) for each in arguments)))
    if answer < 0:
        raise OSError(ctypes.get_errno(), name)
    return answer


def _vanish(pid: int) -> None:
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _open(path: Path, flags: int) -> None:
    os.close(os.open(path, flags, 0o666))


def _own_signals(_: Stage) -> None:
    """Have the kernel send SIGIO to the parent whenever something comes through this pipe."""
    reading, _writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, os.getppid())


def _anonymous_file(_: Stage) -> None:
    name = ctypes.create_string_buffer(b"x")
    os.close(_call("memfd_create", ctypes.addressof(name), 0))


def _ring(_: Stage) -> None:
    parameters = ctypes.create_string_buffer(256)
    os.close(_call("io_uring_setup", 1, ctypes.addressof(parameters)))


def _shared_memory(_: Stage) -> None:
    number = _call("shmget", 0, 4096, 0o600)
    _call("shmctl", number, 0)


def _survive(_: Stage) -> None:
    if ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) != 0:
        raise PermissionError(errno.EPERM, "prctl")


def _thread(_: Stage) -> None:
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(1))
    thread.start()
    thread.join()
    assert done == [1]


def _random(_: Stage) -> None:
    with Path("/dev/urandom").open("rb") as source:
        assert len(source.read(4)) == 4


def _read_document(stage: Stage) -> None:
    assert os.read(stage.document, 100) == b"a document"


NETWORK: Mapping[str, Attempt] = {
    "open a stream socket": lambda _: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
    "open a datagram socket": lambda _: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "open a local socket": lambda _: socket.socket(socket.AF_UNIX).close(),
    "make a pair of sockets": lambda _: socket.socketpair(),
    "send a descriptor": lambda stage: socket.send_fds(socket.socket(fileno=os.dup(0)), [b"x"], [stage.document]),
}
FILES: Mapping[str, Attempt] = {
    "create": lambda stage: _open(stage.outside / "new", os.O_CREAT | os.O_WRONLY),
    "write": lambda stage: _open(stage.outside / "file", os.O_WRONLY),
    "append": lambda stage: _open(stage.outside / "file", os.O_WRONLY | os.O_APPEND),
    "truncate": lambda stage: os.truncate(stage.outside / "file", 0),
    "truncate while reading": lambda stage: _open(stage.outside / "file", os.O_RDONLY | os.O_TRUNC),
    "unlink": lambda stage: (stage.outside / "gone").unlink(),
    "rename": lambda stage: (stage.outside / "old").rename(stage.outside / "older"),
    "make a folder": lambda stage: (stage.outside / "folder").mkdir(),
    "remove a folder": lambda stage: (stage.outside / "empty").rmdir(),
    "chmod": lambda stage: (stage.outside / "file").chmod(0o666),
    "chown": lambda stage: os.chown(stage.outside / "file", -1, -1),
    "utime": lambda stage: os.utime(stage.outside / "file"),
    "read": lambda stage: (stage.outside / "file").read_bytes(),
    "list": lambda stage: list(stage.outside.iterdir()),
    "list /": lambda _: list(Path("/").iterdir()),
    "read the accounts": lambda _: Path("/etc/passwd").read_bytes(),
    "read the passwords": lambda _: Path("/etc/shadow").read_bytes(),
    "read the configuration": lambda _: (Path(calls.__file__).parents[3] / "config.yaml").read_bytes(),
    "reopen the document": lambda stage: Path(f"/proc/self/fd/{stage.document}").read_bytes(),
    "link a file in": lambda stage: Path("linked").hardlink_to(stage.outside / "file"),
    "leave a link that leads out": lambda stage: Path("symbolic").symlink_to(stage.outside / "file"),
    "leave a pipe that blocks": lambda _: os.mkfifo("fifo"),
    "watch for files": lambda _: os.close(_call("inotify_init1", 0)),
}
PROCESSES: Mapping[str, Attempt] = {
    "fork": lambda _: _vanish(os.fork()),
    "fork past the library": lambda _: _vanish(_call("clone", signal.SIGCHLD, 0, 0, 0, 0)),
    "fork the new way": lambda _: _vanish(_call("clone3", *_clone_arguments())),
    "start a session": lambda _: os.setsid(),
    "leave the group": lambda _: os.setpgid(0, os.getpgid(os.getppid())),
    "posix_spawn": lambda _: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0),
    "run a program": lambda _: subprocess.run(["/bin/true"], check=True),
    "signal the parent": lambda _: os.kill(os.getppid(), 0),
    "signal everybody": lambda _: os.kill(-1, 0),
    "signal a thread of the parent": lambda _: _call("tgkill", os.getppid(), os.getppid(), 0),
    "hold the parent": lambda _: os.close(os.pidfd_open(os.getppid())),
    "have the parent signalled": _own_signals,
    "trace the parent": lambda _: _call("ptrace", PTRACE_SEIZE, os.getppid(), 0, 0),
    "read the parent's limits": lambda _: resource.prlimit(os.getppid(), resource.RLIMIT_CPU),
    "slow the parent": lambda _: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    "pin the parent": lambda _: os.sched_setaffinity(os.getppid(), os.sched_getaffinity(0)),
    "outlive the parent": _survive,
}
KERNEL: Mapping[str, Attempt] = {
    "make a namespace": lambda _: _call("unshare", 0),
    "become root": lambda _: os.setresuid(0, 0, 0),
    "hide memory in a file": _anonymous_file,
    "leave memory behind": _shared_memory,
    "make keys": lambda _: _call("keyctl", 0, -3, 1),
    "make a ring": _ring,
}
FORBIDDEN: Mapping[str, Attempt] = {**NETWORK, **FILES, **PROCESSES, **KERNEL}

# They fail elsewhere too: for an ordinary user, in a container, for the leader of a group.
ALWAYS_HARD = frozenset(
    {"read the passwords", "trace the parent", "start a session", "become root", "make keys", "make a ring"}
)

NEEDED: Mapping[str, Attempt] = {
    "read the document": _read_document,
    "write in scratch": lambda _: Path("made").write_bytes(b"an attachment"),
    "make a folder in scratch": lambda _: Path("folder").mkdir(),
    "rename in scratch": lambda _: Path("made").rename("attachment"),
    "remove in scratch": lambda _: Path("folder").rmdir(),
    "run a thread": _thread,
    "draw random numbers": _random,
    "import a module late": lambda _: __import__("wave"),
    "load a library late": lambda _: __import__("_lsprof"),
    "know a time zone": lambda _: __import__("zoneinfo").ZoneInfo("Europe/Berlin"),
    "see its own figures": lambda _: Path("/proc/self/status").read_bytes(),
    "write to nowhere": lambda _: Path(os.devnull).write_bytes(b"x"),
    "signal itself": lambda _: os.kill(os.getpid(), 0),
}


def _clone_arguments() -> tuple[int, int]:
    """The address and size of what clone3 reads. It stays in memory as long as the process: nobody frees it."""
    described = (ctypes.c_uint64 * 11)()
    described[4] = signal.SIGCHLD
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(described))
    return ctypes.addressof(described), ctypes.sizeof(described)
