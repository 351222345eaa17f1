"""What a parser child says it found, checked before anything of it is stored.

A child reads what came from outside, so nothing it says is trusted: text is cleaned again, every value is checked
against its kind and every number of things is bounded, so that one odd value can neither fail the document nor break a
view.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from pipeline.documents.text import clean

MAX_VALUE_CHARACTERS = 2_000
MAX_SNIPPET_CHARACTERS = 300
MAX_PRINTED_CHARACTERS = 300
MAX_HEADING_CHARACTERS = 200
MAX_VALUES = 100
MAX_NAMES = 200  # of fields, checks or scores
MAX_GAPS = 100_000
MAX_GROUPS = 10_000  # lines of an invoice, most of all
MAX_CELLS = 20
MAX_CLAUSES = 5_000
MAX_TAGS = 20
MAX_NUMBER = 1e9
_NUMBERS = (int, float)  # by type(): what JSON brings is of no other, and a bool is none of them
GROUPS = frozenset({"lines", "taxes", "parties"})
# Only ASCII digits, and no other form of ISO 8601: what Python reads and PostgreSQL does not would break the views.
_AMOUNT = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,6})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,63}")
# The same rules as is_amount_field() and is_date_field() have in the database; a test compares them.
_AMOUNTS = re.compile(r"(?:total|amount)_.*|.*_amount|prepaid|rounding|quantity|price|tax_rate")
_DATES = re.compile(r".*_date|period_(?:start|end)")


@dataclass(frozen=True, slots=True)
class Found:
    """A child's findings as they are stored.

    `result` is the attempt's JSON (docs/querying.md has its keys); `groups` are rows of lines, taxes and parties,
    `clauses` those of a contract. All are plain data.
    """

    result: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]] = ()
    clauses: Sequence[Mapping[str, Any]] = ()


def checked(answer: object) -> Found:
    """What of a child's answer is what it claims to be; `dropped` in the result names the fields that lost a value.

    A field that is a date holds a real date, one that is an amount a plain decimal. Never raises.
    """
    given = _mapping(answer)
    return Found(checked_result(given), list(_groups(given.get("groups"))), list(_clauses(given.get("clauses"))))


def checked_result(result: object) -> dict[str, Any]:
    """The part of an answer that is stored with the attempt. Never raises."""
    given = _mapping(result)
    fields, dropped = _fields(_mapping(given.get("fields")))
    gaps = given.get("gaps")
    safe: dict[str, Any] = {
        "document_type": _word(given.get("document_type")),
        "handler": _word(given.get("handler")),
        "scores": {name: value for name, value in _named(given.get("scores")) if _is_number(value)},
        "fields": fields,
        "checks": {name: value for name, value in _named(given.get("checks")) if isinstance(value, bool)},
        "messages": {
            name: clean(value[:MAX_SNIPPET_CHARACTERS])
            for name, value in _named(given.get("messages"))
            if isinstance(value, str)
        },
        "gaps": [page for page in gaps[:MAX_GAPS] if _is_page(page)] if isinstance(gaps, list) else [],
    }
    if dropped:
        safe["dropped"] = dropped
    if isinstance(given.get("handler_error"), str):
        safe["handler_error"] = clean(given["handler_error"][:MAX_VALUE_CHARACTERS])
    return safe


def is_amount(name: str) -> bool:
    """Whether the field of that name holds a number."""
    return _AMOUNTS.fullmatch(name) is not None


def is_date(name: str) -> bool:
    """Whether the field of that name holds a date."""
    return _DATES.fullmatch(name) is not None


def _fields(given: Mapping[Any, Any]) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """The fields that hold, and the names of those that lost a value."""
    fields: dict[str, list[dict[str, Any]]] = {}
    dropped: list[str] = []
    for name, found in list(given.items())[:MAX_NAMES]:
        values = found[:MAX_VALUES] if isinstance(found, list) else [found]
        kept = [value for each in values if (value := _field(str(name), each)) is not None]
        if kept:
            fields[str(name)] = kept
        if len(kept) < len(values):
            dropped.append(clean(str(name)[:64]))
    return fields, dropped


def _field(name: str, found: object) -> dict[str, Any] | None:
    given = _mapping(found)
    text, is_canonical = given.get("value"), _judge(name)
    if not isinstance(text, str) or is_canonical is None:
        return None
    value = _text(text, MAX_VALUE_CHARACTERS).strip()
    if not value or not is_canonical(value):
        return None
    page, confidence = given.get("page"), given.get("confidence")
    field: dict[str, Any] = {
        "value": value,
        "page": page if _is_page(page) else None,
        "snippet": _text(given.get("snippet"), MAX_SNIPPET_CHARACTERS),
        "method": _word(given.get("method")),
        "confidence": min(max(confidence, 0), 1) if _is_number(confidence) else None,
    }
    if "printed" in given and (printed := _text(given["printed"], MAX_PRINTED_CHARACTERS)):
        field["printed"] = printed
    if "box" in given and (box := _box(given["box"])):
        field["box"] = box
    return field


@functools.lru_cache(maxsize=1_000)
def _judge(name: str) -> Callable[[str], object] | None:
    """What says whether a value is one that the field of that name can hold; None for what is no name."""
    if not _FIELD.fullmatch(name):
        return None
    if is_date(name):
        return _is_real_date
    return _AMOUNT.fullmatch if is_amount(name) else bool


def _is_real_date(value: str) -> bool:
    try:
        return _DATE.fullmatch(value) is not None and 1900 <= dt.date.fromisoformat(value).year <= 2200
    except ValueError:
        return False


def _groups(given: object) -> Iterator[dict[str, Any]]:
    """The rows that hold at least one cell, numbered anew from 1 within their name."""
    numbers = dict.fromkeys(GROUPS, 0)
    for each in given[:MAX_GROUPS] if isinstance(given, list) else ():
        row = _mapping(each)
        name, fields = row.get("name"), list(_mapping(row.get("fields")).items())[:MAX_CELLS]
        cells = {str(field): cell for field, found in fields if (cell := _field(str(field), found)) is not None}
        if isinstance(name, str) and name in GROUPS and cells:
            numbers[name] += 1
            yield {"name": name, "number": numbers[name], "cells": cells}


def _clauses(given: object) -> Iterator[dict[str, Any]]:
    """The clauses that say where they are, numbered from 1."""
    rows = (_mapping(each) for each in (given[:MAX_CLAUSES] if isinstance(given, list) else ()))
    for number, row in enumerate(filter(_is_clause, rows), 1):
        tags = row.get("tags")
        yield {
            "clause_no": number,
            "number": _text(row["number"], 64),
            "level": min(row["level"], 100),
            "heading": _text(row["heading"], MAX_HEADING_CHARACTERS),
            "page": row["page"],
            "starts_at": int(row["start"]),
            "end_page": row["end_page"],
            "ends_at": int(row["end"]),
            "tags": [tag for tag in tags[:MAX_TAGS] if _is_name(tag)] if isinstance(tags, list) else [],
        }


def _is_clause(row: Mapping[Any, Any]) -> bool:
    places = [row.get("level"), row.get("page"), row.get("end_page")]
    offsets = [row.get("start"), row.get("end")]
    return (
        all(_is_page(place) for place in places)
        and all(_is_page(offset) or offset == 0 for offset in offsets)
        and isinstance(row.get("number"), str)
        and isinstance(row.get("heading"), str)
    )


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _named(values: object) -> list[tuple[str, Any]]:
    return [(clean(str(name)[:64]), value) for name, value in list(_mapping(values).items())[:MAX_NAMES]]


def _word(value: object) -> str | None:
    return _text(value, 64) if isinstance(value, str) else None


def _text(value: object, most: int) -> str:
    return clean(value[:most]) if isinstance(value, str) else ""


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _FIELD.fullmatch(value) is not None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def _is_page(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 < value < MAX_NUMBER


def _box(value: object) -> list[float] | None:
    """Four edges as shares of a page, or None."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    for edge in value:
        if type(edge) not in _NUMBERS or not 0 <= edge <= 1:
            return None
    return [round(edge, 4) for edge in value]
