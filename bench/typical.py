"""Documents as the product finds them, so that what their results cost to write is what it costs with real ones."""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass

from bench.paper import contract
from pipeline import handling
from pipeline.database import resource
from pipeline.documents import formats
from pipeline.documents.text import Page
from pipeline.found import Found, checked
from pipeline.work import Job, process

SAMPLE = "rechnung-software.pdf"


@dataclass(frozen=True, slots=True)
class Typical:
    """What reading a document gave."""

    pages: tuple[Page, ...]
    found: Found


@functools.cache
def an_invoice() -> Typical:
    """One page, a dozen fields, a handful of lines."""
    return _read(SAMPLE, (resource("sample_docs") / SAMPLE).read_bytes())


@functools.cache
def a_contract(pages: int = 30) -> Typical:
    """So many pages of prose, with its clauses."""
    return _read("contract.pdf", contract(pages, 1))


def _read(name: str, content: bytes) -> Typical:
    pages: list[Page] = []
    finished = process(
        Job(io.BytesIO(content), name),
        formats.discover(),
        handling.discover(),
        on_open=lambda _: None,
        on_page=lambda page: pages.append(page.storable()),
        on_attachment=lambda _: None,
    )
    return Typical(tuple(pages), checked(finished.result))
