"""Find pages by their words and by parts of their numbers, in one ranked list.

Full text finds words. It does not find 0042 in INV-2026-0042, so every token of the query with a digit is also looked
up, normalised, inside the page's identifiers. Both ways have a GIN index. Only the newest task of a document counts.

Digits stand inside many numbers by accident, so a hit ranks by where it stands: a whole identifier before the end of
one, its end (a running number) before its beginning, and anywhere else last. Words come after numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, TextClause, text

from pipeline.documents.text import identifier
from pipeline.errors import UsageProblem

SNIPPET_CHARACTERS = 160
# A trigram index needs three characters to look anything up.
SHORTEST_NUMBER = 3
MOST_NUMBERS = 8
_TOKEN = re.compile(r"\S+")
_SPACE = re.compile(r"\s+")
WHOLE, END, START, INSIDE, ABSENT = range(5)

# <numbers> is replaced by one LIKE for each number: an array of patterns would not use the index. <distance> is how far
# the page's identifiers are from being the numbers; it is NULL for a page found by words, and so sorts last.
# left(…, 100000) is what pages.search was built from.
_SEARCH = """
    WITH by_words AS MATERIALIZED (
        SELECT
            pages.task_id,
            pages.page_no,
            CAST(NULL AS integer) AS distance,
            ts_rank_cd(pages.search, websearch_to_tsquery('simple', :query)) AS rank
        FROM pages
        WHERE pages.search @@ websearch_to_tsquery('simple', :query)
    ),
    by_numbers AS MATERIALIZED (
        SELECT
            pages.task_id,
            pages.page_no,
            <distance> AS distance,
            1.0 AS rank
        FROM pages
        CROSS JOIN LATERAL (SELECT ' ' || pages.identifiers || ' ' AS spaced) AS all_of_it
        WHERE <numbers>
    ),
    hits AS MATERIALIZED (
        SELECT task_id, page_no, min(distance) AS distance, max(rank) AS rank
        FROM (SELECT * FROM by_words UNION ALL SELECT * FROM by_numbers) AS found
        GROUP BY task_id, page_no
    ),
    best AS MATERIALIZED (
        SELECT
            hits.*,
            documents.document_id,
            documents.name,
            COALESCE(accepted.result ->> 'document_type', NULLIF(tasks.handler, 'auto')) AS document_type
        FROM hits
        JOIN tasks ON tasks.task_id = hits.task_id
        JOIN documents ON documents.document_id = tasks.document_id
        LEFT JOIN attempts AS accepted ON accepted.task_id = tasks.task_id AND accepted.outcome = 'succeeded'
        WHERE NOT EXISTS (
                SELECT
                FROM tasks AS newer
                WHERE newer.document_id = tasks.document_id
                    AND newer.task_id > tasks.task_id
            )
            AND (
                CAST(:type AS text) IS NULL
                OR COALESCE(accepted.result ->> 'document_type', NULLIF(tasks.handler, 'auto')) = :type
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
        CASE WHEN best.distance IS NOT NULL THEN pages.text END AS text,
        CASE WHEN best.distance IS NULL THEN ts_headline(
            'simple',
            left(pages.text, 100000),
            websearch_to_tsquery('simple', :query),
            'StartSel=«, StopSel=», MaxWords=24, MinWords=12'
        ) END AS headline
    FROM best
    JOIN pages ON pages.task_id = best.task_id AND pages.page_no = best.page_no
    ORDER BY best.distance, best.rank DESC, best.document_id DESC, best.page_no
"""
_DISTANCE = f"""CASE
    WHEN strpos(spaced, ' ' || :number_<place> || ' ') > 0 THEN {WHOLE}
    WHEN strpos(spaced, :number_<place> || ' ') > 0 THEN {END}
    WHEN strpos(spaced, ' ' || :number_<place>) > 0 THEN {START}
    WHEN strpos(spaced, :number_<place>) > 0 THEN {INSIDE}
    ELSE {ABSENT}
END"""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: `words` in the syntax of a web search, `numbers` as identifiers are stored.

    A page found by its numbers holds all of them and also satisfies `rest`, the query without them; if `any_number`,
    one of them is enough.
    """

    words: str
    numbers: tuple[str, ...]
    rest: str
    any_number: bool = False


def parse(words: str) -> Query:
    """Read a query as typed. Raises UsageProblem for one that is empty or only excludes."""
    words = unicodedata.normalize("NFC", words)  # as pages are stored, whatever the keyboard sent
    tokens = _TOKEN.findall(words)
    if all(token.startswith("-") for token in tokens) or "\x00" in words:
        raise UsageProblem("say what to look for, e.g. doclease search 'acme 2026-0042'")
    numbers: list[str] = []
    rest: list[str] = []
    for token in tokens:
        # A leading minus excludes, as in a web search.
        number = "" if token.startswith("-") or not any(sign.isdigit() for sign in token) else identifier(token)
        if len(number) >= SHORTEST_NUMBER and len(numbers) < MOST_NUMBERS:
            numbers.append(number)
        else:
            rest.append(token)
    either = any(token.casefold() == "or" for token in tokens)
    return Query(words, tuple(numbers), "" if either else " ".join(rest), either)


def search(
    engine: Engine, words: str, *, document_type: str | None = None, limit: int = 50
) -> Sequence[Mapping[str, Any]]:
    """The best pages: by numbers, the nearest to whole ones first, then by words. Raises UsageProblem."""
    query = parse(words)
    statement, values = compiled(query)
    with engine.connect() as connection:
        found = connection.execute(statement, {**values, "type": document_type, "limit": limit})
        return [_hit(dict(row._mapping), query) for row in found]


def compiled(query: Query) -> tuple[TextClause, dict[str, Any]]:
    """The statement for a query and its values, but `type` and `limit`."""
    likes = [f"pages.identifiers LIKE :pattern_{place}" for place in range(len(query.numbers))]
    clause = f"({(' OR ' if query.any_number else ' AND ').join(likes)})" if likes else "false"
    if likes and query.rest:
        clause += " AND pages.search @@ websearch_to_tsquery('simple', :rest)"
    values: dict[str, Any] = {"query": query.words}
    for place, number in enumerate(query.numbers):
        values |= {f"pattern_{place}": f"%{number}%", f"number_{place}": number}
    if likes and query.rest:
        values["rest"] = query.rest
    return text(_SEARCH.replace("<numbers>", clause).replace("<distance>", _distance(query))), values


def _distance(query: Query) -> str:
    """SQL for how far a page is from the query's numbers: from the nearest if one is enough, else from all together."""
    each = [_DISTANCE.replace("<place>", str(place)) for place in range(len(query.numbers))]
    if not each:
        return "0"
    return f"LEAST({', '.join(each)})" if query.any_number else " + ".join(each)


def _hit(row: dict[str, Any], query: Query) -> dict[str, Any]:
    page_text, headline, distance = row.pop("text"), row.pop("headline"), row.pop("distance")
    by_words = distance is None
    return {
        **row,
        "found_by": "words" if by_words else "number",
        "snippet": _fold(headline) if by_words else around(page_text, query.numbers),
    }


def around(page_text: str, numbers: Sequence[str]) -> str:
    """The text around the token that is nearest to one of the numbers, that token marked, white space folded."""
    best, nearest = None, ABSENT
    for token in _TOKEN.finditer(page_text):
        found = identifier(token[0])
        away = min(distance(found, number) for number in numbers)
        if away < nearest:
            best, nearest = token, away
        if nearest == WHOLE:
            break
    if best is None:
        return _fold(page_text[:SNIPPET_CHARACTERS])
    side = max(0, (SNIPPET_CHARACTERS - len(best[0])) // 2)
    before = page_text[max(0, best.start() - side) : best.start()]
    return _fold(f"{before}«{best[0]}»{page_text[best.end() : best.end() + side]}")


def distance(found: str, number: str) -> int:
    """How far an identifier is from being the number: WHOLE, END, START, INSIDE or ABSENT."""
    if found == number:
        return WHOLE
    if found.endswith(number):
        return END
    if found.startswith(number):
        return START
    return INSIDE if number in found else ABSENT


def _fold(words: str) -> str:
    return _SPACE.sub(" ", words).strip()
