"""The watcher: what settles is taken, what ends is placed, whatever is in the way of either."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, text

from pipeline.documents.contract import Inspection
from pipeline.errors import StoreUnavailable
from pipeline.queue.store import Queue
from tests.documents.samples import pdf
from tests.taking import build_intake, count, fail_all, in_process, rows, succeed_all
from tests.watching import build_watcher, drop, files, until, watching

SAMPLES = Path(__file__).parents[2] / "sample_docs"


def test_a_dropped_file_is_taken_held_and_placed_once_its_document_succeeded(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    content = pdf.build(["one", "two"])
    drop(tmp_path, "2026/march/a.pdf", content)
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    assert rows(engine, "SELECT status, page_count FROM tasks") == [("enqueued", 2)]
    assert not (tmp_path / "inbox/2026/march/a.pdf").exists()
    assert not (tmp_path / "processed").exists()
    assert list(files(tmp_path / "inbox/.doclease").values()) == [content]
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == {"2026/march/a.pdf": content}
    assert files(tmp_path / "inbox") == {}
    assert list((tmp_path / "inbox/.doclease").iterdir()) == []
    assert rows(engine, "SELECT placed_path, placed_at IS NOT NULL FROM arrivals") == [
        (os.fsencode(tmp_path / "processed/2026/march/a.pdf"), True)
    ]


def test_folders_of_the_inbox_set_type_and_priority(engine: Engine, tmp_path: Path) -> None:
    drop(tmp_path, "urgent/invoices/a.txt", b"urgent invoice")
    drop(tmp_path, "contracts/b.txt", b"a contract")
    drop(tmp_path, "c.txt", b"anything")
    build_watcher(engine, tmp_path).run_once()
    assert rows(engine, "SELECT name, handler, priority FROM tasks JOIN documents USING (document_id)") == [
        ("a.txt", "invoice", 10),
        ("c.txt", "auto", 0),
        ("b.txt", "contract", 0),
    ]


def test_a_failed_file_gets_a_note_that_says_what_to_do(engine: Engine, tmp_path: Path) -> None:
    content = (SAMPLES / "encrypted.pdf").read_bytes()
    drop(tmp_path, "invoices/secret.pdf", content)
    build_watcher(engine, tmp_path).run_once()
    failed = files(tmp_path / "failed")
    assert set(failed) == {
        "needs_password/invoices/secret.pdf",
        "needs_password/invoices/secret.pdf.error.txt",
    }
    assert failed["needs_password/invoices/secret.pdf"] == content
    note = failed["needs_password/invoices/secret.pdf.error.txt"].decode()
    [task_id] = rows(engine, "SELECT task_id FROM tasks")
    for words in (
        "needs_password",
        "no password that is known opens it",
        "drop the file into the inbox again",
        f"retry {task_id}",
    ):
        assert words in note


def test_a_file_dragged_back_from_failed_is_a_retry_and_its_note_goes_when_it_succeeds(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    drop(tmp_path, "a.txt", b"words")
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    fail_all(queue)
    watcher.run_once()
    note = tmp_path / "failed/corrupt/a.txt.error.txt"
    (tmp_path / "failed/corrupt/a.txt").rename(tmp_path / "inbox/a.txt")
    watcher.run_once()
    assert rows(engine, "SELECT status FROM tasks") == ["enqueued"]
    assert note.exists()
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == {"a.txt": b"words"}
    assert files(tmp_path / "failed") == {}


def test_a_note_that_somebody_wrote_into_is_kept(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    drop(tmp_path, "a.txt", b"words")
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    fail_all(queue)
    watcher.run_once()
    note = tmp_path / "failed/corrupt/a.txt.error.txt"
    note.write_text(note.read_text() + "called the supplier, K.\n")
    (tmp_path / "failed/corrupt/a.txt").rename(tmp_path / "inbox/a.txt")
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert "called the supplier" in note.read_text()


def test_a_note_that_was_dragged_along_is_no_document(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    drop(tmp_path, "a.txt", b"words")
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    fail_all(queue)
    watcher.run_once()
    shutil.move(tmp_path / "failed/corrupt", tmp_path / "inbox/again")
    watcher.run_once()
    assert rows(engine, "SELECT name FROM documents") == ["a.txt"]
    assert rows(engine, "SELECT status FROM tasks") == ["enqueued"]


def test_a_place_that_is_taken_is_never_overwritten(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    for name, content in (("a.txt", b"kept before"), ("a~2.txt", b"kept, too")):
        path = tmp_path / "processed" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    drop(tmp_path, "a.txt", b"the new one")
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == {
        "a.txt": b"kept before",
        "a~2.txt": b"kept, too",
        "a~3.txt": b"the new one",
    }


def test_a_file_in_the_way_of_a_folder_is_no_obstacle(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    (tmp_path / "processed").mkdir()
    (tmp_path / "processed/2026").write_bytes(b"a file")
    drop(tmp_path, "2026/a.txt", b"words")
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == {"2026": b"a file", "a.txt": b"words"}


def test_a_file_that_grows_through_an_open_descriptor_is_taken_again_as_a_new_version(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    path = drop(tmp_path, "a.txt", b"first half")
    watcher = build_watcher(engine, tmp_path)
    with path.open("ab") as writer:
        watcher.run_once()
        assert rows(engine, "SELECT status FROM tasks") == ["enqueued"]
        writer.write(b", second half")
    succeed_all(queue)
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert rows(engine, "SELECT byte_count FROM documents ORDER BY document_id") == [10, 23]
    assert files(tmp_path / "processed") == {"a.txt": b"first half, second half"}
    assert rows(engine, "SELECT count(*) FROM arrivals WHERE placed_at IS NULL") == [0]


def test_a_file_that_grows_while_it_is_copied_is_taken_again(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    path = drop(tmp_path, "a.txt", b"first half")
    with path.open("ab", buffering=0) as writer:

        def inspect(stored: Path, name: str) -> Inspection:
            if stored.stat().st_size == 10:
                writer.write(b", second half")
            return in_process()(stored, name)

        watcher = build_watcher(engine, tmp_path, intake=build_intake(engine, tmp_path / "store", inspect=inspect))
        watcher.run_once()
    watcher.run_once()
    assert rows(engine, "SELECT byte_count FROM documents ORDER BY document_id") == [10, 23]
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == {"a.txt": b"first half, second half"}


def test_a_store_that_is_full_pauses_intake_and_it_goes_on_by_itself(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "store"
    store.write_bytes(b"a file where the store should be")
    for number in range(3):
        drop(tmp_path, f"{number}.txt", b"words %d" % number)
    with watching(build_watcher(engine, tmp_path)):
        until(lambda: bool(rows(engine, "SELECT note FROM inbox_scans WHERE note LIKE 'paused:%'")))
        until(lambda: "intake pauses" in caplog.text)
        assert count(engine, "documents") == 0
        assert sorted(files(tmp_path / "inbox").values()) == [b"words 0", b"words 1", b"words 2"]
        store.unlink()
        until(lambda: count(engine, "tasks") == 3)
        until(lambda: rows(engine, "SELECT note FROM inbox_scans") == [None])
    assert caplog.text.count("intake pauses") == 1
    assert caplog.text.count("intake goes on") == 1


def test_a_database_that_goes_away_pauses_intake_and_it_goes_on_by_itself(
    engine: Engine, database_url: URL, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from pipeline import database
    from pipeline.config import DatabaseSettings

    own = database.open_engine(database_url, DatabaseSettings(), name="watcher under test")
    watcher = build_watcher(own, tmp_path)
    name = str(database_url.database)
    admin = engine.execution_options(isolation_level="AUTOCOMMIT")
    outside = database.open_engine(database_url.set(database="postgres"), DatabaseSettings(), name="tests")
    outside_autocommit = outside.execution_options(isolation_level="AUTOCOMMIT")
    with watching(watcher):
        until(lambda: count(engine, "inbox_scans") == 1)
        with outside_autocommit.connect() as connection:
            connection.execute(text(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'))
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%under test'")
            )
            drop(tmp_path, "a.txt", b"words")
            until(lambda: "intake pauses" in caplog.text)
            connection.execute(text(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'))
        until(lambda: count(admin, "tasks") == 1)
    outside.dispose()
    own.dispose()
    assert caplog.text.count("intake pauses") == 1


def test_one_file_the_store_fails_on_does_not_stop_the_others(engine: Engine, tmp_path: Path) -> None:
    def inspect(stored: Path, name: str) -> Inspection:
        if name == "0.txt":
            raise StoreUnavailable("a bad sector")
        return in_process()(stored, name)

    for number in range(4):
        drop(tmp_path, f"{number}.txt", b"words %d" % number)
    watcher = build_watcher(engine, tmp_path, intake=build_intake(engine, tmp_path / "store", inspect=inspect))
    with pytest.raises(StoreUnavailable):
        watcher.run_once()
    assert rows(engine, "SELECT name FROM documents ORDER BY name") == ["1.txt", "2.txt", "3.txt"]


def test_a_fault_in_the_inspection_of_one_file_does_not_stop_the_others(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def inspect(stored: Path, name: str) -> Inspection:
        if name == "1.txt":
            raise RuntimeError("a bug")
        return in_process()(stored, name)

    for number in range(3):
        drop(tmp_path, f"{number}.txt", b"words %d" % number)
    watcher = build_watcher(engine, tmp_path, intake=build_intake(engine, tmp_path / "store", inspect=inspect))
    with watching(watcher):
        until(lambda: count(engine, "documents") == 2)
        drop(tmp_path, "3.txt", b"words 3")
        until(lambda: count(engine, "documents") == 3)
        assert b"words 1" in files(tmp_path / "inbox").values()


def test_two_watchers_share_an_inbox_without_doubling_or_losing_anything(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    contents = {f"{number}.txt": b"words %d" % number for number in range(60)}
    with watching(build_watcher(engine, tmp_path)), watching(build_watcher(engine, tmp_path)):
        for name, content in contents.items():
            drop(tmp_path, name, content)
            if name == "30.txt":
                until(lambda: count(engine, "tasks") > 0)
        until(lambda: count(engine, "tasks") == 60)
        succeed_all(queue)
        until(lambda: rows(engine, "SELECT count(*) FROM arrivals WHERE placed_at IS NULL") == [0])
        until(lambda: files(tmp_path / "inbox") == {})
    assert files(tmp_path / "processed") == contents
    assert (count(engine, "documents"), count(engine, "arrivals")) == (60, 60)


def test_a_private_folder_that_leads_elsewhere_is_not_used(engine: Engine, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    drop(tmp_path, "a.txt", b"words")
    (tmp_path / "inbox/.doclease").symlink_to(elsewhere)
    build_watcher(engine, tmp_path).run_once()
    assert list(elsewhere.iterdir()) == []
    assert files(tmp_path / "inbox") == {"a.txt": b"words"}
    assert count(engine, "tasks") == 1


def test_what_a_link_leads_to_is_taken_only_where_links_are_allowed_and_stays(engine: Engine, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_bytes(b"words")
    watcher = build_watcher(engine, tmp_path)
    (tmp_path / "inbox/a.txt").symlink_to(outside / "a.txt")
    (tmp_path / "inbox/folder").symlink_to(outside)
    (tmp_path / "inbox/round").symlink_to(tmp_path / "inbox")
    watcher.run_once()
    assert count(engine, "arrivals") == 0
    following = build_watcher(engine, tmp_path, follow_symlinks=True)
    following.run_once()
    following.run_once()
    assert count(engine, "documents") == 1
    assert files(outside) == {"a.txt": b"words"}
    assert (tmp_path / "inbox/a.txt").is_symlink()


def test_a_missing_inbox_is_made_and_one_that_vanishes_is_waited_for(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = build_watcher(engine, tmp_path)
    (tmp_path / "inbox").rmdir()
    with watching(watcher):
        until((tmp_path / "inbox").is_dir)
        until(lambda: count(engine, "inbox_scans") == 1)
        (tmp_path / "inbox").rename(tmp_path / "away")
        until(lambda: "intake pauses" in caplog.text)
        (tmp_path / "away").rename(tmp_path / "inbox")
        drop(tmp_path, "a.txt", b"words")
        until(lambda: count(engine, "tasks") == 1)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_a_file_system_mounted_in_the_inbox_has_a_private_folder_of_its_own(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    mount = tmp_path / "inbox/remote"
    mount.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "none", mount], check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        (mount / "deep").mkdir()
        (mount / "deep/a.txt").write_bytes(b"words")
        watcher = build_watcher(engine, tmp_path)
        watcher.run_once()
        assert list(files(mount / ".doclease").values()) == [b"words"]
        succeed_all(queue)
        watcher.run_once()
        assert files(mount) == {}
        assert files(tmp_path / "processed") == {"remote/deep/a.txt": b"words"}
    finally:
        subprocess.run(["umount", mount], check=True)
