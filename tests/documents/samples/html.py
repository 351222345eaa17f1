"""A web page that is long enough for each text to begin a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pipeline.documents.paging import PAGE_LINES


def build(pages: Sequence[str]) -> bytes:
    """A page of paragraphs for each text."""
    filler = "<p>of this invoice, line after line</p>\n" * (PAGE_LINES - 1)
    body = "".join(f"<p>{escape(text)}</p>\n{filler}" for text in pages)
    return f"<!DOCTYPE html>\n<html><head><meta charset='utf-8'></head><body>\n{body}</body></html>\n".encode()
