"""Wrong clocks for some members of a trial: libfaketime moves what they take for the time of day, and nothing else.

Its shared object comes in the PyPI package libfaketime. Monotonic clocks are left alone: no machine has them wrong, and
waiting would hang. Times of files are left alone too, they belong to the file system.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

NOT_SHIFTED = "clocks not shifted: pip install libfaketime"
_SHARED = Path("/dev/shm")  # noqa: S108 - where the system keeps shared memory


def shifting_library() -> Path | None:
    """The shared object to preload, None when the package is not installed."""
    spec = importlib.util.find_spec("libfaketime")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(spec.submodule_search_locations[0]).rglob("libfaketime.so.1"), None)


def shifted(library: Path | None, hours: int) -> Mapping[str, str]:
    """The environment of a process whose clock is wrong by so many hours."""
    if library is None or hours == 0:
        return {}
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": f"{hours * 3600:+d}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }


def forget(pid: int) -> None:
    """Remove what a process with a shifted clock leaves in shared memory when it is killed."""
    for name in (f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}"):
        (_SHARED / name).unlink(missing_ok=True)
