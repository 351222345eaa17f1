"""Pages, lines and clauses in the database: written inside a transaction that the queue has fenced, read to resume.

Fields and checks are unpacked from an attempt's result by the database, in the statement that accepts it.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Engine, text

from pipeline.attachments import Parent
from pipeline.documents.text import Page, Source, clean, identifiers
from pipeline.found import MAX_VALUE_CHARACTERS, Found
from pipeline.kept import LAST_PAGES, WHOLE_CHARACTERS
from pipeline.queue.model import Claim

MAX_PAGE_CHARACTERS = 8_000_000  # twice what a child sends: cleaning may lengthen a text
MAX_STATEMENT_CHARACTERS = 8_000_000

# One statement for many pages: the price of a statement is that of five pages.
_WRITE_PAGES = text(
    """
    INSERT INTO pages
        (task_id, page_no, attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures, places)
    SELECT
        task_id, page_no, attempt_no, text, layout, source, engine, error, seconds, identifiers, note, figures,
        decode(places, 'base64')
    FROM json_to_recordset(CAST(:pages AS json)) AS given (
        task_id bigint,
        attempt_no integer,
        page_no integer,
        text text,
        layout text,
        source text,
        engine text,
        error text,
        seconds double precision,
        identifiers text,
        note text,
        figures jsonb,
        places text
    )
    ON CONFLICT (task_id, page_no) DO UPDATE
    SET attempt_no = excluded.attempt_no, text = excluded.text, layout = excluded.layout, source = excluded.source,
        engine = excluded.engine, error = excluded.error, seconds = excluded.seconds,
        identifiers = excluded.identifiers, note = excluded.note, figures = excluded.figures,
        places = excluded.places
    """
)
_WRITE_GROUPS = text(
    """
    INSERT INTO field_groups (task_id, attempt_no, name, number, cells)
    SELECT task_id, attempt_no, name, number, cells
    FROM json_to_recordset(CAST(:rows AS json)) AS given (
        task_id bigint,
        attempt_no integer,
        name text,
        number integer,
        cells jsonb
    )
    ON CONFLICT DO NOTHING
    """
)
_WRITE_CLAUSES = text(
    """
    INSERT INTO clauses
        (task_id, attempt_no, clause_no, number, level, heading, page, starts_at, end_page, ends_at, tags)
    SELECT
        task_id, attempt_no, clause_no, number, level, heading, page, starts_at, end_page, ends_at,
        ARRAY(SELECT json_array_elements_text(tags))
    FROM json_to_recordset(CAST(:rows AS json)) AS given (
        task_id bigint,
        attempt_no integer,
        clause_no integer,
        number text,
        level integer,
        heading text,
        page integer,
        starts_at integer,
        end_page integer,
        ends_at integer,
        tags json
    )
    ON CONFLICT DO NOTHING
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
        COALESCE(figures, '{}') AS figures,
        CASE WHEN has_text THEN places END AS places
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
_FROM_TASKS = """
    SELECT
        tasks.task_id,
        documents.sha256,
        documents.name,
        documents.document_id,
        documents.root_document_id,
        documents.depth,
        documents.batch,
        tasks.priority,
        tree.documents AS tree_documents,
        tree.bytes AS tree_bytes,
        EXISTS (SELECT FROM corrections WHERE subject = 'field') AS has_memory
    FROM tasks
    JOIN documents USING (document_id)
    CROSS JOIN LATERAL (
        SELECT count(*) AS documents, CAST(COALESCE(sum(below.byte_count), 0) AS bigint) AS bytes
        FROM documents AS below
        WHERE below.root_document_id = COALESCE(documents.root_document_id, documents.document_id)
            AND below.parent_document_id IS DISTINCT FROM documents.document_id
    ) AS tree
"""
_ORIGIN = text(_FROM_TASKS + "WHERE tasks.task_id = :task_id")
_ORIGINS_AT_THE_TOP = text(
    _FROM_TASKS + "WHERE tasks.task_id = ANY (CAST(:task_ids AS bigint[])) AND documents.root_document_id IS NULL"
)


@dataclass(frozen=True, slots=True)
class Material:
    """What an attempt starts from: the document's bytes by hash, its name, what is read, and what to keep away from.

    `stored` are the pages that are done, from page 1 without a hole, as a handler sees them; the first `whole` of them
    are whole. `tree_documents` and `tree_bytes` count all files that came inside the same document at the top, so far,
    but those that this one holds itself: it is about to count them again. `has_memory`: people have corrected fields.
    """

    sha256: str
    name: str
    parent: Parent
    tree_documents: int = 0
    tree_bytes: int = 0
    has_memory: bool = False
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
            fresh = _material(connection.execute(_ORIGIN, {"task_id": claim.task_id}).one())
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

    def materials(self, claims: Sequence[Claim]) -> dict[int, Material]:
        """Material by task, of those whose is quickly told: nothing of them is read, and they came inside nothing.

        What came inside another document must be asked for when it is begun, as others may have added to their tree.
        """
        ids = [claim.task_id for claim in claims if claim.attempt_no == 1]
        with self._engine.connect() as connection:
            rows = connection.execute(_ORIGINS_AT_THE_TOP, {"task_ids": ids}).all() if ids else []
        return {row.task_id: _material(row) for row in rows}

    def write_pages(self, connection: Connection, claim: Claim, pages: Sequence[Page]) -> None:
        """Store finished pages inside the queue's fenced transaction. Writing a page again is harmless."""
        self.write_all_pages(connection, [(claim, pages)])

    def write_all_pages(self, connection: Connection, finished: Sequence[tuple[Claim, Sequence[Page]]]) -> None:
        """As `write_pages`, of many attempts in one statement."""
        for rows in _statements(_row(claim, page.storable()) for claim, pages in finished for page in pages):
            connection.execute(_WRITE_PAGES, {"pages": f"[{','.join(rows)}]"})

    def write_found(self, connection: Connection, claim: Claim, found: Found) -> None:
        """Store lines, taxes, parties and clauses inside the completing transaction. Writing them again is harmless."""
        self.write_all_found(connection, [(claim, found)])

    def write_all_found(self, connection: Connection, finished: Sequence[tuple[Claim, Found]]) -> None:
        """As `write_found`, of many attempts in one statement a kind."""
        groups = [{**_ids(claim), **row} for claim, found in finished for row in found.groups]
        clauses = [{**_ids(claim), **row} for claim, found in finished for row in found.clauses]
        for statement, rows in ((_WRITE_GROUPS, groups), (_WRITE_CLAUSES, clauses)):
            if rows:
                connection.execute(statement, {"rows": json.dumps(rows, ensure_ascii=False)})


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
    return Material(row.sha256, row.name, parent, row.tree_documents, row.tree_bytes, row.has_memory)


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
        places=row.places or b"",
    )


def _figures(given: Mapping[str, float | str]) -> dict[str, float | str | None]:
    return {
        clean(name): clean(value) if isinstance(value, str) else value
        for name, value in given.items()
        if isinstance(value, str) or math.isfinite(value)
    }


def _ids(claim: Claim) -> dict[str, int]:
    return {"task_id": claim.task_id, "attempt_no": claim.attempt_no}


def _row(claim: Claim, page: Page) -> str:
    return json.dumps(
        {
            **_ids(claim),
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
            "places": base64.b64encode(page.places).decode("ascii") if page.places else None,
        },
        ensure_ascii=False,
    )
