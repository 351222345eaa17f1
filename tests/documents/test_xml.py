"""XML is read without ever expanding, fetching or trusting anything; an electronic invoice reads like an invoice."""

from __future__ import annotations

import base64
import io
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.contract import Means, OpenDocument, Tree
from pipeline.documents.formats.xml import format as xml
from pipeline.documents.markup import einvoice_xml, xml_text
from pipeline.documents.text import Page, Source
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason

UBL = """<?xml version="1.0"?>
<u:Invoice xmlns:u="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2" xmlns:b="urn:b" xmlns:a="urn:a">
 <b:ID>INV-7</b:ID><b:IssueDate>2026-03-01</b:IssueDate><b:InvoiceTypeCode>380</b:InvoiceTypeCode>
 <a:AdditionalDocumentReference><b:ID>9</b:ID><a:Attachment>
  <b:EmbeddedDocumentBinaryObject mimeCode="text/plain" filename="terms.txt">{data}</b:EmbeddedDocumentBinaryObject>
 </a:Attachment></a:AdditionalDocumentReference>
 <a:AccountingSupplierParty><a:Party><a:PartyLegalEntity><b:RegistrationName>Chairs &amp; Co</b:RegistrationName>
 </a:PartyLegalEntity></a:Party></a:AccountingSupplierParty>
 <a:LegalMonetaryTotal><b:PayableAmount currencyID="EUR">119.00</b:PayableAmount></a:LegalMonetaryTotal>
 <a:InvoiceLine><b:ID>1</b:ID><b:InvoicedQuantity unitCode="EA">2</b:InvoicedQuantity>
  <b:LineExtensionAmount currencyID="EUR">100.00</b:LineExtensionAmount><a:Item><b:Name>Chair, oak</b:Name></a:Item>
  <a:Price><b:PriceAmount currencyID="EUR">50.00</b:PriceAmount></a:Price></a:InvoiceLine>
</u:Invoice>"""
CII = """<r:CrossIndustryInvoice xmlns:r="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100">
 <r:ExchangedDocument><ID>C-8</ID><IssueDateTime><DateTimeString format="102">20260302</DateTimeString></IssueDateTime>
 </r:ExchangedDocument></r:CrossIndustryInvoice>"""
FERD = CII.replace("ExchangedDocument", "HeaderExchangedDocument").replace(
    "CrossIndustryInvoice", "CrossIndustryDocument"
)
FERD = FERD.replace("urn:un:unece:uncefact:data:standard:CrossIndustryDocument:100", "urn:ferd:CrossIndustryDocument:x")
BODY = """<FatturaElettronicaBody><DatiGenerali><DatiGeneraliDocumento><Numero>{number}</Numero>
<Data>2026-03-0{day}</Data>
</DatiGeneraliDocumento></DatiGenerali><DatiBeniServizi><DettaglioLinee><NumeroLinea>1</NumeroLinea>
<Descrizione>Sedia {number}</Descrizione><PrezzoTotale>10.00</PrezzoTotale></DettaglioLinee></DatiBeniServizi>
</FatturaElettronicaBody>"""
FATTURA = (
    '<p:FatturaElettronica xmlns:p="http://ivaservizi.agenziaentrate.gov.it/docs/xsd/fatture/v1.2">'
    "<FatturaElettronicaHeader><CedentePrestatore><DatiAnagrafici><IdFiscaleIVA><IdPaese>IT</IdPaese>"
    "<IdCodice>01234567890</IdCodice></IdFiscaleIVA></DatiAnagrafici></CedentePrestatore></FatturaElettronicaHeader>"
    + BODY.format(number="A/1", day=1)
    + BODY.format(number="B/2", day=2)
    + "</p:FatturaElettronica>"
)


def _pages(content: bytes | str) -> list[Page]:
    raw = content.encode() if isinstance(content, str) else content
    with xml.open(io.BytesIO(raw), Means()) as document:
        return [document.read_page(number) for number in range(1, document.page_count + 1)]


