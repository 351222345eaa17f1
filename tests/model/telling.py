"""What an exploration found, for people: attempts numbered in the order in which they began."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_CLAIM = re.compile(r"#(\d+) of (T\d+)")


def told(trace: Iterable[str]) -> list[str]:
    """The steps of a trace. A model gives a token again once nobody remembers it; here each claim has a number."""
    return list(_numbered(trace))


def _numbered(trace: Iterable[str]) -> Iterator[str]:
    numbers: dict[tuple[str, str], int] = {}
    begun: dict[str, int] = {}

    def name(found: re.Match[str]) -> str:
        return f"attempt {numbers[found[1], found[2]]} of {found[2]}"

    for label in trace:
        if " is claimed: " in label and (found := _CLAIM.search(label)):
            begun[found[2]] = numbers[found[1], found[2]] = begun.get(found[2], 0) + 1
        yield _CLAIM.sub(name, label)
