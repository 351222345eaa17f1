"""The recipe of one document: open, read the pages that are left, choose a handler, extract. No queue, no SQL.

It runs inside the parser child and tells its parent of every step as it happens, so that the parent can store pages and
renew the lease, and knows the page if the child dies. Files inside the document are unpacked last, one at a time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any, BinaryIO

from pipeline import handling
from pipeline.carried import ITSELF, Copied, own_einvoice
from pipeline.documents.contract import Attachment, Format, Means, OpenDocument, Tree
from pipeline.documents.identify import identify
from pipeline.documents.text import Document, Page, Source
from pipeline.errors import DocumentError, UnreadablePage, UsageProblem
from pipeline.handling import Clause, Extraction, Field, Handler
from pipeline.kept import Kept
from pipeline.reading.memory.memory import Ask, with_memory
from pipeline.reading.places.placing import placed
from pipeline.reasons import Reason

MAX_PAGE_CHARACTERS = 4_000_000
ENVELOPES = frozenset(
    {
        "message/rfc822",
        "application/mbox",
        "application/vnd.ms-outlook",
        "application/zip",
        "application/pkcs7-mime",
    }
)


@dataclass(frozen=True, slots=True)
class Job:
    """What to read. `stored` are the pages that earlier attempts finished, from page 1 without a hole, as kept.py keeps
    them; the first `whole` of them are whole.

    `skip` maps pages that took a child down before to what happened; they become gaps without being touched.
    `handler` is a handler's name or auto.
    """

    file: BinaryIO
    name: str
    handler: str = handling.AUTO
    means: Means = field(default_factory=Means)
    stored: tuple[Page, ...] = ()
    whole: int = 0
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
    on_attachment: Callable[[Attachment], None],
    ask: Ask | None = None,
) -> Finished:
    """Read a document; calls `on_open` with its page count, then `on_page` for each page in order.

    Then calls `on_attachment` for each file inside, whose content must be read before the call returns. Asks of an
    invoice once what people corrected on documents of its issuer, if there is somebody to ask.

    Raises DocumentError for a document that cannot be read at all. A page that cannot be read is a gap, not an error.
    Pages to skip are not skipped when nothing else would be left: then the document itself is what fails.
    """
    kind, media_type = identify(job.file, job.name, formats)
    kept = Kept(job.stored, job.whole)
    with kind.open(job.file, job.means) as document:
        _check_pages(document.page_count, job.means.limits.max_pages)
        on_open(document.page_count)
        skip = job.skip if len(job.skip) < document.page_count else {}
        for number in range(len(kept) + 1, document.page_count + 1):
            page = _read(document, number, skip)
            on_page(page)
            kept.add(page)
        _check_readable(kept.pages)
        einvoice = Copied(own_einvoice(job.file, media_type))
        carries = _unpack(document, on_attachment, einvoice)
    # A type that was ordered for a mail or an archive is meant for what is in it.
    wanted = handling.AUTO if carries and media_type in ENVELOPES else job.handler
    whole = Document(job.name, media_type, kept.pages, einvoice.content, einvoice.others)
    return _finish(whole, handlers, wanted, ask)


def _unpack(document: OpenDocument, on_attachment: Callable[[Attachment], None], einvoice: Copied) -> bool:
    """Tell of every file inside; whether there was one that is a document of its own."""
    carries = False
    for attachment in document.attachments() if isinstance(document, Tree) else ():
        carries = carries or not attachment.left_out
        on_attachment(einvoice.watched(attachment) if attachment.rendition_of == ITSELF else attachment)
    return carries


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
    if max(len(page.text), len(page.layout)) <= MAX_PAGE_CHARACTERS:
        return page
    return replace(page, text=page.text[:MAX_PAGE_CHARACTERS], layout=page.layout[:MAX_PAGE_CHARACTERS])


def _check_readable(pages: Sequence[Page]) -> None:
    if all(page.source is Source.NONE for page in pages):
        raise DocumentError(
            Reason.CORRUPT, f"none of its {len(pages)} pages can be read; the first says: {pages[0].error}"
        )


def _finish(document: Document, handlers: Mapping[str, Handler], wanted: str, ask: Ask | None) -> Finished:
    gaps = [page.number for page in document.pages if page.source is Source.NONE]
    handler, scores = _choose(handlers, document, wanted)
    found, error = _extract(handler, document, ask)
    result: dict[str, Any] = {
        **found,
        "handler": handler.name,
        "scores": scores,
        "page_count": len(document.pages),
        "gaps": gaps,
    }
    if error:
        result["handler_error"] = error
    return Finished(_reason(document, gaps), result)


def _choose(handlers: Mapping[str, Handler], document: Document, wanted: str) -> tuple[Handler, dict[str, float]]:
    """The handler and the scores; one that fails to score does not want the document."""
    careful = {name: _Careful(handler) for name, handler in handlers.items()}
    try:
        chosen, scores = handling.choose(careful, document, wanted)
    except UsageProblem as error:
        # A worker of an older version; one that has the handler may come.
        raise DocumentError(Reason.INTERNAL_ERROR, str(error)) from error
    return handlers[chosen.name], scores


class _Careful:
    """A handler whose score never raises."""

    def __init__(self, handler: Handler) -> None:
        self.name = handler.name
        self.fields = handler.fields
        self.extract = handler.extract
        self._handler = handler

    def score(self, document: Document) -> float:
        """The handler's own score, 0 when it fails."""
        try:
            return self._handler.score(document)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - whatever a handler does wrong, another one can have the document
            return 0.0


