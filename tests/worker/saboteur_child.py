"""A parser child that does what a document orders: sleep, spin, crash, allocate, talk nonsense. For tests.

A saboteur document begins with the line SABOTEUR; the lines after it are obeyed when it is opened, those that begin
with "then" once its pages are read. Its pages follow, each behind a form feed; on a page, lines that begin with ! are
orders, obeyed when the page is read.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from pipeline import handling
from pipeline.documents.contract import Attachment, Format, Inspection, Means, OpenDocument
from pipeline.documents.formats import plain
from pipeline.documents.parsing import read_whole
from pipeline.documents.text import Document, Page, Source
from pipeline.errors import ConfigurationError, UnreadablePage
from pipeline.handling import Extraction, Field, Handler
from pipeline.reasons import Reason
from pipeline.worker import child, sandbox
from pipeline.worker.confining import kernel, limits, network

HEAD = b"SABOTEUR\n"
STEP_SECONDS = 0.01


class SaboteurFormat:
    """Documents that carry orders for their reader."""

    name = "saboteur"
    media_types: tuple[str, ...] = ("text/x-saboteur",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first line."""
        return self.media_types[0] if head.startswith(HEAD) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; obeys nothing."""
        return Inspection(self.media_types[0], len(_sheets(file)) - 1)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Obey the opening's orders, then open."""
        opening, *pages = _sheets(file)
        orders = opening.splitlines()[1:]
        for line in orders:
            if not line.startswith("then "):
                obey(line)
        yield _OpenSaboteur(pages, [line.removeprefix("then ") for line in orders if line.startswith("then ")])


class _OpenSaboteur:
    """Its pages, and what is said and done after them: `attach NAME CONTENT` is a file inside."""

    def __init__(self, pages: list[str], afterwards: list[str]) -> None:
        self._pages = pages
        self._afterwards = afterwards

    def attachments(self) -> Iterator[Attachment]:
        number = 0
        for line in self._afterwards:
            word, _, rest = line.partition(" ")
            if word != "attach":
                obey(line)
                continue
            number += 1
            name, _, content = rest.partition(" ")
            raw = content.encode().decode("unicode_escape").encode()
            yield Attachment(number, name, "text/plain", content=iter([raw[:3], raw[3:]]))

    @property
    def page_count(self) -> int:
        return len(self._pages)

    def read_page(self, number: int) -> Page:
        text = self._pages[number - 1]
        for line in text.splitlines():
            if line.startswith("!"):
                obey(line[1:])
        return Page(number, text, text, Source.NATIVE, engine="saboteur")


class LaterPdfFormat:
    """The real PDF format, imported when a PDF comes: that takes longer than most tests."""

    name = "pdf"
    media_types: tuple[str, ...] = ("application/pdf",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By what the real one says, if there is a reason to ask it."""
        return self._real.recognises(head, tail, name) if b"%PDF" in head else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """What the real one says."""
        return self._real.inspect(file, means)

    def open(self, file: BinaryIO, means: Means) -> AbstractContextManager[OpenDocument]:
        """What the real one opens."""
        return self._real.open(file, means)

    @property
    def _real(self) -> Format:
        from pipeline.documents.formats import pdf

        return pdf.format


def _sheets(file: BinaryIO) -> list[str]:
    return read_whole(file).decode().split("\f")


def obey(order: str) -> None:
    """Do what a line says. `once PATH ORDER` obeys only if the file PATH is not there, and makes it."""
    word, _, rest = order.partition(" ")
    if word == "once":
        path, _, rest = rest.partition(" ")
        if Path(path).exists():
            return
        Path(path).touch()
        obey(rest)
    else:
        _ORDERS[word](rest)


def _spin(seconds: str) -> None:
    until = time.process_time() + (float("inf") if seconds == "forever" else float(seconds))
    while time.process_time() < until:
        pass


def _be_deaf(seconds: str) -> None:
    """Hang inside a C function that keeps the interpreter's lock, and ignore SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ctypes.PyDLL(None).sleep(int(seconds))


def _allocate(megabytes: str) -> None:
    held = [b"x" * (1 << 20) for _ in range(int(megabytes))]
    assert held


def _gate(path: str) -> None:
    """Tell by PATH.reached that it is here, then wait for PATH."""
    Path(path + ".reached").touch()
    while not Path(path).exists():
        time.sleep(STEP_SECONDS)


def _garbage(_: str) -> None:
    """Write to the pipe what is no frame: the pipe is the one descriptor that is a FIFO open for writing."""
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"\xff" * 64)
        except OSError:
            continue


def _fork(path: str) -> None:
    """Start a process that outlives its parent and holds on to the pipe, and tell its number."""
    pid = os.fork()
    if pid == 0:
        while True:
            time.sleep(STEP_SECONDS)
    Path(path).write_text(str(pid), encoding="ascii")


