"""A picture is a page the right way up, whatever its mode, size and resolution, and at a bounded price."""

from __future__ import annotations

import io
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import pillow_heif
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pipeline.config import LimitSettings
from pipeline.documents.contract import Format, Means, OpenDocument
from pipeline.documents.formats.bmp import format as bmp
from pipeline.documents.formats.gif import format as gif
from pipeline.documents.formats.heic import format as heic
from pipeline.documents.formats.jpeg import format as jpeg
from pipeline.documents.formats.png import format as png
from pipeline.documents.formats.tiff import format as tiff
from pipeline.documents.formats.webp import format as webp
from pipeline.documents.text import Page, Source
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason
from tests.documents.samples import tiff as tiff_sample
from tests.documents.seeing import Seeing, draw

MEANS = Means(ocr=Seeing())
WORDS = "Invoice 4711, total 119.00"
Make = Callable[[Image.Image], Image.Image]


def _file(picture: Image.Image, codec: str, **options: Any) -> bytes:
    file = io.BytesIO()
    if codec == "HEIF":
        pillow_heif.from_pillow(picture).save(file, quality=90, **options)
    else:
        picture.save(file, codec, **options)
    return file.getvalue()


def _pages(each: Format, content: bytes, means: Means = MEANS) -> list[Page]:
    with each.open(io.BytesIO(content), means) as document:
        return [document.read_page(number) for number in range(1, document.page_count + 1)]


def _page(each: Format, content: bytes, means: Means = MEANS) -> Page:
    (page,) = _pages(each, content, means)
    return page


def _refusal(each: Format, content: bytes, means: Means = MEANS) -> DocumentError:
    with pytest.raises(DocumentError) as refusal:
        _pages(each, content, means)
    return refusal.value


def _larger(factor: int) -> Image.Image:
    small = draw(WORDS)
    return small.resize((small.width * factor, small.height * factor), Image.Resampling.NEAREST)


def _with_alpha(picture: Image.Image) -> Image.Image:
    """Black words on what is transparent and black as well."""
    clear = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), mask=picture.point(lambda level: 255 - level))
    return clear


def _see_through(picture: Image.Image) -> Image.Image:
    """A scan whose alpha says that nothing can be seen."""
    layered = picture.convert("RGBA")
    layered.putalpha(0)
    return layered


def _palette(picture: Image.Image) -> Image.Image:
    few = picture.convert("P")
    few.info["transparency"] = 255  # what was white
    few.putpalette([0, 0, 0] * 256)
    return few


def _deep(picture: Image.Image) -> Image.Image:
    return picture.convert("I").point(lambda level: level * 257).convert("I;16")


MODES: dict[str, tuple[Format, str, Make]] = {
    "1-bit tiff": (tiff, "TIFF", lambda picture: picture.convert("1")),
    "1-bit png": (png, "PNG", lambda picture: picture.convert("1")),
    "palette png": (png, "PNG", lambda picture: picture.convert("P")),
    "see-through palette png": (png, "PNG", _palette),
    "alpha png": (png, "PNG", _with_alpha),
    "alpha webp": (webp, "WEBP", _with_alpha),
    "alpha tiff": (tiff, "TIFF", _with_alpha),
    "alpha that hides all png": (png, "PNG", _see_through),
    "grey with alpha png": (png, "PNG", lambda picture: _with_alpha(picture).convert("LA")),
    "16-bit png": (png, "PNG", _deep),
    "16-bit tiff": (tiff, "TIFF", _deep),
    "32-bit tiff": (tiff, "TIFF", lambda picture: picture.convert("I").point(lambda level: level * 65536)),
    "float tiff": (tiff, "TIFF", lambda picture: picture.convert("F").point(lambda level: level * (1 / 255))),
    "cmyk jpeg": (jpeg, "JPEG", lambda picture: picture.convert("CMYK")),
    "cmyk tiff": (tiff, "TIFF", lambda picture: picture.convert("CMYK")),
    "lab tiff": (tiff, "TIFF", lambda picture: Image.merge("LAB", [picture, *[Image.new("L", picture.size, 128)] * 2])),
    "ycbcr tiff": (tiff, "TIFF", lambda picture: picture.convert("YCbCr")),
    "rgb bmp": (bmp, "BMP", lambda picture: picture.convert("RGB")),
    "gif": (gif, "GIF", lambda picture: picture.convert("P")),
    "heic": (heic, "HEIF", lambda picture: picture.convert("RGB")),
}


