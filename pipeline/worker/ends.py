"""How an attempt comes to its end by its parent's decision: an exception that carries what is to be recorded."""

from __future__ import annotations

from pipeline.queue.settle import Fault
from pipeline.reasons import Reason


class End(Exception):
    """The attempt is over."""

    def __init__(self, fault: Fault, reason: Reason, error: str) -> None:
        self.fault = fault
        self.reason = reason
        self.error = error
        super().__init__(error)
