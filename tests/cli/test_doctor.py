"""`doclease doctor` says what is not fine and what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from sqlalchemy import Engine

from pipeline.worker.measures import measures
from tests.cli.conftest import Doclease, rows_of


def _checks(doclease: Doclease) -> dict[str, dict[str, object]]:
    """By name; what the host does not grant to the sandbox makes it exit with 9, elsewhere it is 0."""
    for exit_code in (0, 9):
        try:
            found = rows_of(doclease("doctor", "--format", "json", exit_code=exit_code))
        except AssertionError:
            continue
        assert all(row["fine"] for row in found) == (exit_code == 0)
        return {str(row["check"]): row for row in found}
    pytest.fail("neither 0 nor 9")


def _configure(home: Path, **sections: object) -> None:
    path = home / "config.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **sections}), encoding="utf-8")


def test_a_fresh_installation_is_fine_and_its_sandbox_is_told_measure_by_measure(doclease: Doclease) -> None:
    found = _checks(doclease)
    for name in ("PostgreSQL", "schema", "fsync", "store", "recognition"):
        assert found[name]["fine"], found[name]
    assert {f"sandbox: {measure.name}" for measure in measures()} <= set(found)
    assert found["sandbox: memory"]["fine"]


def test_each_fault_comes_with_its_advice(doclease: Doclease, home: Path, engine: Engine) -> None:
    (home / "passwords").write_text("secret\n", encoding="utf-8")
    (home / "passwords").chmod(0o644)
    _configure(home, ocr={"engine": "tesseract"}, inbox={"min_free_megabytes": 10**12})
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO inbox_scans VALUES ('/old', queue_now() - interval '1 hour', 3, 'paused: the disk is full')"
        )
    found = _checks(doclease)
    assert "chmod 600" in str(found["passwords"]["advice"])
    assert "free some space" in str(found["store"]["found"])
    assert "paused: the disk is full" in str(found["inbox /old"]["found"])
    assert not found["inbox /old"]["fine"]
    assert "secret" not in str(found)
