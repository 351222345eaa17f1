"""What a child says is not trusted: no result breaks the views, no page is too odd to be stored."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from pipeline.documents.text import Page, Source, clean
from pipeline.found import checked_result
from pipeline.kept import Kept
from pipeline.queue.model import Claim, Usage
from pipeline.queue.store import Queue
from pipeline.results import Results
from tests.tasks import add_task

VIEWED = (
    "invoice_number", "issue_date", "due_date", "seller_name", "currency", "total_net", "total_tax", "total_gross",
    "amount_due", "title", "parties", "agreement_date", "effective_date", "expiration_date", "governing_law",
)  # fmt: skip

_ODD_TEXTS = st.sampled_from(
    ["2026-02-31", "2026-W05-6", "20260131", "٢٠٢٦-٠١-٣١", "0000-00-00", "infinity", "today", "NaN", "1e5", "٣", "１２",
     "1" + "0" * 50, "-0.0000001", "1,000.00", " 12 ", "+5", "\x00", "\ud800", "2026-01-31\n", "12\n", "x" * 5000]
)  # fmt: skip
_texts = st.one_of(
    st.text(st.characters(codec=None), max_size=30),
    st.dates().map(str),
    st.decimals().map(str),
    _ODD_TEXTS,
)
_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), st.just(float("nan")), _texts
)
_anything = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3), max_leaves=8
)
_values = st.fixed_dictionaries(
    {"value": st.one_of(_texts, _anything)},
    optional={"page": _scalars, "snippet": _scalars, "method": _scalars, "confidence": _scalars},
)
_results = st.fixed_dictionaries(
    {
        "document_type": st.sampled_from(["invoice", "contract"]),
        "fields": st.dictionaries(
            st.one_of(st.sampled_from(VIEWED), _texts),
            st.one_of(st.lists(_values, max_size=3), _anything),
            max_size=8,
        ),
    },
    optional={
        "checks": _anything,
        "scores": _anything,
        "gaps": _anything,
        "handler": _anything,
        "handler_error": _anything,
    },
)


@pytest.fixture
def claim(engine: Engine, queue: Queue) -> Claim:
    """A claimed task."""
    add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    return claim


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(result=_results)
def test_no_result_that_passes_breaks_a_view(
    engine: Engine, queue: Queue, claim: Claim, result: dict[str, Any]
) -> None:
    safe = checked_result(result)
    with engine.connect() as connection:
        connection.execute(
            text("UPDATE tasks SET status = 'succeeded', reason = 'ok', finished_at = now(), lease_token = NULL,"
                 " lease_holder = NULL, lease_expires_at = NULL, deadline_at = NULL")
        )  # fmt: skip
        connection.execute(
            text("UPDATE attempts SET outcome = 'succeeded', ended_at = now(), result = CAST(:result AS jsonb)"),
            {"result": json.dumps(safe)},
        )
        found = sum(len(connection.execute(text(f"SELECT * FROM {view}")).all()) for view in ("invoices", "contracts"))
        connection.rollback()
    assert found == 1


@settings(max_examples=300, deadline=None)
@given(result=_anything)
def test_whatever_a_child_answers_is_checked_without_an_error(result: object) -> None:
    json.dumps(checked_result(result), allow_nan=False).encode("utf-8")


@given(date=st.dates(dt.date(1900, 1, 1), dt.date(2200, 12, 31)), cents=st.integers(-(10**15), 10**15))
def test_what_is_right_stays_as_it_is(date: dt.date, cents: int) -> None:
    amount = f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"
    given_fields = {
        name: [{"value": value, "page": 2, "snippet": "as printed", "method": "label", "confidence": 0.75}]
        for name, value in (("issue_date", date.isoformat()), ("total_gross", amount), ("seller_name", "Häußer & Ćo"))
    }
    safe = checked_result({"document_type": "invoice", "fields": given_fields, "gaps": [3], "scores": {"invoice": 0.9}})
    assert (safe["fields"], safe["gaps"], safe["scores"]) == (given_fields, [3], {"invoice": 0.9})
    assert "dropped" not in safe


def test_numbers_of_names_and_values_are_bounded() -> None:
    many = {f"field_{number}": [{"value": "x"}] * 1000 for number in range(1000)}
    safe = checked_result({"fields": many, "gaps": list(range(1, 10**6)), "checks": dict.fromkeys(many, True)})
    assert (len(safe["fields"]), len(safe["fields"]["field_0"])) == (200, 100)
    assert len(json.dumps(safe)) < 5_000_000


_ODD_PAGES = {
    "NUL and other controls": Page(1, "a\x00b\x07c\x1b[31m", "a\x00b"),
    "lone surrogates": Page(1, "a\ud800b\udfff", "\udc80", engine="odd\x00engine\ud800"),
    "a gap with an odd error": Page(1, "", source=Source.NONE, error="torn\x00\ud800 " * 1000),
    "two megabytes": Page(1, "word " * 400_000, "other " * 400_000),
    "200,000 distinct words": Page(1, " ".join(f"{number:x}" for number in range(200_000))),
    "100,000 letters of four bytes": Page(1, " ".join(chr(0x20000 + number % 40_000) for number in range(50_000))),
    "one word of two megabytes": Page(1, "1" * 2_000_000),
    "combining marks": Page(1, "e\u0301\u0327" * 100_000),
    "seconds that are none": Page(1, "x", seconds=float("nan")),
    "more than anybody reads": Page(1, "x" * 20_000_000),
}


@pytest.mark.parametrize("page", _ODD_PAGES.values(), ids=_ODD_PAGES)
def test_no_page_is_too_odd_to_be_stored(engine: Engine, queue: Queue, claim: Claim, page: Page) -> None:
    results = Results(engine)
    for _ in range(2):  # writing it again is harmless
        with queue.checkpointing(claim, pages_done=1, lease_seconds=15) as (connection, _answer):
            results.write_pages(connection, claim, [page])
    with engine.connect() as connection:
        (row,) = connection.execute(text("SELECT * FROM pages")).all()
    assert row.source == page.source.value
    assert row.text[:1] == clean(page.text[:3])[:1]
    assert len(row.text) <= 8_000_000
    assert row.seconds == 0.0


def test_stored_pages_come_back_as_they_were_up_to_the_first_hole(engine: Engine, queue: Queue, claim: Claim) -> None:
    results = Results(engine)
    pages = [
        Page(1, "first", "first  laid out", Source.TEXT_LAYER, "pdfium 1", None, 0.5),
        Page(2, "", "", Source.NONE, "", "torn", 0.0),
        Page(4, "fourth", "fourth", Source.OCR, "engine 2", None, 1.0),
    ]
    with queue.checkpointing(claim, pages_done=2, lease_seconds=15) as (connection, _answer):
        results.write_pages(connection, claim, pages)
    again = _second_attempt(claim)
    assert results.material(again).stored == tuple(pages[:2])
    assert results.material(claim).stored == ()


def test_of_a_very_long_document_an_attempt_gets_what_its_handler_would_have_seen(
    engine: Engine, queue: Queue, claim: Claim
) -> None:
    results = Results(engine)
    text_of_a_page = "word " * 200_000
    pages = [Page(number, text_of_a_page, text_of_a_page) for number in range(1, 36)]
    with queue.checkpointing(claim, pages_done=35, lease_seconds=15) as (connection, _answer):
        results.write_pages(connection, claim, [*pages[:33], pages[34]])  # one is missing: what follows does not count
    found = results.material(_second_attempt(claim))
    kept = Kept()
    for page in pages[:33]:
        kept.add(page)
    assert (found.stored, found.whole) == (kept.pages, 20)
    assert [page.number for page in found.stored if not page.text] == [21, 22, 23]


def test_material_of_many_is_that_of_each_and_leaves_out_what_must_be_asked_for_when_it_is_begun(
    engine: Engine, queue: Queue
) -> None:
    results = Results(engine)
    ids = [add_task(engine, queue) for _ in range(4)]
    claims = queue.claim("worker-1", batch=4)
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE documents SET root_document_id = :root, parent_document_id = :root, depth = 1"
                 " WHERE document_id = :document_id"),
            {"root": claims[0].document_id, "document_id": claims[1].document_id},
        )  # fmt: skip
    claims[2] = _second_attempt(claims[2])
    together = results.materials(claims)
    assert together == {claim.task_id: results.material(claim) for claim in (claims[0], claims[3])}
    assert results.materials(claims[2:3]) == {}
    assert set(together) == {ids[0], ids[3]}


def _second_attempt(claim: Claim) -> Claim:
    facts = {name: getattr(claim, name) for name in claim.__slots__}
    return Claim(**{**facts, "attempt_no": 2, "lease_token": uuid.uuid4()})


def test_a_page_is_skipped_after_the_crashes_it_is_allowed_and_not_for_being_lost(
    engine: Engine, queue: Queue, claim: Claim
) -> None:
    results = Results(engine)
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at,"
                " progressed_at, ended_at, outcome, reason, error, page_no)"
                " SELECT :task_id, no, gen_random_uuid(), 'w', 1, now(), now(), now(), outcome, 'crash', 'SIGSEGV',"
                " page FROM (VALUES (11, 'crashed', 3), (12, 'crashed', 3),"
                " (13, 'crashed', 5), (14, 'expired', 7), (15, 'expired', 7)) AS given (no, outcome, page)"
            ),
            {"task_id": claim.task_id},
        )
    again = _second_attempt(claim)
    assert list(results.material(again).skip) == [3]
    assert "2 times (SIGSEGV)" in results.material(again).skip[3]
    assert sorted(results.material(again, skip_after_crashes=1).skip) == [3, 5]


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("2026-02-28", "2026-02-28"),
        ("2024-02-29", "2024-02-29"),
        ("2026-02-29", None),
        ("2026-02-31", None),
        ("2026-13-01", None),
        ("2026-1-1", None),
        ("infinity", None),
        ("", None),
        (None, None),
    ],
)
def test_what_is_no_date_is_null_in_a_view_and_no_error(engine: Engine, value: str | None, date: str | None) -> None:
    with engine.connect() as connection:
        found = connection.execute(text("SELECT CAST(as_date(:value) AS text)"), {"value": value}).scalar_one()
    assert found == date


@pytest.mark.parametrize(
    ("value", "amount"), [("12.50", "12.50"), ("-1", "-1"), ("1e400", None), ("NaN", None), ("1,5", None), ("1.", None)]
)
def test_what_is_no_amount_is_null_in_a_view_and_no_error(engine: Engine, value: str, amount: str | None) -> None:
    with engine.connect() as connection:
        found = connection.execute(text("SELECT CAST(as_amount(:value) AS text)"), {"value": value}).scalar_one()
    assert found == amount


def test_a_result_that_was_altered_by_hand_breaks_no_view_for_the_others(engine: Engine, queue: Queue) -> None:
    for _ in range(2):
        add_task(engine, queue)
    for claim in queue.claim("worker-1", batch=2):
        result = {"document_type": "invoice", "fields": {}}
        with queue.completing(claim, reason="ok", pages_done=2, result=result, usage=Usage()):
            pass
    with engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE attempts SET result = jsonb_set(result, '{fields}', CAST(:odd AS jsonb))"
                " WHERE task_id = (SELECT min(task_id) FROM tasks)"
            ),
            {"odd": '{"issue_date": [{"value": "2026-02-31"}], "total_net": "x", "parties": 3}'},
        )
        assert connection.execute(text("SELECT count(*), count(issue_date) FROM invoices")).one() == (2, 0)
        connection.execute(text("UPDATE attempts SET result = jsonb_set(result, '{document_type}', '\"contract\"')"))
        assert connection.execute(text("SELECT count(*), count(parties) FROM contracts")).one() == (2, 0)
