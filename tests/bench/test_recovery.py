"""The comparison of recovery measures what it says, and its tables say what was measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from bench.peers import body
from bench.peers.evidence import Evidence
from bench.peers.rows import Row, rows
from bench.peers.scenarios import SCENARIOS, killed_worker
from bench.peers.stage import open_stage
from bench.peers.table import printed, tables
from tests import postgres
from tests.rendering import ROOT

RECORDED: dict[str, Any] = json.loads((ROOT / "bench/recovery.json").read_text(encoding="utf-8"))
QUICK = {
    "lease": {"base_seconds": 4, "min_seconds": 1},
    "sweep": {"interval_seconds": 0.5},
    "queue": {"poll_seconds": 0.2},
}


class SessionServer:
    """The PostgreSQL of the tests."""

    def __init__(self, url: URL) -> None:
        self._url = url
        self.host = str(url.query["host"])
        self.user = str(url.username)

    def create_database(self, name: str) -> None:
        postgres.create_database(self._url, name)

    def stop_hard(self) -> None:
        raise NotImplementedError

    def start(self) -> None:
        raise NotImplementedError


@pytest.mark.slow
def test_the_task_of_a_killed_worker_is_measured_from_its_death_to_its_end(server: URL, tmp_path: Path) -> None:
    row = Row("doclease", "doclease", "quick", "", QUICK, patience=60)
    with open_stage(row, tmp_path / "cell", SessionServer(server), Path(sys.executable), "recovery") as stage:
        measured = killed_worker(stage, slots=1)
    assert measured["tasks"] == 1
    begun_again, done = measured["begun_again"], measured["done"]
    assert isinstance(begun_again, float)
    assert isinstance(done, float)
    assert 0 < begun_again <= done
    assert (measured["executions_most"], measured["done_twice"]) == (2, 0)
    assert (measured["lost"], measured["stuck"], measured["open"]) == (0, 0, 0)


def test_executions_and_effects_are_told_apart_and_counted(tmp_path: Path) -> None:
    orders = [body.Order(task, "short", str(tmp_path)).to_json() for task in ("a", "b", "a")]
    for order in orders:
        body.perform(order)
    seen = Evidence.of(tmp_path)
    assert [entry.number for entry in seen.ends("a")] == [1, 2]
    assert (len(seen.begins("a")), len(seen.begins("b")), len(seen.begins("c"))) == (2, 1, 0)
    first, second = seen.begins("a")
    assert seen.begun("a", first.at) == round(second.at - first.at, 2)
    assert seen.ended("a", second.at + 60) is None


def test_every_setting_is_measured_under_every_fault() -> None:
    measured = {(cell["row"], cell["scenario"]) for cell in RECORDED["cells"] if "error" not in cell["measures"]}
    assert measured == {(row.name, scenario) for row in rows() for scenario in SCENARIOS}


def test_the_recorded_run_is_of_the_settings_of_today() -> None:
    recorded = [(row["name"], row["setting"], row["settings"]) for row in RECORDED["rows"]]
    assert recorded == [(row.name, row.setting, json.loads(json.dumps(row.settings))) for row in rows()]


def test_the_tables_of_the_recorded_run_have_a_line_for_each_queue() -> None:
    shown = list(tables(RECORDED))
    assert len(shown) == len(SCENARIOS)
    for table in shown:
        assert [line[0] for line in table.lines] == [row.name for row in rows()]
        assert table.title in printed(RECORDED)


def test_what_never_happened_is_said_and_not_left_out() -> None:
    stuck = {"begun_again": None, "begun_again_median": None, "tasks": 3, "stuck": 3, "lost": 0, "done_twice": 0}
    fine = {**stuck, "begun_again": 9.26, "begun_again_median": 8.0, "stuck": 0, "done_twice": 1}
    assert _line("kill", stuck) == ["not within 60 s", "3 stuck of 3", "0 of 3"]
    assert _line("kill", fine) == ["8.0 to 9.3 s", "0", "1 of 3"]
    assert _line("kill", fine, stuck) == ["8.0 to 9.3 s, or not within 60 s", "3 stuck of 6", "1 of 6"]
    frozen = {"taken_over": 3.0, "stale_accepted": True, "tasks": 1, "done_twice": 1}
    assert _line("freeze", frozen) == ["3.0 s", "**accepted**", "1 of 1"]
    assert _line("freeze", {**frozen, "stale_accepted": False, "done_twice": 0}) == ["3.0 s", "refused", "0 of 1"]
    assert _line("freeze", {"error": "no worker began"}) == ["not measured: no worker began", "", ""]


def _line(scenario: str, *measures: dict[str, Any]) -> list[str]:
    cells = [{"row": "X", "scenario": scenario, "measures": each} for each in measures]
    (table,) = tables({"rows": [{"name": "X", "patience": 60.0}], "cells": cells})
    name, *rest = table.lines[0]
    assert name == "X"
    return rest
