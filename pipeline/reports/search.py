"""Find pages by words, by parts of numbers and by amounts, in one ranked list; or documents by filters alone.

Full text finds words. It does not find 0042 in INV-2026-0042, so every token of the query with a digit is also looked
up, normalised, inside the page's identifiers; an amount is looked up by its value among the page's amounts. Each way
has a GIN index. Only the newest task of a document counts.

Digits stand inside many numbers by accident, so a hit ranks by where it stands: a whole identifier or amount before the
end of an identifier, its end (a running number) before its beginning, and anywhere else last. Words come after numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, TextClause, text

from pipeline.errors import UsageProblem
from pipeline.reports.search_filters import DATED, DOCUMENT_TYPE, JOINS, Filters
from pipeline.reports.search_query import Number, Query, parse
from pipeline.reports.snippets import ABSENT, END, INSIDE, START, WHOLE, around_number, around_words

# Pages that are ranked, the newest ones that were found in each way.
MOST_RANKED = 20_000

# <numbers> is replaced by one LIKE for each number: an array of patterns would not use the index. <distance> is how far
# the page's identifiers are from being the numbers; it is NULL for a page found by words, and so sorts last.
# <words> is the query as a tsquery, <within> what filters ask of the document, and <most> bounds what a word costs that
# stands on nearly every page. left(…, 100000) is what pages.search was built from.
_SEARCH = """
    WITH by_words AS MATERIALIZED (
        SELECT
            pages.task_id,
            pages.page_no,
            CAST(NULL AS integer) AS distance,
            ts_rank_cd(pages.search, <words>) AS rank
        FROM (
            SELECT task_id, page_no, search
            FROM pages
            WHERE pages.search @@ <words><within>
            ORDER BY task_id DESC
            LIMIT <most>
        ) AS pages
    ),
    by_numbers AS MATERIALIZED (
        SELECT
            pages.task_id,
            pages.page_no,
            <distance> AS distance,
            1.0 AS rank
        FROM (
            SELECT task_id, page_no, amounts, spaced
            FROM pages
            CROSS JOIN LATERAL (SELECT ' ' || pages.identifiers || ' ' AS spaced) AS all_of_it
            WHERE <numbers><within>
            ORDER BY task_id DESC
            LIMIT <most>
        ) AS pages
    ),
    hits AS MATERIALIZED (
        SELECT task_id, page_no, min(distance) AS distance, max(rank) AS rank
        FROM (SELECT * FROM by_words UNION ALL SELECT * FROM by_numbers) AS found
        GROUP BY task_id, page_no
    ),
    best AS MATERIALIZED (
        SELECT hits.*, documents.document_id, documents.name, <document type> AS document_type
        FROM hits
        JOIN tasks ON tasks.task_id = hits.task_id
        JOIN documents ON documents.document_id = tasks.document_id
        <joins>
        WHERE NOT EXISTS (
                SELECT
                FROM tasks AS newer
                WHERE newer.document_id = tasks.document_id
                    AND newer.task_id > tasks.task_id
            )
        ORDER BY hits.distance, hits.rank DESC, documents.document_id DESC, hits.page_no
        LIMIT CAST(:limit AS bigint)
    )
    SELECT
        best.document_id,
        best.name,
        best.document_type,
        best.page_no,
        best.distance,
        CASE WHEN best.distance IS NULL THEN left(pages.text, 100000) ELSE pages.text END AS text
    FROM best
    JOIN pages ON pages.task_id = best.task_id AND pages.page_no = best.page_no
    ORDER BY best.distance, best.rank DESC, best.document_id DESC, best.page_no
"""
# What the documents must be is asked before the newest pages are taken.
_WITHIN = """
                AND pages.task_id IN (
                    SELECT tasks.task_id
                    FROM tasks
                    JOIN documents ON documents.document_id = tasks.document_id
                    <joins>
                    WHERE <filters>
                )"""
_LIST = """
    SELECT
        documents.document_id,
        documents.name,
        <document type> AS document_type,
        <date> AS date,
        COALESCE(current_invoices.seller_name, current_contracts.parties) AS seller,
        current_invoices.total_gross,
        current_invoices.currency
    FROM documents
    JOIN tasks ON tasks.document_id = documents.document_id
    <joins>
    WHERE NOT EXISTS (
            SELECT
            FROM tasks AS newer
            WHERE newer.document_id = tasks.document_id
                AND newer.task_id > tasks.task_id
        )
        AND <filters>
    ORDER BY date DESC, documents.document_id DESC
    LIMIT CAST(:limit AS bigint)
"""
_DISTANCE = f"""CASE
    WHEN <in amounts> OR strpos(spaced, ' ' || :number_<place> || ' ') > 0 THEN {WHOLE}
    WHEN strpos(spaced, :number_<place> || ' ') > 0 THEN {END}
    WHEN strpos(spaced, ' ' || :number_<place>) > 0 THEN {START}
    WHEN strpos(spaced, :number_<place>) > 0 THEN {INSIDE}
    ELSE {ABSENT}
