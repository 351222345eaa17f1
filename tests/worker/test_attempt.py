"""One attempt: pages are kept as they come, faults cost as little as they can, every document ends with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.documents import ocr
from pipeline.errors import ConfigurationError
from pipeline.worker.slot import Until
from tests.worker.shop import Shop, pages, until

SAMPLES = Path(__file__).parents[2] / "sample_docs"


def _texts(shop: Shop, task_id: int) -> list[str]:
    return [row.text for row in shop.pages(task_id)]


def test_a_document_is_read_and_its_result_accepted(shop: Shop) -> None:
    task_id = shop.take(pages(7))
    shop.work()
    task = shop.task(task_id)
    assert (task.status, task.reason, task.pages_done, task.attempt_no) == ("succeeded", "ok", 7, 1)
    assert (task.failure_count, task.crash_count, task.release_count) == (0, 0, 0)
    assert _texts(shop, task_id) == pages(7)
    (attempt,) = shop.attempts(task_id)
    assert attempt.result["handler"] == "general"
    assert attempt.peak_rss_bytes > 0
    assert attempt.cpu_seconds >= 0


def test_pages_are_stored_and_the_lease_renewed_while_the_document_is_in_work(shop: Shop) -> None:
    gate = shop.gate()
    task_id = shop.take(pages(12, p8=f"gate {gate}"))
    worker = shop.start_worker()
    shop.reached(gate)
    until(lambda: len(shop.pages(task_id)) == 7, "the seventh page")
    (attempt,) = shop.attempts(task_id)
    assert (attempt.outcome, attempt.pages_done, attempt.renewals >= 1) == (None, 7, True)
    gate.touch()
    shop.ended(task_id)
    assert shop.outcomes(task_id) == [("succeeded", "ok")]
    assert _texts(shop, task_id) == pages(12, p8=f"gate {gate}")
    assert worker.poll() is None


def test_the_next_attempt_goes_on_at_the_page_that_killed_the_first(shop: Shop, tmp_path: Path) -> None:
    faults = ("segfault", "exit 3", "raise no reason", "garbage", "allocate 2000")
    tasks = [
        (number, shop.take(pages(9, p7=f"once {tmp_path / str(number)} {fault}")))
        for number, fault in enumerate(faults)
    ]
    shop.work()
    for _, task_id in tasks:
        first, second = shop.attempts(task_id)
        assert (first.outcome, first.page_no, first.pages_done) == ("crashed", 7, 6)
        assert (second.outcome, second.reason, second.pages_reused) == ("succeeded", "ok", 6)
        assert [row.attempt_no for row in shop.pages(task_id)] == [1] * 6 + [2] * 3
        assert [text.split(".")[0] for text in _texts(shop, task_id)] == [f"Page {n} of 9" for n in range(1, 10)]
    assert [shop.outcomes(task_id)[0][1] for _, task_id in tasks] == ["crash"] * 4 + ["out_of_memory"]


@pytest.mark.parametrize(
    ("order", "said"),
    [("segfault", "SIGSEGV"), ("raise as ordered", "RuntimeError: as ordered"), ("allocate 2000", "memory limit")],
)
def test_a_page_that_kills_twice_is_skipped_and_named(shop: Shop, order: str, said: str) -> None:
    task_id = shop.take(pages(6, p4=order))
    shop.work()
    task = shop.task(task_id)
    assert (task.status, task.reason, task.crash_count, task.attempt_no) == ("succeeded", "ok_with_gaps", 2, 3)
    assert [row.page_no for row in shop.pages(task_id) if row.source == "none"] == [4]
    assert said in shop.pages(task_id)[3].error
    assert shop.attempts(task_id)[2].result["gaps"] == [4]
    assert [attempt.page_no for attempt in shop.attempts(task_id)] == [4, 4, None]


def test_a_hung_page_is_killed_as_stalled_and_a_spinning_one_as_timeout_after_its_extensions(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 3, "busy_extensions": 1})
    hung, busy = shop.take(pages(3, p2="sleep 6000")), shop.take(pages(3, p2="spin forever"))
    shop.work(slots=2)
    assert shop.outcomes(hung) == [("crashed", "stalled"), ("crashed", "stalled"), ("succeeded", "ok_with_gaps")]
    assert shop.outcomes(busy) == [("crashed", "timeout"), ("crashed", "timeout"), ("succeeded", "ok_with_gaps")]
    # Page 1 renews once; only the busy page gets an extension.
    assert [attempt.renewals for attempt in shop.attempts(hung)][:2] == [1, 0]
    assert [attempt.renewals for attempt in shop.attempts(busy)][:2] == [2, 1]
    assert "page 2" in shop.attempts(hung)[0].error
    assert shop.attempts(busy)[0].cpu_seconds > 0


def test_a_document_that_dies_in_opening_or_in_its_handler_is_quarantined_while_others_flow_on(shop: Shop) -> None:
    gate = shop.gate()
    opening = shop.take(pages(2), opening=f"gate {gate}\nkill", priority=10)
    handling = shop.take(pages(2), handler="dies", priority=5)
    others = [shop.take(pages(1)) for _ in range(4)]
    shop.start_worker(slots=2)
    for task_id in others:
        shop.ended(task_id)
    assert shop.task(opening).finished_at is None
    gate.touch()
    shop.ended(opening)
    shop.ended(handling)
    for task_id, stored in ((opening, 0), (handling, 2)):
        task = shop.task(task_id)
        assert (task.status, task.reason, task.crash_count, task.attempt_no) == ("quarantined", "crash", 3, 3)
        assert [attempt.page_no for attempt in shop.attempts(task_id)] == [None] * 3
        assert len(shop.pages(task_id)) == stored
    assert [shop.outcomes(task_id) for task_id in others] == [[("succeeded", "ok")]] * 4


def test_a_document_whose_only_page_kills_is_quarantined_not_called_corrupt(shop: Shop) -> None:
    task_id = shop.take(pages(1, p1="abort"))
    shop.work()
    assert (shop.task(task_id).status, shop.task(task_id).reason) == ("quarantined", "crash")


def test_what_cannot_be_read_is_a_gap_and_nothing_but_gaps_is_corrupt(shop: Shop) -> None:
    gap = shop.take(pages(3, p2="unreadable a torn page"))
    gaps = shop.take(pages(2, p1="unreadable torn", p2="unreadable torn, too"))
    blank = shop.take([" ", "\n"])
    shop.work()
    assert (shop.task(gap).status, shop.task(gap).reason) == ("succeeded", "ok_with_gaps")
    assert [(row.page_no, row.error) for row in shop.pages(gap) if row.source == "none"] == [(2, "a torn page")]
    assert (shop.task(gaps).status, shop.task(gaps).reason, shop.task(gaps).attempt_no) == ("failed", "corrupt", 1)
    assert (shop.task(blank).status, shop.task(blank).reason) == ("succeeded", "empty_text")


def test_a_handler_that_fails_costs_the_fields_and_never_the_text(shop: Shop) -> None:
    raises, objects = shop.take(pages(2), handler="raises"), shop.take(pages(2), handler="objects")
    shop.work()
    for task_id, error in ((raises, "RuntimeError: cannot extract"), (objects, "TypeError: ")):
        (attempt,) = shop.attempts(task_id)
        assert (attempt.outcome, attempt.reason) == ("succeeded", "ok")
        assert attempt.result["fields"] == {}
        assert attempt.result["handler_error"].startswith(error)
        assert len(shop.pages(task_id)) == 2


def test_bad_values_are_dropped_and_named_and_the_view_stands(shop: Shop) -> None:
    task_id = shop.take(pages(1), handler="bad_values")
    shop.work()
    result = shop.attempts(task_id)[0].result
    assert result["dropped"] == ["issue_date", "due_date", "total_gross", "total_net"]
    (invoice,) = shop.rows("SELECT invoice_number, issue_date, due_date, total_gross FROM invoices")
    assert tuple(invoice) == ("INV-1", None, None, None)


def test_a_handler_that_nobody_has_is_tried_again_not_held_against_the_document(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(queue={"max_failures": 2})
    task_id = shop.take(pages(1), handler="of_a_newer_version")
    shop.work()
    assert shop.outcomes(task_id) == [("failed", "internal_error")] * 2
    assert "of_a_newer_version" in shop.task(task_id).error
    assert shop.task(task_id).crash_count == 0


def test_an_error_with_unstorable_characters_is_recorded_all_the_same(shop: Shop) -> None:
    task_id = shop.take(pages(2, p2="raise NUL \x00 and \x07 bell"))
    shop.work()
    assert shop.outcomes(task_id)[0] == ("crashed", "crash")
    assert "NUL  and  bell" in shop.attempts(task_id)[0].error


def test_bytes_that_are_gone_from_the_store_are_tried_again_then_named(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(queue={"max_failures": 2})
    task_id = shop.take(pages(1))
    for path in (shop.home / "data" / "store").rglob("*"):
        if path.is_file():
            path.unlink()
    shop.work()
    assert shop.outcomes(task_id) == [("failed", "io_error")] * 2
    assert "data_dir" in shop.task(task_id).error


def test_a_cancellation_is_obeyed_at_the_next_checkpoint(shop: Shop) -> None:
    gate = shop.gate()
    task_id = shop.take(pages(4, p2=f"gate {gate}", p3="sleep 6000"))
    shop.start_worker()
    shop.reached(gate)
    assert shop.app.queue.cancel(task_id) == "processing"
    gate.touch()
    shop.ended(task_id)
    assert (shop.task(task_id).status, shop.task(task_id).reason) == ("cancelled", "cancelled")
    assert shop.outcomes(task_id) == [("cancelled", "cancelled")]
    assert len(shop.pages(task_id)) == 2


@pytest.mark.parametrize("name", ["invoice-gbp-vat.pdf", "nda-short.pdf", "memo.txt"])
def test_the_sample_documents_pass_through_a_real_child(shop: Shop, name: str) -> None:
    task_id = shop.take_file(SAMPLES / name)
    shop.work()
    assert (shop.task(task_id).status, shop.task(task_id).reason) == ("succeeded", "ok")
    assert all(row.text.strip() for row in shop.pages(task_id))


def test_bytes_that_were_damaged_in_the_store_become_no_result_and_are_read_once_they_are_back(shop: Shop) -> None:
    task_id = shop.take(pages(2))
    (row,) = shop.rows("SELECT sha256 FROM documents")
    path = shop.app.archive.path_of(row.sha256)
    whole = path.read_bytes()
    path.write_bytes(bytes(len(whole)))
    shop.work(until=Until.IDLE)
    task = shop.task(task_id)
    assert (task.status, task.failure_count, task.reason) == ("delayed", 1, "io_error")
    assert "are damaged" in task.error
    path.write_bytes(whole)
    shop.work()
    assert shop.task(task_id).status == "succeeded"


def test_what_the_operator_forgot_is_told_and_no_document_is_blamed_for_a_crash(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(queue={"max_failures": 2})
    task_id = shop.take(pages(2, p2="misconfigure install the engine"))
    shop.work()
    assert shop.outcomes(task_id) == [("failed", "internal_error")] * 2
    task = shop.task(task_id)
    assert (task.status, task.crash_count, task.error) == ("failed", 0, "install the engine")


def test_a_worker_without_its_recognition_says_so_before_it_claims(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(ocr={"engine": "tesseract"})
    if not ocr.missing(shop.settings.ocr):
        pytest.skip("tesserocr is installed")
    task_id = shop.take(pages(1))
    with pytest.raises(ConfigurationError, match="tesserocr is not installed"):
        shop.work()
    assert shop.task(task_id).status == "enqueued"
