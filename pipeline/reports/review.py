"""What a person should look at, and what they say about it: corrections, which are only ever added.

A judgement is one row of `corrections`; the database overlays it on the result in force at once, and on every later
result of the document. How doubtful a field must be to be asked about is `review.accept_at`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError

from pipeline.documents.text import Page
from pipeline.errors import NothingMatched, UsageProblem
from pipeline.found import GROUPS, is_amount, is_date
from pipeline.handling import Field
from pipeline.reading import amounts, dates
from pipeline.reading.places.placing import place
from pipeline.reading.rows import fold, squeeze
from pipeline.reports.queries import Row

MOST_ROWS = 2**31 - 1  # what a column holds
SHOWN_PAGES = 20  # that are looked through for a value which somebody typed
_TYPES = {"invoice": "current_invoices", "contract": "current_contracts"}
_NOT_FIELDS = {"document_id", "number_key", "seller_key", "vat_key", "iban_key", "expiration_method", "notice_by"}

_THRESHOLD = text("SELECT set_config('doclease.review_accept_at', CAST(:accept_at AS text), true)")
_DOCUMENTS = text("""
    SELECT *
    FROM review_documents
    WHERE CAST(:type AS text) IS NULL OR document_type = :type
    LIMIT CAST(:limit AS bigint)
""")
_WAITING = text("SELECT count(*) FROM review_documents WHERE CAST(:type AS text) IS NULL OR document_type = :type")
_DOUBTS = text("""
    SELECT item, field, value, printed, confidence, method, page, snippet, why
    FROM review_queue
    WHERE document_id = :document_id
""")
_DOCUMENT = text("SELECT document_id, task_id, document_type FROM current_results WHERE document_id = :document_id")
_NAMES = text("""
    SELECT column_name AS name
    FROM information_schema.columns
    WHERE table_schema = current_schema()
        AND table_name = :table
    UNION
    SELECT field
    FROM fields_v
    WHERE document_id = :document_id
        AND group_name = ''
""")
_CHECKS = text('SELECT "check" FROM checks_v WHERE document_id = :document_id')
_PAGES = text("""
    SELECT page_no, text, COALESCE(layout, text) AS layout
    FROM pages
    WHERE task_id = :task_id
        AND (CAST(:page AS integer) IS NULL OR page_no = :page)
    ORDER BY page_no
    LIMIT :pages
""")
_ADD = text("""
    INSERT INTO corrections (document_id, subject, group_name, group_no, name, action, value, page, snippet, by_whom)
    VALUES (:document_id, :subject, :group_name, :group_no, :name, :action, :value, :page, :snippet, :by_whom)
