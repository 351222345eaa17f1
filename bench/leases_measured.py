"""What documents take, for bench/leases.py: read once through the recipe of a worker's child, and timed page by page.

Seconds are of the processor: what a page takes on a core that nobody else uses. Measured are 2-page invoices
(bench/paper.py), the 200-page contract of sample_docs and pages as they come out of an office scanner
(bench/ocr_pages.py), some of them read a second time by the larger model, as poor pages are. Timed are the opening,
each page, and what follows the pages: choosing a handler, extracting, placing.
"""

from __future__ import annotations

import io
import itertools
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from bench.ocr_pages import DPI, pages, scanned
from bench.paper import invoice
from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import formats, ocr
from pipeline.documents.contract import Format, Means
from pipeline.documents.text import Page
from pipeline.handling import Handler
from pipeline.work import Job, process

CONTRACT = Path(__file__).parents[1] / "sample_docs" / "contract-200-pages.pdf"
INVOICES = 5


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds that a document took."""

    opening: float
    pages: tuple[float, ...]
    ending: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was timed. `poor` are pages that needed the second look."""

    invoices: Sequence[Timed]
    contract: Timed
    scan: Timed
    poor: Timed


def measured(*, scans: int) -> Measured:
    """Read the documents, among them three times so many scanned pages; a third of them is read as poor ones, too."""
    clean, poor = Reading(OcrSettings()), Reading(OcrSettings(second_look_below=1))
    drawn = [scanned(image, random.Random(name)) for name, image, _ in pages(scans)]  # noqa: S311 - a measurement
    clean.read("first.pdf", invoice(0))
    return Measured(
        [clean.read("invoice.pdf", invoice(number)) for number in range(1, INVOICES + 1)],
        clean.read("contract.pdf", CONTRACT.read_bytes()),
        clean.read("scan.pdf", _bound(drawn)),
        poor.read("scan.pdf", _bound(drawn[::3])),
    )


class Reading:
    """A child's formats, handlers and means."""

    def __init__(self, recognition: OcrSettings) -> None:
        self._formats: Sequence[Format] = formats.discover()
        self._handlers: Mapping[str, Handler] = handling.discover()
        self._means = Means(ocr=ocr.reader(recognition))

    def read(self, name: str, content: bytes) -> Timed:
        """Read a document to its end."""
        marks = [time.process_time()]

        def mark(_: int | Page) -> None:
            marks.append(time.process_time())

        job = Job(io.BytesIO(content), name, means=self._means)
        process(job, self._formats, self._handlers, on_open=mark, on_page=mark, on_attachment=lambda _: None)
        marks.append(time.process_time())
        opening, *read, ending = (after - before for before, after in itertools.pairwise(marks))
        return Timed(opening, tuple(read), ending)


def _bound(images: Sequence[Image.Image]) -> bytes:
    buffer = io.BytesIO()
    images[0].save(buffer, "PDF", resolution=DPI, save_all=True, append_images=images[1:])
    return buffer.getvalue()
