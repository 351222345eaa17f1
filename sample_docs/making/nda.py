"""The three-page agreement on confidentiality, set as an office suite sets it: headings, justified text, a footer."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import LETTER
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Spacer, Table

from making.letters import NDA_CLAUSES, NDA_SIGNATURES, NDA_TITLE

PAGES = 3
_TITLE = ParagraphStyle("title", fontName="Times-Bold", fontSize=18, leading=24, alignment=TA_CENTER, spaceAfter=18)
_HEADING = ParagraphStyle("heading", fontName="Times-Bold", fontSize=12, leading=16, spaceBefore=10, keepWithNext=1)
_BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=12, leading=17, alignment=TA_JUSTIFY, spaceAfter=8)


def draw(path: Path) -> None:
    """Write the agreement to `path`."""
    document = SimpleDocTemplate(
        str(path),
        pagesize=LETTER,
        leftMargin=80,
        rightMargin=80,
        topMargin=72,
        bottomMargin=80,
        invariant=1,
        title=NDA_TITLE,
    )
    story: list[Flowable] = [Paragraph(NDA_TITLE, _TITLE)]
    for heading, text in NDA_CLAUSES:
        story += [Paragraph(heading, _HEADING)] if heading else []
        story.append(Paragraph(escape(text), _BODY))
    story += [Spacer(0, 18), Paragraph("In witness of this, the parties have signed below.", _BODY)]
    story.append(
        Table(
            NDA_SIGNATURES, colWidths=(226, 226), rowHeights=26, style=[("FONT", (0, 0), (-1, -1), "Times-Roman", 11)]
        )
    )
    document.build(story, onFirstPage=_footer, onLaterPages=_footer)


def _footer(canvas: Any, document: Any) -> None:
    canvas.setFont("Times-Roman", 9)
    canvas.drawCentredString(LETTER[0] / 2, 42, f"{NDA_TITLE} - Page {document.page} of {PAGES}")
