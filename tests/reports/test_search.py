"""Words and parts of numbers are found, best first, through the indexes."""

from __future__ import annotations

import datetime as dt
import json
import re
import unicodedata
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from pipeline.documents.text import identifier, identifiers
from pipeline.errors import UsageProblem
from pipeline.queue.store import Queue
from pipeline.reports import printed, search, snippets
from pipeline.reports.search_filters import Filters, amount_range
from pipeline.reports.search_query import parse
from tests.stories import claim, finish, value
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
    away = snippets.distance(found, number)
    assert (away == snippets.WHOLE) == (found == number)
    assert (away == snippets.ABSENT) == (number not in found)
    assert (away <= snippets.END) == found.endswith(number)
    assert (away == snippets.START) == (found.startswith(number) and not found.endswith(number))


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
        parse(words)


@given(st.from_regex(r"([A-Z]{1,4}[-/.]?)?[0-9]{3,10}", fullmatch=True), st.text(alphabet=" abcXYZ\n", max_size=40))
def test_what_a_query_looks_up_is_how_pages_store_it(number: str, around: str) -> None:
    page_text = f"{around} {number} {around}"
    (wanted,) = parse(number).numbers
    assert wanted.identifier == identifier(number)
    assert wanted.identifier in identifiers(page_text)
    assert f"«{number}»" in snippets.around_number(page_text, [wanted.identifier])


@given(st.text(min_size=1, alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))
def test_any_query_has_a_statement_with_all_its_values(words: str) -> None:
    if any(not token.startswith("-") for token in words.split()):
        statement, values = search.compiled(parse(words), Filters())
        assert set(statement.compile().params) == set(values) | {"limit"}


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
        indexes = {'"pages_search"', '"pages_identifiers"', '"pages_amounts"'}
        wanted = Filters("invoice", "acme", dt.date(2026, 1, 1), dt.date(2026, 12, 31), Decimal(1), Decimal(2))
        cases = [("20263999", Filters()), ("20263999 3.999", Filters()), ("20263999 or 1.234,56", Filters())]
        for words, filters in (*cases, ("invoice 1234,00", Filters()), ("invoice 1234,00", wanted)):
            statement, values = search.compiled(parse(words), filters)
            explained = text("EXPLAIN (FORMAT JSON) " + statement.text)
            plan = json.dumps(connection.execute(explained, {**values, "limit": 50}).scalar_one())
            assert words == "invoice 1234,00" or indexes <= set(re.findall(r'"\w+"', plan)), words
            assert not re.search(r'"Seq Scan", [^{}]*"Relation Name": "pages"', plan), words
        connection.execute(text("RESET enable_seqscan"))
    assert [row["page_no"] for row in search.search(engine, "20263999")] == [3999]


# Words


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("Müller", "muller"),
        ("MÜLLER", "müller"),
        ("Muller", "Müller"),
        ("Mueller", "Müller"),
        ("Müller", "Mueller"),
        ("façade", "facade"),
        ("facade", "façade"),
        ("Straße", "strasse"),
        ("STRASSE", "straße"),
        ("Łódź", "lodz"),
        ("Ørsted", "orsted"),
        ("Đorđe", "dorde"),
        ("Œuvre", "oeuvre"),
        ("Αθήνα", "αθηνα"),
        ("Ёлка", "елка"),
        ("eﬃcient ﬁrm", "efficient firm"),
        ("x\u030cenon", "xenon"),
        ("Rech\u00adnung", "rechnung"),
        ("Vertragsgemäß", '"vertragsgemass"'),
    ],
)
def test_a_word_is_found_however_its_accents_are_typed(engine: Engine, queue: Queue, printed: str, typed: str) -> None:
    finish(engine, queue, [f"Before {printed} GmbH after", "quite another page"])
    (hit,) = search.search(engine, typed)
    assert f"«{unicodedata.normalize('NFC', printed.split(maxsplit=1)[0])}»" in hit["snippet"]
    assert hit["page_no"] == 1


@pytest.mark.parametrize("typed", ["neue", "due", "que", "bauer"])
def test_no_umlaut_is_seen_where_there_is_none(engine: Engine, queue: Queue, typed: str) -> None:
    finish(engine, queue, ["neu du qu baur"])
    assert found(engine, typed) == []


def test_a_phrase_holds_through_accents_and_spellings(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["Die Müller GmbH zahlt", "GmbH Müller"])
    assert [hit[1] for hit in found(engine, '"mueller gmbh"')] == [1]
    assert [hit[1] for hit in found(engine, "mueller -zahlt")] == [2]


def test_the_database_folds_as_the_snippet_does(engine: Engine) -> None:
    signs = [chr(code) for code in (*range(1, 0x2000), *range(0xFB00, 0xFB07)) if chr(code).isalpha()]
    with engine.connect() as connection:
        folded = text("SELECT lower(folded(sign)) FROM unnest(CAST(:signs AS text[])) WITH ORDINALITY AS s (sign, n)")
        told = connection.execute(text(folded.text + " ORDER BY n"), {"signs": signs}).scalars().all()
    # Versions of Unicode differ in the case of a few letters of scripts that have no accents.
    differ = {sign for sign, each in zip(signs, told, strict=True) if each != printed.folded(sign)}
    assert not [sign for sign in differ if ord(sign) < 0x590]
    assert len(differ) < 200


