"""Documents made for a trial: PDF files of plain text, each page marked, so that a missing or swapped page shows.

The files are written by hand after ISO 32000-1, 7.5 (header, objects, cross-reference table, trailer): the smallest
PDF that every reader accepts, and no library is needed to make it.
"""

from __future__ import annotations

import random

LINES_A_PAGE = 50
WORDS = [
    "supplier",
    "agreement",
    "payment",
    "delivery",
    "invoice",
    "notice",
    "party",
    "obligation",
    "term",
    "warranty",
    "liability",
    "schedule",
    "amount",
    "clause",
    "service",
    "renewal",
    "property",
    "document",
    "record",
    "person",
    "period",
    "condition",
    "consent",
    "breach",
    "remedy",
    "law",
    "court",
    "tax",
    "price",
    "order",
]


def marker(document: int, page: int) -> str:
    """What stands on the first line of a page, and on no other page of any document."""
    return f"document-{document:06d} page-{page:04d}"


def make_pdf(document: int, pages: int, seed: int) -> bytes:
    """A PDF of so many pages of text; the same arguments give the same bytes."""
    chance = random.Random(f"{seed}/{document}")  # noqa: S311 - filler text
    texts = [_page_text(document, page, chance) for page in range(1, pages + 1)]
    return _assemble([text.encode("ascii") for text in texts])


def _page_text(document: int, page: int, chance: random.Random) -> str:
    lines = [marker(document, page)]
    lines += [" ".join(chance.choices(WORDS, k=10)) for _ in range(LINES_A_PAGE)]
    shown = "".join(f"({line}) Tj T*\n" for line in lines)
    return f"BT /F1 9 Tf 40 800 Td 14 TL\n{shown}ET\n"


def _assemble(contents: list[bytes]) -> bytes:
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(contents)} /Kids [ {kids} ] >>".encode("ascii"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, content in enumerate(contents):
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * index} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(page.encode("ascii"))
        objects.append(b"<< /Length %d >>\nstream\n" % len(content) + content + b"\nendstream")
    return _with_cross_references(objects)


def _with_cross_references(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)
