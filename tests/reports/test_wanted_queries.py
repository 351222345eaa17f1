"""Each question of docs/querying.md about invoices and contracts is answered rightly on a small office's documents."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import Engine, text

from pipeline.found import Found
from pipeline.queue.model import Usage
from pipeline.queue.store import Queue
from pipeline.reports import adhoc
from pipeline.results import Results
from tests.reports.test_queries import DOCUMENT
from tests.stories import claim, document_of, page, value
from tests.tasks import add_task

_ASKED = DOCUMENT.partition("### Accounts payable\n")[2].partition("### The pipeline\n")[0]
QUESTIONS = {
    question.strip().partition("?")[0].partition(".")[0]: query
    for question, query in re.findall(r"\n\n?([A-Z][^`]*?)\n+```sql\n(.*?)```", "\n" + _ASKED, re.DOTALL)
}
# The question: the column looked at, and what stands there.
ANSWERS: Mapping[str, tuple[str, set[Any]]] = {
    "What is due in the next two weeks": ("invoice_number", {"A-1"}),
    "What may be paid without another look: nothing doubtful, nothing paid before, and an account to pay to": (
        "invoice_number", {"A-1", "A-2", "B-2"}),
    "How much money waits for a person, and why": ("field", {"xml_vs_print_total_gross", "BR-CO-15", "invoice_number"}),
    "Was the same invoice sent twice, as two files": ("name", {"copy.pdf"}),
    "Which sellers billed the same amount twice within a month, under different numbers": ("again", {"A-2"}),
    "Which sellers changed their bank account": ("seller_name", {"Beta GmbH"}),
    "What was invoiced, by month and seller": ("seller_name", {"Acme Ltd", "Beta GmbH"}),
    "Which invoices name no order of ours": ("invoice_number", {"A-2", "B-1", "B-2", "C-1"}),
    "How much input tax, by month and rate": ("tax", {19}),
    "Which items became dearer": ("item_name", {"Bolts"}),
    "Where does an invoice's XML say something else than its print": ("name", {"odd.pdf"}),
    "Which issuers send electronic invoices that break rules": ("seller_name", {"Beta GmbH"}),
    "Which credit notes belong to which invoices": ("invoice_number", {"A-1"}),
    "Where in the document does each value stand": ("field", {"total_gross", "due_date", "iban"}),
    "How often is each way of finding a field right, as far as people looked": ("field", {"iban"}),
    "On which contracts must we speak up within 90 days, or they renew": ("title", {"Lease"}),
    "Which contracts end within 90 days": ("title", {"Mutual NDA"}),
    "Which renew by themselves": ("title", {"Lease"}),
    "What have we agreed with somebody": ("title", {"Lease"}),
    "Which contracts are under which law": ("governing_law", {"Bavaria", "Delaware"}),
    "Who may audit us, in which words": ("text", {"7. Audit. At any time."}),
    "Which contracts say nothing about assignment": ("title", {"Mutual NDA"}),
    "Which confidentiality agreements are in force": ("parties", {"Acme Ltd; Us"}),
}  # fmt: skip


def _in(days: int) -> str:
    return (dt.datetime.now(dt.UTC).date() + dt.timedelta(days=days)).isoformat()


@pytest.fixture
def office(engine: Engine, queue: Queue) -> None:
    """Acme's two invoices and a credit note, Beta's odd one and its other account, a lease, a confidentiality one."""

    def deliver(name: str, kind: str, found: Found) -> int:
        task_id = add_task(engine, queue, pages=1)
        document_id = document_of(engine, task_id, name=name)
        held = claim(queue, task_id)
        result = {**found.result, "document_type": kind}
        with queue.completing(held, reason="ok", pages_done=1, result=result, usage=Usage()) as connection:
            Results(engine).write_pages(connection, held, [page(1, "7. Audit. At any time.\n8. Assignment.")])
            Results(engine).write_found(connection, held, found)
        return document_id

    _invoices(engine, deliver)
    _contracts(deliver)


Deliver = Callable[[str, str, Found], int]


def _invoices(engine: Engine, deliver: Deliver) -> None:
    acme = {"seller_name": "Acme Ltd", "seller_vat_id": "GB1", "issue_date": _in(-20), "currency": "EUR"}
    first = acme | {"invoice_number": "A-1", "due_date": _in(7), "total_gross": "119.00", "iban": "DE02"}
    deliver("a1.pdf", "invoice", _found(first | {"purchase_order": "PO-7"}, lines={"Bolts": "2.00"}, tax="19.00"))
    second = acme | {"invoice_number": "A-2", "issue_date": _in(-10), "total_gross": "119.00", "iban": "DE02"}
    deliver("a2.pdf", "invoice", _found(second, lines={"Bolts": "2.50"}))
    beta = {"seller_name": "Beta GmbH", "issue_date": _in(-9), "currency": "EUR", "total_gross": "80.00"}
    checks = {"xml_vs_print_total_gross": False, "BR-CO-15": False}
    deliver("odd.pdf", "invoice", _found(beta | {"invoice_number": "B-1", "iban": "DE05"}, checks=checks))
    last = deliver(
        "b2.pdf", "invoice", _found(beta | {"invoice_number": "B-2", "total_gross": "81.00", "iban": "DE06"})
    )
    deliver(
        "copy.pdf", "invoice", _found(first | {"purchase_order": "PO-7", "buyer_name": "Us"}, number_confidence=0.5)
    )
    credit = {"invoice_number": "C-1", "type_code": "381", "preceding_invoice": "A-1", "total_gross": "-119.00"}
    deliver("c1.pdf", "invoice", _found(acme | credit))
    with engine.begin() as connection:
        values = {"document_id": last}
        connection.execute(
            text("INSERT INTO corrections (document_id, name, action) VALUES (:document_id, 'iban', 'accept')"), values
        )


def _contracts(deliver: Deliver) -> None:
    lease = {"title": "Lease", "governing_law": "Bavaria", "expiration_date": _in(120), "renewal_term": "1 year",
             "renewal_notice": "1 month", "parties": "Acme Ltd"}  # fmt: skip
    clauses = [_clause(1, "7", "audit", 0, 22), _clause(2, "8", "assignment", 23, 37)]
    deliver("lease.pdf", "contract", _found(lease, parties=["Acme Ltd"], clauses=clauses))
    nda = {"title": "Mutual NDA", "contract_type": "nda", "governing_law": "Delaware", "expiration_date": _in(30)}
    found = _found(nda, parties=["Beta GmbH", "Us"])
    found.result["fields"]["parties"] = [value("Acme Ltd", confidence=1), value("Us", confidence=1)]
    deliver("nda.pdf", "contract", found)


def _clause(clause_no: int, number: str, tag: str, start: int, end: int) -> dict[str, Any]:
    return {"clause_no": clause_no, "number": number, "level": 1, "heading": "", "page": 1, "starts_at": start,
            "end_page": 1, "ends_at": end, "tags": [tag]}  # fmt: skip


def _found(
    fields: Mapping[str, str],
    *,
    lines: Mapping[str, str] | None = None,
    tax: str = "",
    parties: Sequence[str] = (),
    clauses: Sequence[Mapping[str, Any]] = (),
    checks: Mapping[str, bool] | None = None,
    number_confidence: float = 1,
) -> Found:
    known = {name: [value(each, confidence=1)] for name, each in fields.items()}
    if "invoice_number" in known:
        known["invoice_number"] = [value(fields["invoice_number"], confidence=number_confidence)]
    groups = [
        {"name": "lines", "number": number, "cells": {"name": value(name), "price": value(price)}}
        for number, (name, price) in enumerate((lines or {}).items(), 1)
    ]
    if tax:
        groups.append({"name": "taxes", "number": 1, "cells": {"tax_rate": value("19"), "tax_amount": value(tax)}})
    groups += [
        {"name": "parties", "number": number, "cells": {"name": value(each)}} for number, each in enumerate(parties, 1)
    ]
    return Found({"fields": known, "checks": checks or {}}, groups, clauses)


def test_every_question_has_its_answer_here() -> None:
    assert set(QUESTIONS) == set(ANSWERS)
    assert len(QUESTIONS) >= 20


@pytest.mark.usefixtures("office")
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_question_is_answered(engine: Engine, question: str) -> None:
    column, wanted = ANSWERS[question]
    assert {row[column] for row in adhoc.run(engine, QUESTIONS[question]).rows} == wanted
