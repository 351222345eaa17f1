"""`doclease review`: the doubts are shown with their lines, and what is said of them holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from pipeline.errors import UsageProblem
from pipeline.queue.store import Queue
from pipeline.reports import review
from tests.cli.conftest import Doclease, rows_of
from tests.stories import finish, value

PAGE = "Acme Ltd\nInvoice no.  INV-2026-0042\nDate  1 May 2026\nTotal EUR   1.190,00\nPlease pay by 31 May 2026"


def _invoice(engine: Engine, queue: Queue, *, checks: Mapping[str, bool] | None = None, **surely: str | None) -> int:
    known = {"issue_date": "2026-05-01", "seller_name": "Acme Ltd", "currency": "EUR", "total_gross": "1190.00"}
    fields: dict[str, Sequence[Mapping[str, Any]]] = {
        name: [value(found, confidence=0.95)] for name, found in (known | surely).items() if found
    }
    fields["invoice_number"] = [value("INV-2026-0042", snippet="Invoice no.  INV-2026-0042", confidence=0.6)]
    return finish(engine, queue, [PAGE], name="acme.pdf", document_type="invoice", fields=fields, checks=checks)


def test_the_next_document_is_shown_with_each_doubt_and_what_may_be_said(
    doclease: Doclease, engine: Engine, queue: Queue
) -> None:
    document_id = _invoice(engine, queue, issue_date=None, buyer_name="Beta", checks={"xml_vs_print_due_date": False})
    shown = doclease("review", "next").stdout
    assert f"document {document_id}: acme.pdf, invoice, Acme Ltd, EUR 1190.00" in shown
    assert "check xml_vs_print_due_date failed" in shown
    assert "issue_date is missing" in shown
    assert "invoice_number is INV-2026-0042 (page 1)" in shown
    assert "why: found by label with confidence 0.60, below 0.9" in shown
    assert "line: Invoice no.  INV-2026-0042" in shown
    assert f"doclease review fix {document_id} FIELD=VALUE" in shown


def test_what_is_accepted_is_gone_from_the_queue(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue, issue_date=None, checks={"BR-CO-15": False})
    doclease("review", "accept", str(document_id), "invoice_number", "--by", "anna")
    left = json.loads(doclease("review", "next", "--format", "json").stdout)
    assert [doubt["field"] for doubt in left["doubts"]] == ["BR-CO-15", "issue_date"]
    assert "accepted BR-CO-15, issue_date" in doclease("review", "accept", str(document_id), "--by", "anna").stdout
    doclease("review", "next", exit_code=4)
    doclease("review", "accept", str(document_id), exit_code=4)
    with engine.connect() as connection:
        assert set(connection.execute(text("SELECT by_whom FROM corrections")).scalars()) == {"anna"}


def test_a_fix_is_stored_with_the_page_and_line_it_stands_on(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue, total_gross="119.00", iban="DE02")
    typed = ("total_gross=1.190,00", "due_date=31 May 2026", "iban=", "invoice_number=INV-2026-0042")
    said = doclease("review", "fix", str(document_id), *typed, "--by", "anna").stdout
    assert f"document {document_id}: total_gross is 1190.00" in said
    assert f"document {document_id}: iban is not there" in said
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT name, value, page, snippet FROM corrections ORDER BY name")).all()
        invoice = connection.execute(text("SELECT total_gross, CAST(due_date AS text), iban FROM invoices")).one()
    assert rows == [
        ("due_date", "2026-05-31", 1, "Please pay by 31 May 2026"),
        ("iban", None, None, None),
        ("invoice_number", "INV-2026-0042", 1, "Invoice no. INV-2026-0042"),
        ("total_gross", "1190.00", 1, "Total EUR 1.190,00"),
    ]
    assert tuple(invoice) == (1190, "2026-05-31", None)


def test_the_largest_amount_is_looked_at_first_and_what_is_skipped_last(
    doclease: Doclease, engine: Engine, queue: Queue
) -> None:
    small, large = (_invoice(engine, queue, total_gross=gross) for gross in ("5.00", "900.00"))

    def order() -> list[int]:
        return [row["document_id"] for row in rows_of(doclease("review", "list", "--format", "json"))]

    assert order() == [large, small]
    doclease("review", "skip", str(large))
    assert order() == [small, large]
    assert f"document {small}:" in doclease("review", "next", "--type", "invoice").stdout
    doclease("review", "list", "--type", "contract", exit_code=4)


def test_how_sure_a_field_must_be_is_configured(doclease: Doclease, home: Path, engine: Engine, queue: Queue) -> None:
    document_id = _invoice(engine, queue)
    doclease("review", "accept", str(document_id))
    doclease("review", "list", exit_code=4)
    with (home / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("review: {accept_at: 0.97}\n")
    assert [row["document_id"] for row in rows_of(doclease("review", "list", "--format", "json"))] == [document_id]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fix", "ID", "total_gros=1"), "did you mean total_gross?"),
        (("fix", "ID", "total_gross=1,190"), "write it like 1234.56"),
        (("fix", "ID", "due_date=1/2/26"), "write it as YYYY-MM-DD"),
        (("fix", "ID", "total_gross"), "write for example total_gross=1190.00"),
        (("fix", "ID", "lines.3.net_amount=1"), "has no lines of number 3"),
        (("accept", "ID", "due_dat"), "did you mean due_date?"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_changed(
    doclease: Doclease, engine: Engine, queue: Queue, arguments: Sequence[str], told: str
) -> None:
    document_id = _invoice(engine, queue)
    words = [str(document_id) if each == "ID" else each for each in arguments]
    assert told in doclease("review", *words, exit_code=2).stderr
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM corrections")).scalar_one() == 0


def test_a_document_without_a_result_is_named(doclease: Doclease) -> None:
    for arguments in (("accept", "7"), ("fix", "7", "iban=DE02"), ("skip", "7")):
        assert "document 7 has no result" in doclease("review", *arguments, exit_code=4).stderr


@pytest.mark.parametrize(
    ("name", "typed", "value_in_normal_form"),
    [
        ("total_gross", "1.190,00", "1190.00"),
        ("total_gross", "1,190.00", "1190.00"),
        ("total_gross", "1190", "1190.00"),
        ("due_date", "2026-05-31", "2026-05-31"),
        ("due_date", "31.5.2026", "2026-05-31"),
        ("seller_name", "  Acme   Ltd ", "Acme Ltd"),
    ],
)
def test_values_may_be_typed_as_they_are_printed(name: str, typed: str, value_in_normal_form: str) -> None:
    assert review.canonical(name, typed) == value_in_normal_form


@pytest.mark.parametrize(("name", "typed"), [("total_gross", "1,190"), ("due_date", "4/5/26"), ("due_date", "soon")])
def test_what_can_be_read_in_two_ways_is_asked_again(name: str, typed: str) -> None:
    with pytest.raises(UsageProblem):
        review.canonical(name, typed)
