"""Words and parts of numbers are found, best first, through the indexes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from pipeline.documents.text import identifier, identifiers
from pipeline.errors import UsageProblem
from pipeline.queue.store import Queue
from pipeline.reports import search
from tests.stories import claim, finish
from tests.tasks import add_task


def found(engine: Engine, words: str) -> list[tuple[str, int, str]]:
    return [(row["name"], row["page_no"], row["found_by"]) for row in search.search(engine, words)]


@pytest.mark.parametrize(
    "words",
    [
        "0042",
        "2026-0042",
        "inv20260042",
        "INV-2026-0042",
        "inv/2026/0042",
        "acme 0042",
        "acme invoice",
        '"to acme"',
        "nothing 0099 or 0042",
        "0042 -other",
    ],
)
def test_an_invoice_is_found_by_any_part_of_its_number(engine: Engine, queue: Queue, words: str) -> None:
    finish(engine, queue, ["Cover", "Invoice INV-2026-0042 to Acme Ltd"], name="a.pdf")
    finish(engine, queue, ["Invoice INV-2026-0107 to Other Ltd"], name="b.pdf")
    assert [hit[:2] for hit in found(engine, words)] == [("a.pdf", 2)]


@pytest.mark.parametrize("words", ["0042 other", "0042 0107", "acme -invoice", "0042 -acme", "42 acm", "0043"])
def test_a_page_that_lacks_a_part_of_the_query_is_not_found(engine: Engine, queue: Queue, words: str) -> None:
    finish(engine, queue, ["Invoice INV-2026-0042 to Acme Ltd"], name="a.pdf")
    assert found(engine, words) == []


def test_whole_numbers_come_before_parts_and_parts_before_words(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["nothing"], name="none")
    finish(engine, queue, ["see no. 4711 x, 4711 y"], name="whole")
    finish(engine, queue, ["order AB4711-9"], name="part")
    assert found(engine, "4711") == [("whole", 1, "number"), ("part", 1, "number")]
    finish(engine, queue, ["seven of nine"], name="rare")
    finish(engine, queue, ["nine nine nine seven"], name="often")
    assert [hit[2] for hit in found(engine, "nine")] == ["words", "words"]
    assert found(engine, "nine")[0][0] == "often"


def test_a_number_that_ends_in_the_digits_comes_before_one_that_merely_holds_them(engine: Engine, queue: Queue) -> None:
    for place in ("HB-2026-0417", "0417-A", "404178", "Ref 0417", "no such thing"):
        finish(engine, queue, [f"The number is {place} here"], name=place)
    names = [name for name, _, _ in found(engine, "0417")]
    assert names == ["Ref 0417", "HB-2026-0417", "0417-A", "404178"]


def test_all_numbers_of_a_query_count_for_the_rank(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["4711 of 9908157"], name="one whole, one inside")
    finish(engine, queue, ["4711 of 2026-0815"], name="one whole, one at the end")
    assert [hit[0] for hit in found(engine, "4711 0815")] == ["one whole, one at the end", "one whole, one inside"]
    finish(engine, queue, ["550815999"], name="one inside, one absent")
    for words in ("4711 or 0815", "0815 or 4711"):
        assert found(engine, words)[-1][0] == "one inside, one absent"


def test_the_snippet_shows_the_best_hit_of_the_page(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["account 404178 " + "word " * 60 + "invoice HB-2026-0417"])
    (hit,) = search.search(engine, "0417")
    assert "«HB-2026-0417»" in hit["snippet"]
    assert "«404178»" not in hit["snippet"]


@given(st.text("0a", max_size=4), st.text("0a", min_size=1, max_size=3))
def test_the_nearer_a_number_the_smaller_its_distance(found: str, number: str) -> None:
    away = search.distance(found, number)
    assert (away == search.WHOLE) == (found == number)
    assert (away == search.ABSENT) == (number not in found)
    assert (away <= search.END) == found.endswith(number)
    assert (away == search.START) == (found.startswith(number) and not found.endswith(number))


def test_the_snippet_shows_the_hit(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["start " * 200 + "the  number\nRE-2026-0042 is here " + "end " * 200])
    (hit,) = search.search(engine, "0042")
    assert "the number «RE-2026-0042» is here" in hit["snippet"]
    (hit,) = search.search(engine, "here")
    assert "«here»" in hit["snippet"]
    assert len(hit["snippet"]) < 400


def test_the_limit_keeps_the_best(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["part AB4711-9 4711x", "other", "whole 4711"])
    assert [row["page_no"] for row in search.search(engine, "4711", limit=1)] == [3]


@pytest.mark.parametrize("words", ["", "  ", "\x00", "-0042", "-a -b"])
def test_a_query_must_ask_for_something(words: str) -> None:
    with pytest.raises(UsageProblem, match="say what to look for"):
        search.parse(words)


@given(st.from_regex(r"([A-Z]{1,4}[-/.]?)?[0-9]{3,10}", fullmatch=True), st.text(alphabet=" abcXYZ\n", max_size=40))
def test_what_a_query_looks_up_is_how_pages_store_it(number: str, around: str) -> None:
    page_text = f"{around} {number} {around}"
    (wanted,) = search.parse(number).numbers
    assert wanted == identifier(number)
    assert wanted in identifiers(page_text)
    assert f"«{number}»" in search.around(page_text, [wanted])


@given(st.text(min_size=1, alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_any_query_has_a_statement_with_all_its_values(words: str) -> None:
    if any(not token.startswith("-") for token in words.split()):
        statement, values = search.compiled(search.parse(words))
        assert set(statement.compile().params) == set(values) | {"type", "limit"}


@pytest.mark.parametrize("words", ["';DROP--", "%0042%", "a & b | !", "((", '"unbalanced', "1:2 <-> 345", "\\0042"])
def test_no_query_is_an_error(engine: Engine, words: str) -> None:
    assert found(engine, words) == []


def test_both_ways_use_their_index(engine: Engine, queue: Queue) -> None:
    claim(queue, add_task(engine, queue, pages=4000))
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO pages (task_id, page_no, attempt_no, text, source, engine, seconds, identifiers)"
                " SELECT task_id, number, 1, 'Invoice ' || md5(CAST(number AS text)) || repeat(' word', 20), 'native',"
                " 'test', 0, 'inv2026' || number || ' ' || md5(CAST(number AS text))"
                " FROM attempts CROSS JOIN generate_series(1, 4000) AS number"
            )
        )
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # As autovacuum does in the end: until then the indexes carry a list of what was not yet sorted in.
        connection.execute(text("VACUUM ANALYZE pages"))
        # A few thousand pages may still be read through faster; what counts is that the indexes can answer.
        connection.execute(text("SET enable_seqscan = off"))
        indexes = {'"pages_search"', '"pages_identifiers"'}
        for words in ("20263999", "invoice 20263999 3999", "20263999 or 20263998"):
            statement, values = search.compiled(search.parse(words))
            explained = text("EXPLAIN (FORMAT JSON) " + statement.text)
            plan = json.dumps(connection.execute(explained, {**values, "type": None, "limit": 50}).scalar_one())
            assert indexes <= set(re.findall(r'"\w+"', plan)), words
            assert not re.search(r'"Seq Scan", [^{}]*"Relation Name": "pages"', plan), words
        connection.execute(text("RESET enable_seqscan"))
    assert [row["page_no"] for row in search.search(engine, "20263999")] == [3999]