def test_a_page_that_folding_makes_longer_is_stored(engine: Engine, queue: Queue) -> None:
    # Each sign becomes six: with all of them the words would be too much for a tsvector.
    finish(engine, queue, [" ".join("\u3316" * 20 + str(number) for number in range(3_800))])
    assert len(search.search(engine, "\u3316" * 20 + "7")) == 1


def test_the_snippet_is_where_most_words_stand_together(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["roof " + "x " * 300 + "the roof of Mr. Façade, " + "y " * 300 + "facade"])
    (hit,) = search.search(engine, "roof facade")
    assert "the «roof» of Mr. «Façade»," in hit["snippet"]


def test_words_that_one_sign_joins_are_marked_as_one() -> None:
    assert snippets.around_words("see Foo-Bar, bar here", {"foo", "bar"}) == "see «Foo-Bar», «bar» here"


# Amounts

NOTATIONS = (
    "1234.56",
    "1,234.56",
    "1.234,56",
    "1234,56",
    "1 234,56",
    "1\u00a0234,56",
    "1\u2009234.56",
    "1\u202f234,56",
    "1'234.56",
    "1’234.56",
)


@pytest.mark.parametrize("typed", [*NOTATIONS, "EUR 1.234,56", "1.234,56 €", "€1234.56", "CHF 1'234.56", '"1.234,56"'])
def test_an_amount_is_found_in_any_notation(engine: Engine, queue: Queue, typed: str) -> None:
    finish(engine, queue, [f"Total {each} EUR due" for each in NOTATIONS])
    finish(engine, queue, ["account 123456", "A-123456-7", "1.234,50", "11.234,56", "1,234.567", "56 1.234"])
    hits = search.search(engine, typed)
    assert sorted(hit["page_no"] for hit in hits) == list(range(1, len(NOTATIONS) + 1))
    assert all(hit["found_by"] == "number" and re.search("Total «1.?234.56» EUR", hit["snippet"]) for hit in hits)


@pytest.mark.parametrize(
    ("printed", "typed"),
    [
        ("1234.5", "1234.50"),
        ("1.234,50", "1234.5"),
        ("EUR1.234,-", "1234.00"),
        ("EUR 1234", "1,234.00"),
        ("1,234.00", "1234"),
        ("1.234", "1,234"),
        ("12,34,567.80", "1234567.80"),
        ("-19,99", "19.99"),
        ("(1,234.00)", "EUR 1234"),
        ("2 100.00", "100.00"),
        ("RE2026.42", "2026.42"),
        ("0.50", "0,5"),
    ],
)
def test_the_same_amount_is_found(engine: Engine, queue: Queue, printed: str, typed: str) -> None:
    finish(engine, queue, [f"it says {printed} here"])
    assert len(found(engine, typed)) == 1


@pytest.mark.parametrize(
    ("printed", "typed"),
    [("01.05.2026", "1.05"), ("19,00 %", "19.00"), ("1.2.3", "1.2"), ("0,500 kg", "500,00"), ("0042", "42.00")],
)
def test_what_is_no_amount_is_not_found_as_one(engine: Engine, queue: Queue, printed: str, typed: str) -> None:
    finish(engine, queue, [f"it says {printed} here"])
    assert found(engine, typed) == []


def test_amounts_and_words_narrow_each_other(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["Acme 1.234,56", "Acme 99,00", "Other 1,234.56"])
    assert [hit[1] for hit in found(engine, "acme EUR 1234.56")] == [1]
    assert {hit[1] for hit in found(engine, "99.00 or 1234.56")} == {1, 2, 3}
    assert [hit[1] for hit in found(engine, "1234.56 -acme")] == [3]


def test_a_whole_amount_comes_before_a_part_of_a_number(engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["order AB-1234", "due 1.234,00"])
    assert [hit[1] for hit in found(engine, "1234")] == [2, 1]


