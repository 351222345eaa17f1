"""A child whose targets are broken on purpose, each in a way that the oracle must notice."""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from tests.fuzz.child import main
from tests.fuzz.oracle import require_finite, require_storable
from tests.fuzz.targets import Target


def _raises(_: bytes) -> str:
    return {"known": "ok"}["unknown"]


def _spins(_: bytes) -> str:
    while True:
        pass


def _crashes(_: bytes) -> str:
    return str(ctypes.string_at(1))


def _ends(_: bytes) -> str:
    os._exit(3)


def _swells(_: bytes) -> str:
    return str(len(bytearray(1 << 40)))


def _writes(_: bytes) -> str:
    with suppress(OSError):
        Path("../elsewhere").write_bytes(b"x")
    return "ok"


def _reads(_: bytes) -> str:
    Path("/etc/passwd").read_bytes()
    return "ok"


def _calls(_: bytes) -> str:
    with suppress(OSError), socket.socket() as connection:
        connection.connect(("127.0.0.1", 9))
    return "ok"


def _nul(_: bytes) -> str:
    require_storable("a\x00b")
    return "ok"


def _surrogate(_: bytes) -> str:
    require_storable("a\ud800b")
    return "ok"


def _endless(_: bytes) -> str:
    require_finite(1.0, float("nan"))
    return "ok"


def planted() -> Mapping[str, Target]:
    """The broken targets by name, and one that is whole."""
    broken: dict[str, Callable[[bytes], str]] = {
        "raises": _raises,
        "spins": _spins,
        "crashes": _crashes,
        "ends": _ends,
        "swells": _swells,
        "writes": _writes,
        "reads": _reads,
        "calls": _calls,
        "nul": _nul,
        "surrogate": _surrogate,
        "endless": _endless,
        "whole": lambda data: "ok",
    }
    return {name: Target(name, lambda: [b"x"], run) for name, run in broken.items()}


if __name__ == "__main__":
    main(planted)
