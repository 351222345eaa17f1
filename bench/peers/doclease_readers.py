"""doclease as a reader, without queue and database: `python -m bench.peers.doclease_readers text|recipe|image`

`text` opens a document and reads its pages: text, layout, and where each word stands. `recipe` is all that a worker
does with it: the type, the fields with their places, the checks. `image` recognises one image.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from bench.peers.reading import Found, Reader, serve
from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import formats, ocr
from pipeline.documents.contract import Means
from pipeline.documents.identify import identify
from pipeline.documents.text import Page
from pipeline.work import Job, process


def text() -> Reader:
    """Pages only."""
    kinds, means = formats.discover(), _means()

    def read(path: str) -> Found:
        with Path(path).open("rb") as file:
            kind, _ = identify(file, path, kinds)
            with kind.open(file, means) as document:
                pages = [document.read_page(number) for number in range(1, document.page_count + 1)]
        return Found("\n".join(page.text for page in pages))

    return read


def recipe() -> Reader:
    """From the file to the result as it is stored."""
    kinds, handlers, means = formats.discover(), handling.discover(), _means()

    def read(path: str) -> Found:
        pages: list[Page] = []
        with Path(path).open("rb") as file:
            job = Job(file, Path(path).name, means=means)
            result = process(
                job, kinds, handlers, on_open=_nothing, on_page=pages.append, on_attachment=_nothing
            ).result
        values = sum(map(len, result["fields"].values())) + sum(len(each["fields"]) for each in result["groups"])
        return Found("\n".join(page.text for page in pages), values)

    return read


def image() -> Reader:
    """Recognition by the engine that comes with doclease, as it is set."""
    reader = ocr.reader(OcrSettings())
    assert reader is not None, "recognition is on by default"

    def read(path: str) -> Found:
        with Image.open(path) as picture:
            return Found(reader.read(picture).text)

    return read


READERS: dict[str, Callable[[], Reader]] = {each.__name__: each for each in (text, recipe, image)}


def _means() -> Means:
    return Means(ocr=ocr.reader(OcrSettings()))


def _nothing(_: object) -> None:
    pass


if __name__ == "__main__":
    serve(READERS[sys.argv[1]]())
