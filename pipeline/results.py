"""Pages and results in the database: written only inside a transaction that the queue has fenced, read to resume.

What comes from a parser child is not trusted: text is cleaned again and every field is checked against its kind before
it is stored, so that one odd value can neither fail the document nor break a view.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from sqlalchemy import Connection, Engine, text

from pipeline.attachments import Parent
from pipeline.documents.text import Page, Source, clean, identifiers
from pipeline.kept import LAST_PAGES, WHOLE_CHARACTERS
from pipeline.queue.model import Claim

MAX_VALUE_CHARACTERS = 2_000
MAX_SNIPPET_CHARACTERS = 300
MAX_VALUES = 100
MAX_NAMES = 200  # of fields, checks or scores
MAX_GAPS = 100_000
MAX_PAGE_CHARACTERS = 8_000_000  # twice what a child sends: cleaning may lengthen a text
MAX_STATEMENT_CHARACTERS = 8_000_000
MAX_NUMBER = 1e9
# Only ASCII digits, and no other form of ISO 8601: what Python reads and PostgreSQL does not would break the views.
_AMOUNT = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,6})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,63}")

# One statement for many pages: the price of a statement is that of five pages.
_WRITE_PAGES = text(
    """
    INSERT INTO pages
        (task_id, page_no, attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures)
    SELECT
        :task_id, page_no, :attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures
    FROM json_to_recordset(CAST(:pages AS json)) AS given (
        page_no integer,
        text text,
        layout text,
        source text,
        engine text,
        error text,
        seconds double precision,
        identifiers text,
        note text,
        figures jsonb
    )
    ON CONFLICT (task_id, page_no) DO UPDATE
    SET attempt_no = excluded.attempt_no, text = excluded.text, layout = excluded.layout, source = excluded.source,
        engine = excluded.engine, error = excluded.error, seconds = excluded.seconds,
        identifiers = excluded.identifiers, note = excluded.note, figures = excluded.figures
    """
)
# What a handler sees of them, see kept.py: in the middle of a very long document their text is left where it is.
_STORED_PAGES = text(
    """
    WITH stored AS (
        SELECT
            page_no,
            row_number() OVER (ORDER BY page_no) = page_no AS follows,
            sum(length(text) + COALESCE(length(layout), 0)) OVER (ORDER BY page_no) <= :whole_characters AS is_whole
        FROM pages
        WHERE task_id = :task_id
    ),
    kept AS (
        SELECT page_no, is_whole, is_whole OR page_no > max(page_no) OVER () - :last_pages AS has_text
        FROM stored
        WHERE follows
    )
    SELECT
        page_no,
        is_whole,
        CASE WHEN has_text THEN text ELSE '' END AS text,
        CASE WHEN has_text THEN COALESCE(layout, text) ELSE '' END AS layout,
        source,
        engine,
        error,
        seconds,
        COALESCE(note, '') AS note,
        COALESCE(figures, '{}') AS figures
    FROM pages
    JOIN kept USING (page_no)
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
_ORIGIN = text(
    """
    SELECT
        documents.sha256,
        documents.name,
        documents.document_id,
        documents.root_document_id,
        documents.depth,
        documents.batch,
        tasks.priority,
        tree.documents AS tree_documents,
        tree.bytes AS tree_bytes
    FROM documents
    JOIN tasks ON tasks.task_id = :task_id
    CROSS JOIN LATERAL (
        SELECT count(*) AS documents, CAST(COALESCE(sum(below.byte_count), 0) AS bigint) AS bytes
        FROM documents AS below
        WHERE below.root_document_id = COALESCE(documents.root_document_id, documents.document_id)
            AND below.parent_document_id IS DISTINCT FROM documents.document_id
    ) AS tree
    WHERE documents.document_id = :document_id
    """
)


