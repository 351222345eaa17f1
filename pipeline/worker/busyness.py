"""Whether a child is at work, told by the processor time it used since its lease was last renewed."""

from __future__ import annotations

from pipeline.worker.held import boottime
from pipeline.worker.process import ChildProcess

BUSY_SHARE = 0.05  # a child that used this share of the time it had is working, also on a crowded machine
SHORTEST_LOOK_SECONDS = 0.5  # over less, what the system counts in ticks says nothing


class Busyness:
    """Watches the processor time of one child during one attempt."""

    def __init__(self, child: ChildProcess) -> None:
        self._child = child
        self._at_start = self._at_renewal = child.cpu_seconds()
        self._was_busy = True
        self.renewed_at = boottime()

    def renewed(self) -> None:
        """The lease was renewed just now."""
        self._was_busy = self.is_busy()
        self.renewed_at = boottime()
        self._at_renewal = self._child.cpu_seconds()

    def is_busy(self) -> bool:
        """Whether the child works; shortly after a renewal, whether it did before."""
        elapsed = boottime() - self.renewed_at
        if elapsed < SHORTEST_LOOK_SECONDS:
            return self._was_busy
        return self._child.cpu_seconds() - self._at_renewal >= BUSY_SHARE * elapsed

    def used_seconds(self) -> float:
        """Processor seconds of this attempt; of a child that is gone, what it had used at the last renewal."""
        return max(self._child.cpu_seconds(), self._at_renewal) - self._at_start