def _refusal(content: bytes | str) -> DocumentError:
    with pytest.raises(DocumentError) as refusal:
        _pages(content)
    return refusal.value


def test_any_xml_is_lines_of_names_and_values_with_attributes() -> None:
    (page,) = _pages(
        "<o:order xmlns:o='urn:o' no='7'><!-- c --><item unit='kg'>Nuts\n &amp; figs</item>tail<none/></o:order>"
    )
    assert page.text.split("\n") == ["order (no=7)", "  item (unit=kg): Nuts & figs", "  tail"]
    assert page.source is Source.XML
    assert page.engine == "xml 1"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1251", "shift_jis"])
def test_the_declared_encoding_is_read(encoding: str) -> None:
    words = {"windows-1251": "Счёт за март", "shift_jis": "請求書"}.get(encoding, "Büro für Möbel")
    (page,) = _pages(f"<?xml version='1.0' encoding='{encoding}'?><a>{words}</a>".encode(encoding))
    assert page.text == f"a: {words}"


def test_a_wrong_declaration_does_not_win_over_the_bytes() -> None:
    (page,) = _pages("<?xml version='1.0' encoding='iso-8859-5'?><a>Büro für Möbel, größte Stühle</a>".encode())
    assert page.text == "a: Büro für Möbel, größte Stühle"
    assert page.figures == {"encoding": "utf-8"}


def test_entities_are_never_expanded_files_never_opened_and_nothing_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret", "utf-8")
    swelling = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 12))
    hostile = [
        f"<!DOCTYPE a [<!ENTITY e0 'x'>{swelling}]><a>&e11;</a>",
        f"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e SYSTEM '{secret.as_uri()}'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://127.0.0.1:9/x'> %p;]><a/>",
        "<!DOCTYPE a [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><a>&a;</a>",
    ]
    refusals = [_refusal(content) for content in hostile]
    assert [refusal.reason for refusal in refusals] == [Reason.BOMB] * 4
    assert all("DOCTYPE" in str(refusal) for refusal in refusals)
    assert _refusal("<!DOCTYPE a SYSTEM 'http://127.0.0.1:9/a.dtd'><a/>").reason is Reason.CORRUPT


def test_depth_and_number_of_elements_are_bounded() -> None:
    deep = _refusal("<a>" * 300_000 + "</a>" * 300_000)
    many = _refusal("<a>" + "<b/>" * (xml_text.MAX_ELEMENTS + 1) + "</a>")
    assert (deep.reason, many.reason) == (Reason.BOMB, Reason.BOMB)
    assert str(xml_text.MAX_DEPTH) in str(deep)
    assert f"{xml_text.MAX_ELEMENTS:,}" in str(many)


def test_size_is_checked_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    path.write_bytes(b"<?xml version='1.0'?><a>")
    os.truncate(path, 20_000_000_000)
    with path.open("rb") as file, pytest.raises(DocumentError) as refusal, xml.open(file, Means()):
        pass
    assert refusal.value.reason is Reason.TOO_LARGE
    assert "20,000.0 MB" in str(refusal.value)


def test_a_cut_file_is_told_from_a_broken_one() -> None:
    assert _refusal("<?xml version='1.0'?><a><b>words").reason is Reason.TRUNCATED
    assert _refusal("<?xml version='1.0'?><a><b>words</a>").reason is Reason.CORRUPT


def test_a_stray_control_does_not_cost_the_document() -> None:
    (page,) = _pages(b"<?xml version='1.0'?><a>one\x0b two</a>")
    assert page.text == "a: one two"


def test_a_file_in_base64_is_no_text() -> None:
    (page,) = _pages(f"<a><b>{base64.b64encode(bytes(9000)).decode()}</b><c>words</c></a>")
    assert page.text == "a\n  b: [embedded data, about 9,000 bytes]\n  c: words"


