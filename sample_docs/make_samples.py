"""Make the sample documents and expected.json: python sample_docs/make_samples.py [DIRECTORY]

The files are the same bytes each time, with the same versions of what _versions() names. Needs the `dev` extra.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from making import answers, contract, facturx, invoices, layouts, letters, mail, maintenance, nda, scan, ubl
from making.values import Invoice
from pypdf import PdfReader, PdfWriter
from reportlab import rl_config
from reportlab.lib.pagesizes import A4, LETTER
from reportlab.pdfgen.canvas import Canvas

PASSWORD = "open-sesame"  # noqa: S105 - printed in the README
Layout = Callable[[Any, Invoice], None]


def main(folder: Path) -> None:
    """Write every sample and the right answers into `folder`."""
    rl_config.invariant = 1  # no dates, no random ids
    rl_config.useA85 = 0  # binary streams: a fifth smaller
    folder.mkdir(parents=True, exist_ok=True)
    documents = {path.name: entry for path, entry in _documents(folder)}
    expected = {"made_with": _versions(), "documents": documents}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _documents(folder: Path) -> Iterator[tuple[Path, answers.Entry]]:
    yield british_invoice(folder / "invoice-gbp-vat.pdf")
    yield american_invoice(folder / "invoice-usd-sales-tax.pdf")
    yield irish_invoice(folder / "invoice-eur-plain.pdf")
    yield workshop_invoice(folder / "rechnung-metallbau.pdf")
    yield software_invoice(folder / "rechnung-software.pdf")
    yield long_contract(folder / "contract-200-pages.pdf")
    yield short_nda(folder / "nda-short.pdf")
    yield german_contract(folder / "dienstleistungsvertrag.txt")
    yield memo(folder / "memo.txt")
    yield damaged(folder / "damaged.pdf", folder / "nda-short.pdf")
    yield encrypted(folder / "encrypted.pdf", folder / "invoice-eur-plain.pdf")
    yield scanned_invoice(folder / "scanned-invoice.pdf")
    yield word_contract(folder / "maintenance-agreement.docx")
    yield mail_with_invoice(folder / "rechnung-per-mail.eml")
    yield copy(folder / "invoice-copy.pdf", folder / "invoice-gbp-vat.pdf")
    yield invoice_that_was_scanned(folder / "invoice-glazing.pdf", folder / "scanned-invoice.pdf")
    yield invoice_with_xml(folder / "facture-facturx.pdf")
    yield invoice_without_number(folder / "invoice-no-number.pdf")


def british_invoice(path: Path) -> tuple[Path, answers.Entry]:
    """A joiner's invoice in pounds with VAT."""
    return _invoice(path, invoices.GBP, layouts.british, A4, pages=1)


def american_invoice(path: Path) -> tuple[Path, answers.Entry]:
    """A supplier's invoice in dollars with sales tax, on two pages."""
    return _invoice(path, invoices.USD, layouts.american, LETTER, pages=2)


def irish_invoice(path: Path) -> tuple[Path, answers.Entry]:
    """A translator's invoice in euros, typewriter style."""
    return _invoice(path, invoices.EUR, layouts.plain, A4, pages=1)


def workshop_invoice(path: Path) -> tuple[Path, answers.Entry]:
    """A German business letter."""
    return _invoice(path, invoices.WORKSHOP, layouts.german_letter, A4, pages=1)


def software_invoice(path: Path) -> tuple[Path, answers.Entry]:
    """A German invoice in a modern layout."""
    return _invoice(path, invoices.SOFTWARE, layouts.german_modern, A4, pages=1)


def long_contract(path: Path) -> tuple[Path, answers.Entry]:
    """The services agreement of 200 dense pages."""
    contract.draw(path)
    return path, answers.long_contract()


def short_nda(path: Path) -> tuple[Path, answers.Entry]:
    """The agreement on confidentiality, three pages."""
    nda.draw(path)
    return path, answers.nda()


def german_contract(path: Path) -> tuple[Path, answers.Entry]:
    """A German contract as plain text."""
    path.write_bytes(letters.GERMAN_CONTRACT.encode())
    return path, answers.german_contract()


def memo(path: Path) -> tuple[Path, answers.Entry]:
    """A text that is neither an invoice nor a contract."""
    path.write_bytes(letters.MEMO.encode())
    return path, answers.memo()


def damaged(path: Path, whole: Path) -> tuple[Path, answers.Entry]:
    """The first half of a PDF, as a transfer that broke off leaves it."""
    content = whole.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    return path, {"reason": "truncated", "cut_from": whole.name}