def _extract(handler: Handler, document: Document, ask: Ask | None) -> tuple[dict[str, Any], str | None]:
    """What is found, as plain data; a handler that fails costs the document its fields, never its text."""
    try:
        found = handler.extract(document)
        if ask is not None:
            found = _or_as_it_is("memory", partial(with_memory, document, ask=ask), found)
        return _plain(_or_as_it_is("placing", partial(placed, pages=document.pages), found)), None
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a handler does wrong, the pages are delivered
        nothing = Extraction(document_type=handler.name, checks={"handler_finished": False})
        return _plain(nothing), f"{type(error).__name__}: {error}"


def _or_as_it_is(name: str, step: Callable[[Extraction], Extraction], found: Extraction) -> Extraction:
    """What memory or placing makes of an extraction; the same one with a failed check if it fails: no field is lost."""
    try:
        return step(found)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - as with a handler
        check = f"{name}_finished"
        told = {check: f"{type(error).__name__}: {error}"}
        return replace(found, checks={**found.checks, check: False}, messages={**found.messages, **told})


def _plain(extraction: Extraction) -> dict[str, Any]:
    """The extraction as it travels. Raises TypeError or ValueError for what cannot."""
    found = {
        "document_type": extraction.document_type,
        "fields": {name: list(map(_FIELD.plain, values)) for name, values in extraction.fields.items() if values},
        "checks": dict(extraction.checks),
        "messages": dict(extraction.messages),
        "groups": [
            {
                "name": each.name,
                "number": each.number,
                "fields": {name: _FIELD.plain(one) for name, one in each.fields.items()},
            }
            for each in extraction.groups
        ],
        "clauses": list(map(_CLAUSE.plain, extraction.clauses)),
    }
    json.dumps(found)
    return found


class _Shape:
    """A dataclass without others inside, as plain data: asdict() copies what cannot change, for ten times the price."""

    def __init__(self, kind: type[Field | Clause]) -> None:
        self._names = tuple(each.name for each in fields(kind))
        self._values = attrgetter(*self._names)

    def plain(self, value: Field | Clause) -> dict[str, Any]:
        """Its fields by name."""
        return dict(zip(self._names, self._values(value), strict=True))


_FIELD, _CLAUSE = _Shape(Field), _Shape(Clause)


def _reason(document: Document, gaps: Sequence[int]) -> Reason:
    if gaps:
        return Reason.OK_WITH_GAPS
    return Reason.OK if any(page.text.strip() for page in document.pages) else Reason.EMPTY_TEXT
