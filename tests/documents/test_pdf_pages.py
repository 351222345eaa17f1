"""Pages of real PDFs: which are recognised, what of their text layer is kept, and what is said on the page."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from reportlab.pdfgen import canvas

from pipeline.config import LimitSettings, OcrSettings
from pipeline.documents.contract import Means
from pipeline.documents.formats.pdf import format as pdf
from pipeline.documents.ocr import Recognised, reader
from pipeline.documents.pdf.recognition import missing_lines
from pipeline.documents.text import Page, Source
from pipeline.errors import UnreadablePage
from tests.documents.samples.pdf import build
from tests.documents.scanned import A4, PROSE, lines, picture, printed, prose, sheets, shown
from tests.documents.seeing import Seeing

SEEING = Means(ocr=Seeing())
WORDS = "Carriage of eleven pallets to Antwerp"
STAMPS = {
    "bates": ["ACME-0004711"],
    "scanner": ["Scanned with PaperCatcher", "2026-03-01 12:00"],
    "signature": ["Digitally signed by Mara Quist", "Date: 2026.03.14 10:11:12", "Reason: approved as it stands"],
    "notice": [*PROSE, "Case 1:26-cv-00417 Document 87-3"],
}


class Blind:
    """Sees nothing, as an engine does on a page of noise."""

    def read(self, image: Image.Image) -> Recognised:
        """No text."""
        return Recognised("", "", 0.0, 0, 0.0, "blind 1", ())


def _pages(content: bytes, means: Means = SEEING) -> list[Page]:
    with pdf.open(io.BytesIO(content), means) as document:
        return [document.read_page(number) for number in range(1, document.page_count + 1)]


def _page(content: bytes, means: Means = SEEING) -> Page:
    (page,) = _pages(content, means)
    return page


def test_a_scan_is_recognised_and_says_so() -> None:
    page = _page(sheets(picture(WORDS)))
    assert (page.text, page.source, page.engine) == (WORDS, Source.OCR, "seeing 1")
    assert page.figures["why"] == "scan"
    assert (page.figures["dpi"], page.note) == (200.0, "")


def test_without_an_engine_a_scan_is_empty_and_says_what_it_needs() -> None:
    page = _page(sheets(picture(WORDS)), Means())
    assert (page.text, page.source) == ("", Source.TEXT_LAYER)
    assert "ocr.engine" in page.note
    assert "scan" in page.note


@pytest.mark.parametrize("name", STAMPS)
def test_a_stamped_scan_is_recognised_and_keeps_its_stamp(name: str) -> None:
    page = _page(sheets(shown(printed(), STAMPS[name])), Means(ocr=reader(OcrSettings())))
    assert page.source is Source.OCR
    assert "The supplier delivers the goods to the address of the buyer" in page.text
    seen = page.text.replace(" ", "")
    assert all(line.replace(" ", "") in seen for line in STAMPS[name])


def test_a_scanned_appendix_of_a_digital_contract_is_recognised_and_nothing_else() -> None:
    pages = _pages(sheets(*[prose()] * 5, picture(WORDS), *[prose()] * 2))
    assert [page.source for page in pages] == [Source.TEXT_LAYER] * 5 + [Source.OCR] + [Source.TEXT_LAYER] * 2
    assert pages[5].text == WORDS
    assert all(page.figures["why"] == "text" for page in pages if page.number != 6)


def test_a_page_that_calls_itself_tagged_is_recognised_all_the_same() -> None:
    content = sheets(picture(WORDS)).replace(b"/Type /Catalog", b"/MarkInfo << /Marked true >> /Type /Catalog")
    assert _page(content).text == WORDS


def test_a_scan_that_was_recognised_before_keeps_that_text() -> None:
    page = _page(sheets(shown(printed(), layer=PROSE * 10)))
    assert page.source is Source.TEXT_LAYER
    assert PROSE[0] in page.text


def test_a_scan_that_was_recognised_badly_is_recognised_again_and_its_old_text_kept_to_compare() -> None:
    noise = ["il1|!.,;: ~_-^rtjf {}[]()*% $#@/\\ vVwWxX 0OQZ qzx jjkw" for _ in range(30)]
    page = _page(sheets(shown(printed(), layer=noise)), Means(ocr=_Says("A long and readable page. " * 60)))
    assert page.source is Source.OCR
    assert "il1|" not in page.text
    assert "il1|" in str(page.figures["text_layer"])


class _Says:
    """Reads the same on every page."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sizes: list[tuple[int, int]] = []
        self.dpi = 100.0

    def read(self, image: Image.Image) -> Recognised:
        """The text."""
        self.sizes.append(image.size)
        return Recognised(self.text, self.text, 0.9, 0, 0.0, "says 1", ())


def _ciphered(count: int = 40) -> bytes:
    def paint(page: canvas.Canvas) -> None:
        shift = {ord(sign): chr(ord(sign) + 3) for sign in "abcdefghijklmnopqrstuvwABCDEFGHIJKLMNOPQRSTUVW"}
        lines(page, [PROSE[row % 4].translate(shift) for row in range(count)], 780)

    return sheets(paint)


def test_a_text_layer_that_is_a_cipher_is_recognised() -> None:
    page = _page(_ciphered(), Means(ocr=_Says(" ".join(PROSE) * 8)))
    assert page.source is Source.OCR
    assert page.text.startswith(PROSE[0])
    assert str(page.figures["text_layer"]).startswith("Wkh vxssolhu")


