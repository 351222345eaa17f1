"""Documents built in memory, read as a worker reads them: identified, opened, every page."""

from __future__ import annotations

import io

import pytest

from pipeline.config import LimitSettings
from pipeline.documents import formats
from pipeline.documents.contract import Means, Tree
from pipeline.documents.identify import identify
from pipeline.documents.text import Page
from pipeline.errors import DocumentError


def pages(content: bytes, name: str = "document", means: Means | None = None) -> list[Page]:
    """Every page of the document. Raises DocumentError."""
    file = io.BytesIO(content)
    kind, _ = identify(file, name, formats.discover())
    with kind.open(file, means or Means()) as document:
        return [document.read_page(number) for number in range(1, document.page_count + 1)]


def texts(content: bytes, name: str = "document", means: Means | None = None) -> list[str]:
    """The text of every page."""
    return [page.text for page in pages(content, name, means)]


def text(content: bytes) -> str:
    """The text of a document that has one page."""
    (page,) = texts(content)
    return page


def layout(content: bytes) -> list[str]:
    """The lines of the only page, as they look."""
    (page,) = pages(content)
    return page.layout.split("\n")


def refusal(content: bytes, name: str = "document", means: Means | None = None) -> tuple[str, str]:
    """Reason and sentence with which the document is refused."""
    with pytest.raises(DocumentError) as caught:
        pages(content, name, means)
    return caught.value.reason, str(caught.value)


def files(content: bytes) -> list[tuple[str, str, bytes | None]]:
    """Name, why it is left out, and bytes of each file inside."""
    file = io.BytesIO(content)
    kind, _ = identify(file, "document", formats.discover())
    with kind.open(file, Means()) as document:
        assert isinstance(document, Tree)
        return [
            (each.name, each.left_out, None if each.content is None else b"".join(each.content))
            for each in document.attachments()
        ]


def small(megabytes: float = 1, max_pages: int = 20_000) -> Means:
    """Means with tight limits."""
    return Means(LimitSettings(max_inflated_megabytes=megabytes, max_pages=max_pages))
