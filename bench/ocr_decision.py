"""How often the decision on recognition is right: python -m bench.ocr_decision CORPUS [--each N] [--wrong]

CORPUS is a folder of PDFs with a MANIFEST.csv (columns path and kind). A kind that says born-digital or e-invoice is a
page with a text layer, one that says scan or image-only a page without; of the latter only pages without a text object
count, as some files hold both. From the born-digital pages further ones are made on the spot: printed and scanned, with
stamps, with good and bad recognition layers, with broken font maps, drawn, on letterheads. Prints right and wrong by
kind, and the processor time of a look besides reading the text.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import re
import string
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image, ImageDraw, ImageFilter
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject
from pypdfium2 import raw
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from pipeline.documents.pdf.look import look
from pipeline.documents.pdf.page_need import Need, need

A4 = (595, 842)
PRINT_DPI = 120
CHANCE = random.Random(8)  # noqa: S311 - the same pages each time
STAMPS = {
    "bates": ["ACME-0004711   CONFIDENTIAL - SUBJECT TO PROTECTIVE ORDER"],
    "stamped": ["Scanned with PaperCatcher", "Page 1 of 3   2026-03-01 12:00"],
    "filed": [
        "Case 1:26-cv-00417-ABC   Document 87-3   Filed 03/14/26   Page 12 of 240   PageID 4711",
        "This document was filed with the clerk of the court and served on all parties of record by the",
        "filing system. The paper original is kept by the counsel of the plaintiff and can be seen on request.",
    ],
    "signed": ["Digitally signed by Mara Quist", "Date: 2026.03.14 10:11:12 +01:00", "Reason: I approve this document"],
}


def main() -> None:
    """Look at every page and print what was decided."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("corpus", type=Path)
    arguments.add_argument("--each", type=int, default=30, help="pages of each made kind")
    arguments.add_argument("--wrong", action="store_true", help="list the pages that were decided wrongly")
    chosen = arguments.parse_args()
    tally = Tally()
    digital: list[bytes] = []
    for path, kind in labelled(chosen.corpus):
        for number, content in enumerate(pages(path.read_bytes()), 1):
            tally.corpus(f"{path.name} page {number}", kind, content)
            if kind == "digital" and number <= 3:
                digital.append(content)
    CHANCE.shuffle(digital)
    for name, (wanted, make) in MADE.items():
        for number, content in enumerate(made(make, digital, chosen.each)):
            tally.add(f"made {name} {number}", name, wanted, content)
    tally.report(list_wrong=chosen.wrong)


