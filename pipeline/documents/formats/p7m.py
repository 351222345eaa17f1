"""Signed files, as Italian invoices come (.xml.p7m): a page says who signed, what is signed is the attachment."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import BinaryIO

from pipeline.documents import signed
from pipeline.documents.bounded import read_text
from pipeline.documents.contract import Attachment, Format, Inspection, Means, OpenDocument
from pipeline.documents.markup.kinds import HTML, XML, markup_of
from pipeline.documents.paging import check_number
from pipeline.documents.parsing import EDGE_BYTES, read_edges
from pipeline.documents.text import Page, Source
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_PIECE = 1 << 20
_SUFFIXES = {XML: ".xml", HTML: ".html"}
_NOTE = "signatures are shown, not verified"


class P7mFormat:
    """CMS, also called PKCS #7: signed, in DER, BER or base64. What is only encrypted needs its owner."""

    name = "p7m"
    media_types: tuple[str, ...] = ("application/pkcs7-mime",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the object identifier at its beginning."""
        return self.media_types[0] if signed.is_envelope(head) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """One page; reads the whole file. Raises DocumentError."""
        with self.open(file, means):
            return Inspection(self.media_types[0], 1)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading, in memory. Raises DocumentError: empty_file, unsupported, needs_password, too_large,
        truncated, corrupt, io_error."""
        head, _ = read_edges(file)
        if not signed.is_envelope(head):
            raise DocumentError(Reason.UNSUPPORTED, "it does not begin as signed content does")
        yield _OpenSigned(signed.read(read_text(file, "signed content", means.limits)))


@dataclass(frozen=True, slots=True)
class _OpenSigned:
    what: signed.Signed

    @property
    def page_count(self) -> int:
        return 1

    def read_page(self, number: int) -> Page:
        """The page. Raises UnreadablePage for any other."""
        started = time.perf_counter()
        check_number(number, 1)
        content = self.what.content
        lines = [
            *self.what.signers,
            f"Signed content: {len(content):,} bytes" if content else "Signed content: elsewhere",
        ]
        match = {None: "unknown", True: "match", False: "differ"}[self.what.digests_match]
        text = "\n".join(lines)
        figures: dict[str, float | str] = {"signers": len(self.what.signers), "digests": match}
        note = _NOTE if match != "differ" else f"{_NOTE}; the content is not what was signed: its digest differs"
        engine = f"asn1crypto {version('asn1crypto')}"
        seconds = time.perf_counter() - started
        return Page(number, text, text, Source.NATIVE, engine, seconds=seconds, note=note, figures=figures).storable()

    def attachments(self) -> Iterator[Attachment]:
        """What is signed, if it is in the file."""
        content = self.what.content
        if content:
            pieces = (content[start : start + _PIECE] for start in range(0, len(content), _PIECE))
            yield Attachment(1, _name(content), content=pieces)


def _name(content: bytes) -> str:
    head, tail = content[:EDGE_BYTES], content[-EDGE_BYTES:]
    if head.startswith(b"%PDF-"):
        return "signed.pdf"
    return "signed" + _SUFFIXES.get(markup_of(head, tail) or "", "")


format: Format = P7mFormat()  # noqa: A001 - the name by which formats are found
