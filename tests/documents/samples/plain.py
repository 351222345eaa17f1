"""A text as a mainframe prints it: pages end at form feeds."""

from __future__ import annotations

from collections.abc import Sequence


def build(pages: Sequence[str]) -> bytes:
    """A UTF-8 text with these pages."""
    return "\f".join(pages).encode()
