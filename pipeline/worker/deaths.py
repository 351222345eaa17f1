"""How a parser child came to its end, and what that means for the document it had in hand."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from pipeline.errors import DocleaseError
from pipeline.reasons import Reason

MEGABYTE = 1024 * 1024
# A child that dies by a signal with this much of its memory cap used died of memory: a buffer that is made twice as
# long needs room for the old and the new one.
NEAR_THE_CAP = 0.5


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended: the reason, a sentence, and the most memory it held, in bytes."""

    reason: Reason
    error: str
    peak_rss_bytes: int


class ChildDied(DocleaseError):
    """The child is gone; `death` says how."""

    def __init__(self, death: Death) -> None:
        self.death = death
        super().__init__(death.error)


def explain(status: int, peak_rss_bytes: int, memory_bytes: int, complaint: str) -> Death:
    """What a wait status means for a document; `complaint` is the last line the child wrote to its standard error."""
    if not os.WIFSIGNALED(status):
        code = os.waitstatus_to_exitcode(status)
        detail = f": {complaint}" if complaint else ""
        reason = Reason.OUT_OF_MEMORY if "MemoryError" in complaint else Reason.CRASH
        return Death(reason, f"the parser ended with exit code {code}{detail}", peak_rss_bytes)
    number = os.WTERMSIG(status)
    name = signal.Signals(number).name
    if number == signal.SIGXCPU:
        return Death(Reason.TIMEOUT, "the parser used up its processor time (SIGXCPU)", peak_rss_bytes)
    if peak_rss_bytes >= NEAR_THE_CAP * memory_bytes:
        megabytes = peak_rss_bytes // MEGABYTE
        return Death(Reason.OUT_OF_MEMORY, f"the parser died ({name}) holding {megabytes} MB", peak_rss_bytes)
    return Death(Reason.CRASH, f"the parser died of signal {number} ({name})", peak_rss_bytes)
