"""P8: every document ends in a named state with a named reason, what it means and what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from pipeline.queue.store import Queue
from pipeline.reasons import Owner, Reason
from tests.tasks import add_task
from tests.worker.shop import Shop, pages

SAMPLES = Path(__file__).parents[2] / "sample_docs"

# What comes in, by file name, and how it must end: status and reason.
ENDS = {
    "good.pdf": ("succeeded", "ok"),
    "cut.pdf": ("failed", "truncated"),
    "locked.pdf": ("failed", "needs_password"),
    "empty.pdf": ("failed", "empty_file"),
    "noise.pdf": ("failed", "unsupported"),
    "page.html": ("failed", "unsupported"),
    "broken.pdf": ("failed", "corrupt"),
    "blank.txt": ("succeeded", "empty_text"),
}


def contents() -> dict[str, bytes]:
    good = (SAMPLES / "invoice-gbp-vat.pdf").read_bytes()
    return {
        "good.pdf": good,
        "cut.pdf": good[: len(good) // 2],
        "locked.pdf": (SAMPLES / "encrypted.pdf").read_bytes(),
        "empty.pdf": b"",
        "noise.pdf": bytes(range(256)) * 40,
        "page.html": b"<!DOCTYPE html><html><body>Session expired, please log in</body></html>",
        "broken.pdf": b"%PDF-1.4\nthis is no object at all\nstartxref\n9\n%%EOF\n",
        "blank.txt": b" \n\n \n",
    }


@pytest.fixture
def tasks(shop: Shop, tmp_path: Path) -> dict[str, int]:
    """Every kind of end that a file can come to without any fault of a worker."""
    taken = {}
    for name, content in contents().items():
        path = tmp_path / name
        path.write_bytes(content)
        taken[name] = shop.take_file(path)
    shop.work()
    return taken


def test_every_file_ends_with_its_own_reason(shop: Shop, tasks: dict[str, int]) -> None:
    ended = {name: (shop.task(task_id).status, shop.task(task_id).reason) for name, task_id in tasks.items()}
    assert ended == ENDS


def test_every_failure_says_what_it_means_whose_turn_it_is_and_what_was_found(
    engine: Engine, tasks: dict[str, int]
) -> None:
    with engine.connect() as connection:
        failures = connection.execute(text("SELECT * FROM failures")).all()
    assert {row.name for row in failures} == {name for name, (status, _) in ENDS.items() if status == "failed"}
    for row in failures:
        reason = Reason(row.reason)
        assert (row.help, row.owner) == (reason.help, reason.owner.value)
        assert row.error, row.name


def test_a_crash_and_a_gap_are_named_too(shop: Shop) -> None:
    crashing, torn = shop.take(pages(1), opening="segfault"), shop.take(pages(3, p2="unreadable"))
    shop.work()
    assert (shop.task(crashing).status, shop.task(crashing).reason) == ("quarantined", "crash")
    assert "SIGSEGV" in shop.task(crashing).error
    assert (shop.task(torn).status, shop.task(torn).reason) == ("succeeded", "ok_with_gaps")


def test_no_task_can_end_without_a_reason(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    ending = text("UPDATE tasks SET status = 'cancelled', finished_at = now() WHERE task_id = :task_id")
    with pytest.raises(IntegrityError, match="final_has_a_reason"), engine.begin() as connection:
        connection.execute(ending, {"task_id": task_id})


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_says_what_to_do(reason: Reason) -> None:
    assert reason.help.endswith(".")
    assert len(reason.help) > 10
    assert reason.owner in Owner
