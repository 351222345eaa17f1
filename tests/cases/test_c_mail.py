"""Faults that other products had with mails and archives: files skipped, lost, doubled, or taken for something else."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from pipeline.worker.process import CHILD_MODULE
from tests.documents import trees
from tests.worker.shop import Shop


@pytest.fixture(autouse=True)
def _every_format(shop: Shop) -> None:
    """The child that the product has; that of other tests knows few formats."""
    shop.app.child_module = CHILD_MODULE


def _mail(subject: str) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = subject, "anna@example.org", "books@example.org"
    mail.set_content(f"About {subject}: see attached.")
    return mail


def _attach(
    mail: EmailMessage, name: str, content: bytes, kind: str = "application/pdf", how: str = "attachment"
) -> None:
    main, _, sub = kind.partition("/")
    mail.add_attachment(content, maintype=main, subtype=sub, filename=name, disposition=how)


def _read(shop: Shop, name: str, content: bytes) -> int:
    """Read a file and all that is in it; its document."""
    path: Path = shop.home / name
    path.write_bytes(content)
    task = shop.take_file(path)
    shop.work()
    return int(shop.task(task).document_id)


def _inside(shop: Shop, document: int) -> list[dict[str, Any]]:
    rows = shop.rows("SELECT * FROM attachments_v WHERE parent_document_id = :id ORDER BY number", id=document)
    return [dict(row._mapping) for row in rows]


def _ends(shop: Shop, document: int) -> list[tuple[str, str]]:
    """Each file by name, with why it was left out or how it ended."""
    return [(each["name"], each["left_out"] or each["reason"]) for each in _inside(shop, document)]


def test_c16_inline_mistyped_and_several_files_are_each_a_document_and_logos_are_listed(shop: Shop) -> None:
    mail = _mail("Four bills")
    _attach(mail, "inline.pdf", trees.invoice_pdf("A-1"), how="inline")
    _attach(mail, "stream.pdf", trees.invoice_pdf("A-2"), "application/octet-stream")
    _attach(mail, "liar.png", trees.invoice_pdf("A-3"), "image/png")
    _attach(mail, "last.pdf", trees.invoice_pdf("A-4"))
    _attach(mail, "logo.png", trees.picture(120, 40), "image/png", how="inline")
    document = _read(shop, "a.eml", bytes(mail))
    assert _ends(shop, document) == [
        ("inline.pdf", "ok"),
        ("stream.pdf", "ok"),
        ("liar.png", "ok"),
        ("last.pdf", "ok"),
        ("logo.png", "decoration: an image of 120 x 40 pixels"),
    ]
    texts = " ".join(row.text for row in shop.rows("SELECT text FROM pages_v"))
    assert all(f"Invoice number A-{number}" in texts for number in range(1, 5))


def test_c16_a_mail_in_a_mail_in_a_mail_loses_nothing(shop: Shop) -> None:
    inner, middle, outer = _mail("Inner"), _mail("Middle"), _mail("Outer")
    _attach(inner, "bill.pdf", trees.invoice_pdf("B-1"), "application/octet-stream")
    middle.add_attachment(inner)
    outer.add_attachment(middle)
    document = _read(shop, "outer.eml", bytes(outer))
    for name in ("Middle.eml", "Inner.eml", "bill.pdf"):
        (found,) = _inside(shop, document)
        assert (found["name"], found["reason"]) == (name, "ok")
        document = found["document_id"]
    depths = shop.rows("SELECT name, depth FROM documents_v ORDER BY depth")
    assert [tuple(row) for row in depths] == [("outer.eml", 0), ("Middle.eml", 1), ("Inner.eml", 2), ("bill.pdf", 3)]


def test_c16_a_pdf_and_the_xml_of_the_same_invoice_are_one_and_two_bills_are_two(shop: Shop) -> None:
    mail = _mail("Two bills, one of them twice")
    _attach(mail, "one.pdf", trees.invoice_pdf("INV-71"))
    _attach(mail, "two.pdf", trees.invoice_pdf("INV-72"))
    _attach(mail, "data.xml", trees.invoice_xml("INV-72"), "application/xml")
    document = _read(shop, "a.eml", bytes(mail))
    assert [each["rendition_of"] for each in _inside(shop, document)] == [None, None, 2]
    assert {each["reason"] for each in _inside(shop, document)} == {"ok"}


def test_c16_what_cannot_be_read_is_a_document_that_says_so(shop: Shop) -> None:
    mail = _mail("From Outlook")
    _attach(mail, "winmail.dat", b"\x78\x9f\x3e\x22" + bytes(60), "application/ms-tnef")
    _attach(mail, "bill.pdf", trees.invoice_pdf("C-1"))
    document = _read(shop, "a.eml", bytes(mail))
    assert _ends(shop, document) == [("winmail.dat", "unsupported"), ("bill.pdf", "ok")]
    assert shop.statuses() == {"succeeded": 2, "failed": 1}


def test_c11_a_bomb_and_a_trap_in_an_archive_cost_its_other_files_nothing(shop: Shop) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/invoice.pdf", trees.invoice_pdf("D-1"))
        archive.writestr("b/invoice.pdf", trees.invoice_pdf("D-2"))
        archive.writestr("../evil.pdf", trees.invoice_pdf("D-3"))
        archive.writestr("zero.bin", bytes(50_000_000))
    document = _read(shop, "batch.zip", file.getvalue())
    ends = _ends(shop, document)
    assert ends[:3] == [("invoice.pdf", "ok"), ("invoice.pdf", "ok"), ("evil.pdf", "unsafe path")]
    assert ends[3][1].startswith("bomb: ")
    assert not (shop.home.parent / "evil.pdf").exists()


def test_c11_an_archive_that_unpacks_beyond_all_limits_is_quarantined_with_the_key_to_raise(shop: Shop) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.pdf", trees.invoice_pdf("E-1"))
    content = file.getvalue()
    at = content.rindex(b"PK\x01\x02") + 24
    swollen = content[:at] + (3_000_000_000).to_bytes(4, "little") + content[at + 4 :]
    document = _read(shop, "bomb.zip", swollen)
    (task,) = shop.rows("SELECT status, reason FROM tasks WHERE document_id = :id", id=document)
    assert tuple(task) == ("quarantined", "bomb")
