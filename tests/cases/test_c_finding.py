"""Faults that other products had between documents and those who look for them: not found, not stored, not intact."""

from __future__ import annotations

import functools
import hashlib
import unicodedata
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, text
from sqlalchemy.exc import OperationalError

from pipeline.documents.archive import Archive
from pipeline.queue.model import Claim, Usage
from pipeline.queue.store import Queue
from pipeline.reports import search
from pipeline.results import Results
from tests.queue import rows
from tests.stories import claim, page
from tests.taking import count
from tests.tasks import add_task
from tests.victims import dies
from tests.watching import build_watcher, drop, files
from tests.worker.shop import Shop

FORMS = (functools.partial(unicodedata.normalize, "NFC"), functools.partial(unicodedata.normalize, "NFD"))
LONG_NUMBER = "AX" + "7391" * 30 + "QZ"
PARTS = ("0042", "2026-0042", "inv20260042", "INV/2026/0042")
LONG_WORD = "donau" * 24 + "kahn"


def _found(engine: Engine, words: str) -> list[str]:
    return sorted(hit["name"] for hit in search.search(engine, words))


def test_c3_the_same_word_is_found_however_its_accents_are_typed(shop: Shop) -> None:
    names: list[str] = []
    for form in FORMS:
        path = shop.home / form("Büro.txt")
        path.write_text(f"{len(names)} {form('Bürostühle für Zoë, Nr. 4711é')}", encoding="utf-8")
        names.append(path.name)
        shop.take_file(path)
    shop.work()
    for words in ("bürostühle", "für zoë", '"bürostühle für"', "4711é"):
        assert [len(_found(shop.engine, form(words))) for form in FORMS] == [2, 2], words
    raw = [bytes(row.raw_name).decode() for row in shop.rows("SELECT raw_name FROM documents ORDER BY document_id")]
    assert raw == names
    assert len({row.name for row in shop.rows("SELECT name FROM documents")}) == 1


def test_c17_two_hundred_thousand_different_words_are_saved_and_the_last_one_is_found(shop: Shop) -> None:
    words = [f"word{number}x" for number in range(200_000)]
    path = shop.home / "many.txt"
    path.write_text(" ".join(words), encoding="utf-8")
    plain = shop.take_file(path)
    on_one_page = shop.take([" ".join(words)])
    shop.work()
    assert shop.statuses() == {"succeeded": 2}
    assert "".join(row.text for row in shop.pages(plain)) == " ".join(words)
    assert [row.text for row in shop.pages(on_one_page)] == [" ".join(words)]
    assert "many.txt" in _found(shop.engine, "word199999x")


def test_c18_identifiers_are_found_by_any_part_and_long_words_whole(shop: Shop) -> None:
    path = shop.home / f"{'long name ' * 12}.txt"
    path.write_text(f"Invoice INV-2026-0042\nserial {LONG_NUMBER}\n{LONG_WORD}\n", encoding="utf-8")
    shop.take_file(path)
    shop.work()
    for words in (*PARTS, LONG_NUMBER, LONG_NUMBER[50:], LONG_NUMBER[:9], LONG_WORD):
        assert _found(shop.engine, words) == [path.name], words


def test_c18_the_number_that_was_meant_comes_before_one_that_holds_its_digits(shop: Shop) -> None:
    for words in ("Invoice HB-2026-0417", "account 404178"):
        path = shop.home / words
        path.write_text(words, encoding="utf-8")
        shop.take_file(path)
    shop.work()
    assert [hit["name"] for hit in search.search(shop.engine, "0417")] == ["Invoice HB-2026-0417", "account 404178"]


def test_c19_a_document_can_be_found_as_soon_as_its_result_is_stored_and_no_sooner(
    engine: Engine, queue: Queue
) -> None:
    held = claim(queue, add_task(engine, queue, pages=1))
    with pytest.raises(OperationalError):
        _complete(engine, queue, held, die=True)
    assert (search.search(engine, "needle"), rows.status(engine, held.task_id)) == ([], "processing")
    _complete(engine, queue, held)
    (hit,) = search.search(engine, "needle")
    assert (hit["page_no"], rows.status(engine, held.task_id)) == (1, "succeeded")


def _complete(engine: Engine, queue: Queue, held: Claim, *, die: bool = False) -> None:
    """Store a result and its page; between the two and the commit the session may end."""
    with queue.completing(held, reason="ok", pages_done=1, result={}, usage=Usage()) as connection:
        Results(engine).write_pages(connection, held, [page(1, "a needle in a haystack")])
        assert search.search(engine, "needle") == []
        if die:
            pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            assert rows.terminate(engine, f"pid = {pid}") == 1


@pytest.mark.slow
@pytest.mark.parametrize("step", ["_write_all", "Archive._copy", "Archive._publish"])
def test_c22_a_process_killed_while_it_stores_leaves_no_half_document(
    engine: Engine, database_url: URL, tmp_path: Path, step: str
) -> None:
    content = b"".join(b"line %d\n" % number for number in range(400_000))
    sha256 = hashlib.sha256(content).hexdigest()
    drop(tmp_path, "a.txt", content)
    archive = Archive(tmp_path / "store")
    assert dies(database_url, tmp_path, f"pipeline.documents.archive:{step}", "after")
    assert archive.verify(sha256) or not archive.path_of(sha256).exists()
    assert (list(files(tmp_path / "inbox").values()), count(engine, "documents")) == ([content], 0)
    build_watcher(engine, tmp_path).run_once()
    assert (archive.verify(sha256), count(engine, "documents")) == (True, 1)


def test_c22_damage_to_a_stored_document_is_found_and_a_lost_one_is_mended(engine: Engine, tmp_path: Path) -> None:
    content = b"words that were written"
    drop(tmp_path, "a.txt", content)
    build_watcher(engine, tmp_path).run_once()
    archive = Archive(tmp_path / "store")
    path = archive.path_of(hashlib.sha256(content).hexdigest())
    for damage in (b"words that were changed", b""):
        assert archive.verify(path.name)
        path.write_bytes(damage)
        assert not archive.verify(path.name)
        path.unlink()  # as whoever finds it damaged does; then the same bytes are sent again
        drop(tmp_path, "a.txt", content)
        build_watcher(engine, tmp_path).run_once()
    assert (archive.verify(path.name), count(engine, "documents")) == (True, 1)
