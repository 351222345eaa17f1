"""Where words stand on a page: to a two-thousandth of it, in some hundred bytes, whatever the page or the bytes."""

from __future__ import annotations

import io
import random
import tracemalloc
import zlib
from collections.abc import Callable

import pypdf
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageOps
from pypdf.generic import ArrayObject, FloatObject, NameObject
from reportlab.pdfgen.canvas import Canvas

from pipeline.documents.ocr import images, skew
from pipeline.documents.ocr.paper import as_it_came
from pipeline.documents.page_rows import Glyph, layout
from pipeline.documents.pdf.by_pdfium import PdfiumReader
from pipeline.documents.places import REST, Places, Sheet, Unpacked
from pipeline.documents.text import Box
from tests.documents.drawn_invoices import STYLES, invoice, rows

SHEET = Sheet(0, 800, 600, 800)
STEP = 1 / 2_000
Words = list[tuple[str, Box]]


def _words(content: bytes, page: int = 1) -> Words:
    """The words of a page that have a box of their own."""
    reader = PdfiumReader(io.BytesIO(content))
    seen = reader.read(page)
    places = Unpacked(seen.places)
    found: Words = []
    for number, line in enumerate(seen.layout.split("\n")):
        words, spans = iter(line.split()), places.spans(number)
        assert sum(span.words for span in spans) == len(line.split()) or spans[-1].words == REST
        for count, boxes in spans:
            if len(boxes) > count:  # the first one has the rest of the word before
                found[-1] = (found[-1][0], found[-1][1]._replace(right=boxes[0].right))
            found += [(next(words), box) for box in boxes[-count:]] if 0 < count <= len(boxes) else []
    reader.close()
    return found


def _drawn(draw: Callable[[Canvas], None]) -> bytes:
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=(600, 800))
    canvas.setFont("Helvetica", 10)
    draw(canvas)
    canvas.save()
    return content.getvalue()


@pytest.mark.parametrize("terms", [False, True])
@pytest.mark.parametrize("style", STYLES)
def test_every_word_is_in_its_box_whoever_wrote_the_page(style: str, terms: bool) -> None:
    content = invoice(style, rows(random.Random(style), 12), terms=terms)  # noqa: S311
    page = pypdfium2.PdfDocument(content)[0]
    text, (width, height) = page.get_textpage(), page.get_size()
    words = _words(content)
    assert len(words) > 60
    for word, box in words:
        left, right = box.left * width - 0.5, box.right * width + 0.5
        inside = text.get_text_bounded(left, (1 - box.bottom) * height - 0.5, right, (1 - box.top) * height + 0.5)
        assert "".join(inside.split()) == word


TRANSFORMED: dict[str, dict[str, float | tuple[float, ...]]] = {
    "as it is": {},
    "turned": {"/Rotate": 90},
    "turned twice": {"/Rotate": 180},
    "turned back": {"/Rotate": 270},
    "cut out": {"/CropBox": (100, 500, 500, 750)},
    "cut out and turned": {"/CropBox": (100, 500, 500, 750), "/Rotate": 90},
    "in large units": {"/UserUnit": 2.5},
    "from elsewhere": {"/MediaBox": (-50, 200, 550, 900)},
}


@pytest.mark.parametrize("kind", TRANSFORMED)
def test_boxes_are_where_the_page_is_painted(kind: str) -> None:
    content = _transformed(_drawn(_two_words), TRANSFORMED[kind])
    page = pypdfium2.PdfDocument(content)[0]
    painted = ImageOps.invert(page.render(scale=2).to_pil().convert("L"))
    words = dict(_words(content))
    assert words.keys() == {"GROSS", "1,234.50"}
    for box in words.values():
        there = _on(painted, box)
        ink = painted.crop(there).getbbox()
        assert ink is not None
        assert min(ink[2] - ink[0], ink[3] - ink[1]) >= 0.5 * min(there[2] - there[0], there[3] - there[1])
        painted.paste(0, there)
    assert painted.getbbox() is None  # nothing of them is outside


def test_text_that_runs_up_a_page_has_boxes_there() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.translate(40, 300)
        canvas.rotate(90)
        canvas.drawString(0, 0, "REGISTER COPY")

    ((one, low), (other, high)) = _words(_drawn(draw))
    assert (one, other) == ("REGISTER", "COPY")
    assert high.bottom < low.top
    assert low.bottom - low.top > 2 * (low.right - low.left)
    assert low.bottom == pytest.approx(500 / 800, abs=0.01)


def test_a_number_before_running_text_has_a_place_of_its_own_however_wide_the_gap() -> None:
    text = "of the supplier that is named in the order, without any deduction, and to no other account"

    def draw(canvas: Canvas) -> None:
        for place in range(20):
            canvas.drawString(50, 780 - 14 * place, "(a)" if place == 3 else "all")
            canvas.drawString(100, 780 - 14 * place, text)

    reader = PdfiumReader(io.BytesIO(_drawn(draw)))
    spans = Unpacked(reader.read(1).places).spans(3)
    reader.close()
    assert [span.words for span in spans] == [1, REST]
    assert spans[1].boxes[0].left == pytest.approx(100 / 600, abs=0.002)