class Tally:
    """Right and wrong by kind of page."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, bool], Counter[bool]] = defaultdict(Counter)
        self.wrong: list[str] = []
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def corpus(self, name: str, kind: str, content: bytes) -> None:
        """Add a page of the corpus, unless its label does not fit."""
        if kind == "scan" and has_text(content):
            return
        self.add(name, kind, kind == "scan", content)

    def add(self, name: str, kind: str, wanted: bool, content: bytes) -> None:
        """Decide on the first page of a PDF, and note whether that is right."""
        decision, seconds, figures = decide(content)
        self.found[kind, wanted][decision.ocr] += 1
        self.seconds[kind].append(seconds)
        if decision.ocr != wanted:
            self.wrong.append(f"{name}: {'needless' if decision.ocr else 'missed'} ({decision.why}) {figures}")

    def report(self, *, list_wrong: bool) -> None:
        """Print the table."""
        print(f"{'kind of page':24}{'needs it':>9}{'recognised':>12}{'left':>8}{'ms a page':>11}")
        for (kind, wanted), counts in self.found.items():
            times = self.seconds[kind]
            print(
                f"{kind:24}{'yes' if wanted else 'no':>9}{counts[True]:12}{counts[False]:8}"
                f"{1000 * sum(times) / len(times):11.2f}"
            )
        for wanted, word in ((False, "needless"), (True, "missed")):
            every = [counts for (_, need_it), counts in self.found.items() if need_it is wanted]
            bad, total = sum(each[not wanted] for each in every), sum(sum(each.values()) for each in every)
            print(f"{word}: {bad} of {total} ({100 * bad / max(total, 1):.2f} %)")
        print("\n".join(self.wrong) if list_wrong else "")


def labelled(corpus: Path) -> Iterator[tuple[Path, str]]:
    """The PDFs whose kind says what their pages are."""
    with (corpus / "MANIFEST.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            path, kind = corpus / row["path"], row["kind"]
            if path.suffix.lower() == ".pdf" and path.exists():
                if "born-digital" in kind or "e-invoice" in kind:
                    yield path, "digital"
                elif "scan" in kind or "image-only" in kind:
                    yield path, "scan"


def pages(content: bytes) -> Iterator[bytes]:
    """Each page as a document of its own."""
    with closing(pypdfium2.PdfDocument(content)) as document:
        for index in range(len(document)):
            with closing(pypdfium2.PdfDocument.new()) as single:
                single.import_pages(document, [index])
                file = io.BytesIO()
                single.save(file)
            yield file.getvalue()


def decide(content: bytes) -> tuple[Need, float, Any]:
    """The decision on the first page, and the processor seconds it took after the text was read."""
    with (
        closing(pypdfium2.PdfDocument(content)) as document,
        closing(document[0]) as page,
        closing(page.get_textpage()) as text_page,
    ):
        text = text_page.get_text_range()
        started = time.process_time()
        figures = look(page, text_page, text)
        return need(figures), time.process_time() - started, dict(figures.told())


def has_text(content: bytes) -> bool:
    """Whether there is a text object on the page itself."""
    with closing(pypdfium2.PdfDocument(content)) as document, closing(document[0]) as page:
        return any(item.type == raw.FPDF_PAGEOBJ_TEXT for item in page.get_objects(max_depth=4))


def text_of(content: bytes) -> str:
    """The text layer of the first page."""
    with closing(pypdfium2.PdfDocument(content)) as document:
        return str(document[0].get_textpage().get_text_range()).replace("\ufffe", "-")


def picture_of(content: bytes) -> Image.Image:
    """The first page as a grey picture, as a scanner saw it: turned a little, soft, noisy."""
    with closing(pypdfium2.PdfDocument(content)) as document:
        image = document[0].render(scale=PRINT_DPI / 72, grayscale=True).to_pil()
    image = image.rotate(CHANCE.uniform(-1.5, 1.5), fillcolor=255).filter(ImageFilter.GaussianBlur(0.6))
    noise = Image.effect_noise(image.size, 40)
    return Image.blend(image, noise, 0.08)


def made(make: Callable[[bytes], bytes | None], digital: list[bytes], wanted: int) -> Iterator[bytes]:
    """Up to `wanted` pages made of digital ones that have text enough."""
    for content in digital:
        if wanted and len(text_of(content)) > 400 and (page := make(content)) is not None:
            wanted -= 1
            yield page


def sheet(paint: Callable[[canvas.Canvas], None], size: tuple[float, float] = A4) -> bytes:
    """A page that `paint` fills."""
    file = io.BytesIO()
    page = canvas.Canvas(file, pagesize=size)
    paint(page)
    page.save()
    return file.getvalue()


def scan(content: bytes, lines: list[str] | None = None, layer: str = "", margin: float = 0) -> bytes:
    """The page printed and scanned, with lines of visible text at its foot and an invisible layer."""

    def paint(page: canvas.Canvas) -> None:
        file = io.BytesIO()
        picture_of(content).save(file, "JPEG", quality=60)
        page.drawImage(ImageReader(file), margin, margin, A4[0] - 2 * margin, A4[1] - 2 * margin)
        page.setFont("Helvetica", 8)
        for row, line in enumerate(reversed(lines or [])):
            page.drawString(40, 14 + 10 * row, line)
        if layer:
            write(page, layer, mode=3)

    return sheet(paint)


def write(page: canvas.Canvas, text: str, mode: int = 0) -> None:
    """Lines of text down the page."""
    block = page.beginText(40, 800)
    block.setFont("Helvetica", 8)
    block.setTextRenderMode(mode)
    for line in text.splitlines()[:85]:
        block.textLine(line.encode("cp1252", "replace").decode("cp1252")[:120])
    page.drawText(block)


def drawn(content: bytes) -> bytes:
    """The page as nothing but filled paths, as programs write it that turn letters into outlines."""
    with closing(pypdfium2.PdfDocument(content)) as document:
        image = document[0].render(scale=1.4, grayscale=True).to_pil()
    scale = A4[0] / image.width

    def paint(page: canvas.Canvas) -> None:
        for row in range(image.height):
            path = page.beginPath()
            dark = image.crop((0, row, image.width, row + 1)).point(lambda value: 49 if value < 128 else 48).tobytes()
            for run in re.finditer(b"1+", dark):
                path.rect(run.start() * scale, A4[1] - row * scale, (run.end() - run.start()) * scale, scale)
            page.drawPath(path, stroke=0, fill=1)

    return sheet(paint)


def remapped(content: bytes, change: Callable[[int], int] | None) -> bytes | None:
    """The page with other characters in its fonts' maps, or none at all; None when its fonts have no maps."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(content)))
    every: list[Any] = list(writer._objects)
    fonts = [each for each in every if isinstance(each, DictionaryObject) and "/ToUnicode" in each]
    for font in fonts:
        if change is None:
            del font[NameObject("/ToUnicode")]
            continue
        mapping: Any = font["/ToUnicode"].get_object()
        old = mapping.get_data().decode("latin-1")
        stream = StreamObject()
        stream.set_data("\n".join(_remapped(line, change) for line in re.split(r"[\r\n]+", old)).encode("latin-1"))
        font[NameObject("/ToUnicode")] = writer._add_object(stream)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue() if fonts and mostly_differ(text_of(content), text_of(file.getvalue())) else None


