"""A child's question after the issuer of its document, and the answer, as they travel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.documents.text import Page, Source
from pipeline.reading.memory.lessons import MAX_KEYS, Lesson, Remembered, is_key
from pipeline.worker.frames import BrokenFrame, Frame


def keys_of(frame: Frame) -> list[str]:
    """The keys in a question. Raises BrokenFrame."""
    keys = frame.get("keys")
    if not isinstance(keys, list) or len(keys) > MAX_KEYS or not all(map(is_key, keys)):
        raise BrokenFrame("no keys of an issuer")
    return keys


def remembered_of(frame: Frame) -> list[Remembered]:
    """What an answer says, in the child."""
    return [_remembered(each) for each in frame["documents"]]


def _remembered(facts: Mapping[str, Any]) -> Remembered:
    return Remembered(
        vat_id=facts["vat_id"] or "",
        iban=facts["iban"] or "",
        seller=facts["seller"] or "",
        pages=tuple(Page(number, "", layout, Source.NATIVE) for number, layout in facts["pages"] or ()),
        lessons=tuple(_lessons(facts["lessons"] or ())),
    )


def _lessons(told: Iterable[Mapping[str, Any]]) -> Iterable[Lesson]:
    for facts in told:
        found, action = facts["found"], facts["action"]
        value, snippet, page = found["value"] or "", found["snippet"] or "", found["page"] or 0
        if action == "accept" and value:
            yield Lesson(facts["name"], action, value, page, snippet)
        elif action != "accept":
            here, row = facts["page"] or 0, facts["snippet"] or ""
            yield Lesson(facts["name"], action, facts["value"] or "", here, row, wrong=value, wrong_row=snippet)