def test_two_pieces_of_a_word_are_one_word_in_the_box_of_both() -> None:
    places = layout([Glyph("In", 50, 500, 60, 512), Glyph("\n"), Glyph("voice", 60.5, 500, 90, 512)]).places
    (first, rest) = Unpacked(places.packed(SHEET)).spans(0)
    assert (first.words, rest.words, len(rest.boxes)) == (1, 0, 1)
    assert rest.boxes[0].right == pytest.approx(90 / 600, abs=STEP)


def test_what_is_beside_the_page_is_at_its_edge() -> None:
    places = layout([Glyph("beside", 700, 500, 790, 512)]).places
    ((_, (box,)),) = Unpacked(places.packed(SHEET)).spans(0)
    assert (box.left, box.right) == (1, 1)


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("degrees", [0.0, 3.0, -5.0])
def test_what_was_straightened_and_turned_is_found_where_it_was(turns: int, degrees: float) -> None:
    came = Image.new("L", (600, 900), 255)
    ImageDraw.Draw(came).rectangle((400, 150, 430, 160), fill=0)
    level = skew.straightened(came, degrees) if degrees else came
    upright = images.turned(level, turns)
    left, top, right, bottom = ImageOps.invert(upright).point(lambda value: 255 * (value > 100)).getbbox() or (0,) * 4
    places = Places([1], [(1, 1, -bottom, -top)], [left, right])
    ((_, (box,)),) = Unpacked(as_it_came(places, came.size, level.size, turns, degrees)).spans(0)
    assert ((box.left + box.right) * 300, (box.top + box.bottom) * 450) == pytest.approx((415, 155), abs=1.5)
    assert (box.right - box.left) * 600 == pytest.approx(31, abs=4)


spans = st.lists(st.lists(st.tuples(st.floats(0, 599), st.floats(0, 799), st.booleans()), max_size=4), max_size=6)


@given(spans)
def test_every_place_comes_back_within_a_step(lines: list[list[tuple[float, float, bool]]]) -> None:
    places = Places()
    for line in lines:
        for x, y, two in line:
            places.spans.append((1, 2 if two else 1, y, y + 1))
            places.edges += (x, x + 1) * (2 if two else 1)
        places.ends.append(len(places.spans))
    unpacked = Unpacked(places.packed(SHEET))
    assert [len(unpacked.spans(number)) for number in range(len(lines))] == [len(line) for line in lines]
    for number, line in enumerate(lines):
        for span, (x, y, two) in zip(unpacked.spans(number), line, strict=True):
            assert (span.words, len(span.boxes)) == (1, 2 if two else 1)
            expected = (x / 600, 1 - (y + 1) / 800, (x + 1) / 600, 1 - y / 800)
            assert all(box == pytest.approx(expected, abs=STEP) for box in span.boxes)


PACKED = layout([Glyph("Total", 50, 500, 90, 512), Glyph("\n"), Glyph("9.50", 400, 500, 430, 512)]).places.packed(SHEET)


def _deflated(content: bytes) -> bytes:
    return zlib.compress(content, wbits=-15)


changed = st.tuples(st.integers(0, len(PACKED) - 1), st.integers(0, 255)).map(
    lambda change: PACKED[: change[0]] + bytes([change[1]]) + PACKED[change[0] + 1 :]
)
numbers = st.lists(st.integers(-40, 40) | st.integers(-(2**15), 2**15 - 1), max_size=40).map(
    lambda each: b"".join(number.to_bytes(2, "little", signed=True) for number in each)
)
halved = numbers.map(lambda content: _deflated(content[::2] + content[1::2]))


@given(st.binary(max_size=200) | changed | halved | st.binary(max_size=200).map(_deflated))
def test_bytes_that_are_no_places_are_boxes_on_the_page_or_none(content: bytes) -> None:
    unpacked = Unpacked(content)
    for number in range(min(len(unpacked), 100) + 1):
        for span in unpacked.spans(number):
            assert all(0 <= box.left <= box.right <= 1 and 0 <= box.top <= box.bottom <= 1 for box in span.boxes)


def test_a_bomb_of_places_is_let_go_off_in_a_small_room() -> None:
    content = _deflated(bytes(60_000_000))
    assert len(content) < 65_536
    tracemalloc.start()
    assert len(Unpacked(content)) == 0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000


def test_a_page_that_is_not_a_number_has_no_places() -> None:
    for edge in (float("nan"), float("inf"), 1e300):
        assert Places([1], [(1, 1, 500, 512)], [50, edge]).packed(SHEET) == b""


def _two_words(canvas: Canvas) -> None:
    canvas.drawString(150, 700, "GROSS")
    canvas.drawRightString(450, 700, "1,234.50")


def _transformed(content: bytes, facts: dict[str, float | tuple[float, ...]]) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    for name, value in facts.items():
        number = ArrayObject(map(FloatObject, value)) if isinstance(value, tuple) else FloatObject(value)
        writer.pages[0][NameObject(name)] = number
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def _on(image: Image.Image, box: Box) -> tuple[int, int, int, int]:
    left, right = int(box.left * image.width) - 1, int(box.right * image.width) + 2
    return left, int(box.top * image.height) - 1, right, int(box.bottom * image.height) + 2
