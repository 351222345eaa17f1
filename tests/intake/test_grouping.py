"""Many files at once: each as if it had come by itself, whatever the others are and whoever else comes."""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from pipeline.config import LimitSettings
from pipeline.documents.archive import Archive, Stored
from pipeline.documents.contract import Inspection
from pipeline.errors import DocumentError, StoreUnavailable
from pipeline.intake.arrivals import Arrived, Identity
from pipeline.intake.grouping import Grouping, Wish
from pipeline.intake.recipe import Intake, Order, Ready, Source
from pipeline.queue.store import Queue
from pipeline.reasons import Reason
from pipeline.registering import State
from tests.documents.samples import pdf
from tests.taking import build_intake, count, fail_all, in_process, rows, succeed_all
from tests.watching import until

SAMPLES = Path(__file__).parents[2] / "sample_docs"


@pytest.fixture
def intake(engine: Engine, tmp_path: Path) -> Intake:
    """The intake under test."""
    return build_intake(engine, tmp_path / "store")


def _pile(folder: Path, contents: Iterable[bytes]) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / f"{number:03}.txt")
        paths[-1].write_bytes(content)
    return paths


def _wishes(paths: Iterable[Path], **order: Any) -> list[Wish]:
    usual: dict[str, Any] = {"handler": "auto", "priority": 0, "batch": None, "origin": "command"}
    return [Wish(Source.at(path), Order(**usual | order, token=uuid.uuid4())) for path in paths]


def _take(intake: Intake, paths: Iterable[Path], **order: Any) -> list[Arrived | Exception]:
    return [came for group in Grouping(intake).take(_wishes(paths, **order)) for _, came in group]


def _states(outcomes: Sequence[Arrived | Exception]) -> list[State | type[Exception]]:
    return [each.state if isinstance(each, Arrived) else type(each) for each in outcomes]