def test_filters_are_asked_before_the_newest_pages_are_taken(
    engine: Engine, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.reports.search.MOST_RANKED", 2)
    for number in range(4):
        finish(engine, queue, [f"common 4711 {number}"], name=f"{number}", document_type=f"type{number}")
    for words in ("common", "4711"):
        assert sorted(hit[0] for hit in found(engine, words)) == ["2", "3"]
        (hit,) = search.search(engine, words, filters=Filters(document_type="type0"))
        assert hit["name"] == "0"


def test_the_database_reads_amounts_as_the_snippet_does(engine: Engine) -> None:
    random = Random(5)  # noqa: S311
    texts = ["".join(random.choices("0123456789.,'’ \u00a0%a\n0015", k=24)) for _ in range(3_000)]
    with engine.connect() as connection:
        query = text(
            "SELECT printed_amounts(t) FROM unnest(CAST(:texts AS text[])) WITH ORDINALITY AS s (t, n) ORDER BY n"
        )
        told = connection.execute(query, {"texts": texts}).scalars().all()
    assert [set(each or ()) for each in told] == [{found.value for found in printed.amounts(each)} for each in texts]
    assert sum(map(bool, told)) > 500


# Filters


def invoice(engine: Engine, queue: Queue, name: str, **fields: str) -> int:
    values = {field: [value(each)] for field, each in fields.items()}
    return finish(engine, queue, [f"Invoice of {name}"], name=name, document_type="invoice", fields=values)


@pytest.fixture
def documents(engine: Engine, queue: Queue) -> None:
    invoice(engine, queue, "weiss", seller_name="Gebr. Weiß & Söhne", issue_date="2026-03-01", total_gross="1234.56")
    invoice(
        engine, queue, "acme", seller_name="ACME Ltd.", issue_date="2026-05-01", total_gross="119.00", currency="EUR"
    )
    invoice(engine, queue, "credit", seller_name="Acme Inc", total_gross="-50.00")
    dates = {"agreement_date": [value("2025-01-01")], "effective_date": [value("2025-02-01")]}
    finish(engine, queue, ["Agreement"], name="lease", document_type="contract", fields=dates)
    finish(engine, queue, ["Invoice of nobody"], name="memo")


TODAY = dt.datetime.now(dt.UTC).date()


@pytest.mark.usefixtures("documents")
@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"seller": "acme"}, ["credit", "acme"]),
        ({"seller": "Weiss & SÖHNE"}, ["weiss"]),
        ({"seller": "sohne"}, ["weiss"]),
        ({"seller": "WEIẞ"}, ["weiss"]),
        ({"seller": "Soehne"}, ["weiss"]),
        ({"seller": "Äcme"}, ["credit", "acme"]),
        ({"seller": "100%"}, []),
        ({"document_type": "contract"}, ["lease"]),
        ({"document_type": "general"}, ["memo"]),
        ({"since": dt.date(2026, 3, 1), "until": dt.date(2026, 5, 1)}, ["acme", "weiss"]),
        ({"until": dt.date(2025, 2, 1)}, ["lease"]),
        ({"until": dt.date(2025, 1, 31)}, []),
        ({"since": TODAY - dt.timedelta(days=1)}, ["memo", "credit"]),
        ({"least": Decimal("119"), "most": Decimal("1234.56")}, ["acme", "weiss"]),
        ({"most": Decimal(0)}, ["credit"]),
        ({"seller": "acme", "least": Decimal(1)}, ["acme"]),
    ],
)
def test_filters_alone_list_documents(engine: Engine, wanted: dict[str, Any], names: list[str]) -> None:
    assert [row["name"] for row in search.listed(engine, Filters(**wanted))] == names


@pytest.mark.usefixtures("documents")
def test_filters_narrow_what_words_and_numbers_find(engine: Engine, queue: Queue) -> None:
    def names(words: str, **wanted: Any) -> list[str]:
        return sorted(row["name"] for row in search.search(engine, words, filters=Filters(**wanted)))

    assert names("invoice") == ["acme", "credit", "memo", "weiss"]
    assert names("invoice", seller="acme") == ["acme", "credit"]
    assert names("invoice", document_type="general") == ["memo"]
    assert names("invoice", since=dt.date(2026, 4, 1), least=Decimal(100)) == ["acme"]
    invoice(engine, queue, "4711", seller_name="Acme", total_gross="10.00")
    assert names("4711", most=Decimal(10)) == ["4711"]
    assert names("4711", most=Decimal(9)) == []


@pytest.mark.parametrize(
    ("typed", "bounds"),
    [
        ("1.234,56", ("1234.56", "1234.56")),
        ("100..1,234.56", ("100", "1234.56")),
        ("..1'000", (None, "1000")),
        ("99.5..", ("99.5", None)),
        ("-50..0", ("-50", "0")),
        ("1 234,56", ("1234.56", "1234.56")),
    ],
)
def test_a_range_of_amounts_is_read_in_any_notation(typed: str, bounds: tuple[str | None, str | None]) -> None:
    assert amount_range(typed) == tuple(each and Decimal(each) for each in bounds)


@pytest.mark.parametrize("typed", ["", "..", "ten", "1..2..3", "9..1", "1.2.3"])
def test_what_is_no_range_of_amounts_is_told(typed: str) -> None:
    with pytest.raises(UsageProblem, match="--amount"):
        amount_range(typed)


def test_a_seller_is_found_by_an_index(engine: Engine, queue: Queue) -> None:
    for number in range(3):
        invoice(engine, queue, f"{number}", seller_name=f"Seller {number}")
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        wanted = Filters(seller="acme ltd")
        query = f"EXPLAIN SELECT FROM documents WHERE {wanted.conditions}"
        plan = connection.execute(text(query), wanted.values).scalars().all()
    assert any("current_invoices_seller_parts" in line for line in plan)
