"""An Excel workbook: a sheet a page, a row a line, its texts shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.documents.packing import packed
from tests.documents.samples.docx import TYPES, R, relations

S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def part(root: str, content: str, attributes: str = "") -> str:
    """A part of SpreadsheetML around this content."""
    return f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{S}" xmlns:r="{R}"{attributes}>{content}</{root}>'


def workbook(
    sheets: Mapping[str, str],
    *,
    shared: Sequence[str] = (),
    styles: str = "",
    states: Mapping[str, str] | None = None,
    properties: str = "",
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A package of sheets by name, each the content of its sheetData; `parts` are further parts with full names."""
    listed, written = "", dict[str, str | bytes]()
    targets = {"rs": ("sharedStrings", "sharedStrings.xml"), "rt": ("styles", "styles.xml")}
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        state = (states or {}).get(name, "visible")
        listed += f'<sheet name="{escape(name)}" sheetId="{number}" state="{state}" r:id="r{number}"/>'
        targets[f"r{number}"] = ("worksheet", f"/xl/worksheets/sheet{number}.xml")
        written[f"xl/worksheets/sheet{number}.xml"] = part("worksheet", f"<sheetData>{rows}</sheetData>")
    texts = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
    return packed(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": relations({"r1": ("officeDocument", "xl/workbook.xml")}),
            "xl/workbook.xml": part("workbook", f"{properties}<sheets>{listed}</sheets>"),
            "xl/_rels/workbook.xml.rels": relations(targets),
            "xl/sharedStrings.xml": part("sst", texts),
            "xl/styles.xml": part("styleSheet", styles),
            **written,
        }
        | dict(parts or {})
    )


def build(pages: Sequence[str]) -> bytes:
    """A workbook with these texts, each on its sheet."""
    lines = [line for page in pages for line in page.split("\n")]
    sheets, at = {}, 0
    for number, page in enumerate(pages, start=1):
        count = len(page.split("\n"))
        sheets[f"Sheet {number}"] = "".join(
            f'<row r="{row + 1}"><c r="A{row + 1}" t="s"><v>{at + row}</v></c></row>' for row in range(count)
        )
        at += count
    return workbook(sheets, shared=lines)
