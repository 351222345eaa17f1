"""A document as the rules for invoices ask it: its rows with their labels, and the habits found in them."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.documents.text import Document
from pipeline.handling import Field
from pipeline.reading import amounts, dates
from pipeline.reading.rows import Row, rows, squeeze


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of all pages. `day_first` and `comma` are how the whole document writes dates and decimals."""

    rows: tuple[Row, ...]
    day_first: bool
    comma: bool


def sheet(document: Document) -> Sheet:
    """The document's rows, and what its own figures vote for."""
    printed = rows(document)
    texts = [row.text for row in printed]
    return Sheet(printed, dates.day_first(texts), amounts.decimal_comma(texts))


def field(value: str, row: Row, method: str, confidence: float) -> Field:
    """A field that stands in a row."""
    return Field(value, row.page, squeeze(row.text), method, round(confidence, 2))
