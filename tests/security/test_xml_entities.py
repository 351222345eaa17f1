"""No reader of XML expands an entity, opens a file, asks the network or swells, whatever wrapping the XML came in."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from pipeline.config import LimitSettings
from pipeline.documents import formats
from pipeline.documents.contract import Means, Tree
from pipeline.documents.identify import identify
from pipeline.errors import DocumentError, UnreadablePage
from tests.documents.samples import docx, odp, ods, odt, pptx, xlsx
from tests.documents.seeing import Seeing
from tests.fuzz import hostile
from tests.fuzz.runner import Runner

CANARY = "the canary in the file"
PACKAGES: Mapping[str, bytes] = {
    "docx": docx.build(["words"]),
    "xlsx": xlsx.build(["words"]),
    "pptx": pptx.build(["words"]),
    "odt": odt.build(["words"]),
    "ods": ods.build(["words"]),
    "odp": odp.build(["words"]),
}
READ = ("word/document.xml", "xl/worksheets/sheet1.xml", "ppt/slides/slide0.xml", "content.xml")
UBL = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
INVOICE = f"<Invoice xmlns='{UBL}'><ID>&e;</ID><Note>&e;</Note></Invoice>"


def _parts(package: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(package)) as parts:
        yield from (name for name in parts.namelist() if name.endswith((".xml", ".rels")))


EVERY_PART = [(kind, part) for kind, package in PACKAGES.items() for part in _parts(package)]


def _everything(content: bytes, name: str = "document") -> str:
    """All that comes out of a document: text, names and bytes of what is inside, or why it was refused."""
    kinds = formats.discover()
    told = []
    try:
        kind, _ = identify(io.BytesIO(content), name, kinds)
        with kind.open(io.BytesIO(content), Means(LimitSettings(), ocr=Seeing())) as document:
            for number in range(1, document.page_count + 1):
                try:
                    page = document.read_page(number)
                    told += [page.text, page.layout]
                except UnreadablePage as gap:
                    told.append(str(gap))
            for each in document.attachments() if isinstance(document, Tree) else ():
                told += [each.name, *(piece.decode("latin-1") for piece in each.content or ())]
    except DocumentError as refusal:
        told.append(str(refusal))
    return "\n".join(told)


def _inclusions(secret: Path) -> list[str]:
    """Every way XML has to ask for a file, as what stands before its root and as what stands inside it."""
    return [
        f"<!DOCTYPE a [<!ENTITY e SYSTEM '{secret.as_uri()}'>]>",
        f"<!DOCTYPE a [<!ENTITY % p SYSTEM '{secret.as_uri()}'> %p;<!ENTITY e 'x'>]>",
        f"<!DOCTYPE a SYSTEM '{secret.as_uri()}'>",
        f"<?xml-stylesheet type='text/xsl' href='{secret.as_uri()}'?>",
    ]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file whose content must appear nowhere."""
    path = tmp_path / "secret"
    path.write_text(CANARY, encoding="utf-8")
    return path


@pytest.mark.parametrize(("kind", "part"), EVERY_PART)
def test_no_part_of_a_package_brings_in_a_file(kind: str, part: str, secret: Path) -> None:
    for inclusion in _inclusions(secret):
        assert CANARY not in _everything(hostile.with_prologue(PACKAGES[kind], part, inclusion))


def test_no_xml_by_itself_brings_in_a_file(secret: Path) -> None:
    include = f"<x:include xmlns:x='http://www.w3.org/2001/XInclude' href='{secret.as_uri()}' parse='text'/>"
    for inclusion in _inclusions(secret):
        for body in (INVOICE, f"<a>&e;{include}</a>"):
            assert CANARY not in _everything(f"<?xml version='1.0'?>{inclusion}{body}".encode())
    told = _everything(f"<?xml version='1.0'?><a>words{include}</a>".encode())
    assert "words" in told
    assert CANARY not in told


def test_no_form_of_a_pdf_and_no_web_page_brings_in_a_file(secret: Path) -> None:
    form = f"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e SYSTEM '{secret.as_uri()}'>]><xdp>&e;</xdp>".encode()
    catalogue = b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /XFA 5 0 R >> >>"
    pdf = hostile.pdf(catalogue, hostile.ONE_PAGE, hostile.PAGE, hostile.WORDS, hostile.stream(form))
    page = f"<html><iframe src='{secret.as_uri()}'></iframe><object data='{secret}'></object><body>words".encode()
    for content, name in ((pdf, "form.pdf"), (page, "page.html")):
        told = _everything(content, name)
        assert "words" in told
        assert CANARY not in told


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """A process that notes every file, program and connection that Python code asks for, capped in memory and time."""
    with Runner() as runner:
        yield runner


@pytest.mark.slow
def test_no_bomb_swells_and_none_asks_for_a_file_or_the_network(runner: Runner) -> None:
    for kind, package in PACKAGES.items():
        for part in _parts(package):
            for prologue in hostile.PROLOGUES:
                outcome = runner.try_one(f"format:{kind}", hostile.with_prologue(package, part, prologue))
                assert outcome.finding == "", part
                # A part that is never read may hold what it likes.
                assert outcome.word in (("bomb",) if part in READ else ("ok", "bomb", "corrupt", "unsupported")), part
    for prologue in hostile.PROLOGUES:
        outcome = runner.try_one("xml", f"<?xml version='1.0'?>{prologue}<a>&e;&e9;</a>".encode())
        assert (outcome.word, outcome.finding) in (("bomb", ""), ("corrupt", "")), prologue[:60]
