"""`doclease status` and `leases` tell what is, and `--fail-if` makes an alarm of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
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


def test_learned_rates_and_their_leases_are_shown(doclease: Doclease, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO lease_rates VALUES ('invoice', 'text', 0.6, 70, queue_now())"))
    rows = {(row["handler"], row["source"]): row for row in rows_of(doclease("leases", "--format", "json"))}
    learned, default, scanned = rows["invoice", "text"], rows["auto", "text"], rows["auto", "ocr"]
    assert (learned["from"], learned["samples"], learned["seconds_per_page"]) == ("learned", 70, 1.2)
    assert [learned[name] for name in ("lease_2", "lease_20", "lease_200")] == [15, 34, 34]
    assert (default["from"], default["samples"], default["seconds_per_page"]) == ("default", 0, 0.5)
    assert [default[name] for name in ("lease_2", "lease_20", "lease_200")] == [15, 20, 20]
    assert [scanned[name] for name in ("lease_2", "lease_20", "lease_200")] == [50, 410, 410]
    assert "learned" in doclease("leases").stdout
