"""Where in line a claim begins to look: where the last one found its task, and at the very front every second.

Claimed tasks stay in the index of ready ones for as long as any session's snapshot may see them in line (a report, a
dump). Looking from the front, every claim would step over all of them. A task that somebody else put in line ahead of
the remembered place is seen within a second, or as soon as nothing else is ready.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FRONT = -(2**63)  # no rank is lower
LOOK_SECONDS = 1.0


class Front:
    """The remembered place of one process. A hint: threads may share it without a lock, and may lose an update."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rank_ms = FRONT
        self._looked_at = clock()

    def start(self) -> int:
        """The rank to look from: FRONT when it is time to look at the whole line."""
        return FRONT if self._clock() - self._looked_at > LOOK_SECONDS else self._rank_ms

    def took(self, started: int, rank_ms: int) -> None:
        """Note that a claim that began at `started` found its last task at `rank_ms`."""
        if started == FRONT:
            self._looked_at = self._clock()
        self._rank_ms = rank_ms

    def came(self, rank_ms: int) -> None:
        """Note that this process put a task in line."""
        self._rank_ms = min(self._rank_ms, rank_ms)

    def forget(self) -> None:
        """Look at the whole line the next time."""
        self._rank_ms = FRONT
