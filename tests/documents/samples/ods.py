"""An OpenDocument spreadsheet: a sheet a page, a row a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.documents.samples.odt import document


def cell(text: str, attributes: str = "") -> str:
    """A cell that shows this text."""
    return f"<table:table-cell {attributes}><text:p>{escape(text)}</text:p></table:table-cell>"


def row(cells: str, attributes: str = "") -> str:
    """A row of cells."""
    return f"<table:table-row {attributes}>{cells}</table:table-row>"


def spreadsheet(sheets: Mapping[str, str], styles: str = "", names: Mapping[str, str] | None = None) -> bytes:
    """A package of sheets by name, each its rows; `names` maps a sheet to its style."""
    tables = "".join(
        f'<table:table table:name="{name}" table:style-name="{(names or {}).get(name, "")}">{rows}</table:table>'
        for name, rows in sheets.items()
    )
    return document("spreadsheet", tables, styles=styles)


def build(pages: Sequence[str]) -> bytes:
    """A spreadsheet with these texts, each on its sheet."""
    return spreadsheet(
        {
            f"Sheet {number}": "".join(row(cell(line)) for line in page.split("\n"))
            for number, page in enumerate(pages, start=1)
        }
    )
