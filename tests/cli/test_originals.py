"""`doclease documents file, verify, unlock, reprocess`: the bytes that came, and what else can be done with them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from sqlalchemy import URL, Engine

from pipeline.cli import main
from tests.cases import files
from tests.cli.conftest import Doclease, rows_of
from tests.worker.shop import Shop, open_shop


@pytest.fixture
def shop(home: Path, database_url: URL, engine: Engine) -> Iterator[Shop]:
    """A worker on the folder that commands are typed in."""
    with open_shop(home, database_url, engine) as opened:
        yield opened


def _take(shop: Shop, content: bytes, name: str = "letter.pdf") -> str:
    path = shop.home / name
    path.write_bytes(content)
    return str(shop.task(shop.take_file(path)).document_id)


def test_a_document_is_brought_out_byte_for_byte_and_overwrites_nothing(doclease: Doclease, shop: Shop) -> None:
    content = files.whole()
    document_id = _take(shop, content)
    assert doclease("documents", "file", document_id).stdout_bytes == content
    target = shop.home / "out.pdf"
    doclease("documents", "file", document_id, "-o", str(target))
    assert target.read_bytes() == content
    target.write_bytes(b"mine")
    assert "nothing is overwritten" in doclease("documents", "file", document_id, "-o", str(target), exit_code=2).stderr
    assert target.read_bytes() == b"mine"
    doclease("documents", "file", "999999", exit_code=4)


def test_damaged_and_missing_originals_are_found_and_never_brought_out(doclease: Doclease, shop: Shop) -> None:
    good, damaged, missing = (_take(shop, f"letter {number}".encode(), f"{number}.txt") for number in range(3))
    store = {row.document_id: shop.app.archive.path_of(row.sha256) for row in shop.rows("SELECT * FROM documents")}
    doclease("documents", "verify")
    store[int(damaged)].chmod(0o600)
    store[int(damaged)].write_bytes(b"something")
    store[int(missing)].unlink()
    found = rows_of(doclease("documents", "verify", "--format", "json", exit_code=3))
    assert [(row["document_id"], row["state"]) for row in found] == [
        (int(damaged), "damaged"),
        (int(missing), "missing"),
    ]
    doclease("documents", "verify", good)
    target = shop.home / "out.txt"
    assert "restore" in doclease("documents", "file", damaged, "-o", str(target), exit_code=7).stderr
    assert not target.exists()


def test_files_of_the_store_that_are_no_documents_are_told_and_harm_nothing(doclease: Doclease, shop: Shop) -> None:
    _take(shop, b"letter", "letter.txt")
    store = shop.settings.store_path
    old, fresh, abandoned = store / "ab" / "cd" / ("ab" * 32), store / "ef" / "01" / ("ef" * 32), store / "tmp" / "1-a"
    for path in (old, fresh, abandoned):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"whatever")
    for path in (old, abandoned):
        os.utime(path, (0, 0))
    found = doclease("documents", "verify", "--format", "json")
    assert {(row["name"], row["state"]) for row in rows_of(found)} == {
        (str(old), "stranger"),
        (str(abandoned), "abandoned"),
    }
    assert "1 of 1 are as they came" in found.stderr


def test_what_was_too_large_to_be_kept_is_not_missing(doclease: Doclease, shop: Shop) -> None:
    config = yaml.safe_load((shop.home / "config.yaml").read_text())
    (shop.home / "config.yaml").write_text(yaml.safe_dump({**config, "limits": {"max_megabytes": 0.001}}))
    (shop.home / "large.txt").write_bytes(b"x" * 2_000)
    doclease("ingest", str(shop.home / "large.txt"), exit_code=6)
    found = doclease("documents", "verify", "--format", "json")
    assert [(row["name"], row["state"]) for row in rows_of(found)] == [("large.txt", "not kept")]


def test_a_locked_document_is_read_once_its_password_is_given(doclease: Doclease, shop: Shop) -> None:
    document_id = _take(shop, files.locked("open sesame"))
    assert shop.rows("SELECT reason FROM documents_v")[0].reason == "needs_password"
    refused = CliRunner().invoke(main, ["-C", str(shop.home), "documents", "unlock", document_id], input="wrong\n")
    assert (refused.exit_code, shop.settings.passwords_path.exists()) == (2, False)
    assert "does not open" in refused.stderr
    unlocked = CliRunner().invoke(
        main, ["-C", str(shop.home), "documents", "unlock", document_id], input="open sesame\n"
    )
    assert unlocked.exit_code == 0, unlocked.output
    assert "open sesame" not in unlocked.output
    shop.work()
    assert [tuple(row) for row in shop.rows("SELECT status, reason, page_count FROM documents_v")] == [
        ("succeeded", "ok", 1)
    ]
    assert shop.settings.passwords_path.stat().st_mode & 0o777 == 0o600
    assert "open sesame" not in str(shop.rows("SELECT * FROM tasks, attempts"))


def test_a_password_that_is_known_opens_what_comes_later(doclease: Doclease, shop: Shop) -> None:
    shop.settings.passwords_path.write_text("other\nopen sesame\n", encoding="utf-8")
    _take(shop, files.locked("open sesame"))
    shop.work()
    assert [row.reason for row in shop.rows("SELECT reason FROM documents_v")] == ["ok"]


def test_a_file_of_passwords_that_cannot_be_read_stops_no_document(doclease: Doclease, shop: Shop) -> None:
    shop.settings.passwords_path.write_bytes(b"\xff\xfe secret\n")
    _take(shop, files.whole(), "open.pdf")
    _take(shop, files.locked("secret"))
    shop.work()
    reasons = [row.reason for row in shop.rows("SELECT reason FROM documents_v ORDER BY document_id")]
    assert reasons == ["ok", "needs_password"]
    assert "it is not UTF-8" in doclease("doctor", exit_code=9).stdout


def test_only_a_locked_document_is_unlocked(doclease: Doclease, shop: Shop) -> None:
    document_id = _take(shop, files.whole())
    shop.work()
    password = shop.home / "password"
    password.write_text("x\n", encoding="utf-8")
    told = doclease("documents", "unlock", document_id, "--password-file", str(password), exit_code=1).stderr
    assert "only one that needs a password is unlocked" in told
    doclease("documents", "unlock", "999999", "--password-file", str(password), exit_code=4)


def test_reprocessing_gives_a_new_task_and_keeps_the_old_result_until_it_is_done(
    doclease: Doclease, shop: Shop
) -> None:
    document_id = _take(shop, files.whole())
    assert "already" in doclease("documents", "reprocess", document_id, exit_code=1).stderr
    shop.work()
    doclease("documents", "reprocess", document_id, "--type", "contract", "--priority", "urgent")
    assert [row.document_type for row in shop.rows("SELECT document_type FROM accepted_results")] == ["general"]
    shop.work()
    assert [row.document_type for row in shop.rows("SELECT document_type FROM accepted_results")] == ["contract"]
    assert [row.priority for row in shop.rows("SELECT priority FROM tasks ORDER BY task_id")] == [0, 10]
    doclease("documents", "reprocess", document_id, "--type", "nonsense", exit_code=2)
