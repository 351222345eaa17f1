"""What must hold of whatever a target answers; everything else is a finding."""

from __future__ import annotations

import math
import traceback
from pathlib import Path

OURS = ("pipeline", "handlers")
ROOT = Path(__file__).resolve().parents[2]


class Broken(Exception):
    """An answer breaks a promise; the message says which."""


def require_storable(*texts: str | None) -> None:
    """Every text can be stored and printed: no NUL, no half of a surrogate pair. Raises Broken."""
    for text in texts:
        if text is None:
            continue
        if "\x00" in text:
            raise Broken("a text has NUL")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Broken(f"a text has {error.object[error.start]!r}") from error


def require_finite(*figures: float | None) -> None:
    """Every figure fits into a column. Raises Broken."""
    for figure in figures:
        if figure is not None and not (math.isfinite(figure) and abs(figure) < 2**63):
            raise Broken(f"a figure is {figure!r}")


def signature(error: BaseException) -> str:
    """The kind of an error and the innermost line of doclease that it came through: the same fault, the same words."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(ROOT) and _is_ours(frame.filename)]
    frame = (ours or frames)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
    return f"{type(error).__name__} at {place}: {str(error)[:160]}"


def _is_ours(name: str) -> bool:
    return Path(name).relative_to(ROOT).parts[0] in OURS
