"""Pages and results in the database: written only inside a transaction that the queue has fenced, read to resume.

What comes from a parser child is not trusted: text is cleaned again and every field is checked against its kind before
it is stored, so that one odd value can neither fail the document nor break a view.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, text

from pipeline.documents.text import Page, Source, clean, identifiers
from pipeline.queue.model import Claim

MAX_VALUE_CHARACTERS = 2_000
MAX_SNIPPET_CHARACTERS = 300
MAX_VALUES = 100
_AMOUNT = re.compile(r"-?\d{1,15}(\.\d{1,6})?")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,63}")

_WRITE_PAGES = text(
    """
    INSERT INTO pages (task_id, page_no, attempt_no, text, layout, source, engine, error, seconds, identifiers)
    VALUES (:task_id, :page_no, :attempt_no, :text, :layout, :source, :engine, :error, :seconds, :identifiers)
    ON CONFLICT (task_id, page_no) DO UPDATE
    SET attempt_no = excluded.attempt_no, text = excluded.text, layout = excluded.layout, source = excluded.source,
        engine = excluded.engine, error = excluded.error, seconds = excluded.seconds, identifiers = excluded.identifiers
    """
)
_STORED_PAGES = text(
    """
    SELECT page_no, text, COALESCE(layout, text) AS layout, source, engine, error, seconds
    FROM pages
    WHERE task_id = :task_id
    ORDER BY page_no
    """
)
_CRASHED_PAGES = text(
    """
    SELECT page_no, count(*) AS crashes, max(error) AS error
    FROM attempts
    WHERE task_id = :task_id AND outcome = 'crashed' AND page_no > 0
    GROUP BY page_no
    """
)
_ORIGIN = text("SELECT sha256, name FROM documents WHERE document_id = :document_id")


@dataclass(frozen=True, slots=True)
class Material:
    """What an attempt starts from: the document's bytes by hash, its name, what is read, and what to keep away from."""

    sha256: str
    name: str
    stored: tuple[Page, ...]
    skip: Mapping[int, str]


class Results:
    """Reads what an attempt needs, on its own connection; writes what it found, on the fenced one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def material(self, claim: Claim, *, skip_after_crashes: int = 2) -> Material:
        """What to start the claimed attempt from.

        Stored pages count only from page 1 without a hole. A page that took a child down `skip_after_crashes` times,
        the last time alone in its step, is to be skipped and named.
        """
        with self._engine.connect() as connection:
            origin = connection.execute(_ORIGIN, {"document_id": claim.document_id}).one()
            if claim.attempt_no == 1:
                return Material(origin.sha256, origin.name, (), {})
            stored = connection.execute(_STORED_PAGES, {"task_id": claim.task_id}).all()
            crashed = connection.execute(_CRASHED_PAGES, {"task_id": claim.task_id}).all()
        skip = {
            row.page_no: f"skipped: it took the parser down {row.crashes} times ({row.error})"
            for row in crashed
            if row.crashes >= skip_after_crashes
        }
        return Material(origin.sha256, origin.name, _without_holes([_page(row) for row in stored]), skip)

    def write_pages(self, connection: Connection, claim: Claim, pages: Sequence[Page]) -> None:
        """Store finished pages inside the queue's fenced transaction. Writing a page again is harmless."""
        if pages:
            connection.execute(_WRITE_PAGES, [_row(claim, page.storable()) for page in pages])


def checked_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """A child's result with everything left out that is not what it claims to be; `dropped` names what was.

    A field whose name ends in _date holds a real date, one named total_… or amount_… a plain decimal.
    """
    fields: dict[str, list[dict[str, Any]]] = {}
    dropped: list[str] = []
    given = result.get("fields")
    for name, found in (given if isinstance(given, dict) else {}).items():
        values = [_field(name, each) for each in found[:MAX_VALUES]] if isinstance(found, list) else []
        kept = [value for value in values if value is not None]
        if kept:
            fields[name] = kept
        if len(kept) < len(values):
            dropped.append(str(name)[:64])
    checks = result.get("checks")
    safe: dict[str, Any] = {
        "document_type": _word(result.get("document_type")),
        "handler": _word(result.get("handler")),
        "scores": _numbers(result.get("scores")),
        "fields": fields,
        "checks": {str(name): value for name, value in (checks or {}).items() if isinstance(value, bool)},
        "gaps": [number for number in result.get("gaps", []) if isinstance(number, int)],
    }
    if dropped:
        safe["dropped"] = dropped
    if result.get("handler_error"):
        safe["handler_error"] = clean(str(result["handler_error"]))[:MAX_VALUE_CHARACTERS]
    return safe


def _field(name: str, found: Any) -> dict[str, Any] | None:
    if not isinstance(found, dict) or not _FIELD.fullmatch(str(name)):
        return None
    value = clean(str(found.get("value", "")))[:MAX_VALUE_CHARACTERS].strip()
    if not value or not _is_canonical(name, value):
        return None
    confidence = found.get("confidence")
    return {
        "value": value,
        "page": found.get("page") if isinstance(found.get("page"), int) else None,
        "snippet": clean(str(found.get("snippet", "")))[:MAX_SNIPPET_CHARACTERS],
        "method": _word(found.get("method")),
        "confidence": min(max(float(confidence), 0.0), 1.0) if isinstance(confidence, int | float) else None,
    }


def _is_canonical(name: str, value: str) -> bool:
    if name.endswith("_date"):
        try:
            return len(value) == len("2026-01-31") and 1900 <= dt.date.fromisoformat(value).year <= 2200
        except ValueError:
            return False
    if name.startswith(("total_", "amount_")):
        return _AMOUNT.fullmatch(value) is not None
    return True


def _word(value: Any) -> str | None:
    return clean(value)[:64] if isinstance(value, str) else None


def _numbers(values: Any) -> dict[str, float]:
    given = values if isinstance(values, dict) else {}
    return {str(name)[:64]: float(value) for name, value in given.items() if isinstance(value, int | float)}


def _without_holes(pages: list[Page]) -> tuple[Page, ...]:
    whole = [page for expected, page in enumerate(pages, start=1) if page.number == expected]
    return tuple(whole)


def _page(row: Any) -> Page:
    return Page(
        number=row.page_no,
        text=row.text,
        layout=row.layout,
        source=Source(row.source),
        engine=row.engine,
        error=row.error,
        seconds=row.seconds,
    )


def _row(claim: Claim, page: Page) -> dict[str, Any]:
    return {
        "task_id": claim.task_id,
        "page_no": page.number,
        "attempt_no": claim.attempt_no,
        "text": page.text,
        "layout": page.layout if page.layout != page.text else None,
        "source": page.source.value,
        "engine": page.engine,
        "error": page.error,
        "seconds": page.seconds,
        "identifiers": identifiers(page.text),
    }
