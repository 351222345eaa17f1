"""Any document: its title and its language. The fallback when no other type fits."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.documents.text import Document, Page
from pipeline.handling import Extraction, Field, Handler
from pipeline.reading.headings import find_subject, find_title
from pipeline.reading.language import guess
from pipeline.reading.rows import squeeze

FALLBACK = 0.1  # below every real match, above nothing


class GeneralHandler:
    """Reads what every document has, and is chosen when no other handler scores more."""

    name = "general"
    fields: tuple[str, ...] = ("title", "language")

    def score(self, document: Document) -> float:
        """The same for every document."""
        return FALLBACK

    def extract(self, document: Document) -> Extraction:
        """The subject or first heading and the language of the document; neither for a document without words."""
        found = {field_name: (field,) for field_name, field in _fields(document)}
        return Extraction(self.name, found)


def _fields(document: Document) -> Iterator[tuple[str, Field]]:
    title = find_subject(document) or find_title(document)
    if title:
        yield "title", Field(title.value, title.page, squeeze(title.value), "pattern", title.confidence)
    page = next((page for page in document.pages if page.text.strip()), None)
    if page:
        yield from _language(document, page)


def _language(document: Document, page: Page) -> Iterator[tuple[str, Field]]:
    found = guess(document.text[:20_000])
    if found:
        yield "language", Field(found[0], page.number, squeeze(page.text), "derived", found[1])


handler: Handler = GeneralHandler()