def test_a_file_in_a_group_leaves_the_rows_that_it_leaves_by_itself(
    intake: Intake, engine: Engine, tmp_path: Path
) -> None:
    everything = """
        SELECT documents.name, raw_name, media_type, documents.byte_count, documents.page_count, documents.restricted,
            batch, depth, handler, tasks.page_count, status, priority, enqueued_at - to_timestamp(
                (rank_ms + priority * 600000) / 1000.0) < interval '1 ms', lease_seconds, deadline_seconds, attempt_no,
            origin, arrivals.name, raw_path, inode, mtime_ns, duplicate, placed_at IS NOT NULL, placed_path
        FROM arrivals
        JOIN documents USING (document_id)
        JOIN tasks USING (task_id)
        ORDER BY inode
    """
    paths = _pile(tmp_path / "a", [pdf.build(["one", "two"]), b"a text", *(b"text %d" % number for number in range(5))])
    paths.append(tmp_path / "a" / os.fsdecode(b"M\xe4rz\n.txt"))
    paths[-1].write_bytes(b"of March")
    order: dict[str, Any] = {"handler": "invoice", "priority": 5, "batch": "may"}
    together = _take(intake, paths, **order)
    of_groups = rows(engine, everything)
    with engine.begin() as connection:
        for table in ("arrivals", "tasks", "documents"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    alone = [intake.take(Source.at(path), token=uuid.uuid4(), **order) for path in paths]
    assert rows(engine, everything) == of_groups
    ids = ("document_id", "task_id")
    said = [{name: getattr(each, name) for name in Arrived.__slots__ if name not in ids} for each in alone]
    assert [{name: getattr(each, name) for name in Arrived.__slots__ if name not in ids} for each in together] == said


def test_documents_and_tasks_are_numbered_as_the_files_are_given(
    intake: Intake, engine: Engine, tmp_path: Path
) -> None:
    paths = _pile(tmp_path / "a", (b"number %d" % number for number in range(100)))
    _take(intake, paths)
    everything = "arrivals JOIN tasks USING (task_id) JOIN documents ON documents.document_id = tasks.document_id"
    for key in ("documents.document_id", "task_id", "arrival_id"):
        names = rows(engine, f"SELECT documents.name FROM {everything} ORDER BY {key}")
        assert names == [path.name for path in paths]
    archive = Archive(tmp_path / "store")
    assert all(archive.verify(sha256) for sha256 in rows(engine, "SELECT sha256 FROM documents"))


def test_the_same_bytes_in_a_group_and_before_it_are_one_document_with_one_task(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    looked: list[str] = []

    def inspect(path: Path, name: str) -> Inspection:
        looked.append(name)
        return in_process()(path, name)

    intake = build_intake(engine, tmp_path / "store", inspect=inspect)
    paths = _pile(tmp_path / "a", [b"first", b"done", b"in line", *[b"twice"] * 2, *[b"three times"] * 3])
    first, done, waiting = _take(intake, paths[:3])
    assert isinstance(done, Arrived)
    (claim, *_) = queue.claim("worker")
    assert isinstance(first, Arrived)
    assert claim.task_id == first.task_id
    outcomes = _take(intake, paths)
    new, known = State.ENQUEUED, State.DUPLICATE
    assert _states(outcomes) == [known, known, known, new, known, new, known, known]
    assert [each.document_id for each in outcomes[:3] if isinstance(each, Arrived)] == [
        each.document_id for each in (first, done, waiting) if isinstance(each, Arrived)
    ]
    assert (count(engine, "documents"), count(engine, "tasks"), count(engine, "arrivals")) == (5, 5, 11)
    assert looked == [paths[number].name for number in (0, 1, 2, 3, 5)]


def test_each_file_of_a_group_ends_as_it_would_by_itself(
    intake: Intake, engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    good = _pile(tmp_path / "a", (b"number %d" % number for number in range(12)))
    _take(intake, good[:2])
    fail_all(queue)
    os.mkfifo(tmp_path / "pipe.pdf")
    large = tmp_path / "large.txt"
    large.write_bytes(b"word " * 10_000)
    intake = build_intake(engine, tmp_path / "store", limits=LimitSettings(max_megabytes=0.04))
    bad = [tmp_path / "pipe.pdf", SAMPLES / "encrypted.pdf", tmp_path / "none.pdf", large]
    outcomes = _take(intake, [*good[:4], *bad, *good[4:]])
    assert _states(outcomes) == [
        State.RETRIED, State.RETRIED, State.ENQUEUED, State.ENQUEUED,
        DocumentError, State.REJECTED, FileNotFoundError, State.REJECTED,
        *[State.ENQUEUED] * 8,
    ]  # fmt: skip
    assert [each.reason for each in outcomes if isinstance(each, Arrived) and each.state is State.REJECTED] == [
        "needs_password",
        "too_large",
    ]
    assert rows(engine, "SELECT status, count(*) FROM tasks GROUP BY 1 ORDER BY 1") == [("enqueued", 12), ("failed", 2)]
    assert not Archive(tmp_path / "store").path_of(rows(engine, LARGEST)[0]).exists()


LARGEST = "SELECT sha256 FROM documents ORDER BY byte_count DESC LIMIT 1"


def test_a_row_that_cannot_be_written_spoils_no_other(engine: Engine, tmp_path: Path) -> None:
    def inspect(path: Path, name: str) -> Inspection:
        return Inspection("text/plain", -1 if name == "007.txt" else 1)

    intake = build_intake(engine, tmp_path / "store", inspect=inspect)
    outcomes = _take(intake, _pile(tmp_path / "a", (b"number %d" % number for number in range(12))))
    assert _states(outcomes) == [*[State.ENQUEUED] * 7, IntegrityError, *[State.ENQUEUED] * 4]
    assert count(engine, "tasks") == 11


def test_the_first_document_is_in_line_and_told_of_before_the_others_are_looked_into(
    engine: Engine, tmp_path: Path
) -> None:
    rung: list[int] = []
    looked: list[str] = []

    def inspect(path: Path, name: str) -> Inspection:
        looked.append(name)
        return Inspection("text/plain", 1)

    intake = build_intake(
        engine, tmp_path / "store", inspect=inspect, notify=lambda: rung.append(count(engine, "tasks"))
    )
    wishes = _wishes(_pile(tmp_path / "a", (b"number %d" % number for number in range(30))))
    taking = Grouping(intake).take(wishes)
    assert len(next(taking)) == 1
    assert (rung, looked) == ([1], ["000.txt"])
    assert sum(len(group) for group in taking) == 29
    assert rung[-1] == 30


def test_no_row_is_written_before_the_name_of_its_file_is_durable(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(Intake):
        def record_all(self, many: Sequence[Ready]) -> list[Arrived | DBAPIError]:
            assert {each.stored.sha256[:2] for each in many} <= {folder.name for folder in synced}
            synced.clear()
            return super().record_all(many)

    intake = build_intake(engine, tmp_path / "store", kind=Late)
    paths = _pile(tmp_path / "a", (b"number %d" % number for number in range(12)))
    _take(build_intake(engine, tmp_path / "store"), paths)  # a new folder is brought to disk when it is made
    synced: list[Path] = []
    monkeypatch.setattr("pipeline.documents.archive.sync_folder", synced.append)
    assert _states(_take(intake, paths)) == [State.DUPLICATE] * 12


def test_what_was_copied_before_an_outage_has_its_rows(engine: Engine, tmp_path: Path) -> None:
    def inspect(path: Path, name: str) -> Inspection:
        if name == "003.txt":
            raise DocumentError(Reason.IO_ERROR, "the disk is gone")
        return Inspection("text/plain", 1)

    intake = build_intake(engine, tmp_path / "store", inspect=inspect)
    with pytest.raises(StoreUnavailable):
        _take(intake, _pile(tmp_path / "a", (b"number %d" % number for number in range(8))))
    assert rows(engine, "SELECT name FROM documents ORDER BY document_id") == ["000.txt", "001.txt", "002.txt"]


def test_two_groups_with_the_same_bytes_in_opposite_order_make_each_document_once(
    intake: Intake, engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    for number in range(3):
        paths = _pile(tmp_path / str(number), (b"%d of round %d" % (each, number) for each in range(40)))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            one, two = pool.map(lambda given: _take(intake, given), [paths, paths[::-1]])
        pairs = zip(_states(one), _states(two[::-1]), strict=True)
        assert all(sorted(map(str, pair)) == ["duplicate", "enqueued"] for pair in pairs)
        succeed_all(queue)
    assert (count(engine, "documents"), count(engine, "tasks"), count(engine, "arrivals")) == (120, 120, 240)


def test_a_group_does_not_wait_for_a_document_that_another_transaction_has(
    intake: Intake, engine: Engine, tmp_path: Path
) -> None:
    paths = _pile(tmp_path / "a", [b"first", b"second", b"held", b"last"])
    insert = "INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)"
    with concurrent.futures.ThreadPoolExecutor(1) as pool, engine.connect() as other:
        held = hashlib.sha256(b"held").hexdigest()
        other.exec_driver_sql(f"{insert} VALUES ('{held}', 'held', 'held', 'text/plain', 4, 1)")
        taking = pool.submit(_take, intake, paths)
        until(lambda: rows(engine, "SELECT name FROM documents ORDER BY document_id") == ["000.txt", "001.txt"])
        other.rollback()
        assert _states(taking.result()) == [State.ENQUEUED] * 4


def test_a_group_that_is_repeated_with_the_same_tokens_gives_the_first_answers(
    intake: Intake, engine: Engine, tmp_path: Path
) -> None:
    wishes = _wishes(_pile(tmp_path / "a", (b"number %d" % number for number in range(6))))
    first = [came for group in Grouping(intake).take(wishes) for _, came in group]
    again = [came for group in Grouping(intake).take(wishes) for _, came in group]
    assert again == first
    assert count(engine, "arrivals") == 6


def test_nobody_who_interrupts_waits_for_a_file_that_is_being_copied(engine: Engine, tmp_path: Path) -> None:
    class Endless(BufferedReader):
        def read(self, size: int | None = -1) -> bytes:
            begun.set()
            return b"x"

    class Patient(Intake):
        def put(
            self, source: Source, *, through: Callable[[BufferedReader], BufferedReader] = lambda file: file
        ) -> tuple[Stored, Identity]:
            if source.raw_name == b"001.txt":
                with Endless(cast(Any, source.path.open("rb", buffering=0))) as endless:
                    read = through(endless)
                    while read.read(1):
                        pass
            begun.wait()
            return super().put(source, through=through)

    begun = threading.Event()
    taking = Grouping(build_intake(engine, tmp_path / "store", kind=Patient)).take(
        _wishes(_pile(tmp_path / "a", (b"number %d" % number for number in range(8))))
    )
    next(taking)
    taking.close()
    assert list((tmp_path / "store/tmp").iterdir()) == []
