"""How long leases are, and why: the rate in force for each kind of page, where it is from, and what follows from it.

Pure: the policies in force, what was learned and the settings go in, rows and sentences come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.config import LeaseSettings
from pipeline.queue.lease import LeasePolicy
from pipeline.reports.durations import duration

Row = Mapping[str, Any]
EXAMPLES = (("2-page invoice", 2, 0), ("200-page contract", 200, 0), ("10-page scan", 10, 10))


def lease_rows(
    policies: Mapping[str, LeasePolicy], learned: Sequence[Row], settings: LeaseSettings
) -> list[dict[str, Any]]:
    """By handler and example: its first lease and its deadline with their sum, and the rate that these rest on."""
    rates = {(row["handler"], row["source"]): row for row in rate_rows(policies, learned, settings)}
    return [
        {
            **rates[handler, "ocr" if ocr_pages else "text"],
            "document": name,
            "lease_seconds": round(policy.lease_seconds(pages, ocr_pages), 1),
            "deadline_seconds": round(policy.deadline_seconds(pages, ocr_pages), 1),
            "sum": lease_sum(policy, pages, ocr_pages),
        }
        for handler, policy in policies.items()
        for name, pages, ocr_pages in EXAMPLES
    ]


def rate_rows(
    policies: Mapping[str, LeasePolicy], learned: Sequence[Row], settings: LeaseSettings
) -> list[dict[str, Any]]:
    """By handler and kind of page: the seconds a page in force, whether they are learned, and why so many."""
    known = {(row["handler"], row["source"]): row for row in learned}
    return [
        {
            "handler": handler,
            "source": source,
            "seconds_per_page": round(getattr(policy, key), 4),
            **_origin(known.get((handler, source)), key, settings),
        }
        for handler, policy in policies.items()
        for source, key in (("text", "per_page_seconds"), ("ocr", "ocr_per_page_seconds"))
    ]


def lease_sentences(policies: Mapping[str, LeasePolicy]) -> Iterator[str]:
    """The arithmetic of the examples, once for all handlers that share it."""
    handlers: dict[LeasePolicy, list[str]] = {}
    for handler, policy in policies.items():
        handlers.setdefault(policy, []).append(handler)
    for policy, names in handlers.items():
        yield f"The first lease of a document that is read as {', '.join(names)}:"
        for name, pages, ocr_pages in EXAMPLES:
            lease, whole = policy.lease_seconds(pages, ocr_pages), policy.deadline_seconds(pages, ocr_pages)
            yield (
                f"  {name}: {figure(round(lease, 1))} s = {lease_sum(policy, pages, ocr_pages)}."
                f" The whole attempt may take {duration(whole)}."
            )


def lease_sum(policy: LeasePolicy, pages: int, ocr_pages: int) -> str:
    """How the lease of a step comes about."""
    step = min(max(pages, 1), policy.step_pages, policy.max_pages)
    ocr = min(max(ocr_pages, 0), step)
    terms = [f"{figure(policy.base_seconds)} s"]
    if step > ocr:
        terms.append(f"{figure(policy.per_page_seconds)} s x {count(step - ocr, 'page')}")
    if ocr:
        terms.append(f"{figure(policy.ocr_per_page_seconds)} s x {count(ocr, 'page')} to recognise")
    clamp = f"at least {figure(policy.min_seconds)} s, at most {figure(policy.max_seconds)} s"
    covers = f"; a lease covers the next {step} of its {pages} pages" if step < pages else ""
    return f"{' + '.join(terms)}, {clamp}{covers}"


def figure(number: float) -> str:
    """A number without needless digits."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def count(number: int, word: str) -> str:
    """So many of something."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _origin(learned: Row | None, key: str, settings: LeaseSettings) -> dict[str, Any]:
    return {
        "from": "learned" if learned and settings.learn else "default",
        "measured_p99": round(learned["seconds_per_page"], 4) if learned else None,
        "samples": learned["samples"] if learned else 0,
        "calibrated_at": learned["calibrated_at"] if learned else None,
        "why": _why(learned, key, settings),
    }


def _why(learned: Row | None, key: str, settings: LeaseSettings) -> str:
    if not settings.learn:
        return f"lease.{key}; lease.learn is false"
    if learned is None:
        return f"lease.{key}; fewer than 50 attempts to learn from"
    rate, default = learned["seconds_per_page"] * settings.learn_margin, getattr(settings, key)
    product = f"{figure(learned['seconds_per_page'])} s x {figure(settings.learn_margin)} (lease.learn_margin)"
    if rate < default / 4:
        return f"{product}, raised to a quarter of lease.{key}"
    return f"{product}, lowered to four times lease.{key}" if rate > default * 4 else product
