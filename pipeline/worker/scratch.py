"""Scratch folders of parser children: one each, named after the parent, so that what a kill -9 left is removed."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "doclease-child-"


def make_scratch() -> Path:
    """A private folder for one child; first removes those whose parents are gone."""
    _remove_orphans(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def _remove_orphans(folder: Path) -> None:
    for path in folder.glob(f"{_PREFIX}*-*"):
        parent = path.name.removeprefix(_PREFIX).partition("-")[0]
        if parent.isdigit() and _is_ours(path) and not Path("/proc", parent).exists():
            shutil.rmtree(path, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.geteuid()
    except OSError:
        return False  # somebody else removed it just now