def _remapped(line: str, change: Callable[[int], int]) -> str:
    """A line of a map with its last codes changed, or all in brackets: those before say which glyphs are meant."""
    targets = r"<[0-9A-Fa-f]{4}>(?=[^\[]*\])|<[0-9A-Fa-f]{4}>(?=\s*$)"
    return re.sub(targets, lambda match: f"<{change(int(match[0][1:-1], 16)) % 0x10000:04X}>", line)


def mostly_differ(one: str, other: str) -> bool:
    """Whether hardly a word of a text is in the other."""
    words = one.split()
    return sum(word in set(other.split()) for word in words) < 0.2 * len(words)


def ciphered(content: bytes, change: Callable[[str], str]) -> bytes:
    """The page's text with other letters, as a reader with a wrong map sees it."""
    return sheet(lambda page: write(page, "".join(map(change, text_of(content)))))


def letterhead(content: bytes, characters: int) -> bytes:
    """Real text of some length on a picture that fills the page: a paper's tint, a border, a logo."""
    picture = Image.effect_noise((620, 877), 10).point(lambda value: 225 + value // 12)
    pen = ImageDraw.Draw(picture)
    pen.ellipse((40, 30, 160, 110), fill=90)
    pen.rectangle((20, 840, 600, 846), fill=120)

    def paint(page: canvas.Canvas) -> None:
        page.drawInlineImage(picture, 0, 0, *A4)
        write(page, "\n\n\n\n\n\n\n\n\n" + text_of(content)[:characters])

    return sheet(paint)


def illustrated(content: bytes) -> bytes:
    """A photograph over most of the page with a caption below."""
    photo = Image.effect_noise((300, 400), 90).filter(ImageFilter.GaussianBlur(6)).resize((900, 1200))

    def paint(page: canvas.Canvas) -> None:
        page.drawInlineImage(photo, 40, 120, 515, 680)
        page.drawString(40, 90, " ".join(text_of(content).split())[:70])

    return sheet(paint)


def garbage() -> str:
    """What recognition makes of noise."""
    signs = "il1|!.,;:~_-^rtjf{}[]()*%$#@/\\vVwWxX0O   "
    return "\n".join("".join(CHANCE.choices(signs, k=70)) for _ in range(40))


def permuted(sign: str) -> str:
    """Another letter for each, always the same."""
    place = string.ascii_lowercase.find(sign.lower())
    if place < 0:
        return sign
    other = "qmzlaxkwpsvobdnyrjgehtfuci"[place]
    return other.upper() if sign.isupper() else other


MADE: dict[str, tuple[bool, Callable[[bytes], bytes | None]]] = {
    "scanned": (True, scan),
    "scanned, with margins": (True, lambda content: scan(content, margin=60)),
    **{f"scanned, {name}": (True, partial(scan, lines=lines)) for name, lines in STAMPS.items()},
    "good layer": (False, lambda content: scan(content, layer=text_of(content))),
    "bad layer": (True, lambda content: scan(content, layer=garbage())),
    "map shifted by 3": (True, lambda content: remapped(content, lambda code: code + 3 if code > 32 else code)),
    "map into private use": (True, lambda content: remapped(content, lambda code: 0xE000 + code % 256)),
    "map without meaning": (True, lambda content: remapped(content, lambda code: 0xFFFD)),
    "letters shifted": (True, lambda content: ciphered(content, lambda s: chr(ord(s) + 3) if s.isalpha() else s)),
    "letters permuted": (True, lambda content: ciphered(content, permuted)),
    "glyph numbers": (True, lambda content: ciphered(content, lambda s: chr(max(ord(s) - 29, 33)) if s > " " else s)),
    "drawn": (True, drawn),
    "letterhead": (False, lambda content: letterhead(content, 4000)),
    "letterhead, short": (False, lambda content: letterhead(content, 220)),
    "photograph, caption": (False, illustrated),
    "blank": (False, lambda content: sheet(lambda page: page.showPage())),
}


if __name__ == "__main__":
    main()
