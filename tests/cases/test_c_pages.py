"""Faults that other products had with pages of PDFs: scans without text, ciphers, locks, giant boxes, bombs.

Through the whole of it: files are taken in, read in a child, and stored. What a page may be is tried in
tests/documents/test_pdf_pages.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.worker.slot import Until
from tests.cases import files
from tests.documents.scanned import PROSE, lines, printed, prose, sheets, shown
from tests.worker.shop import Shop

Business = Callable[..., Shop]
SEEN = "The supplier delivers the goods to the address of the buyer"


def _taken(shop: Shop, *contents: bytes) -> list[int]:
    tasks = []
    for number, content in enumerate(contents):
        path: Path = shop.home / f"{number}.pdf"
        path.write_bytes(content)
        tasks.append(shop.take_file(path))
    return tasks


def _read(shop: Shop, *contents: bytes) -> list[int]:
    tasks = _taken(shop, *contents)
    shop.work()
    return tasks


def _sources(shop: Shop, task_id: int) -> list[str]:
    return [str(page.source) for page in shop.pages(task_id)]


@pytest.fixture
def shop(open_for_business: Business) -> Shop:
    return open_for_business()


def test_c5_a_locked_document_opens_with_a_known_password_and_a_restricted_one_by_itself(shop: Shop) -> None:
    shop.settings.passwords_path.write_text("wrong\nsecret\n", "utf-8")
    locked, restricted, unknown = _read(shop, files.locked("secret"), files.locked(""), files.locked("another"))
    for task_id in (locked, restricted):
        assert [page.text for page in shop.pages(task_id)] == [files.WORDS]
    assert (shop.task(unknown).status, shop.task(unknown).reason) == ("failed", "needs_password")
    told = str([shop.task(unknown), *shop.rows("SELECT * FROM failures")])
    assert "none of the 2 known fits" in told
    assert not any(word in told for word in ("wrong", "secret", "another"))


def test_c6_a_scan_that_calls_itself_tagged_is_recognised(shop: Shop) -> None:
    scan = sheets(shown(printed())).replace(b"/Type /Catalog", b"/MarkInfo << /Marked true >> /Type /Catalog")
    (task_id,) = _read(shop, scan)
    (page,) = shop.pages(task_id)
    assert (page.source, SEEN in page.text) == ("ocr", True)


def test_c7_a_scanned_page_in_the_middle_of_a_contract_is_recognised_and_no_other(shop: Shop) -> None:
    (task_id,) = _read(shop, sheets(*[prose()] * 40, shown(printed()), *[prose()] * 40))
    assert _sources(shop, task_id) == ["text_layer"] * 40 + ["ocr"] + ["text_layer"] * 40
    assert all(SEEN in page.text for page in shop.pages(task_id))


def test_c8_a_text_layer_in_cipher_is_recognised_and_codes_in_a_table_are_not(shop: Shop) -> None:
    shift = {code: chr(code + 3) for code in (*range(65, 88), *range(97, 120))}
    cipher = sheets(shown(printed(), layer=[line.translate(shift) for line in PROSE * 10]))
    codes = sheets(lambda page: lines(page, [f"QX-{n}/B  ZK{n * 7}-TRW  XPT{n}K  {n}.50" for n in range(60)], 780))
    ciphered, coded = _read(shop, cipher, codes)
    (page,) = shop.pages(ciphered)
    assert (page.source, SEEN in page.text) == ("ocr", True)
    assert _sources(shop, coded) == ["text_layer"]
    (row,) = shop.rows("SELECT figures->>'text_layer' AS layer FROM pages WHERE figures ? 'text_layer'")
    assert row.layer.startswith(PROSE[0].translate(shift)[:20])


def test_c10_a_scan_as_large_as_a_house_is_recognised_within_its_limits_and_says_so(
    open_for_business: Business,
) -> None:
    shop = open_for_business(limits={"max_page_megapixels": 3})
    (task_id,) = _read(shop, sheets(shown(printed(), size=(14_400, 20_000)), size=(14_400, 20_000)))
    (row,) = shop.rows("SELECT text, note FROM pages")
    assert SEEN in row.text
    assert "limits.max_page_megapixels is 3" in row.note
    cap = shop.settings.worker.max_memory_megabytes * files.MEGABYTE
    assert shop.attempts(task_id)[0].peak_rss_bytes < cap


def test_c11_a_bomb_is_refused_by_its_figure_before_it_inflates_and_the_next_document_is_read(shop: Shop) -> None:
    bomb, after = _taken(shop, files.swollen(300), files.whole())
    assert shop.start_worker(until=Until.EMPTY).wait(timeout=120) == 0
    assert (shop.task(bomb).status, shop.task(bomb).reason) == ("quarantined", "bomb")
    assert shop.outcomes(after) == [("succeeded", "ok")]
    assert "limits.max_inflated_megabytes" in str(shop.rows("SELECT * FROM failures"))
