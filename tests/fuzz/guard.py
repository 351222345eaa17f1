"""Watches what a target does besides computing: files outside its scratch folder, programs, connections.

An audit hook sees what Python code does, also where an exception of it was swallowed. C libraries are kept off by the
sandbox, which has tests of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_WRITING = frozenset({"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"})
_FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "socket.bind", "subprocess.", "os.system", "os.exec", "os.fork")
_READABLE = ("/usr/", "/lib", "/proc/self/", "/sys/", "/dev/null", "/etc/mime.types")


class Guard:
    """Notes what happens that must not, while it is on."""

    def __init__(self, scratch: Path, code: Path) -> None:
        self._scratch = str(scratch)
        self._readable = (*_READABLE, sys.prefix, sys.base_prefix, str(code), self._scratch)
        self._on = False
        self._seen: list[str] = []
        sys.addaudithook(self._hook)

    @contextmanager
    def watching(self) -> Iterator[list[str]]:
        """What was done meanwhile that must not be."""
        self._seen = []
        self._on = True
        try:
            yield self._seen
        finally:
            self._on = False

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._on:
            return
        if event == "open":
            self._opened(*arguments)
        elif event in _WRITING and not self._is_in(arguments[0], (self._scratch,)):
            self._seen.append(f"{event} of {arguments[0]!r}")
        elif event.startswith(_FORBIDDEN):
            self._seen.append(f"{event} {arguments[:1]!r}")

    def _opened(self, path: object, mode: object, flags: object) -> None:
        if isinstance(path, int):
            return
        writes = isinstance(flags, int) and flags & 0o3
        if not self._is_in(path, (self._scratch, "/dev/null") if writes else self._readable):
            self._seen.append(f"open of {path!r} to {'write' if writes else 'read'}")

    def _is_in(self, path: object, folders: tuple[str, ...]) -> bool:
        name = path.decode("utf-8", "replace") if isinstance(path, bytes) else str(path)
        whole = name if name.startswith("/") else f"{self._scratch}/{name}"
        return ".." not in whole.split("/") and whole.startswith(folders)