def encrypted(path: Path, readable: Path) -> tuple[Path, answers.Entry]:
    """An invoice that opens with a password only (AES-256)."""
    writer = PdfWriter(clone_from=PdfReader(readable))
    with _repeatable_randomness():
        writer.encrypt(user_password=PASSWORD, owner_password=f"{PASSWORD}-owner", algorithm="AES-256")
        writer.write(path)
    return path, {"reason": "needs_password", "password": PASSWORD, "encrypted_from": readable.name}


def scanned_invoice(path: Path) -> tuple[Path, answers.Entry]:
    """A glazier's invoice, printed and scanned: a picture without any text."""
    scan.scan(_drawn(invoices.GLAZIER, layouts.form), path)
    return path, answers.invoice(invoices.GLAZIER, pages=1) | {"source": "ocr"}


def word_contract(path: Path) -> tuple[Path, answers.Entry]:
    """A contract as Word saves it."""
    maintenance.write(path)
    return path, answers.maintenance_agreement()


def mail_with_invoice(path: Path) -> tuple[Path, answers.Entry]:
    """A mail with an invoice as PDF and as XML, and with a logo that is no document."""
    value = invoices.PAPER
    pdf = f"Rechnung-{value.number}.pdf"
    xml = pdf.replace(".pdf", ".xml")
    content = {
        mail.LOGO: mail.logo(),
        pdf: _drawn(value, layouts.german_catalogue),
        xml: ubl.xrechnung(value, invoices.PAPER_ORDER),
    }
    path.write_bytes(mail.mail(letters.MAIL_SUBJECT, letters.MAIL, content))
    inside = {
        mail.LOGO: {"left_out": "decoration"},
        pdf: answers.invoice(value, pages=1),
        xml: answers.xml_of(value) | {"rendition_of": pdf},
    }
    return path, answers.mail(letters.MAIL_SUBJECT, inside)


def copy(path: Path, original: Path) -> tuple[Path, answers.Entry]:
    """The same bytes under another name."""
    path.write_bytes(original.read_bytes())
    return path, {"reason": "duplicate", "copy_of": original.name}


def invoice_that_was_scanned(path: Path, scanned: Path) -> tuple[Path, answers.Entry]:
    """The glazier's invoice once more, as it came by mail: other bytes, another look, the same claim."""
    _, entry = _invoice(path, invoices.GLAZIER, layouts.form, pages=1)
    return path, entry | {"same_invoice_as": scanned.name}


def invoice_with_xml(path: Path) -> tuple[Path, answers.Entry]:
    """A French invoice as Factur-X whose XML claims more than its pages say."""
    printed, content = invoices.BAKERY_PRINTED, facturx.xml(invoices.BAKERY, invoices.BAKERY_ORDER)
    path.write_bytes(facturx.carrying(_drawn(printed, layouts.french), content))
    return path, answers.carrying(invoices.BAKERY, printed, facturx.NAME, path.name)


def invoice_without_number(path: Path) -> tuple[Path, answers.Entry]:
    """A gardener's invoice that nobody numbered."""
    return _invoice(path, invoices.GARDENER, layouts.note, pages=1)


def _invoice(
    path: Path, value: Invoice, layout: Layout, size: tuple[float, float] = A4, *, pages: int
) -> tuple[Path, answers.Entry]:
    path.write_bytes(_drawn(value, layout, size))
    return path, answers.invoice(value, pages=pages)


def _drawn(value: Invoice, layout: Layout, size: tuple[float, float] = A4) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=size, invariant=1, pageCompression=1)
    canvas.setTitle(value.number or "Invoice")
    canvas.setAuthor(value.seller.name)
    layout(canvas, value)
    canvas.save()
    return file.getvalue()


@contextmanager
def _repeatable_randomness() -> Iterator[None]:
    """Keys and salts from a counter, so that the file is the same each time; its password is public anyway."""
    counter = itertools.count()

    def tokens(length: int) -> bytes:
        return hashlib.shake_256(str(next(counter)).encode()).digest(length)

    with patch("secrets.token_bytes", tokens):
        yield


def _versions() -> dict[str, str]:
    """What the bytes depend on besides the data."""
    made_with = {name: version(name) for name in ("reportlab", "pypdf", "pypdfium2", "pillow")}
    return made_with | {"zlib": zlib.ZLIB_RUNTIME_VERSION}


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