""")


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A document to look at, what is doubtful in it, and how many more wait."""

    document: Row
    doubts: Sequence[Row]
    waiting: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody says of a field, a cell of a group (`lines.2.net_amount`), a check or a document: a correction."""

    action: str
    name: str = ""
    subject: str = "field"
    group_name: str = ""
    group_no: int = 0
    value: str | None = None
    page: int | None = None
    snippet: str | None = None


def accept_from(connection: Connection, accept_at: float) -> None:
    """Let the views of this transaction call doubtful what is less sure than that."""
    connection.execute(_THRESHOLD, {"accept_at": accept_at})


def documents(engine: Engine, *, accept_at: float, document_type: str | None = None, limit: int = 50) -> Sequence[Row]:
    """The documents that wait for a person, in the order in which they should be looked at."""
    with engine.connect() as connection:
        accept_from(connection, accept_at)
        found = connection.execute(_DOCUMENTS, {"type": document_type, "limit": limit})
        return [dict(row._mapping) for row in found]


def doubtful(engine: Engine, *, accept_at: float, document_type: str | None = None) -> Doubtful:
    """The document to look at first. Raises NothingMatched when none waits."""
    with engine.connect() as connection:
        accept_from(connection, accept_at)
        first = connection.execute(_DOCUMENTS, {"type": document_type, "limit": 1}).one_or_none()
        if first is None:
            raise NothingMatched("nothing waits for a person")
        waiting = connection.execute(_WAITING, {"type": document_type}).scalar_one()
        return Doubtful(dict(first._mapping), _doubts(connection, first.document_id), waiting - 1)


def accept(engine: Engine, document_id: int, names: Sequence[str], *, by_whom: str, accept_at: float) -> list[str]:
    """Say that fields are right as they are and checks need nobody; without names, all that is doubtful.

    Returns what was accepted. A field that was not found and is accepted is not printed. Raises NothingMatched for a
    document without a result or without a doubt, UsageProblem for a name that it does not have.
    """
    with engine.begin() as connection:
        accept_from(connection, accept_at)
        known = _known(connection, document_id)
        checks = set(connection.execute(_CHECKS, {"document_id": document_id}).scalars())
        chosen = list(names) or [row["field"] for row in _doubts(connection, document_id)]
        if not chosen:
            raise NothingMatched(f"nothing is doubtful in document {document_id}")
        for name in chosen:
            is_check = name in checks
            made = Judgement("accept", name, "check") if is_check else _of_field(name, known, "accept")
            _add(connection, document_id, made, by_whom)
    return chosen


def fix(
    engine: Engine, document_id: int, changes: Mapping[str, str], *, by_whom: str, page: int | None = None
) -> dict[str, str | None]:
    """Say what is right: values by name, an empty one for what is not there. Returns them in normal form.

    Amounts and dates may be written as they are printed where that is clear. Raises NothingMatched for a document
    without a result, UsageProblem for a name or a value that cannot be; then nothing is changed.
    """
    with engine.begin() as connection:
        known = _known(connection, document_id)
        made = [_of_field(name, known, "fix") for name in changes]
        values = {
            each.name: canonical(each.name, given) if given.strip() else None
            for each, given in zip(made, changes.values(), strict=True)
        }
        pages = _shown(connection, document_id, page)
        for judgement, value in zip(made, values.values(), strict=True):
            _add(connection, document_id, _right(judgement, value, page, pages), by_whom)
    return values


def skip(engine: Engine, document_id: int, *, by_whom: str) -> None:
    """Put a document off: it comes after all others. Raises NothingMatched for one without a result."""
    with engine.begin() as connection:
        _known(connection, document_id)
        _add(connection, document_id, Judgement("skip", subject="document"), by_whom)


def canonical(name: str, given: str) -> str:
    """A value as typed, in the normal form of that field. Raises UsageProblem where it could be meant two ways."""
    typed = squeeze(given, 2_000)
    if is_date(name):
        found = [date for date in dates.find_dates(fold(typed), day_first=True) if date.certain]
        if len(found) == 1 and found[0].end - found[0].start == len(typed):
            return found[0].value
        raise UsageProblem(f"{name} is a date; write it as YYYY-MM-DD, not {typed!r}")
    if is_amount(name):
        read = {amounts.plain(each.value) for comma in (True, False) for each in _whole(typed, comma=comma)}
        if len(read) == 1:
            return read.pop()
        raise UsageProblem(f"{name} is a number; write it like 1234.56, not {typed!r}")
    return typed


def _whole(typed: str, *, comma: bool) -> Iterable[amounts.FoundAmount]:
    """The amount that the whole of a text is, if it is one."""
    found = amounts.find_amounts(typed, comma=comma)
    return [each for each in found if each.end - each.start == len(typed)]


def _doubts(connection: Connection, document_id: int) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in connection.execute(_DOUBTS, {"document_id": document_id})]


def _known(connection: Connection, document_id: int) -> frozenset[str]:
    """The names of fields that a document may have. Raises NothingMatched."""
    found = connection.execute(_DOCUMENT, {"document_id": document_id}).one_or_none()
    if found is None:
        raise NothingMatched(f"document {document_id} has no result; `doclease documents list` shows what there is")
    values = {"table": _TYPES.get(found.document_type, ""), "document_id": document_id}
    return frozenset(connection.execute(_NAMES, values).scalars()) - _NOT_FIELDS


def _of_field(name: str, known: Iterable[str], action: str) -> Judgement:
    parts = name.split(".")
    if len(parts) == 3 and parts[0] in GROUPS and parts[1].isdecimal():
        return Judgement(action, parts[2], group_name=parts[0], group_no=min(int(parts[1]), MOST_ROWS))
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        meant = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(sorted(known))}"
        raise UsageProblem(f"no field is named {name!r}{meant}")
    return Judgement(action, name)


def _shown(connection: Connection, document_id: int, page: int | None) -> list[Page]:
    """The first pages of the result in force, or only the one that was said."""
    task_id = connection.execute(_DOCUMENT, {"document_id": document_id}).one().task_id
    found = connection.execute(_PAGES, {"task_id": task_id, "page": page, "pages": SHOWN_PAGES})
    return [Page(row.page_no, row.text, row.layout) for row in found]


def _right(judgement: Judgement, value: str | None, page: int | None, pages: Sequence[Page]) -> Judgement:
    """The judgement with what is right and where that is printed: page and line, or only the page that was said."""
    if value is None:
        return replace(judgement, action="remove", page=page)
    for shown in pages:
        printed, _ = place(Field(value, shown.number, ""), shown)
        line = next((line for line in shown.layout.split("\n") if printed and printed in line), None)
        if line is not None:
            return replace(judgement, value=value, page=shown.number, snippet=squeeze(line))
    return replace(judgement, value=value, page=page)


def _add(connection: Connection, document_id: int, judgement: Judgement, by_whom: str) -> None:
    try:
        connection.execute(_ADD, {**asdict(judgement), "document_id": document_id, "by_whom": by_whom})
    except IntegrityError as error:
        # The database's own words: what a correction must be is said there, for all who write one.
        raise UsageProblem(str(error.orig).partition("\n")[0]) from error
