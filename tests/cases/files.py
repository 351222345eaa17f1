"""Files as they come from elsewhere: locked, cut, swollen, bent in a circle. All are made here, from a few lines."""

from __future__ import annotations

import io
import re
import zlib

from pypdf import PdfReader, PdfWriter

from tests.documents.samples import pdf

WORDS = "Invoice INV-2026-0042 for a hundred chairs"
LOGIN_PAGE = b"<html><body>Session expired, please log in</body></html>"
MEGABYTE = 1 << 20


def whole(*texts: str) -> bytes:
    """A PDF with these texts, a page each."""
    return pdf.build(texts or [WORDS])


def locked(user_password: str) -> bytes:
    """A PDF that opens with this password; with an empty one, only what its owner forbids is locked."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(whole())))
    writer.encrypt(user_password, "the owner", algorithm="AES-256")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def cut() -> bytes:
    """The first half of a PDF."""
    return whole()[: len(whole()) // 2]


def circular() -> bytes:
    """A PDF whose tree of pages contains itself."""
    return re.sub(
        rb"(?<=\n)(\d+) 0 obj\n<<\n/Count 1 /Kids \[ \d+ 0 R", rb"\1 0 obj\n<<\n/Count 1 /Kids [ \1 0 R", whole()
    )


def swollen(megabytes: int) -> bytes:
    """A PDF of some hundred kilobytes whose only page inflates to so many megabytes."""
    squeezer = zlib.compressobj(9)
    squeezed = b"".join(squeezer.compress(b" " * MEGABYTE) for _ in range(megabytes)) + squeezer.flush()
    stream = b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(squeezed) + squeezed + b"\nendstream"
    return re.sub(rb"<<\s*/Length \d+\s*>>\s*stream\n.*?endstream", lambda _: stream, whole(), flags=re.DOTALL)


def with_nul() -> bytes:
    """A PDF with a NUL in its text and in its title."""
    content = whole("before@after and three more words").replace(b"before@after", b"before\\000after")
    return content.replace(b"/Title (untitled)", b"/Title (un\\000titled)")
