"""The maintenance agreement as a Word document: a header, numbered headings, a table of fees, a schedule."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

PAGES = 2
TITLE = "MAINTENANCE AGREEMENT"
REFERENCE = "MA-2026-031"
CUSTOMER, ENGINEER = "Marram Court Management Limited", "Fernhollow Lifts Limited"
EFFECTIVE_DATE, TERM, NOTICE, LAW = "1 June 2026", "three (3) years", "sixty (60) days", "Scotland"

_HEADER = f"{REFERENCE} - confidential"
_WORDS = f"""
This Agreement is made between {CUSTOMER}, Marram Court, 9 Saltgrass Road, Kinlarach KL4 2ZZ (the
Customer), and {ENGINEER}, Unit 3, Pulley Works, Kinlarach KL1 8ZZ (the Engineer), and takes effect on
{EFFECTIVE_DATE} (the Effective Date).

# Services

The Engineer keeps the two passenger lifts of Marram Court in good order: it visits them every month, adjusts, cleans
and lubricates them, replaces worn parts from the list in the Schedule, and leaves a written report.

# Breakdowns

The Engineer answers calls at any hour. It attends within one hour when somebody is shut in, and within four hours
otherwise.

# Fees

The Customer pays the fees below each quarter in advance, within 30 days of the invoice.

|

# Term and termination

This Agreement remains in force for a term of {TERM} from the Effective Date. Either party may terminate it by giving
not less than {NOTICE} written notice to the other.

# Liability

Nothing in this Agreement limits liability for death or injury. For anything else the Engineer is liable up to the fees
of one year.

# Governing law

This Agreement is governed by the laws of {LAW}, whose courts have exclusive jurisdiction.

Signed for the parties:
"""
_FEES = (("Lift", "Visits a year", "Fee a quarter"), ("North stair", "12", "£465.00"), ("South stair", "12", "£465.00"))
_SCHEDULE = (
    "Suspension ropes and their terminations",
    "Door rollers, door closers and safety edges",
    "Brake linings, buffers and guide shoes",
    "Lamps, push buttons and the battery of the alarm",
)
_SIGNATURES = ((CUSTOMER, ENGINEER), ("Isla Carrowmore, Director", "Fergus Pellwright, Director"))

_SPACE = "http://schemas.openxmlformats.org"
_WORD = f'xmlns:w="{_SPACE}/wordprocessingml/2006/main"'
_DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_PARTS = {"document": "document.main", "styles": "styles", "numbering": "numbering", "header1": "header"}
_STYLES = (
    ("Normal", "Normal", '<w:pPr><w:spacing w:after="120"/></w:pPr><w:rPr><w:sz w:val="22"/></w:rPr>'),
    ("Title", "Title", '<w:pPr><w:jc w:val="center"/></w:pPr><w:rPr><w:b/><w:sz w:val="34"/></w:rPr>'),
    ("Heading1", "heading 1", '<w:pPr><w:keepNext/><w:spacing w:before="240"/></w:pPr><w:rPr><w:b/></w:rPr>'),
)
_PLACE = (
    '<w:sectPr><w:headerReference w:type="default" r:id="r3"/><w:pgSz w:w="11906" w:h="16838"/>'
    '<w:pgMar w:top="1440" w:right="1300" w:bottom="1440" w:left="1300" w:header="700" w:footer="700" w:gutter="0"/>'
    "</w:sectPr>"
)


def write(path: Path) -> None:
    """Write the agreement to `path`; no part of the package has a date of its own."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in _package().items():
            part = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            part.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(part, _DECLARED + content)


def _package() -> dict[str, str]:
    kinds = {f"r{place}": (name.rstrip("1"), f"{name}.xml") for place, name in enumerate(list(_PARTS)[1:], 1)}
    return {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relations({"r1": ("officeDocument", "word/document.xml")}),
        "word/document.xml": _document(),
        "word/_rels/document.xml.rels": _relations(kinds),
        "word/styles.xml": _styles(),
        "word/numbering.xml": _numbering(),
        "word/header1.xml": f"<w:hdr {_WORD}>{_paragraph(_HEADER)}</w:hdr>",
    }


def _document() -> str:
    blocks = [_paragraph(TITLE, "Title"), _paragraph(f"Agreement No. {REFERENCE}")]
    blocks += [_block(" ".join(words.split())) for words in _WORDS.split("\n\n")]
    blocks += [_table(_SIGNATURES), '<w:p><w:r><w:br w:type="page"/></w:r></w:p>']
    blocks += [_paragraph("Schedule: parts that are replaced without charge", "Heading1"), *map(_paragraph, _SCHEDULE)]
    body = "".join(blocks)
    relations = f'xmlns:r="{_SPACE}/officeDocument/2006/relationships"'
    return f"<w:document {_WORD} {relations}><w:body>{body}{_PLACE}</w:body></w:document>"


def _block(words: str) -> str:
    if words == "|":
        return _table(_FEES)
    if words.startswith("# "):
        return _paragraph(words[2:], "Heading1", numbered=True)
    return _paragraph(words)


def _paragraph(words: str, style: str = "Normal", *, numbered: bool = False) -> str:
    number = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>' if numbered else ""
    text = f'<w:r><w:t xml:space="preserve">{escape(words)}</w:t></w:r>'
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{number}</w:pPr>{text}</w:p>'


def _table(rows: tuple[tuple[str, ...], ...]) -> str:
    cells = ["".join(f"<w:tc><w:tcPr/>{_paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    columns = '<w:gridCol w:w="3000"/>' * len(rows[0])
    lines = "".join(f"<w:tr>{row}</w:tr>" for row in cells)
    return f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid>{columns}</w:tblGrid>{lines}</w:tbl>'


def _styles() -> str:
    each = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/>{look}</w:style>'
        for key, name, look in _STYLES
    )
    return f"<w:styles {_WORD}>{each}</w:styles>"


def _numbering() -> str:
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    scheme = f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
    return f'<w:numbering {_WORD}>{scheme}<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'


def _relations(targets: dict[str, tuple[str, str]]) -> str:
    kinds = f"{_SPACE}/officeDocument/2006/relationships"
    each = "".join(
        f'<Relationship Id="{key}" Type="{kinds}/{kind}" Target="{target}"/>' for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_SPACE}/package/2006/relationships">{each}</Relationships>'


def _content_types() -> str:
    rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    each = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPE}.{kind}+xml"/>' for name, kind in _PARTS.items()
    )
    return f'<Types xmlns="{_SPACE}/package/2006/content-types">{rels}{each}</Types>'
