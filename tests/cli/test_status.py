"""`doclease status` and `leases` tell what is, and `--fail-if` makes an alarm of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.store import Queue
from tests.cli.conftest import Doclease, rows_of
from tests.stories import checkpoint, claim, finish, page
from tests.tasks import add_task

ROOT = Path(__file__).parents[2]


def test_work_in_hand_is_shown_with_page_and_lease(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=200)
    checkpoint(engine, queue, claim(queue, task_id), [page(number, "words") for number in range(1, 41)])
    add_task(engine, queue, pages=7)
    told = doclease("status").stdout
    assert "41 of 200" in told
    assert "host/1/aa" in told
    assert "Last sweep" in told
    found = json.loads(doclease("status", "--format", "json").stdout)
    counts = {row["status"]: (row["tasks"], row["pages_left"]) for row in found["queue"]}
    assert counts["enqueued"] == (1, 7)
    assert counts["processing"] == (1, 160)
    assert 0 < found["in_work"][0]["lease_left_seconds"] <= 15
    assert doclease("status", "--format", "csv").stdout.splitlines()[0].startswith("status,tasks,pages_left")


def test_the_last_scan_of_an_inbox_is_shown(doclease: Doclease, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO inbox_scans VALUES ('/in', queue_now(), 3, 'cannot list \x1b[31m')"))
    told = doclease("status").stdout
    assert "Inbox /in: scanned" in told
    assert "3 files waiting. cannot list \\x1b[31m" in told
    assert "Nobody watches" not in told


def test_an_inbox_that_nobody_watches_any_more_says_so(doclease: Doclease, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO inbox_scans VALUES ('/in', queue_now() - interval '1 minute', 0, NULL)"))
    assert "Inbox /in: scanned 1 min" in (told := doclease("status").stdout)
    assert "Nobody watches it now: type doclease run." in told


@pytest.mark.parametrize(
    ("condition", "exit_code"),
    [
        ("succeeded>0", 9),
        ("succeeded > 1", 0),
        ("failed>=1", 0),
        ("enqueued=0", 9),
        ("pages_left<1", 9),
        ("oldest>0", 0),
        ("sweep_age>100000", 0),
        ("scan_age>60", 9),
        ("errors>1", 2),
        ("failed>", 2),
    ],
)
def test_a_condition_decides_the_exit_code(
    doclease: Doclease, engine: Engine, queue: Queue, condition: str, exit_code: int
) -> None:
    finish(engine, queue, ["one"])
    result = doclease("status", "--fail-if", condition, exit_code=exit_code)
    assert ("is true" in result.stderr) == (exit_code == 9)


@pytest.mark.slow
def test_a_watch_ends_well_at_ctrl_c(home: Path) -> None:
    command = [sys.executable, "-m", "pipeline", "-C", str(home), "status", "--watch", "0.1", "--format", "json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as watch:
        assert watch.stdout is not None
        assert [json.loads(watch.stdout.readline())["in_work"] for _ in range(3)] == [[], [], []]
        watch.send_signal(signal.SIGINT)
        assert watch.wait() == 0


LEARNED = (
    "INSERT INTO lease_rates VALUES ('invoice', 'text', :text, 70, queue_now()), ('auto', 'ocr', :ocr, 50, queue_now())"
)


@pytest.fixture
def learned(engine: Engine) -> Callable[..., None]:
    """Notes what calibrate learned: of text pages of invoices, of pages to recognise of what has no type."""

    def note(**rates: float) -> None:
        with engine.begin() as connection:
            connection.execute(text(LEARNED), rates)

    return note


def test_leases_are_shown_with_the_rate_they_rest_on(doclease: Doclease, learned: Callable[..., None]) -> None:
    learned(text=0.6, ocr=1)
    rows = {(row["handler"], row["document"]): row for row in rows_of(doclease("leases", "--format", "json"))}
    contract, scan, invoice = (
        rows[which]
        for which in (("invoice", "200-page contract"), ("auto", "10-page scan"), ("auto", "2-page invoice"))
    )
    assert (contract["from"], contract["samples"], contract["measured_p99"]) == ("learned", 70, 0.6)
    assert (contract["seconds_per_page"], contract["why"]) == (1.2, "0.6 s x 2 (lease.learn_margin)")
    assert (contract["lease_seconds"], contract["deadline_seconds"]) == (35, 4 * (10 + 1.2 * 200))
    assert contract["sum"].startswith("10 s + 1.2 s x 50 pages, at least 15 s, at most 35 s")
    assert (scan["source"], scan["seconds_per_page"], scan["lease_seconds"]) == ("ocr", 5, 35)
    assert scan["why"] == "1 s x 2 (lease.learn_margin), raised to a quarter of lease.ocr_per_page_seconds"
    assert (invoice["from"], invoice["samples"], invoice["lease_seconds"]) == ("default", 0, 15)
    assert invoice["why"] == "lease.per_page_seconds; fewer than 50 attempts to learn from"


def test_a_reader_is_told_the_arithmetic_of_leases_once(doclease: Doclease, learned: Callable[..., None]) -> None:
    learned(text=90, ocr=20)
    told = doclease("leases").stdout
    assert "lowered to four times lease.per_page_seconds" in told
    assert "read as invoice:\n  2-page invoice: 15 s = 10 s + 2 s x 2 pages, at least 15 s, at most 35 s." in told
    assert told.count("200-page contract: 35 s = 10 s + 0.5 s x 50 pages") == 2, "auto, and all that learned nothing"
    assert "The whole attempt may take 7 min 20 s." in told


def test_what_is_not_to_be_learned_is_shown_and_not_used(
    doclease: Doclease, home: Path, learned: Callable[..., None]
) -> None:
    with (home / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("lease: {learn: false}\n")
    learned(text=0.6, ocr=1)
    rows = rows_of(doclease("leases", "--format", "json"))
    (row,) = [row for row in rows if (row["handler"], row["document"]) == ("invoice", "2-page invoice")]
    assert (row["seconds_per_page"], row["from"], row["measured_p99"]) == (0.5, "default", 0.6)
    assert row["why"] == "lease.per_page_seconds; lease.learn is false"