def test_a_ubl_invoice_reads_like_an_invoice() -> None:
    (page,) = _pages(UBL.format(data=base64.b64encode(b"pay soon").decode()))
    lines = page.text.split("\n")
    assert {"Invoice number: INV-7", "Seller: Chairs & Co", "Amount due: 119.00 EUR"} <= set(lines)
    assert "Document type: 380 (invoice)" in lines
    row = next(line for line in lines if "oak" in line)
    assert re.split(" {2,}", row) == ["1", "Chair, oak", "2", "EA", "50.00", "100.00"]
    assert page.engine == "ubl 2"


def test_a_file_in_the_invoice_is_an_attachment() -> None:
    content = UBL.format(data=base64.b64encode(b"pay soon").decode()).encode()
    with xml.open(io.BytesIO(content), Means()) as document:
        assert isinstance(document, Tree)
        (found,) = document.attachments()
        assert (found.number, found.name, found.media_type) == (1, "terms.txt", "text/plain")
        assert b"".join(found.content or ()) == b"pay soon"


def test_an_attachment_that_is_not_base64_is_left_out_and_the_invoice_read() -> None:
    with xml.open(io.BytesIO(UBL.format(data="n?t base64").encode()), Means()) as document:
        assert isinstance(document, Tree)
        (found,) = document.attachments()
        with pytest.raises(DocumentError) as refusal:
            b"".join(found.content or ())
    assert refusal.value.reason is Reason.CORRUPT


def test_each_body_of_a_fatturapa_is_a_page_with_its_seller() -> None:
    first, second = (page.text for page in _pages(FATTURA))
    assert "Invoice number: A/1" in first
    assert "B/2" not in first
    assert "Invoice number: B/2" in second
    assert "A/1" not in second
    assert "Seller VAT ID: IT01234567890" in first
    assert "Seller VAT ID: IT01234567890" in second


def test_a_date_in_cii_is_shown_as_a_date() -> None:
    for content in (CII, FERD):
        (page,) = _pages(content)
        assert "Invoice number: C-8\nInvoice date: 2026-03-02" in page.text


@pytest.mark.parametrize(
    ("content", "kind", "number"),
    [
        (UBL, "ubl", "INV-7"),
        (CII, "cii", "C-8"),
        (FERD, "cii", "C-8"),
        (FATTURA, "fatturapa", "A/1"),
        ("<Invoice xmlns='urn:somebody:else'><ID>1</ID></Invoice>", None, None),
        ("<html><body>Invoice</body></html>", None, None),
        ("%PDF-1.7", None, None),
        ("", None, None),
    ],
)
def test_kind_and_number_of_an_electronic_invoice_are_told(content: str, kind: str | None, number: str | None) -> None:
    raw = content.encode()
    assert einvoice_xml.kind_of(raw) == kind
    assert einvoice_xml.kind_of(raw[:400]) == kind
    assert einvoice_xml.invoice_number(raw) == number


@given(st.binary(max_size=400))
def test_kind_and_number_never_raise(noise: bytes) -> None:
    for content in (noise, b"<?xml version='1.0'?><Invoice " + noise, UBL.encode()[:300] + noise):
        einvoice_xml.kind_of(content)
        einvoice_xml.invoice_number(content)


@given(st.integers(0, len(UBL) - 1), st.integers(0, 255), st.sampled_from([UBL, CII, FATTURA]))
def test_a_bent_or_cut_invoice_gives_pages_or_a_named_refusal(place: int, byte: int, content: str) -> None:
    raw = bytearray(content.encode())
    bent = bytes(raw[: place % len(raw)]) + bytes([byte]) + bytes(raw[place % len(raw) + 1 :])
    for hostile in (bent, bytes(raw[:place])):
        try:
            with xml.open(io.BytesIO(hostile or b"<"), Means()) as document:
                _exhaust(document)
        except DocumentError:
            pass


def _exhaust(document: OpenDocument) -> None:
    for number in range(1, document.page_count + 1):
        try:
            document.read_page(number)
        except UnreadablePage:
            pass