@pytest.mark.parametrize("kind", MODES)
def test_every_mode_is_black_on_white_in_the_end(kind: str) -> None:
    each, codec, make = MODES[kind]
    page = _page(each, _file(make(draw(WORDS)), codec))
    assert page.text == WORDS
    assert page.source is Source.OCR
    assert page.engine == "seeing 1"


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(("each", "codec"), [(jpeg, "JPEG"), (png, "PNG"), (webp, "WEBP"), (tiff, "TIFF")])
def test_a_turned_photo_is_turned_back(each: Format, codec: str, orientation: int) -> None:
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = draw(WORDS).transpose(undo[orientation]) if orientation in undo else draw(WORDS)
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert _page(each, _file(stored, codec, exif=exif)).text == WORDS


def test_broken_exif_costs_nothing() -> None:
    content = _file(draw(WORDS), "JPEG", exif=b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\xff\xff" + b"\x01\x12" * 40)
    assert _page(jpeg, content).text == WORDS


def test_every_frame_of_a_tiff_is_a_page_also_with_alpha_and_without_resolution() -> None:
    first, *others = (_with_alpha(draw(f"page {number}")) for number in (1, 2, 3))
    content = _file(first, "TIFF", save_all=True, append_images=others, dpi=(1, 1))
    assert [page.text for page in _pages(tiff, content)] == ["page 1", "page 2", "page 3"]


def test_a_smaller_version_of_a_frame_and_a_mask_are_no_pages() -> None:
    content = bytearray(_tagged([0, 1, 4, 0]))
    assert [page.text for page in _pages(tiff, bytes(content))] == ["frame 0", "frame 3"]


def _tagged(kinds: list[int]) -> bytes:
    """A TIFF of frames of these subfile types."""
    first, *others = (draw(f"frame {number}").convert("1") for number in range(len(kinds)))
    for image, kind in zip([first, *others], kinds, strict=True):
        image.encoderinfo = {"tiffinfo": {254: kind}}
    return _file(first, "TIFF", save_all=True, append_images=others, tiffinfo={254: kinds[0]})


def test_a_bad_page_of_a_tiff_is_a_gap_and_the_others_are_read() -> None:
    first, *others = (draw(text) for text in ("one", "two", "three"))
    content = _file(first, "TIFF", save_all=True, append_images=others, compression="tiff_lzw")
    with Image.open(io.BytesIO(content)) as image:
        image.seek(1)
        start, size = image.tag_v2[273][0], image.tag_v2[279][0]  # type: ignore[attr-defined]
    broken = content[:start] + b"\xff" * size + content[start + size :]
    with tiff.open(io.BytesIO(broken), MEANS) as document:
        assert document.page_count == 3
        assert [document.read_page(number).text for number in (1, 3)] == ["one", "three"]
        with pytest.raises(UnreadablePage) as gap:
            document.read_page(2)
    assert gap.value.reason == Reason.CORRUPT


def test_a_chain_of_frames_that_bites_its_tail_ends() -> None:
    content = bytearray(tiff_sample.build(["one", "two"]))
    first = int.from_bytes(content[4:8], "little")
    entries = int.from_bytes(content[first : first + 2], "little")
    content[first + 2 + 12 * entries : first + 6 + 12 * entries] = first.to_bytes(4, "little")
    assert [page.text for page in _pages(tiff, bytes(content))] == ["one"]


def test_more_frames_than_allowed_are_not_even_counted() -> None:
    refusal = _refusal(tiff, tiff_sample.build(["x"] * 9), Means(LimitSettings(max_pages=3), ocr=Seeing()))
    assert refusal.reason is Reason.TOO_MANY_PAGES
    assert "limits.max_pages allows 3" in str(refusal)


def test_of_an_animation_the_first_frame_is_the_page() -> None:
    first, second = draw("first").convert("P"), draw("second").convert("P")
    for each, codec in ((gif, "GIF"), (webp, "WEBP"), (png, "PNG")):
        assert _page(each, _file(first, codec, save_all=True, append_images=[second])).text == "first"


@pytest.mark.parametrize("dpi", [None, (1, 1), (0, 0), (72, 72), (9999, 3)])
def test_a_missing_or_absurd_resolution_is_assumed_as_for_a_sheet_of_paper(dpi: tuple[int, int] | None) -> None:
    sheet = Image.new("L", (1768, 2500), 255)
    sheet.paste(draw(WORDS), (0, 0))
    page = _page(png, _file(sheet, "PNG", **({"dpi": dpi} if dpi else {})), Means())
    assert page.figures["dpi_assumed"] == "yes"
    assert page.figures["dpi"] == 214
    assert page.note == "no text recognition: ocr.engine is none"


def test_a_resolution_that_makes_a_sheet_is_believed_and_more_than_reading_needs_is_scaled_down() -> None:
    page = _page(png, _file(_larger(4), "PNG", dpi=(400, 400)))
    assert page.text == WORDS
    assert (page.figures["dpi_assumed"], page.figures["dpi"], page.figures["read_dpi"]) == ("no", 400, 200)


@pytest.mark.parametrize("dpi", [(204, 98), (200, 100), (204, 391)])
def test_the_pixels_of_a_fax_become_square(dpi: tuple[int, int]) -> None:
    square = draw(WORDS)
    stored = square.resize((square.width, round(square.height * dpi[1] / dpi[0]))).convert("1")
    page = _page(tiff, _file(stored, "TIFF", compression="group3", dpi=dpi))
    assert page.text == WORDS
    assert page.figures["dpi_down"] == dpi[1]


def test_a_turned_fax_has_its_resolution_turned_as_well() -> None:
    square = draw(WORDS)
    upright = square.resize((square.width, square.height // 2))
    exif = Image.Exif()
    exif[0x0112] = 6
    page = _page(tiff, _file(upright.transpose(Image.Transpose.ROTATE_90), "TIFF", dpi=(100, 200), exif=exif))
    assert page.text == WORDS
    assert (page.figures["dpi"], page.figures["dpi_down"]) == (200, 100)


def test_a_scan_beyond_the_megapixels_is_read_scaled_down_and_says_so() -> None:
    large = _larger(8)
    means = Means(LimitSettings(max_page_megapixels=2), ocr=Seeing())
    for each, codec in ((jpeg, "JPEG"), (tiff, "TIFF"), (png, "PNG")):
        page = _page(each, _file(large, codec, dpi=(600, 600)), means)
        assert page.text == WORDS
        assert page.note == "5.9 megapixels, limits.max_page_megapixels is 2: scaled down to 200 dpi"


@pytest.mark.parametrize(
    ("each", "codec", "mode", "side"),
    [(png, "PNG", "L", 20_000), (tiff, "TIFF", "1", 20_000), (gif, "GIF", "L", 9_000)],
)
def test_what_would_not_fit_into_memory_is_refused_by_its_header(
    each: Format, codec: str, mode: str, side: int
) -> None:
    options = {"compression": "group4"} if codec == "TIFF" else {}
    content = _bomb(codec, mode, side, **options)
    refusal = _refusal(each, content)
    assert refusal.reason is Reason.BOMB
    assert f"{side:,} x {side:,} pixels" in str(refusal)
    assert "limits.max_decoded_megabytes (280) allows 280,000,000" in str(refusal)
    with pytest.raises(DocumentError):
        each.inspect(io.BytesIO(content), MEANS)


def _bomb(codec: str, mode: str, side: int, **options: Any) -> bytes:
    """A white picture of 1,000 x 1,000 pixels that claims more in its header."""
    content = bytearray(_file(Image.new(mode, (1000, 1000), 1), codec, **options))
    if codec == "PNG":
        content[16:24] = side.to_bytes(4, "big") * 2
        content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    elif codec == "GIF":
        content[6:10] = side.to_bytes(2, "little") * 2
    else:
        first = int.from_bytes(content[4:8], "little")
        for entry in range(first + 2, first + 2 + 24, 12):
            content[entry + 2 : entry + 12] = b"\x04\x00\x01\x00\x00\x00" + side.to_bytes(4, "little")
    return bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "codec"), [("RGB", "TIFF"), ("RGB", "JPEG"), ("L", "PNG")])
def test_a_large_scan_is_read_within_the_memory_of_a_parser(mode: str, codec: str, tmp_path: Any) -> None:
    path = tmp_path / "large"
    options: dict[str, Any] = {"compression": "tiff_lzw"} if codec == "TIFF" else {}
    Image.new(mode, (7016, 9921), "white").save(path, codec, dpi=(600, 600), **options)
    code = (
        "import resource, sys, importlib\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from pipeline.documents.contract import Means\n"
        f"kind = importlib.import_module('pipeline.documents.formats.{codec.lower()}').format\n"
        "with open(sys.argv[1], 'rb') as file, kind.open(file, Means()) as document:\n"
        "    print(document.read_page(1).note)\n"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("69.6 megapixels, limits.max_page_megapixels is 40: scaled down to 200 dpi")
    assert int(done.stdout.splitlines()[-1]) < 600_000  # kB


def test_a_cut_picture_is_told_from_a_broken_one_and_from_one_that_lacks_its_last_bytes() -> None:
    noise = Image.effect_noise((600, 800), 90)
    for each, codec in ((jpeg, "JPEG"), (png, "PNG")):
        content = _file(noise, codec)
        assert _refusal(each, content[: len(content) // 2]).reason is Reason.TRUNCATED
        page = _page(each, content[: int(len(content) * 0.97)], Means())
        assert "the end of the file is missing" in page.note
        assert 0 < float(page.figures["lost"]) <= 0.1
    assert _refusal(png, content[:8] + b"\xff" * 500).reason is Reason.CORRUPT


def test_a_blank_page_is_not_recognised_at_all() -> None:
    class Never:
        def read(self, image: Image.Image) -> Any:
            raise AssertionError("a blank page was recognised")

    sheet = Image.effect_noise((1654, 2339), 6).point(lambda level: min(level + 110, 255))
    sheet.putpixel((800, 800), 0)
    page = _page(png, _file(sheet, "PNG"), Means(ocr=Never()))
    assert (page.text, page.source) == ("", Source.NATIVE)
    assert page.note == "blank: nothing stands out from the background"


def test_a_page_number_alone_is_ink() -> None:
    sheet = Image.new("L", (1654, 2339), 255)
    sheet.paste(90, (820, 2200, 824, 2225))
    assert _page(png, _file(sheet, "PNG")).source is Source.OCR


def test_without_recognition_a_picture_is_an_empty_page_that_says_so() -> None:
    page = _page(png, _file(draw(WORDS), "PNG"), Means())
    assert (page.text, page.source, page.note) == ("", Source.NATIVE, "no text recognition: ocr.engine is none")
    assert page.engine.startswith("pillow ")


def test_frames_are_counted_as_work_for_recognition_when_there_is_one() -> None:
    content = io.BytesIO(tiff_sample.build(["a", "b"]))
    assert tiff.inspect(content, MEANS).ocr_page_count == 2
    assert tiff.inspect(content, Means()).ocr_page_count == 0


def test_a_logo_dropped_by_itself_is_a_document() -> None:
    assert _page(png, _file(Image.new("RGB", (32, 20), "navy"), "PNG")).note.startswith("blank")


SAMPLES = {
    each.name: (each, _file(draw("words").convert(mode), codec))
    for each, codec, mode in (
        (jpeg, "JPEG", "L"), (png, "PNG", "P"), (webp, "WEBP", "RGB"), (gif, "GIF", "P"), (bmp, "BMP", "L"),
        (heic, "HEIF", "RGB"),
    )
} | {"tiff": (tiff, tiff_sample.build(["one", "two"]))}  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_bent_and_cut_pictures_give_pages_or_a_named_refusal(name: str, data: st.DataObject) -> None:
    each, content = SAMPLES[name]
    raw = bytearray(content[: data.draw(st.integers(1, len(content)))])
    for _ in range(data.draw(st.integers(0, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        with each.open(io.BytesIO(bytes(raw)), MEANS) as document:
            _exhaust(document)
    except DocumentError:
        pass


def _exhaust(document: OpenDocument) -> None:
    for number in range(1, min(document.page_count, 5) + 1):
        try:
            document.read_page(number)
        except UnreadablePage:
            pass