def _tell(path: str) -> None:
    """Write down what this process knows and may."""
    reach = "connected"
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1).close()
    except OSError as error:
        reach = type(error).__name__ + f" {error.errno}"
    facts = {**os.environ, "reach": reach, "interfaces": str([name for _, name in socket.if_nameindex()])}
    Path(path).write_text("\n".join(f"{name}={value}" for name, value in facts.items()), encoding="utf-8")


def _swell(megabytes: str) -> None:
    """Hold memory, then die by a signal: as a C library does that does not look at what malloc returns."""
    held = [b"x" * (1 << 20) for _ in range(int(megabytes))]
    os.kill(os.getpid(), signal.SIGSEGV if held else 0)


def _raise(message: str) -> None:
    raise RuntimeError(message or "as ordered")


def _unreadable(message: str) -> None:
    raise UnreadablePage(Reason.CORRUPT, message or "as ordered")


def _misconfigure(message: str) -> None:
    raise ConfigurationError(message or "as ordered")


def _print(_: str) -> None:
    print("printed by a library")
    os.write(1, b"written by a C library\n")


def _complain(message: str) -> None:
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def _use_up_cpu(seconds: str) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), resource.getrlimit(resource.RLIMIT_CPU)[1]))
    _spin("forever")


_ORDERS: Mapping[str, Callable[[str], object]] = {
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "spin": _spin,
    "deaf": _be_deaf,
    "segfault": lambda _: ctypes.string_at(0),
    "abort": lambda _: os.abort(),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "allocate": _allocate,
    "swell": _swell,
    "raise": _raise,
    "unreadable": _unreadable,
    "misconfigure": _misconfigure,
    "exit": lambda code: os._exit(int(code)),
    "garbage": _garbage,
    "print": _print,
    "complain": _complain,
    "gate": _gate,
    "fork": _fork,
    "spawn": lambda path: Path(path).write_text(str(subprocess.Popen(["sleep", "600"]).pid), encoding="ascii"),
    "tell": _tell,
    "cpu": _use_up_cpu,
    "kill_parent": lambda _: os.kill(os.getppid(), signal.SIGKILL),
    "cwd": lambda path: Path(path).write_text(str(Path.cwd()), encoding="utf-8"),
}


class SaboteurHandler:
    """A handler that does what its name says when it is asked for by name."""

    fields: tuple[str, ...] = ()

    def __init__(self, name: str, act: Callable[[Document], Extraction]) -> None:
        self.name = name
        self.extract = act

    def score(self, document: Document) -> float:
        """Never chosen by itself; the one that cannot score shows that nobody else suffers."""
        if self.name == "unscorable":
            raise RuntimeError("cannot score")
        return 0.0


def _extract_raises(document: Document) -> Extraction:
    raise RuntimeError("cannot extract")


def _extract_hangs(document: Document) -> Extraction:
    while True:
        time.sleep(STEP_SECONDS)


def _extract_dies(document: Document) -> Extraction:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def _extract_badly(document: Document) -> Extraction:
    """Some of each: what no calendar has, what no column holds, and what is right."""
    return Extraction(
        "invoice",
        {
            "issue_date": [Field("2026-02-31", 1, "31.02.")],
            "due_date": [Field("2026-W05-6", 1, "a week's day")],
            "total_gross": [Field("1" + "0" * 50, 1, "10^50")],
            "total_net": [Field("٣", 1, "a digit elsewhere")],
            "invoice_number": [Field("IN\x00V-1", 1, "NUL\x00", confidence=float("nan"))],
        },
        {"che\x00ck": True},
    )


def _extract_objects(document: Document) -> Extraction:
    return Extraction("invoice", {"invoice_number": [Field(object(), 1, "")]})  # type: ignore[arg-type]


def handlers() -> dict[str, Handler]:
    """The real ones and the saboteurs."""
    acts = {
        "raises": _extract_raises,
        "hangs": _extract_hangs,
        "dies": _extract_dies,
        "bad_values": _extract_badly,
        "objects": _extract_objects,
        "unscorable": _extract_raises,
    }
    return {**handling.discover(), **{name: SaboteurHandler(name, act) for name, act in acts.items()}}


def _loosely(*, max_memory_bytes: int, max_file_bytes: int, parent: int, scratch: Path) -> list[str]:
    """Less than what confines real documents: orders meet tests in files, and start processes that must be found."""
    measures = limits.limit_all(max_memory_bytes=max_memory_bytes, max_file_bytes=max_file_bytes)
    kernel.prctl(sandbox.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    return [*measures, *(["no_network"] if network.leave_network() else [])]


if __name__ == "__main__":
    child.main((LaterPdfFormat(), plain.format, SaboteurFormat()), handlers, confine=_loosely)
