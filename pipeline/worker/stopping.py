"""How a worker stops: first it drains, then it gives back. Set by signals, read by every slot."""

from __future__ import annotations

import threading

from pipeline.worker.held import boottime


class Stopping:
    """Nobody claims once it drains; whoever still has a document when the time is up gives it back."""

    def __init__(self, drain_seconds: float) -> None:
        self._drain_seconds = drain_seconds
        self._draining = threading.Event()
        self._ends_at = float("inf")

    @property
    def is_draining(self) -> bool:
        """Whether claiming is over."""
        return self._draining.is_set()

    @property
    def must_release(self) -> bool:
        """Whether what is in hand goes back now."""
        return boottime() >= self._ends_at

    def drain(self) -> None:
        """Stop claiming; finish what is in hand within the drain time. A second call gives back at once."""
        self._ends_at = boottime() + (0 if self.is_draining else self._drain_seconds)
        self._draining.set()

    def wait(self, timeout_seconds: float) -> bool:
        """Until draining begins or the time is up; returns whether it began."""
        return self._draining.wait(timeout_seconds)
