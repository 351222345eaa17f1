"""The recipe of one document: open, read the pages that are left, choose a handler, extract. No queue, no SQL.

It runs inside the parser child and tells its parent of every step as it happens, so that the parent can store pages and
renew the lease, and knows the page if the child dies.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pipeline import handling
from pipeline.documents.formats import Format, OpenDocument
from pipeline.documents.identify import identify
from pipeline.documents.text import Document, Page, Source
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.handling import Extraction, Handler
from pipeline.reasons import Reason

MAX_PAGE_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True)
class Job:
    """What to read. `stored` are the pages that earlier attempts finished, from page 1 without a hole.

    `skip` maps pages that took a child down before to what happened; they become gaps without being touched.
    `handler` is a handler's name or auto.
    """

    path: Path
    name: str
    handler: str = handling.AUTO
    max_pages: int = 20_000
    stored: tuple[Page, ...] = ()
    skip: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of it: the reason, and the result as it is stored (see docs/querying.md for its keys)."""

    reason: Reason
    result: Mapping[str, Any]


def process(
    job: Job,
    formats: Sequence[Format],
    handlers: Mapping[str, Handler],
    *,
    on_open: Callable[[int], None],
    on_page: Callable[[Page], None],
) -> Finished:
    """Read a document; calls `on_open` with its page count, then `on_page` for each page in order.

    Raises DocumentError for a document that cannot be read at all. A page that cannot be read is a gap, not an error.
    """
    kind, media_type = identify(job.path, job.name, formats)
    pages = list(job.stored)
    with kind.open(job.path) as document:
        _check_pages(document.page_count, job.max_pages)
        on_open(document.page_count)
        for number in range(len(pages) + 1, document.page_count + 1):
            page = _read(document, number, job.skip)
            on_page(page)
            pages.append(page)
    _check_readable(pages)
    return _finish(Document(job.name, media_type, tuple(pages)), handlers, job.handler)


def _check_pages(found: int, allowed: int) -> None:
    if found > allowed:
        raise DocumentError(
            Reason.TOO_MANY_PAGES,
            f"it has {found:,} pages, limits.max_pages allows {allowed:,}; raise the key, then retry",
        )


def _read(document: OpenDocument, number: int, skip: Mapping[int, str]) -> Page:
    if number in skip:
        return _gap(number, skip[number])
    started = time.monotonic()
    try:
        page = document.read_page(number)
    except UnreadablePage as error:
        page = _gap(number, str(error))
    return replace(_capped(page).storable(), number=number, seconds=time.monotonic() - started)


def _gap(number: int, error: str) -> Page:
    return Page(number=number, text="", source=Source.NONE, error=error or "the page cannot be read")


def _capped(page: Page) -> Page:
    return replace(page, text=page.text[:MAX_PAGE_CHARACTERS], layout=page.layout[:MAX_PAGE_CHARACTERS])


def _check_readable(pages: Sequence[Page]) -> None:
    if all(page.source is Source.NONE for page in pages):
        raise DocumentError(
            Reason.CORRUPT, f"none of its {len(pages)} pages can be read; the first says: {pages[0].error}"
        )


def _finish(document: Document, handlers: Mapping[str, Handler], wanted: str) -> Finished:
    gaps = [page.number for page in document.pages if page.source is Source.NONE]
    handler, scores = handling.choose(handlers, document, wanted)
    extraction, error = _extract(handler, document)
    result: dict[str, Any] = {
        "document_type": extraction.document_type,
        "handler": handler.name,
        "scores": scores,
        "fields": {name: [asdict(each) for each in found] for name, found in extraction.fields.items() if found},
        "checks": dict(extraction.checks),
        "page_count": len(document.pages),
        "gaps": gaps,
    }
    if error:
        result["handler_error"] = error
    return Finished(_reason(document, gaps), result)


def _extract(handler: Handler, document: Document) -> tuple[Extraction, str | None]:
    """The fields; a handler that fails costs the document its fields, never its text."""
    try:
        return handler.extract(document), None
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a handler does wrong, the pages are delivered
        checks = {"handler_finished": False}
        return Extraction(document_type=handler.name, checks=checks), f"{type(error).__name__}: {error}"


def _reason(document: Document, gaps: Sequence[int]) -> Reason:
    if gaps:
        return Reason.OK_WITH_GAPS
    return Reason.OK if any(page.text.strip() for page in document.pages) else Reason.EMPTY_TEXT
