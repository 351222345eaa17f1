"""An export of records in XML, with enough lines that each text begins a page."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from pipeline.documents.paging import PAGE_LINES


def build(pages: Sequence[str]) -> bytes:
    """As many records as make a page for each text; the root takes a line of the first one."""
    records = [
        f"<row>{escape(text)}</row>\n" + "<row>x</row>\n" * (PAGE_LINES - (1 if number else 2))
        for number, text in enumerate(pages)
    ]
    return ("<?xml version='1.0' encoding='UTF-8'?>\n<rows>" + "".join(records) + "</rows>\n").encode()
