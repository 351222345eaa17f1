"""Taking files in: each file one arrival, the same bytes one document and one task, whoever comes at once."""

from __future__ import annotations

import concurrent.futures
import os
import socket
import stat
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, text

from pipeline.config import LimitSettings
from pipeline.documents.contract import Inspection
from pipeline.errors import DocumentError, StoreUnavailable
from pipeline.intake.arrivals import Arrived
from pipeline.intake.recipe import Intake, Source
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from pipeline.reasons import Reason
from pipeline.registering import State
from tests.documents.samples import pdf
from tests.taking import build_intake, count, fail_all, in_process, rows, succeed_all

SAMPLES = Path(__file__).parents[2] / "sample_docs"


@pytest.fixture
def intake(engine: Engine, tmp_path: Path) -> Intake:
    """The intake under test."""
    return build_intake(engine, tmp_path / "store")


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _take(intake: Intake, path: Path, handler: str = "auto", priority: int = 0) -> Arrived:
    return intake.take(Source.at(path), handler=handler, priority=priority, token=uuid.uuid4())


def _stored_files(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "store").rglob("*") if path.is_file()]


def test_a_file_becomes_a_document_an_arrival_and_a_task_whose_lease_fits_its_pages(
    intake: Intake, engine: Engine, tmp_path: Path
) -> None:
    path = _write(tmp_path / "three.pdf", pdf.build(["one", "two", "three"]))
    arrived = _take(intake, path, handler="invoice", priority=5)
    assert (arrived.state, arrived.page_count, arrived.priority, arrived.name) == (State.ENQUEUED, 3, 5, "three.pdf")
    assert arrived.lease_seconds == LeasePolicy().lease_seconds(3)
    assert rows(engine, "SELECT handler, status, page_count, lease_seconds, deadline_seconds FROM tasks") == [
        ("invoice", "enqueued", 3, arrived.lease_seconds, LeasePolicy().deadline_seconds(3))
    ]
    status = path.stat()
    assert rows(engine, "SELECT raw_path, inode, byte_count, mtime_ns, duplicate, placed_at IS NULL FROM arrivals") == [
        (os.fsencode(path), status.st_ino, status.st_size, status.st_mtime_ns, False, False)
    ]
    assert path.read_bytes() == _stored_files(tmp_path)[0].read_bytes()


