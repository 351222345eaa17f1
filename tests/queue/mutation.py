"""Statements with a guard taken out, on copies: what shows that a test would notice if the guard were missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.queue import statements

Cut = tuple[str, str, str]  # statement, what is cut, what stands in its place

OWN = "AND lease_token = :lease_token\n"
ANYBODY = "AND CAST(:lease_token AS uuid) IS NOT NULL\n"
STATUS = "AND status = 'processing'\n"
BROUGHT_OWN = "AND tasks.lease_token = brought.lease_token\n"
BROUGHT_BY_ANYBODY = "AND brought.lease_token IS NOT NULL\n"
SWEEP_LOCK = """    ORDER BY task_id
    LIMIT CAST(:batch AS integer)
    FOR NO KEY UPDATE SKIP LOCKED
"""
SWEEP_WITHOUT_LOCK = SWEEP_LOCK.replace("    FOR NO KEY UPDATE SKIP LOCKED\n", "")
TAKEN_GUARD = "WHERE tasks.task_id = decided.task_id\n        AND tasks.status = 'processing'"
TAKEN_BY_ID = "WHERE tasks.task_id = decided.task_id"

COMPLETE_BY_STATUS: tuple[Cut, ...] = (("complete", BROUGHT_OWN, BROUGHT_BY_ANYBODY),)
COMPLETE_BY_ID: tuple[Cut, ...] = (*COMPLETE_BY_STATUS, ("complete", f"        AND tasks.{STATUS[4:]}", ""))
CHECKPOINT_BY_STATUS: tuple[Cut, ...] = (("checkpoint", OWN, ANYBODY),)
FAIL_BY_STATUS: tuple[Cut, ...] = (("fail", OWN, ANYBODY),)
SWEEP_BY_STATUS: tuple[Cut, ...] = (("sweep", SWEEP_LOCK, SWEEP_WITHOUT_LOCK),)
SWEEP_BY_ID: tuple[Cut, ...] = (*SWEEP_BY_STATUS, ("sweep", TAKEN_GUARD, TAKEN_BY_ID))
SWEEP_BY_SNAPSHOT: tuple[Cut, ...] = (
    (
        "sweep",
        "WHEN cancel_requested THEN",
        "WHEN (SELECT cancel_requested FROM tasks WHERE tasks.task_id = judged.task_id) THEN",
    ),
)


@contextmanager
def mutated(cuts: Sequence[Cut], folder: Path) -> Iterator[None]:
    """Let the queue run on copies of its statements in `folder`, each with its parts cut out."""
    copies = Path(shutil.copytree(statements.FOLDER, folder / "sql"))
    for name, guard, instead in cuts:
        path = copies / f"{name}.sql"
        whole = path.read_text(encoding="utf-8")
        assert guard in whole, f"{name}.sql has no such guard any more: {guard}"
        path.write_text(whole.replace(guard, instead), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "FOLDER", copies)
        _forget()
        yield
    _forget()


def _forget() -> None:
    statements.statement.cache_clear()
    statements.returning.cache_clear()
