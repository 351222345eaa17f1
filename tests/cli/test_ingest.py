"""`doclease ingest` takes files in by name and tells what became of each."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import Engine

from pipeline.cli import main
from pipeline.queue.store import Queue
from tests.cli.conftest import Doclease, rows_of
from tests.taking import count, fail_all, rows, succeed_all
from tests.watching import files, until

SAMPLES = Path(__file__).parent.parent.parent / "sample_docs"


def _write(path: Path, content: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def test_each_file_is_told_with_its_pages_priority_and_lease(doclease: Doclease) -> None:
    result = doclease(
        "ingest", str(SAMPLES / "nda-short.pdf"), "--type", "contract", "--priority", "high", "--batch", "may",
        "--format", "json",
    )  # fmt: skip
    [row] = rows_of(result)
    assert (row["pages"], row["priority"], row["state"], row["lease_seconds"]) == (3, 5, "enqueued", 15.0)
    table = doclease("ingest", str(SAMPLES / "invoice-gbp-vat.pdf")).stdout
    assert table.split("\n")[0].split() == ["file", "document", "pages", "priority", "lease", "state"]
    assert table.split("\n")[2].split()[-1] == "enqueued"


def test_type_priority_and_batch_reach_the_rows(doclease: Doclease, engine: Engine, tmp_path: Path) -> None:
    doclease("ingest", _write(tmp_path / "a.txt", b"a"), "--type", "invoice", "--priority", "-3", "--batch", "may")
    assert rows(engine, "SELECT handler, priority, batch FROM tasks JOIN documents USING (document_id)") == [
        ("invoice", -3, "may")
    ]


def test_a_duplicate_is_fine_and_names_the_document(doclease: Doclease, engine: Engine, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    doclease("ingest", path)
    [document_id] = rows(engine, "SELECT document_id FROM documents")
    assert f"duplicate of document {document_id}" in doclease("ingest", path).stdout
    assert count(engine, "tasks") == 1


@pytest.mark.slow
def test_whoever_interrupts_a_wait_is_told_so_by_the_exit_code(home: Path, engine: Engine, tmp_path: Path) -> None:
    # A shell may have had the signal ignored for what it started; then it still is.
    program = "import signal; signal.signal(2, signal.default_int_handler); from pipeline.cli import main; main()"
    path = _write(tmp_path / "a.txt", b"words")
    command = [sys.executable, "-c", program, "-C", str(home), "ingest", path, "--wait"]
    environment = {**os.environ, "PYTHONPATH": str(SAMPLES.parent)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as impatient:
        until(lambda: count(engine, "tasks") == 1)
        impatient.send_signal(signal.SIGINT)
        assert impatient.stderr is not None
        assert impatient.stderr.read().endswith("interrupted\n")
        assert impatient.wait() == 130
    assert rows(engine, "SELECT status FROM tasks") == ["enqueued"]


def test_what_failed_is_retried(doclease: Doclease, queue: Queue, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    doclease("ingest", path)
    fail_all(queue)
    assert "retried" in doclease("ingest", path).stdout


def test_one_bad_path_does_not_stop_the_others_and_exits_3(doclease: Doclease, tmp_path: Path) -> None:
    good = _write(tmp_path / "a.txt", b"words")
    os.mkfifo(tmp_path / "pipe")
    bad = [str(tmp_path / "none.pdf"), str(tmp_path / "pipe"), str(SAMPLES / "encrypted.pdf")]
    result = doclease("ingest", *bad, good, "--format", "json", exit_code=3)
    assert [row["state"] for row in rows_of(result)] == ["unreadable", "unreadable", "rejected", "enqueued"]
    assert [row["reason"] for row in rows_of(result)][2] == "needs_password"
    assert "named pipe" in rows_of(result)[1]["error"]


def test_when_everything_is_rejected_it_exits_6(doclease: Doclease, tmp_path: Path) -> None:
    result = doclease("ingest", str(SAMPLES / "encrypted.pdf"), str(tmp_path / "none.pdf"), exit_code=6)
    assert "rejected: needs_password" in result.stdout
    assert "unreadable: no such file" in result.stdout


def test_a_folder_wants_r_and_then_gives_every_file_below_it(doclease: Doclease, tmp_path: Path) -> None:
    for name in ("a.txt", "deep/er/b.txt", ".hidden/c.txt", "d.txt.part"):
        _write(tmp_path / "pile" / name, name.encode())
    (tmp_path / "pile/link.txt").symlink_to(tmp_path / "pile/a.txt")
    assert "add -r" in doclease("ingest", str(tmp_path / "pile"), exit_code=2).stderr
    found = rows_of(doclease("ingest", "-r", str(tmp_path / "pile"), "--format", "json"))
    assert [Path(row["file"]).name for row in found] == ["a.txt", "b.txt"]


def test_an_empty_folder_exits_4(doclease: Doclease, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    doclease("ingest", "-r", str(tmp_path / "empty"), exit_code=4)


@pytest.mark.parametrize("separator", [b"\n", b"\x00"])
def test_a_list_of_paths_comes_from_standard_input(
    home: Path, engine: Engine, tmp_path: Path, separator: bytes
) -> None:
    names = [b"M\xe4rz.txt", b"a.txt"] + ([b"two\nlines.txt"] if separator == b"\x00" else [])
    paths = [os.fsencode(tmp_path) + b"/" + name for name in names]
    for path in paths:
        _write(Path(os.fsdecode(path)), path)
    result = CliRunner().invoke(main, ["-C", str(home), "ingest", "-"], input=separator.join([*paths, b""]))
    assert result.exit_code == 0, result.output
    assert sorted(bytes(raw) for raw in rows(engine, "SELECT raw_name FROM documents")) == sorted(names)


def test_an_unknown_type_or_priority_is_a_usage_error_that_names_what_there_is(
    doclease: Doclease, engine: Engine, tmp_path: Path
) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    assert "invoice" in doclease("ingest", path, "--type", "invioce", exit_code=2).stderr
    assert "urgent" in doclease("ingest", path, "--priority", "asap", exit_code=2).stderr
    assert count(engine, "documents") == 0


def test_move_removes_what_is_in_the_store_and_nothing_else(doclease: Doclease, tmp_path: Path) -> None:
    good = _write(tmp_path / "pile/a.txt", b"words")
    again = _write(tmp_path / "pile/b.txt", b"words")
    bad = _write(tmp_path / "pile/c.pdf", (SAMPLES / "encrypted.pdf").read_bytes())
    doclease("ingest", "--move", good, again, bad, exit_code=3)
    assert list(files(tmp_path / "pile")) == ["c.pdf"]
    assert b"words" in files(tmp_path / "data/store").values()


def test_copy_is_the_default_and_leaves_the_file(doclease: Doclease, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    doclease("ingest", path)
    assert Path(path).read_bytes() == b"words"


def test_waiting_too_short_exits_5_and_the_work_goes_on(doclease: Doclease, engine: Engine, tmp_path: Path) -> None:
    path = _write(tmp_path / "a.txt", b"words")
    doclease("ingest", "--wait", "0", path, exit_code=5)
    assert rows(engine, "SELECT status FROM tasks") == ["enqueued"]


@pytest.mark.parametrize("arguments", [["--wait"], ["--wait", "60"], ["--wait=60"]])
def test_waiting_tells_how_each_ended(
    doclease: Doclease, engine: Engine, queue: Queue, tmp_path: Path, arguments: list[str]
) -> None:
    def work() -> None:
        until(lambda: count(engine, "tasks") == 1)
        succeed_all(queue)

    worker = threading.Thread(target=work)
    worker.start()
    result = doclease("ingest", "--format", "json", *arguments, _write(tmp_path / "a.txt", b"words"))
    worker.join()
    assert [row["status"] for row in rows_of(result)] == ["succeeded"]


def test_a_document_that_fails_while_it_is_waited_for_exits_3(
    doclease: Doclease, engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    def work() -> None:
        until(lambda: count(engine, "tasks") == 1)
        fail_all(queue)

    worker = threading.Thread(target=work)
    worker.start()
    result = doclease("ingest", "--wait", _write(tmp_path / "a.txt", b"words"), exit_code=3)
    worker.join()
    assert "failed: corrupt" in result.stdout


def test_a_file_that_cannot_be_stored_exits_7(doclease: Doclease, engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/store").write_bytes(b"a file where the store should be")
    assert "store" in doclease("ingest", _write(tmp_path / "a.txt", b"words"), exit_code=7).stderr
    assert count(engine, "documents") == 0


def test_json_can_be_read_whatever_the_name_is(doclease: Doclease, tmp_path: Path) -> None:
    path = _write(tmp_path / "esc\x1b[31m\nname.txt", b"words")
    assert "\x1b" not in doclease("ingest", path).stdout
    [row] = json.loads(doclease("ingest", path, "--format", "json").stdout)
    assert row["state"] == "duplicate"