def test_recognition_that_finds_less_than_the_broken_layer_has_does_not_replace_it() -> None:
    page = _page(_ciphered(), Means(ocr=_Says("a few words")))
    assert page.source is Source.TEXT_LAYER
    assert page.text.startswith("Wkh vxssolhu")
    assert "recognition found 9 characters" in page.note


def test_recognition_that_finds_nothing_leaves_the_stamp() -> None:
    page = _page(sheets(shown(printed(), ["ACME-0004711"])), Means(ocr=Blind()))
    assert page.text == "ACME-0004711"
    assert "found no text" in page.note


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_turned_page_is_rendered_as_its_reader_sees_it(turn: int) -> None:
    image = Image.new("L", (300, 600), 255)
    means = Means(ocr=_Says("anything that is long enough"))
    content = sheets(shown(image)).replace(b"/Rotate 0", b"/Rotate %d" % turn)
    assert f"/Rotate {turn}".encode() in content
    _page(content, means)
    assert isinstance(means.ocr, _Says)
    ((width, height),) = means.ocr.sizes
    assert (width > height) is (turn in (90, 270))


def test_a_page_as_large_as_a_house_is_rendered_within_the_limit_and_says_so() -> None:
    ocr = _Says("anything that is long enough")
    means = Means(limits=LimitSettings(max_page_megapixels=2), ocr=ocr)
    page = _page(sheets(shown(printed(), size=(14_400, 14_400)), size=(14_400, 14_400)), means)
    ((width, height),) = ocr.sizes
    assert width * height <= 2_000_000
    assert "limits.max_page_megapixels is 2" in page.note
    assert float(page.figures["dpi"]) < 10


def test_a_page_as_small_as_a_stamp_is_rendered_large_enough_to_read() -> None:
    ocr = _Says("anything that is long enough")
    _page(sheets(shown(printed(), size=(40, 57)), size=(40, 57)), Means(ocr=ocr))
    assert max(ocr.sizes[0]) >= 999


def test_the_reader_says_at_which_resolution_it_wants_its_pages() -> None:
    ocr = _Says("anything that is long enough")
    _page(sheets(picture(WORDS)), Means(ocr=ocr))
    assert ocr.sizes == [(int(A4[0] / 72 * 100), int(A4[1] / 72 * 100))]


def test_drawn_letters_are_recognised() -> None:
    def paint(page: canvas.Canvas) -> None:
        image = printed(30).resize((595, 842)).point(lambda value: 255 if value > 150 else 0)
        for row in range(image.height):
            path = page.beginPath()
            for column in range(image.width):
                if image.getpixel((column, row)) == 0:
                    path.rect(column, 842 - row, 1, 1)
            page.drawPath(path, stroke=0, fill=1)

    page = _page(sheets(paint, compress=True), Means(ocr=_Says("The supplier delivers")))
    assert (page.source, page.figures["why"]) == (Source.OCR, "drawn text")


def test_a_blank_page_is_not_recognised() -> None:
    page = _page(build([""]), Means(ocr=_Says("what an engine imagines")))
    assert (page.text, page.figures["why"]) == ("", "blank")


def test_a_page_whose_instructions_are_damaged_is_a_gap_and_not_blank() -> None:
    content = sheets(prose(), prose(), compress=True)
    start = content.index(b"stream\n") + len(b"stream\n")
    broken = content[:start] + b"\xff" * 60 + content[start + 60 :]
    broken = broken.replace(b"/ASCII85Decode ", b"", 1)
    with pdf.open(io.BytesIO(broken), SEEING) as document:
        with pytest.raises(UnreadablePage, match=r"damaged|pypdf"):
            document.read_page(1)
        assert PROSE[0] in document.read_page(2).text


def test_lines_that_recognition_found_are_not_said_twice() -> None:
    layer = "Scanned with PaperCatcher\nThe supplier delivers\nACME-0004711"
    recognised = "THE SUPPLIER  DELIVERS the goods\nscanned wlth Paper Catcher"
    assert missing_lines(layer, recognised) == ["Scanned with PaperCatcher", "ACME-0004711"]


def test_the_share_of_pages_to_recognise_is_known_before_reading() -> None:
    def counted(content: bytes) -> tuple[int, int]:
        inspection = pdf.inspect(io.BytesIO(content), Means())
        return inspection.page_count, inspection.ocr_page_count

    assert counted(sheets(prose(), picture(WORDS), prose(), picture(WORDS))) == (4, 2)
    assert counted(sheets(*[prose()] * 30)) == (30, 0)
    assert counted(sheets(*[picture("a")] * 30)) == (30, 30)
    mixed = counted(sheets(*[prose()] * 15, *[picture("a")] * 15))
    assert mixed[0] == 30
    assert 10 <= mixed[1] <= 20


@pytest.mark.parametrize("name", STAMPS)
def test_a_stamp_that_recognition_overlooks_is_kept_from_the_text_layer(name: str) -> None:
    page = _page(sheets(shown(printed(), STAMPS[name])), Means(ocr=_Says("What stands on the scan itself")))
    assert page.source is Source.OCR
    assert page.text.splitlines() == ["What stands on the scan itself", *STAMPS[name]]
    assert page.layout.splitlines()[1:] == STAMPS[name]
