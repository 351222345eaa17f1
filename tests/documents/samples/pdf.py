"""A PDF as a report generator writes it: one text a page, drawn line by line."""

from __future__ import annotations

import io
from collections.abc import Sequence

from reportlab.pdfgen import canvas


def build(pages: Sequence[str]) -> bytes:
    """A PDF with these texts, uncompressed, so that tests can damage it where they want."""
    file = io.BytesIO()
    sheet = canvas.Canvas(file, pagesize=(595, 842), pageCompression=0, invariant=True)
    for page in pages:
        for row, line in enumerate(page.split("\n")):
            sheet.drawString(72, 770 - 16 * row, line)
        sheet.showPage()
    sheet.save()
    return file.getvalue()