@dataclass(frozen=True, slots=True)
class Material:
    """What an attempt starts from: the document's bytes by hash, its name, what is read, and what to keep away from.

    `stored` are the pages that are done, from page 1 without a hole, as a handler sees them; the first `whole` of them
    are whole. `tree_documents` and `tree_bytes` count all files that came inside the same document at the top, so far,
    but those that this one holds itself: it is about to count them again.
    """

    sha256: str
    name: str
    parent: Parent
    tree_documents: int = 0
    tree_bytes: int = 0
    stored: tuple[Page, ...] = ()
    whole: int = 0
    skip: Mapping[int, str] = field(default_factory=dict)


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
            values = {"document_id": claim.document_id, "task_id": claim.task_id}
            fresh = _material(connection.execute(_ORIGIN, values).one())
            if claim.attempt_no == 1:
                return fresh
            bounds = {"whole_characters": WHOLE_CHARACTERS, "last_pages": LAST_PAGES}
            stored = connection.execute(_STORED_PAGES, {"task_id": claim.task_id, **bounds}).all()
            crashed = connection.execute(_CRASHED_PAGES, {"task_id": claim.task_id}).all()
        skip = {
            row.page_no: f"skipped: it took the parser down {row.crashes} times ({row.error})"
            for row in crashed
            if row.crashes >= skip_after_crashes
        }
        whole = sum(row.is_whole for row in stored)
        return replace(fresh, stored=tuple(_page(row) for row in stored), whole=whole, skip=skip)

    def write_pages(self, connection: Connection, claim: Claim, pages: Sequence[Page]) -> None:
        """Store finished pages inside the queue's fenced transaction. Writing a page again is harmless."""
        for rows in _statements(_row(page.storable()) for page in pages):
            values = {"task_id": claim.task_id, "attempt_no": claim.attempt_no, "pages": f"[{','.join(rows)}]"}
            connection.execute(_WRITE_PAGES, values)


def checked_result(result: object) -> dict[str, Any]:
    """A child's result with everything left out that is not what it claims to be; `dropped` names what was.

    A field whose name ends in _date holds a real date, one named total_… or amount_… a plain decimal. Never raises.
    """
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
    text = given.get("value")
    if not isinstance(text, str) or not _FIELD.fullmatch(name):
        return None
    value = clean(text[:MAX_VALUE_CHARACTERS]).strip()
    if not value or not _is_canonical(name, value):
        return None
    snippet, confidence, page = given.get("snippet"), given.get("confidence"), given.get("page")
    return {
        "value": value,
        "page": page if _is_page(page) else None,
        "snippet": clean(snippet[:MAX_SNIPPET_CHARACTERS]) if isinstance(snippet, str) else "",
        "method": _word(given.get("method")),
        "confidence": min(max(confidence, 0), 1) if _is_number(confidence) else None,
    }


def _is_canonical(name: str, value: str) -> bool:
    if name.endswith("_date"):
        try:
            return _DATE.fullmatch(value) is not None and 1900 <= dt.date.fromisoformat(value).year <= 2200
        except ValueError:
            return False
    if name.startswith(("total_", "amount_")):
        return _AMOUNT.fullmatch(value) is not None
    return True


def _mapping(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _named(values: object) -> list[tuple[str, Any]]:
    return [(clean(str(name)[:64]), value) for name, value in list(_mapping(values).items())[:MAX_NAMES]]


def _word(value: object) -> str | None:
    return clean(value[:64]) if isinstance(value, str) else None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_NUMBER


def _is_page(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < MAX_NUMBER


def _statements(rows: Iterable[str]) -> Iterator[list[str]]:
    """The rows that go into one statement, up to what a value of PostgreSQL can hold many times over."""
    together: list[str] = []
    size = 0
    for row in rows:
        together.append(row)
        size += len(row)
        if size > MAX_STATEMENT_CHARACTERS:
            yield together
            together, size = [], 0
    if together:
        yield together


def _material(row: Any) -> Material:
    parent = Parent(row.document_id, row.root_document_id, row.depth, row.batch, row.priority)
    return Material(row.sha256, row.name, parent, row.tree_documents, row.tree_bytes)


def _page(row: Any) -> Page:
    return Page(
        number=row.page_no,
        text=row.text,
        layout=row.layout,
        source=Source(row.source),
        engine=row.engine,
        error=row.error,
        seconds=row.seconds,
        note=row.note,
        figures=row.figures,
    )


def _figures(given: Mapping[str, float | str]) -> dict[str, float | str | None]:
    return {
        clean(name): clean(value) if isinstance(value, str) else value
        for name, value in given.items()
        if isinstance(value, str) or math.isfinite(value)
    }


def _row(page: Page) -> str:
    return json.dumps(
        {
            "page_no": page.number,
            "text": page.text[:MAX_PAGE_CHARACTERS],
            "layout": page.layout[:MAX_PAGE_CHARACTERS] if page.layout != page.text else None,
            "source": page.source.value,
            "engine": clean(page.engine),
            "error": page.error and page.error[:MAX_VALUE_CHARACTERS],
            "seconds": page.seconds if math.isfinite(page.seconds) else 0.0,
            "identifiers": clean(identifiers(page.text)),
            "note": page.note[:MAX_VALUE_CHARACTERS] or None,
            "figures": _figures(page.figures) if page.figures else None,
        },
        ensure_ascii=False,
    )