END"""
_IN_AMOUNTS = "COALESCE(pages.amounts @> ARRAY[CAST(:amount_<place> AS numeric)], false)"


def search(
    engine: Engine, words: str, *, filters: Filters | None = None, limit: int = 50
) -> Sequence[Mapping[str, Any]]:
    """The best pages: by numbers, the nearest to whole ones first, then by words. Raises UsageProblem."""
    query = parse(words)
    statement, values = compiled(query, filters or Filters())
    with engine.connect() as connection:
        found = connection.execute(statement, {**values, "limit": limit})
        return [_hit(dict(row._mapping), query) for row in found]


def listed(engine: Engine, filters: Filters, *, limit: int = 50) -> Sequence[Mapping[str, Any]]:
    """The documents that the filters let through, one row each, the newest date first. Raises UsageProblem."""
    if not filters.values:
        raise UsageProblem("say what to look for: words, a number, or a filter such as --seller acme")
    statement = _statement(_LIST, filters)
    with engine.connect() as connection:
        return [dict(row._mapping) for row in connection.execute(statement, {**filters.values, "limit": limit})]


def compiled(query: Query, filters: Filters) -> tuple[TextClause, dict[str, Any]]:
    """The statement for a query and its values, but `limit`."""
    values: dict[str, Any] = {"query": query.words, **filters.values}
    conditions = []
    for place, number in enumerate(query.numbers):
        conditions.append(f"({_condition(number).replace('<place>', str(place))})")
        if number.identifier:
            values |= {f"pattern_{place}": f"%{number.identifier}%", f"number_{place}": number.identifier}
        if number.amount is not None:
            values[f"amount_{place}"] = number.amount
    clause = f"({(' OR ' if query.any_number else ' AND ').join(conditions)})" if conditions else "false"
    if conditions and query.rest:
        clause += f" AND pages.search @@ {_tsquery('rest', query)}"
        values["rest"] = query.rest
    for place, (word, other) in enumerate(query.spellings):
        values |= {f"word_{place}": word, f"other_{place}": other}
    parts = {
        "<words>": _tsquery("query", query),
        "<numbers>": clause,
        "<distance>": _distance(query),
    }
    return _statement(_SEARCH, filters, parts), values


def _statement(template: str, filters: Filters, parts: Mapping[str, str] | None = None) -> TextClause:
    common = {
        "<within>": _WITHIN if filters.values else "",
        "<most>": str(MOST_RANKED),
        "<filters>": filters.conditions,
        "<joins>": JOINS,
        "<document type>": DOCUMENT_TYPE,
        "<date>": DATED,
    }
    for name, part in {**common, **(parts or {})}.items():
        template = template.replace(name, part)
    return text(template)


def _tsquery(name: str, query: Query) -> str:
    """SQL for a part of the query with its words folded, each found in its other spelling too."""
    sql = f"websearch_to_tsquery('simple', folded(:{name}))"
    for place in range(len(query.spellings)):
        word, other = (f"plainto_tsquery('simple', :{each}_{place})" for each in ("word", "other"))
        sql = f"ts_rewrite({sql}, {word}, {word} || {other})"
    return sql


def _condition(number: Number) -> str:
    """SQL that lets both indexes answer: each side of the OR is a condition of one of them."""
    sides = []
    if number.identifier:
        whole = " AND strpos(spaced, ' ' || :number_<place> || ' ') > 0" if number.is_whole else ""
        sides.append(f"pages.identifiers LIKE :pattern_<place>{whole}")
    if number.amount is not None:
        sides.append("pages.amounts @> ARRAY[CAST(:amount_<place> AS numeric)]")
    return " OR ".join(sides)


def _distance(query: Query) -> str:
    """SQL for how far a page is from the query's numbers: from the nearest if one is enough, else from all together."""
    each = [_number_distance(number).replace("<place>", str(place)) for place, number in enumerate(query.numbers)]
    if not each:
        return "0"
    return f"LEAST({', '.join(each)})" if query.any_number else " + ".join(each)


def _number_distance(number: Number) -> str:
    if not number.identifier:
        return f"CASE WHEN {_IN_AMOUNTS} THEN {WHOLE} ELSE {ABSENT} END"
    return _DISTANCE.replace("<in amounts>", "false" if number.amount is None else _IN_AMOUNTS)


def _hit(row: dict[str, Any], query: Query) -> dict[str, Any]:
    page_text, distance = row.pop("text"), row.pop("distance")
    if distance is None:
        return {**row, "found_by": "words", "snippet": around_words(page_text, query.marked)}
    numbers = [each.identifier for each in query.numbers if each.identifier]
    values = {each.amount for each in query.numbers if each.amount is not None}
    return {**row, "found_by": "number", "snippet": around_number(page_text, numbers, values)}
