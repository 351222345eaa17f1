"""`doclease documents` and `search` show what was read, with where it stands."""

from __future__ import annotations

import json

from sqlalchemy import Engine

from pipeline.queue.model import Outcome
from pipeline.queue.settle import Decision
from pipeline.queue.states import Status
from pipeline.queue.store import Queue
from tests.cli.conftest import Doclease, rows_of
from tests.stories import checkpoint, claim, document_of, enqueue_again, finish, gap, page, read, value
from tests.tasks import add_task

FAILED = Decision(Status.FAILED, Outcome.FAILED, failures=1)


def test_documents_are_listed_by_type_batch_and_reason(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    invoice = finish(engine, queue, ["one"], document_type="invoice", batch="may")
    task_id = add_task(engine, queue)
    queue.fail(claim(queue, task_id), FAILED, reason="corrupt", error="no parser can open it")
    broken = document_of(engine, task_id)

    def listed(*filters: str) -> list[int]:
        return [row["document_id"] for row in rows_of(doclease("documents", "list", *filters, "--format", "json"))]

    assert listed() == [broken, invoice]
    assert listed("--type", "invoice") == listed("--batch", "may") == listed("--status", "succeeded") == [invoice]
    assert listed("--reason", "corrupt") == listed("--status", "failed") == [broken]
    doclease("documents", "list", "--type", "invoice", "--reason", "corrupt", exit_code=4)


def test_a_documents_fields_are_shown_with_page_and_snippet(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    fields = {"total_gross": [value("119.00", on_page=2, snippet="Total 119,00 EUR", confidence=0.8)]}
    document_id = str(
        finish(engine, queue, ["one", "two"], document_type="invoice", fields=fields, checks={"adds_up": True})
    )
    table = doclease("documents", "show", document_id).stdout
    assert "Total 119,00 EUR" in table
    assert "adds_up" in table
    shown = json.loads(doclease("documents", "show", document_id, "--format", "json").stdout)
    assert shown["fields"] == [
        {
            "field": "total_gross",
            "value": "119.00",
            "page": 2,
            "confidence": 0.8,
            "method": "label",
            "snippet": "Total 119,00 EUR",
            "reviewed_by": None,
        }
    ]
    assert shown["checks"] == [{"check": "adds_up", "passed": True, "message": None, "settled": None}]
    doclease("documents", "show", "999999", exit_code=4)


def test_a_failed_document_is_shown_with_what_to_do(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    queue.fail(claim(queue, task_id), FAILED, reason="needs_password", error="encrypted")
    shown = doclease("documents", "show", str(document_of(engine, task_id))).stdout
    assert "doclease documents unlock ID" in shown


def test_text_is_printed_page_by_page_with_its_gaps(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    document_id = str(finish(engine, queue, [page(1, "one\nline"), gap(2, "it crashed"), page(3, "three \x85")]))
    assert doclease("documents", "text", document_id).stdout == (
        "--- page 1 (text_layer) ---\none\nline\n--- page 2 (none) ---\n[page 2 could not be read: it crashed]\n"
        "--- page 3 (text_layer) ---\nthree \\x85\n"
    )
    assert doclease("documents", "text", document_id, "--page", "1").stdout == "one\nline\n"
    assert "no page 4" in doclease("documents", "text", document_id, "--page", "4", exit_code=4).stderr
    assert "there is no document 999999" in doclease("documents", "text", "999999", exit_code=4).stderr


def test_text_is_there_before_the_document_is_finished(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=2)
    checkpoint(engine, queue, claim(queue, task_id), [page(1, "so far")])
    assert "so far" in doclease("documents", "text", str(document_of(engine, task_id))).stdout


def test_a_search_prints_document_page_and_snippet(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    document_id = finish(engine, queue, ["nothing here", "Invoice INV-2026-0042 of May"], document_type="invoice")
    (hit,) = rows_of(doclease("search", "0042", "--format", "json"))
    assert hit == {
        "document_id": document_id,
        "name": "document.txt",
        "document_type": "invoice",
        "page_no": 2,
        "found_by": "number",
        "snippet": "Invoice «INV-2026-0042» of May",
    }
    assert "INV-2026-0042" in doclease("search", "invoice", "may").stdout
    assert rows_of(doclease("search", "may", "--type", "invoice", "--format", "json"))
    doclease("search", "may", "--type", "contract", exit_code=4)
    doclease("search", "nowhere", exit_code=4)
    doclease("search", " ", exit_code=2)


def test_only_the_newest_text_of_a_document_is_found(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    document_id = finish(engine, queue, ["an old reading"])
    read(engine, queue, enqueue_again(engine, queue, document_id), ["a new reading"])
    doclease("search", "old", exit_code=4)
    assert "«new»" in doclease("search", "new").stdout
    assert "a new reading" in doclease("documents", "text", str(document_id)).stdout
