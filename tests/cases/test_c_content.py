"""Faults that other products had with what documents contain: crashes, empty text, hangs, bombs, wrong pages.

C7, C8 and what recognition has to do with C6, C10 and C11 stand in test_c_pages.py, C9 and pictures of C10 in
test_c_images.py, C11 of archives and C16 in test_c_mail.py, the rows about search and the store in test_c_finding.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.reports import search
from pipeline.worker.slot import Until
from tests.cases import files
from tests.cli.conftest import Doclease, rows_of
from tests.documents.samples import pdf
from tests.worker.shop import Shop, is_alive, pages

Business = Callable[..., Shop]
ODD_NAMES = [
    b"M\xe4rz.txt",
    b"two\nlines.txt",
    b"-rf.txt",
    b"dot.",
    b"\x01\xc2\x85\xef\xbf\xbe.txt",
    "\u202efdp".encode(),
]


def _put(folder: Path, name: str | bytes, content: bytes) -> Path:
    path = folder / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _taken(shop: Shop, *contents: bytes) -> list[int]:
    """Take files of these contents in."""
    return [shop.take_file(_put(shop.home, f"{number}", content)) for number, content in enumerate(contents)]


def _read(shop: Shop, *contents: bytes) -> list[int]:
    """Take files of these contents in, and read them."""
    tasks = _taken(shop, *contents)
    shop.work()
    return tasks


def _text(shop: Shop, task_id: int) -> str:
    return "\f".join(page.text for page in shop.pages(task_id))


def test_c1_characters_that_no_database_takes_cost_nobody_a_document(shop: Shop) -> None:
    contents = [files.with_nul(), "\ufeffRechnung Nr 4711\r\n".encode("utf-16-le"), b"\xff\xfeA\x00\x00\x00B\x00"]
    tasks = _read(shop, *contents)
    assert shop.statuses() == {"succeeded": 3}
    assert "after and three more words" in _text(shop, tasks[0])
    assert _text(shop, tasks[1]) == "Rechnung Nr 4711\n"
    assert _text(shop, tasks[2]) == "AB"
    assert [hit["page_no"] for word in ("4711", "rechnung") for hit in search.search(shop.engine, word)] == [1, 1]
    kept = [
        shop.app.archive.path_of(row.sha256) for row in shop.rows("SELECT sha256 FROM documents ORDER BY document_id")
    ]
    assert [path.read_bytes() for path in kept] == contents


def test_c2_odd_names_go_in_and_out_byte_by_byte(shop: Shop, doclease: Doclease, home: Path) -> None:
    for number, name in enumerate(ODD_NAMES):
        _put(home / "inbox", b"odd\xff/" + name, b"words %d" % number)
    doclease("watch", "--once")
    shop.work()
    doclease("watch", "--once")
    there = (home / "processed" / os.fsdecode(b"odd\xff")).iterdir()
    assert sorted(os.fsencode(path.name) for path in there) == sorted(ODD_NAMES)
    assert {bytes(row.raw_name) for row in shop.rows("SELECT raw_name FROM documents")} == set(ODD_NAMES)
    listed = rows_of(doclease("documents", "list", "--format", "json"))
    exported = doclease("export", "pages", "--format", "jsonl").stdout.splitlines()
    assert (len(listed), len(exported)) == (len(ODD_NAMES), len(ODD_NAMES))
    assert not any(re.search("[\x00-\x1f\x7f-\x9f\u202e\ud800-\udfff]", row["name"]) for row in listed)
    assert "M\ufffdrz.txt" in {row["name"] for row in listed}
    table = doclease("documents", "list").stdout
    assert len(table.splitlines()) == len(ODD_NAMES) + 2


def test_c4_junk_before_the_header_is_accepted_on_every_path(shop: Shop, doclease: Doclease, home: Path) -> None:
    _put(home / "inbox", "scanner.pdf", b"TEXTmdos \x00\x01" * 3 + files.whole("dropped into the inbox"))
    command = _put(home, "sent.bin", b"\r\n" * 200 + files.whole("named in a command"))
    doclease("watch", "--once")
    doclease("ingest", str(command))
    shop.work()
    rows = shop.rows("SELECT media_type, reason FROM documents_v")
    assert [tuple(row) for row in rows] == [("application/pdf", "ok")] * 2
    assert len(search.search(shop.engine, "dropped or named")) == 2


def test_c5_what_the_owner_forbids_is_read_and_what_needs_a_password_says_so_once(shop: Shop) -> None:
    forbidden, secret, opened = _read(shop, files.locked(""), files.locked("secret"), files.whole())
    assert files.WORDS in _text(shop, forbidden)
    flags = shop.rows("SELECT restricted FROM documents ORDER BY document_id")
    assert [row.restricted for row in flags] == [True, False, False]
    assert (shop.task(secret).status, shop.task(secret).reason) == ("failed", "needs_password")
    assert shop.attempts(secret) == []
    assert not shop.app.queue.has_live_tasks()
    assert shop.task(opened).reason == "ok"  # the same document, its password removed, is another one


def test_c6_a_page_that_calls_itself_tagged_has_only_the_text_that_is_there(shop: Shop) -> None:
    blank = files.whole("").replace(b"/Type /Catalog", b"/MarkInfo << /Marked true >> /Type /Catalog")
    (task_id,) = _read(shop, blank)
    assert (shop.task(task_id).status, shop.task(task_id).reason) == ("succeeded", "empty_text")


def test_c10_a_page_as_large_as_a_house_is_read_like_any_other(shop: Shop) -> None:
    (task_id,) = _read(shop, files.whole().replace(b"[ 0 0 595 842 ]", b"[ 0 0 14400 14400 ]"))
    assert files.WORDS in _text(shop, task_id)
    assert shop.attempts(task_id)[0].peak_rss_bytes < 200_000_000


def test_c11_a_bomb_ends_within_its_memory_with_a_reason_and_the_worker_lives(open_for_business: Business) -> None:
    # A limit that lets the bomb in: what refuses it otherwise is tried in test_c_pages.py.
    shop = open_for_business(worker={"max_memory_megabytes": 256}, limits={"max_inflated_megabytes": 10_000})
    bomb, after = _taken(shop, files.swollen(150), files.whole())
    # In a process of its own: under a parent as large as this one, the kernel cannot say what the child held.
    assert shop.start_worker(until=Until.EMPTY).wait(timeout=120) == 0
    task = shop.task(bomb)
    assert (task.status, task.reason) == ("quarantined", "out_of_memory")
    cap = shop.settings.worker.max_memory_megabytes * files.MEGABYTE
    assert all(0 < attempt.peak_rss_bytes <= cap for attempt in shop.attempts(bomb))
    assert shop.outcomes(after) == [("succeeded", "ok")]


def test_c12_a_parser_that_hangs_in_native_code_deaf_to_signals_is_killed_with_all_it_started(
    open_for_business: Business,
) -> None:
    # Without recognition, whose library would take its first half second to load: then a sleeper looks busy.
    shop = open_for_business(worker={"page_seconds": 0.5}, ocr={"engine": "none"})
    pid = shop.home / "pid"
    task_id = shop.take(["Page 1.", f"Page 2.\n!spawn {pid}\n!deaf 6000", "Page 3."])
    shop.work()
    assert shop.outcomes(task_id) == [("crashed", "stalled")] * 2 + [("succeeded", "ok_with_gaps")]
    first = shop.attempts(task_id)[0]
    assert (first.page_no, first.error) == (2, "page 2 took longer than worker.page_seconds (0.5 s)")
    assert not is_alive(int(pid.read_text("ascii")))


def test_c13_memory_does_not_grow_with_the_pages(open_for_business: Business) -> None:
    shop = open_for_business(worker={"max_documents_per_child": 1})
    page = "\n".join("a line of text that fills the page" for _ in range(20))
    few, many = _read(shop, *(pdf.build([f"{number}\n{page}" for number in range(count)]) for count in (40, 400)))
    assert [int(row.text.split()[0]) for row in shop.pages(few)] == list(range(40))
    assert [int(row.text.split()[0]) for row in shop.pages(many)] == list(range(400))
    peaks = [shop.attempts(task_id)[0].peak_rss_bytes for task_id in (few, many)]
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize("step", [1, 3, 31, 32, 64])
def test_c14_every_marker_stands_on_its_page_whatever_the_step(open_for_business: Business, step: int) -> None:
    shop = open_for_business(lease={"step_pages": step, "checkpoint_seconds": 600})
    task_id = shop.take(pages(32))
    shop.work()
    assert [page.text for page in shop.pages(task_id)] == pages(32)
    assert shop.attempts(task_id)[0].renewals >= 32 // step


def test_c14_every_marker_stands_on_its_page_when_each_page_took_the_parser_down_once(
    open_for_business: Business,
) -> None:
    shop = open_for_business(queue={"max_crashes": 99, "backoff_cap_seconds": 0.1})
    sheets = pages(5, **{f"p{number}": f"once {shop.home / str(number)} kill" for number in range(1, 6)})
    task_id = shop.take(sheets)
    shop.work()
    assert [page.text for page in shop.pages(task_id)] == sheets
    assert [page.attempt_no for page in shop.pages(task_id)] == [2, 3, 4, 5, 6]


def test_c15_the_text_of_a_document_is_that_of_its_pages(shop: Shop, doclease: Doclease) -> None:
    (task_id,) = _read(shop, files.whole("first words", "second words"))
    document_id = str(shop.task(task_id).document_id)
    told = doclease("documents", "text", document_id).stdout
    assert told == "--- page 1 (text_layer) ---\nfirst words\n--- page 2 (text_layer) ---\nsecond words\n"
    rows = shop.rows("SELECT column_name FROM information_schema.columns WHERE table_name IN ('documents', 'attempts')")
    assert not {row.column_name for row in rows} & {"text", "content", "pages"}


def test_c20_odd_amounts_and_dates_cost_their_fields_and_not_the_document(shop: Shop) -> None:
    odd, raising = shop.take(pages(1), handler="bad_values"), shop.take(pages(2), handler="raises")
    shop.work()
    assert shop.statuses() == {"succeeded": 2}
    assert shop.attempts(odd)[0].result["dropped"] == ["issue_date", "due_date", "total_gross", "total_net"]
    (invoice,) = shop.rows("SELECT invoice_number, total_gross, issue_date FROM invoices")
    assert tuple(invoice) == ("INV-1", None, None)
    result = shop.attempts(raising)[0].result
    assert (result["checks"], result["handler_error"]) == (
        {"handler_finished": False}, "RuntimeError: cannot extract",
    )  # fmt: skip
    assert len(shop.pages(raising)) == 2


def test_c21_c23_what_cannot_be_read_says_why_once_and_the_command_fails(doclease: Doclease, home: Path) -> None:
    unreadable = {
        "zero.pdf": (b"", "empty_file", "0 bytes"),
        "login.pdf": (files.LOGIN_PAGE, "unsupported", "HTML"),
        "scan.png": (b"\x89PNG\r\n\x1a\n" + bytes(99), "corrupt", "header"),
        "tool.exe": (b"MZ" + bytes(99), "unsupported", "program"),
        "half.pdf": (files.cut(), "truncated", "end is missing"),
        "secret.pdf": (files.locked("secret"), "needs_password", "password"),
    }
    paths = {name: str(_put(home, name, content)) for name, (content, _, _) in unreadable.items()}
    told = rows_of(doclease("ingest", *paths.values(), "--format", "json", exit_code=6))
    assert [row["reason"] for row in told] == [reason for _, reason, _ in unreadable.values()]
    assert [word in row["error"] for row, (_, _, word) in zip(told, unreadable.values(), strict=True)] == [True] * len(
        told
    )
    assert {row["status"] for row in rows_of(doclease("tasks", "list", "--format", "json"))} == {"failed"}
    doclease("ingest", str(_put(home, "good.txt", b"words")), paths["half.pdf"], exit_code=3)
    doclease("ingest", str(home / "good.txt"))  # a duplicate is no failure


def test_c23_a_broken_file_is_never_tried_again_by_itself(shop: Shop) -> None:
    tasks = _read(shop, files.cut(), files.LOGIN_PAGE, b"", files.circular())
    assert [shop.task(task_id).reason for task_id in tasks] == ["truncated", "unsupported", "empty_file", "corrupt"]
    assert [shop.outcomes(task_id) for task_id in tasks] == [[], [], [], [("failed", "corrupt")]]
    assert shop.statuses() == {"failed": 4}
    assert [row.name for row in shop.rows("SELECT name FROM failures ORDER BY task_id")] == ["0", "1", "2", "3"]
