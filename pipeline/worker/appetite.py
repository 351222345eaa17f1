"""How many tasks a claim takes: as many as are worth `ahead_seconds` of work, by what documents cost so far.

A claim of many saves statements and commits, which matters where documents are short. Where they are long it saves
nothing, and whatever a slot has not begun, another one could have.
"""

from __future__ import annotations

import math

MOST = 50  # beyond, nothing more is saved
NEWEST_SHARE = 0.25  # what the latest document counts beside all before it
SHORTEST_SECONDS = 1e-4


class Appetite:
    """What documents cost one slot. It begins with one task, and comes back to one soon after documents became long.

    The mean is the geometric one: a scan of a minute among invoices counts, but does not hide that most are short.
    """

    def __init__(self, ahead_seconds: float) -> None:
        self._ahead_seconds = ahead_seconds
        self._usual: float | None = None  # the logarithm of seconds

    def cost(self, seconds: float) -> None:
        """Note what a document took, from begin to end."""
        newest = math.log(max(seconds, SHORTEST_SECONDS))
        self._usual = newest if self._usual is None else self._usual + NEWEST_SHARE * (newest - self._usual)

    @property
    def tasks(self) -> int:
        """How many to claim, 1 to MOST."""
        if self._usual is None:
            return 1
        return max(1, min(MOST, int(self._ahead_seconds / math.exp(self._usual))))
