"""What pipeline/queue/sql/calibrate.sql learns, of attempts that were simulated. A test compares the two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

FIRST_SECOND = 1.0
NEWEST, ENOUGH, QUANTILE = 10_000, 50, 0.99


@dataclass(frozen=True, slots=True)
class Logged:
    """An attempt as its row tells of it; seconds are on one clock. `pages` are those that it finished itself."""

    outcome: str
    started_at: float
    ended_at: float
    progressed_at: float
    pages: int
    ocr_page_count: int
    cpu_seconds: float | None = None
    late_finish_at: float | None = None

    @property
    def counts(self) -> bool:
        """Whether anything is learned of it."""
        return self.outcome in ("succeeded", "crashed", "expired") or (self.outcome == "released" and self.pages > 0)

    @property
    def source(self) -> str:
        """The kind of pages it is about."""
        return "ocr" if self.ocr_page_count else "text"

    @property
    def seconds_per_page(self) -> float:
        """What a page of it took, at least."""
        ended = self.ended_at
        if self.outcome == "expired":
            ended = self.progressed_at if self.late_finish_at is None else self.late_finish_at
        pages = min(self.pages, self.ocr_page_count) if self.ocr_page_count else self.pages
        return max(ended - self.started_at - FIRST_SECOND, self.cpu_seconds or 0, 0) / max(pages, 1)


def learned(attempts: Sequence[Logged]) -> Mapping[str, float]:
    """Seconds a page by source, from the newest of attempts, which come oldest first."""
    newest = [each for each in attempts if each.counts][-NEWEST:]
    found = {source: [each.seconds_per_page for each in newest if each.source == source] for source in ("text", "ocr")}
    return {source: max(_quantile(rates), 1e-6) for source, rates in found.items() if len(rates) >= ENOUGH}


def _quantile(values: Iterable[float]) -> float:
    """As percentile_cont has it: between the two nearest."""
    ordered = sorted(values)
    place = QUANTILE * (len(ordered) - 1)
    low, share = math.floor(place), place - math.floor(place)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * share
