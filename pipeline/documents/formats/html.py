"""HTML and XHTML: what a reader of the page sees. Nothing that it refers to is fetched, no script runs.

A page that arrives under the name of a PDF, or of nothing, with little to read on it, is what a server said instead of
the document; it is refused, so that somebody fetches the document.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.documents.bounded import read_text
from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.markup import html_text
from pipeline.documents.markup.kinds import HTML, is_html_document, markup_of
from pipeline.documents.paging import check_number
from pipeline.documents.parsing import read_edges
from pipeline.documents.text import Page, Source
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_ENGINE = "html 1"


class HtmlFormat:
    """Web pages that are documents."""

    name = "html"
    media_types: tuple[str, ...] = ("text/html",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its tags; the name tells whether it is what the sender meant."""
        return self.media_types[0] if markup_of(head, tail) == HTML and is_html_document(head, tail, name) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the whole file. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading, in memory. Raises DocumentError: empty_file, unsupported, too_large, io_error."""
        head, tail = read_edges(file)
        if markup_of(head, tail) != HTML:
            raise DocumentError(Reason.UNSUPPORTED, "it does not begin as a web page does")
        yield _OpenHtml(html_text.read(read_text(file, "HTML", means.limits)))


@dataclass(frozen=True, slots=True)
class _OpenHtml:
    text: html_text.HtmlText

    @property
    def page_count(self) -> int:
        return len(self.text.pages)

    def read_page(self, number: int) -> Page:
        """Page `number`. Raises UnreadablePage when there is no such page."""
        started = time.perf_counter()
        check_number(number, self.page_count)
        text, layout = self.text.pages[number - 1]
        figures = {"encoding": self.text.encoding}
        seconds = time.perf_counter() - started
        return Page(number, text, layout, Source.NATIVE, _ENGINE, seconds=seconds, figures=figures).storable()


format: Format = HtmlFormat()  # noqa: A001 - the name by which formats are found
