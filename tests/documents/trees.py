"""Mails and archives opened and unpacked, and what stands in them made from a few lines."""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image

from pipeline.config import LimitSettings
from pipeline.documents.contract import Format, Means, Tree
from pipeline.errors import DocumentError
from tests.documents.samples import pdf

UBL = "urn:oasis:names:specification:ubl:schema:xsd:"


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A file as it came out. `content` is None for one that was left out, and `fault` says what its bytes raised."""

    name: str
    left_out: str
    content: bytes | None
    rendition_of: int | None
    fault: str = ""


def unpack(kind: Format, content: bytes, means: Means | None = None) -> tuple[list[str], list[Unpacked]]:
    """The pages of a document and its files; numbers are checked to count from 1."""
    with kind.open(io.BytesIO(content), means or Means()) as document:
        pages = [document.read_page(number).text for number in range(1, document.page_count + 1)]
        assert isinstance(document, Tree)
        found: list[Unpacked] = []
        for number, each in enumerate(document.attachments(), 1):
            assert each.number == number
            fault, raw = "", None
            try:
                raw = None if each.content is None else b"".join(each.content)
            except DocumentError as error:
                fault = str(error)
            found.append(Unpacked(each.name, each.left_out, raw, each.rendition_of, fault))
    return pages, found


def means(*passwords: str, **limits: float) -> Means:
    """Means with these passwords and limits."""
    return Means(limits=LimitSettings(**limits), passwords=passwords)  # type: ignore[arg-type]


def picture(width: int, height: int, kind: str = "PNG") -> bytes:
    """An image of noise, as large as photos and drawings are."""
    file = io.BytesIO()
    Image.effect_noise((width, height), 90).save(file, kind)
    return file.getvalue()


def invoice_pdf(number: str) -> bytes:
    """An invoice for people."""
    return pdf.build([f"Invoice number {number}\nTotal due: EUR 1,234.50"])


def invoice_xml(number: str) -> bytes:
    """The same for programs."""
    return (
        f'<?xml version="1.0"?><Invoice xmlns="{UBL}Invoice-2" xmlns:cbc="{UBL}CommonBasicComponents-2">'
        f"<cbc:CustomizationID>x</cbc:CustomizationID><cbc:ID>{number}</cbc:ID></Invoice>"
    ).encode()