def test_the_same_bytes_again_are_a_duplicate_and_cost_no_work(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    rung: list[str] = []
    looked: list[str] = []

    def inspect(path: Path, name: str) -> Inspection:
        looked.append(name)
        return in_process()(path, name)

    intake = build_intake(engine, tmp_path / "store", inspect=inspect, notify=lambda: rung.append("ding"))
    first = _take(intake, _write(tmp_path / "a.txt", b"the same words"))
    second = _take(intake, _write(tmp_path / "b.txt", b"the same words"))
    succeed_all(queue)
    third = _take(intake, tmp_path / "a.txt")
    assert [each.state for each in (first, second, third)] == [State.ENQUEUED, State.DUPLICATE, State.DUPLICATE]
    assert first.document_id == second.document_id == third.document_id
    assert (count(engine, "documents"), count(engine, "tasks"), count(engine, "arrivals")) == (1, 1, 3)
    assert second.name == "b.txt"
    assert rung == ["ding"]
    assert looked == ["a.txt"]


def test_a_repeated_take_gives_the_first_answer_and_writes_nothing(
    intake: Intake, engine: Engine, tmp_path: Path
) -> None:
    path, token = _write(tmp_path / "a.txt", b"words"), uuid.uuid4()
    first = intake.take(Source.at(path), token=token)
    path.unlink()
    assert intake.take(Source.at(path), token=token) == first
    assert count(engine, "arrivals") == 1


def test_changed_content_under_the_same_path_is_a_new_document(intake: Intake, engine: Engine, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.txt", b"first version")
    first = _take(intake, path)
    second = _take(intake, _write(path, b"second version"))
    assert (first.state, second.state) == (State.ENQUEUED, State.ENQUEUED)
    assert first.document_id != second.document_id


def test_what_ended_badly_is_retried_by_sending_it_again(
    intake: Intake, engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    first = _take(intake, path)
    fail_all(queue)
    again = _take(intake, path)
    assert again.state is State.RETRIED
    assert again.task_id == first.task_id
    assert rows(engine, "SELECT status, failure_count FROM tasks") == [("enqueued", 0)]
    assert rows(engine, "SELECT duplicate FROM arrivals ORDER BY arrival_id") == [False, False]


def test_a_retry_under_another_type_is_a_task_of_its_own(
    intake: Intake, engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    first = _take(intake, path)
    fail_all(queue)
    again = _take(intake, path, handler="contract")
    assert again.state is State.RETRIED
    assert again.task_id != first.task_id
    assert rows(engine, "SELECT status, handler FROM tasks ORDER BY task_id") == [
        ("failed", "auto"),
        ("enqueued", "contract"),
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("encrypted.pdf", "needs_password"),
        ("damaged.pdf", "truncated"),
    ],
)
def test_what_cannot_be_read_is_on_record_with_its_reason_and_its_bytes(
    intake: Intake, engine: Engine, tmp_path: Path, name: str, reason: str
) -> None:
    arrived = _take(intake, SAMPLES / name)
    assert (arrived.state, arrived.reason) == (State.REJECTED, reason)
    assert arrived.error
    assert rows(engine, "SELECT status, reason, attempt_no FROM tasks") == [("failed", reason, 0)]
    assert [path.read_bytes() for path in _stored_files(tmp_path)] == [(SAMPLES / name).read_bytes()]


def test_an_empty_file_and_an_unknown_kind_are_rejected_by_name(intake: Intake, tmp_path: Path) -> None:
    empty = _take(intake, _write(tmp_path / "empty.pdf", b""))
    program = _take(intake, _write(tmp_path / "setup.exe", b"MZ\x90\x00\x03\x00\x00\x00\x04" + bytes(200)))
    assert (empty.state, empty.reason) == (State.REJECTED, "empty_file")
    assert (program.state, program.reason) == (State.REJECTED, "unsupported")


def test_a_rejected_file_sent_again_is_rejected_again_and_makes_no_second_task(intake: Intake, engine: Engine) -> None:
    first, again = _take(intake, SAMPLES / "encrypted.pdf"), _take(intake, SAMPLES / "encrypted.pdf")
    assert (again.state, again.reason, again.task_id) == (State.REJECTED, "needs_password", first.task_id)
    assert count(engine, "tasks") == 1


def test_a_file_over_the_limit_is_not_copied_and_comes_in_once_the_limit_is_raised(
    engine: Engine, tmp_path: Path
) -> None:
    path = _write(tmp_path / "large.txt", b"word " * 1000)
    strict = build_intake(engine, tmp_path / "store", limits=LimitSettings(max_megabytes=0.004))
    refused = _take(strict, path)
    assert (refused.state, refused.reason) == (State.REJECTED, "too_large")
    assert "limits.max_megabytes" in str(refused.error)
    assert _stored_files(tmp_path) == []
    raised = _take(build_intake(engine, tmp_path / "store"), path)
    assert (raised.state, raised.page_count) == (State.RETRIED, 1)
    assert rows(engine, "SELECT media_type, page_count FROM documents") == [("text/plain", 1)]
    assert _stored_files(tmp_path)[0].read_bytes() == path.read_bytes()


def test_a_document_that_claims_too_many_pages_is_rejected_whatever_number_it_claims(
    engine: Engine, tmp_path: Path
) -> None:
    intake = build_intake(
        engine, tmp_path / "store", inspect=lambda _path, _name: Inspection("application/pdf", 10**12)
    )
    arrived = _take(intake, _write(tmp_path / "claims.pdf", b"%PDF-1.4 a trillion pages"))
    assert (arrived.state, arrived.reason, arrived.page_count) == (State.REJECTED, "too_many_pages", 2**31 - 1)


@pytest.mark.parametrize("reason", [Reason.IO_ERROR, Reason.DISK_FULL])
def test_a_store_that_cannot_be_read_is_no_fault_of_the_document(
    engine: Engine, tmp_path: Path, reason: Reason
) -> None:
    def inspect(path: Path, name: str) -> Inspection:
        raise DocumentError(reason, "the disk is gone")

    intake = build_intake(engine, tmp_path / "store", inspect=inspect)
    with pytest.raises(StoreUnavailable):
        _take(intake, _write(tmp_path / "a.txt", b"words"))
    assert count(engine, "documents") == 0


def test_only_regular_files_are_taken_in(intake: Intake, engine: Engine, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    (tmp_path / "link.pdf").symlink_to(SAMPLES / "nda-short.pdf")
    (tmp_path / "folder.pdf").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket.pdf"))
        kinds = {"pipe": "a named pipe", "link": "a symbolic link", "folder": "a folder", "socket": "a socket"}
        for name, kind in kinds.items():
            with pytest.raises(DocumentError, match=f"{name}.pdf is {kind}; only regular files"):
                _take(intake, tmp_path / f"{name}.pdf")
    with pytest.raises(DocumentError, match="a device"):
        _take(intake, Path("/dev/zero"))
    assert count(engine, "documents") == 0


def test_a_name_that_is_no_text_is_kept_byte_by_byte(intake: Intake, engine: Engine, tmp_path: Path) -> None:
    names = [b"M\xe4rz.txt", b"two\nlines.txt", b"-rf.txt", "\u202etxt.exe".encode(), b"x" * 251 + b".txt"]
    for number, name in enumerate(names):
        path = tmp_path / os.fsdecode(name)
        _take(intake, _write(path, b"words %d" % number))
    kept = rows(engine, "SELECT raw_name, name FROM documents ORDER BY document_id")
    assert [bytes(raw) for raw, _ in kept] == names
    assert kept[0][1] == "M\N{REPLACEMENT CHARACTER}rz.txt"
    assert "\n" not in kept[1][1]
    assert "\u202e" not in kept[3][1]


def test_a_stored_copy_is_not_for_everybody(intake: Intake, tmp_path: Path) -> None:
    _take(intake, _write(tmp_path / "a.txt", b"words"))
    assert stat.S_IMODE(_stored_files(tmp_path)[0].stat().st_mode) & 0o007 == 0


def test_four_threads_with_the_same_bytes_make_one_document_and_one_task(
    intake: Intake, engine: Engine, tmp_path: Path
) -> None:
    for number in range(20):
        paths = [_write(tmp_path / f"{number}-{copy}.txt", b"round %d" % number) for copy in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            states = sorted(arrived.state for arrived in pool.map(lambda path: _take(intake, path), paths))
        assert states == [State.DUPLICATE] * 3 + [State.ENQUEUED]
    assert (count(engine, "documents"), count(engine, "tasks"), count(engine, "arrivals")) == (20, 20, 80)


def test_two_threads_with_the_same_token_make_one_arrival(intake: Intake, engine: Engine, tmp_path: Path) -> None:
    for number in range(20):
        path, token = _write(tmp_path / f"{number}.txt", b"round %d" % number), uuid.uuid4()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            first, second = pool.map(lambda token: intake.take(Source.at(path), token=token), [token, token])  # noqa: B023
        assert first == second
    assert (count(engine, "documents"), count(engine, "tasks"), count(engine, "arrivals")) == (20, 20, 20)


def test_four_threads_that_retry_the_same_bytes_put_them_in_line_once(
    intake: Intake, engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    _take(intake, path)
    for _ in range(10):
        fail_all(queue)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            states = sorted(arrived.state for arrived in pool.map(lambda path: _take(intake, path), [path] * 4))
        assert states == [State.DUPLICATE] * 3 + [State.RETRIED]
    assert count(engine, "tasks") == 1


PROCESS = """
import sys, uuid
from pathlib import Path
from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.intake.recipe import Source
from tests.taking import build_intake
engine = database.open_engine(database.parse_url(sys.argv[1]), DatabaseSettings(), name="racer")
intake = build_intake(engine, Path(sys.argv[2]))
engine.connect().close()
for line in sys.stdin:
    print(intake.take(Source.at(Path(line.strip())), token=uuid.uuid4()).state, flush=True)
"""


@pytest.mark.slow
def test_two_processes_with_the_same_bytes_make_one_document_and_one_task(
    engine: Engine, database_url: URL, tmp_path: Path
) -> None:
    url = database_url.render_as_string(hide_password=False)
    command = [sys.executable, "-c", PROCESS, url, str(tmp_path / "store")]
    racers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        for number in range(20):
            path = _write(tmp_path / f"{number}.txt", b"round %d" % number)
            for racer in racers:
                assert racer.stdin
                racer.stdin.write(f"{path}\n")
                racer.stdin.flush()
            assert sorted(racer.stdout.readline().strip() for racer in racers if racer.stdout) == [
                "duplicate",
                "enqueued",
            ]
    finally:
        for racer in racers:
            racer.communicate(timeout=60)
    assert (count(engine, "documents"), count(engine, "tasks")) == (20, 20)


def test_one_connection_is_enough(engine: Engine, database_url: URL, tmp_path: Path) -> None:
    from pipeline import database
    from pipeline.config import DatabaseSettings

    narrow = database.open_engine(database_url, DatabaseSettings(), name="tests")
    policies = LeasePolicy()

    def policy(_handler: str) -> LeasePolicy:
        with narrow.connect() as connection:
            connection.execute(text("SELECT 1"))
        return policies

    intake = build_intake(narrow, tmp_path / "store")
    intake._policy = policy
    try:
        assert _take(intake, _write(tmp_path / "a.txt", b"words")).state is State.ENQUEUED
        fail_all(Queue(engine, limits=Limits(), aging_ms=1))
        assert _take(intake, tmp_path / "a.txt").state is State.RETRIED
        assert _take(intake, tmp_path / "a.txt").state is State.DUPLICATE
    finally:
        narrow.dispose()
