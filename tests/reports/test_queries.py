"""docs/querying.md is true: every view and column is in it, and every query of it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect

from pipeline.cli import COMMANDS
from pipeline.queue.store import Queue
from pipeline.reports import adhoc
from tests.stories import checkpoint, claim, finish, gap, page, value
from tests.tasks import add_task

DOCUMENT = (Path(__file__).parents[2] / "docs" / "querying.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"^```sql\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
VIEWS = {
    name: {
        column.strip()
        for columns in re.findall(r"^\| ([a-z0-9_, ]+) \|", body, re.MULTILINE)
        for column in columns.split(",")
    }
    - {"column"}
    for name, body in re.findall(r"^### (\w+)\n(.*?)(?=^##)", DOCUMENT, re.MULTILINE | re.DOTALL)
}


def test_every_view_and_column_is_documented_and_no_other(engine: Engine) -> None:
    found = inspect(engine)
    views = {name: {column["name"] for column in found.get_columns(name)} for name in found.get_view_names()}
    assert views == VIEWS


def test_the_queries_are_found() -> None:
    assert len(QUERIES) >= 30


@pytest.mark.parametrize("query", QUERIES)
def test_every_documented_query_runs(engine: Engine, queue: Queue, query: str) -> None:
    invoice = {
        "invoice_number": [value("INV-2026-0042")],
        "total_gross": [value("119.00", confidence=0.3)],
        "issue_date": [value("2026-05-01")],
        "due_date": [value("2026-05-15")],
    }
    finish(
        engine, queue, ["one", gap(2, "crashed")], document_type="invoice", fields=invoice, checks={"adds_up": False}
    )
    finish(engine, queue, ["one"], document_type="contract", fields={"parties": [value("A"), value("B")]})
    checkpoint(engine, queue, claim(queue, add_task(engine, queue)), [page(1, "one")])
    assert adhoc.run(engine, query).columns


def test_pages_that_are_missing_come_out(engine: Engine, queue: Queue) -> None:
    (missing,) = (query for query in QUERIES if "source = 'none'" in query)
    gaps = finish(engine, queue, ["one", gap(2, "crashed")])
    assert [(row["document_id"], row["page_no"]) for row in adhoc.run(engine, missing).rows] == [(gaps, 2)]


def test_every_command_it_names_exists() -> None:
    named = set(re.findall(r"(?:^|[`(])doclease ([a-z]+)", DOCUMENT, re.MULTILINE))
    assert {"sql", "search", "export"} <= named <= set(COMMANDS)
