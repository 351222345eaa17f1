"""Faults that other products had with pictures: lost frames, odd modes and resolutions, sizes found out too late."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import Any

import pillow_heif
import pytest
from PIL import Image, ImageDraw, ImageFont

from pipeline.worker.process import CHILD_MODULE
from tests.worker.shop import Shop

A4 = (1240, 1754)  # pixels at 150 dpi
MEBIBYTE = 1 << 20


@pytest.fixture
def shop(open_for_business: Callable[..., Shop]) -> Shop:
    """A shop whose children have the memory that recognition needs, and know every format."""
    shop = open_for_business(inbox={"quiet_for_seconds": 0.1}, worker={"max_memory_megabytes": 1024})
    shop.app.child_module = CHILD_MODULE
    return shop


def _sheet(words: str, size: tuple[int, int] = A4) -> Image.Image:
    """A white sheet with these words, in letters of a usual size for a sheet."""
    sheet = Image.new("L", size, 255)
    font = ImageFont.load_default(size[0] // 36)
    ImageDraw.Draw(sheet).multiline_text((size[0] // 10, size[1] // 10), words, fill=0, font=font)
    return sheet


def _with_alpha(sheet: Image.Image) -> Image.Image:
    clear = Image.new("RGBA", sheet.size, (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), mask=sheet.point(lambda level: 255 - level))
    return clear


def _bytes(image: Image.Image, codec: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, codec, **options)
    return file.getvalue()


def _read(shop: Shop, *contents: bytes) -> list[int]:
    tasks = []
    for number, content in enumerate(contents):
        path = shop.home / f"scan {number}"
        path.write_bytes(content)
        tasks.append(shop.take_file(path))
    shop.work()
    return tasks


def test_c9_every_frame_of_a_tiff_with_alpha_and_without_resolution_is_a_page(shop: Shop) -> None:
    first, *others = (_with_alpha(_sheet(f"Invoice number {number}4711")) for number in (1, 2, 3))
    content = _bytes(first, "TIFF", save_all=True, append_images=others, dpi=(1, 1), compression="tiff_lzw")
    (task,) = _read(shop, content)
    pages = shop.pages(task)
    assert [page.text.strip() for page in pages] == [f"Invoice number {number}4711" for number in (1, 2, 3)]
    assert {page.source for page in pages} == {"ocr"}
    assert [(page.figures["dpi_assumed"], page.figures["dpi"]) for page in pages] == [("yes", 150)] * 3
    assert shop.task(task).page_count == 3


def test_c9_photos_of_every_mode_and_turn_are_read(shop: Shop) -> None:
    sheet = _sheet("Invoice number 4711")
    turned = Image.Exif()
    turned[0x0112] = 6
    photo = io.BytesIO()
    pillow_heif.from_pillow(sheet.convert("RGB")).save(photo, quality=70)
    tasks = _read(
        shop,
        _bytes(sheet.convert("CMYK"), "JPEG"),
        _bytes(sheet.convert("I").point(lambda level: level * 257).convert("I;16"), "PNG"),
        _bytes(sheet.transpose(Image.Transpose.ROTATE_90), "JPEG", exif=turned),
        _bytes(_with_alpha(sheet), "PNG"),
        _bytes(_with_alpha(sheet), "WEBP"),
        photo.getvalue(),
    )
    assert [[page.text.strip() for page in shop.pages(task)] for task in tasks] == [["Invoice number 4711"]] * 6
    assert {shop.task(task).reason for task in tasks} == {"ok"}


def test_c9_a_fax_with_pixels_twice_as_high_as_wide_is_read(shop: Shop) -> None:
    sheet = _sheet("Invoice number 4711", (1728, 2292)).resize((1728, 1100)).convert("1")
    (task,) = _read(shop, _bytes(sheet, "TIFF", compression="group3", dpi=(204, 98)))
    assert [page.text.strip() for page in shop.pages(task)] == ["Invoice number 4711"]


def test_c10_a_picture_that_no_memory_holds_is_refused_by_its_header_and_costs_nothing(shop: Shop) -> None:
    bomb = bytearray(_bytes(Image.new("L", (4000, 4000), 255), "PNG"))
    bomb[16:24] = (20_000).to_bytes(4, "big") * 2
    bomb[29:33] = zlib.crc32(bomb[12:29]).to_bytes(4, "big")
    refused, good = _read(shop, bytes(bomb), _bytes(_sheet("Invoice number 4711"), "PNG"))
    assert shop.task(refused).reason == "bomb"
    assert shop.attempts(refused) == []
    assert "20,000 x 20,000 pixels" in shop.rows("SELECT error FROM failures")[0].error
    assert shop.task(good).reason == "ok"


@pytest.mark.slow
def test_c10_a_large_scan_is_read_scaled_down_and_says_so(shop: Shop) -> None:
    sheet = _sheet("Invoice number 4711", (7016, 9921))
    tasks = _read(
        shop,
        _bytes(sheet.convert("1"), "TIFF", compression="group4", dpi=(600, 600)),
        _bytes(sheet, "JPEG", dpi=(600, 600)),
        _bytes(sheet.convert("RGB"), "PNG", dpi=(600, 600), compress_level=1),
    )
    for task in tasks:
        (page,) = shop.pages(task)
        assert page.text.strip() == "Invoice number 4711"
        assert page.note == "69.6 megapixels, limits.max_page_megapixels is 40: scaled down to 200 dpi"
        assert shop.attempts(task)[0].peak_rss_bytes < 900 * MEBIBYTE


def test_a_blank_scan_is_an_empty_document_and_not_a_failure(shop: Shop) -> None:
    (task,) = _read(shop, _bytes(Image.new("L", A4, 250), "PNG"))
    assert (shop.task(task).status, shop.task(task).reason) == ("succeeded", "empty_text")
    assert shop.pages(task)[0].note == "blank: nothing stands out from the background"
