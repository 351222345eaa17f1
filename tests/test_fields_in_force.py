"""What is in force: a result's fields, overlaid by what people corrected, in every view, whatever is read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from pipeline.found import Found
from pipeline.queue.model import Claim, Usage
from pipeline.queue.store import Queue
from pipeline.results import Results
from tests.queue.rows import until, waiting_sessions
from tests.stories import claim, document_of, enqueue_again, finish, page, read, value
from tests.tasks import add_task

INVOICE: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "invoice_number": [value("INV-2026-0042", confidence=0.95)],
    "issue_date": [value("2026-05-01", confidence=0.95)],
    "seller_name": [value("Acme Müller GmbH", confidence=0.95)],
    "seller_vat_id": [value("DE123456788", confidence=0.95)],
    "currency": [value("EUR", confidence=0.95)],
    "total_net": [value("100.00", confidence=0.95)],
    "total_tax": [value("19.00", confidence=0.95)],
    "total_gross": [value("119.00", confidence=0.95)],
}


def _invoice(engine: Engine, queue: Queue, *, checks: Mapping[str, bool] | None = None, **changes: Any) -> int:
    fields = {**INVOICE, **{name: [value(each, confidence=0.95)] for name, each in changes.items() if each}}
    fields = {name: each for name, each in fields.items() if changes.get(name, "") is not None}
    return finish(engine, queue, ["one"], document_type="invoice", fields=fields, checks=checks)


def _correct(engine: Engine, document_id: int, field: str, action: str = "fix", **columns: Any) -> None:
    columns |= {"document_id": document_id, "name": field, "action": action}
    names = ", ".join(columns)
    with engine.begin() as connection:
        connection.execute(
            text(f"INSERT INTO corrections ({names}) VALUES ({', '.join(f':{each}' for each in columns)})"), columns
        )


def _one(engine: Engine, query: str, **values: Any) -> Any:
    with engine.connect() as connection:
        return connection.execute(text(query), values).one()


def _all(engine: Engine, query: str, **values: Any) -> list[Any]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query), values)]


def test_a_correction_is_in_force_at_once_and_says_what_was_found(engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue)
    _correct(engine, document_id, "total_gross", value="191.00", by_whom="anna")
    assert _one(engine, "SELECT total_gross FROM invoices") == (191,)
    row = _one(
        engine, "SELECT value, value_found, method, confidence, reviewed_by FROM fields_v WHERE field = 'total_gross'"
    )
    assert row == ("191.00", "119.00", "human", 1, "anna")


def test_a_correction_survives_a_reprocess(engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue)
    _correct(engine, document_id, "due_date", value="2026-06-01")
    _correct(engine, document_id, "seller_vat_id", "remove")
    task_id = enqueue_again(engine, queue, document_id)
    read(engine, queue, task_id, ["one"], document_type="invoice", fields={**INVOICE, "iban": [value("DE02")]})
    row = _one(engine, "SELECT CAST(due_date AS text), seller_vat_id, iban FROM invoices")
    assert row == ("2026-06-01", None, "DE02")


def test_the_newest_correction_counts_and_all_are_kept(engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue)
    for number in ("1.00", "2.00", "3.00"):
        _correct(engine, document_id, "total_gross", value=number)
    assert _one(engine, "SELECT total_gross FROM invoices") == (3,)
    assert _one(engine, "SELECT count(*) FROM corrections") == (3,)


@pytest.mark.parametrize(
    ("field", "columns", "told"),
    [
        ("due_date", {"value": "1.6.2026"}, "due_date is a date, written YYYY-MM-DD"),
        ("total_gross", {"value": "1.191,00"}, "total_gross is a number, written like 1234.56"),
        ("seller_name", {"value": "  "}, "between 1 and 2000 characters"),
        ("Seller", {"value": "x"}, "Seller is no name of a field"),
        ("net_amount", {"value": "1", "group_name": "lines", "group_no": 4}, "has no lines of number 4"),
    ],
)
def test_a_correction_that_cannot_be_is_refused_in_words(
    engine: Engine, queue: Queue, field: str, columns: Mapping[str, Any], told: str
) -> None:
    document_id = _invoice(engine, queue)
    with pytest.raises(DBAPIError, match=told):
        _correct(engine, document_id, field, **columns)


def test_what_is_sure_and_passed_needs_nobody(engine: Engine, queue: Queue) -> None:
    _invoice(engine, queue, checks={"net_plus_tax_is_gross": True})
    assert _all(engine, "SELECT field FROM review_queue") == []


def test_the_queue_names_each_doubt_until_somebody_settles_it(engine: Engine, queue: Queue) -> None:
    document_id = _invoice(
        engine, queue, issue_date=None, checks={"xml_vs_print_total_gross": False, "BR-CO-15": False}
    )
    with engine.begin() as connection:
        connection.execute(text("UPDATE fields SET confidence = 0.4 WHERE name = 'currency'"))
        connection.execute(text("SELECT refresh_current(:id)"), {"id": document_id})
    doubts = "SELECT item, field FROM review_queue"
    assert _all(engine, doubts) == [
        ("check", "BR-CO-15"),
        ("check", "xml_vs_print_total_gross"),
        ("field", "issue_date"),
        ("field", "currency"),
    ]
    _correct(engine, document_id, "currency", "accept")
    _correct(engine, document_id, "total_gross", "accept")
    _correct(engine, document_id, "issue_date", value="2026-05-02")
    assert _all(engine, doubts) == [("check", "BR-CO-15")]
    _correct(engine, document_id, "BR-CO-15", "accept", subject="check", by_whom="anna")
    assert _all(engine, doubts) == []
    assert _all(engine, "SELECT settled FROM checks_v ORDER BY settled") == [
        ("accepted by anna",),
        (f"total_gross judged by {_one(engine, 'SELECT session_user')[0]}",),
    ]


def test_corrected_sums_that_fit_settle_their_check(engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue, total_tax="91.00", checks={"net_plus_tax_is_gross": False})
    assert len(_all(engine, "SELECT field FROM review_queue")) == 1
    _correct(engine, document_id, "total_tax", value="19.00")
    assert _all(engine, "SELECT field FROM review_queue") == []


def test_a_document_that_is_put_off_comes_last(engine: Engine, queue: Queue) -> None:
    large, small = (_invoice(engine, queue, total_gross=gross, issue_date=None) for gross in ("900.00", "5.00"))
    order = "SELECT document_id FROM review_queue"
    assert _all(engine, order) == [(large,), (small,)]
    _correct(engine, large, "", "skip", subject="document")
    assert _all(engine, order) == [(small,), (large,)]


def test_an_old_result_is_not_in_force(engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue)
    task_id = enqueue_again(engine, queue, document_id)
    read(engine, queue, task_id, ["one"], document_type="contract", fields={"title": [value("Lease")]})
    assert _all(engine, "SELECT document_id FROM invoices") == []
    assert _all(engine, "SELECT title FROM contracts") == [("Lease",)]
    assert _all(engine, "SELECT field, value FROM fields_v") == [("title", "Lease")]


def _complete(engine: Engine, held: Claim, queue: Queue, found: Found) -> None:
    results = Results(engine)
    with queue.completing(held, reason="ok", pages_done=2, result=found.result, usage=Usage()) as connection:
        results.write_pages(connection, held, [page(1, "1. Term\nThree years."), page(2, "to run.\n2. Law\nBavaria.")])
        results.write_found(connection, held, found)
        results.write_found(connection, held, found)


def test_lines_and_taxes_are_rows_and_a_cell_can_be_corrected(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=2)
    document_id = document_of(engine, task_id)
    groups = [
        {"name": "lines", "number": number, "cells": {"name": value(name), "net_amount": value(amount)}}
        for number, (name, amount) in enumerate([("Bolts", "60.00"), ("Nuts", "40.00")], 1)
    ]
    groups.append({"name": "taxes", "number": 1, "cells": {"tax_rate": value("19"), "tax_amount": value("19.00")}})
    result = {"document_type": "invoice", "fields": dict(INVOICE)}
    _complete(engine, claim(queue, task_id), queue, Found(result, groups))
    _correct(engine, document_id, "net_amount", value="41.00", group_name="lines", group_no=2)
    assert _all(engine, "SELECT item_name, net_amount, method FROM invoice_lines ORDER BY line_no") == [
        ("Bolts", 60, "label"),
        ("Nuts", 41, "human"),
    ]
    assert _all(engine, "SELECT tax_rate, tax_amount, currency FROM invoice_taxes") == [(19, 19, "EUR")]
    assert _all(
        engine, "SELECT value FROM fields_v WHERE group_name = 'lines' AND field = 'net_amount' ORDER BY group_no"
    ) == [
        ("60.00",),
        ("41.00",),
    ]


def test_clauses_have_their_text_over_pages_and_parties_their_names(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=2)
    clauses = [
        {"clause_no": 1, "number": "1", "level": 1, "heading": "Term", "page": 1, "starts_at": 0, "end_page": 2,
         "ends_at": 8, "tags": ["expiration"]},
        {"clause_no": 2, "number": "2", "level": 1, "heading": "Law", "page": 2, "starts_at": 8, "end_page": 2,
         "ends_at": 23, "tags": []},
    ]  # fmt: skip
    party = {"name": "parties", "number": 1, "cells": {"name": value("Acme"), "alias": value("Supplier")}}
    fields = {
        "parties": [value("Acme"), value("Beta")],
        "expiration_date": [value("2027-06-30")],
        "renewal_notice": [value("3 months")],
    }
    result = {"document_type": "contract", "fields": fields}
    _complete(engine, claim(queue, task_id), queue, Found(result, [party], clauses))
    assert _all(engine, "SELECT heading, text FROM clauses_v WHERE tags @> '{expiration}'") == [
        ("Term", "1. Term\nThree years.\nto run.\n")
    ]
    assert _one(engine, "SELECT text FROM clauses_v WHERE clause_no = 2") == ("2. Law\nBavaria.",)
    assert _all(engine, "SELECT party, alias FROM contract_parties") == [("Acme", "Supplier")]
    assert _one(engine, "SELECT parties, CAST(notice_by AS text) FROM contracts") == ("Acme; Beta", "2027-03-30")


def test_the_same_invoice_as_another_file_is_found(engine: Engine, queue: Queue) -> None:
    first = _invoice(engine, queue)
    second = _invoice(
        engine, queue, invoice_number="inv 2026/0042", seller_vat_id=None, seller_name="ACME Mueller GmbH"
    )
    third = _invoice(engine, queue, invoice_number="inv 2026/0042", seller_vat_id=None, seller_name="ACME MULLER GMBH")
    fourth = _invoice(engine, queue, seller_name="Quite Another")
    _invoice(engine, queue, total_gross="120.00")
    _invoice(engine, queue, type_code="381", seller_name="Other", seller_vat_id=None)
    rows = _all(engine, "SELECT document_id, duplicate_of, matched_by FROM business_duplicates ORDER BY document_id")
    assert rows == [(third, first, "name"), (fourth, first, "VAT id")]
    assert second not in {row[0] for row in rows}


@pytest.mark.parametrize("changed", ["DELETE FROM corrections", "UPDATE corrections SET value = '1'"])
def test_a_reviewer_adds_corrections_and_changes_none(engine: Engine, queue: Queue, changed: str) -> None:
    document_id = _invoice(engine, queue)
    _correct(engine, document_id, "total_gross", value="3.00")
    with engine.begin() as connection:
        connection.execute(text("CREATE ROLE reviewing"))
        connection.execute(text("GRANT ALL ON corrections TO reviewing"))
        connection.execute(text("SET LOCAL ROLE reviewing"))
        with pytest.raises(DBAPIError, match="a correction stands"):
            connection.execute(text(changed))
        connection.rollback()


def test_a_correction_and_a_new_result_that_meet_are_both_in_force(engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue)
    task_id = enqueue_again(engine, queue, document_id)
    held = claim(queue, task_id)
    result = {"document_type": "invoice", "fields": {**INVOICE, "iban": [value("DE02")]}}
    with (
        ThreadPoolExecutor() as pool,
        queue.completing(held, reason="ok", pages_done=1, result=result, usage=Usage()) as connection,
    ):
        Results(engine).write_pages(connection, held, [page(1, "one")])
        correcting = pool.submit(_correct, engine, document_id, "total_gross", value="191.00")
        until(lambda: waiting_sessions(engine) > 0)
    correcting.result(timeout=60)
    assert _one(engine, "SELECT total_gross, iban FROM invoices") == (191, "DE02")
