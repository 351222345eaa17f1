"""How long a lease is: pure functions of page counts and rates.

A lease covers what the worker does next, not the whole document:

    lease(pages left) = clamp(base + work(min(pages left, step)), min, max)
    deadline(pages)   = max(slack * (base + work(pages)), lease(pages))        the whole attempt, a hard stop
    work(pages)       = per_page * digital pages + ocr_per_page * pages that need OCR

Page counts are the attacker's number: they are capped before they scale anything. Which of a document's pages need OCR
is not known here, so a step is taken to hold as many of them as it can.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class LeasePolicy:
    """The figures of the formula; all in seconds but `step_pages`, `max_pages` (pages) and `slack` (a factor)."""

    base_seconds: float = 10
    per_page_seconds: float = 0.5
    ocr_per_page_seconds: float = 20
    min_seconds: float = 15
    max_seconds: float = 35
    step_pages: int = 50
    slack: float = 4
    max_pages: int = 20_000

    def lease_seconds(self, pages: int, ocr_pages: int = 0) -> float:
        """The lease for the next step of a document with so many pages left."""
        left, ocr_left = self._capped(pages, ocr_pages)
        step = min(left, self.step_pages)
        return self._clamp(self.base_seconds + self._work(step, min(ocr_left, step)))

    def deadline_seconds(self, pages: int, ocr_pages: int = 0) -> float:
        """How long one attempt may take in all; never below its lease."""
        whole = self.slack * (self.base_seconds + self._work(*self._capped(pages, ocr_pages)))
        return max(whole, self.lease_seconds(pages, ocr_pages))

    def with_rates(self, *, text: float | None, ocr: float | None) -> LeasePolicy:
        """The same policy with learned seconds per page, each kept between a quarter and four times its default.

        The floor is there because a page that suddenly takes long is what a lease must survive, the ceiling because a
        learned rate must not let a hung worker keep a task for ever.
        """
        return replace(
            self,
            per_page_seconds=_near(text, self.per_page_seconds),
            ocr_per_page_seconds=_near(ocr, self.ocr_per_page_seconds),
        )

    def _work(self, pages: int, ocr_pages: int) -> float:
        return self.per_page_seconds * (pages - ocr_pages) + self.ocr_per_page_seconds * ocr_pages

    def _capped(self, pages: int, ocr_pages: int) -> tuple[int, int]:
        left = min(max(pages, 1), self.max_pages)
        return left, min(max(ocr_pages, 0), left)

    def _clamp(self, seconds: float) -> float:
        return min(max(seconds, self.min_seconds), self.max_seconds)


def _near(learned: float | None, default: float) -> float:
    return default if learned is None else min(max(learned, default / 4), default * 4)
