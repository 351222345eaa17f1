"""A document with several electronic invoices gives the fields of one, chosen soundly, and says what the others are."""

from __future__ import annotations

import io
from typing import Any

import pytest
from pypdf import PdfWriter

from pipeline import carried, handling
from pipeline.documents import formats
from pipeline.documents.contract import Attachment
from pipeline.einvoices import fields, reading
from pipeline.einvoices.choosing import choose, same
from pipeline.einvoices.model import Invoice
from pipeline.work import Job, process
from tests.documents.samples import pdf
from tests.einvoices import building
from tests.einvoices.building import facts

PRINTED = "Ölmühle Nordhafen GmbH\nInvoice no. INV-2026/0042\nNet 300.00\nVAT 19 % 57.00\nTotal 357.00 EUR"
MINIMUM = "urn:factur-x.eu:1p0:minimum"
EXTENDED = "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"


def _read(content: bytes, name: str) -> dict[str, Any]:
    def consume(attachment: Attachment) -> None:
        assert sum(map(len, attachment.content or ())) > 0

    told: dict[str, Any] = {"on_open": lambda _: None, "on_page": lambda _: None, "on_attachment": consume}
    return dict(process(Job(io.BytesIO(content), name), formats.discover(), handling.discover(), **told).result)


def _pdf(*several: str) -> dict[str, Any]:
    writer = PdfWriter(clone_from=io.BytesIO(pdf.build([PRINTED])))
    for number, content in enumerate(several):
        writer.add_attachment(f"{number}.xml", content.encode())
    whole = io.BytesIO()
    writer.write(whole)
    return _read(whole.getvalue(), "invoice.pdf")


def _value(result: dict[str, Any], name: str) -> str:
    value: str = result["fields"][name][0]["value"]
    return value


def _one(text: str) -> Invoice:
    (invoice,) = reading.read(text.encode())
    return invoice


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_versions_of_one_invoice_the_fuller_profile_is_taken(order: int) -> None:
    versions = [building.cii(facts(specification=each)) for each in (MINIMUM, EXTENDED)][::order]
    assert choose([_one(each) for each in versions]).specification == EXTENDED
    assert _pdf(*versions)["checks"]["einvoice_is_one"] is True


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_invoices_the_one_that_is_printed_is_taken_and_the_other_named(order: int) -> None:
    result = _pdf(*[building.cii(facts(number=each)) for each in ("INV-2026/0041", building.NUMBER)][::order])
    assert _value(result, "invoice_number") == building.NUMBER
    assert result["checks"]["einvoice_is_one"] is False
    assert "INV-2026/0041" in result["messages"]["einvoice_is_one"]


def test_an_xml_that_cannot_be_read_beside_a_good_one_is_told() -> None:
    result = _pdf(building.cii(facts())[:2_000], building.ubl(facts()))
    assert (_value(result, "invoice_number"), _value(result, "total_gross")) == (building.NUMBER, "357.00")
    assert result["checks"]["einvoice_readable"] is False


def test_the_same_number_with_another_total_is_another_invoice() -> None:
    one, other = _one(building.ubl(facts())), _one(building.ubl(facts(gross="358.00")))
    assert not same(one, other)
    assert same(one, _one(building.cii(facts())))


def test_of_an_italian_file_the_first_is_taken_and_the_others_named() -> None:
    result = _read(building.fatturapa(facts(), bodies=3).encode(), "a.xml")
    assert _value(result, "invoice_number") == f"{building.NUMBER}-1"
    assert f"{building.NUMBER}-3" in result["messages"]["einvoice_is_one"]


def test_the_invoices_of_a_document_are_kept_up_to_a_size_and_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carried, "MOST_BYTES", 10)
    copied = carried.Copied(None)
    for content in (b"12345", b"1234567", b"12345", b"54321"):
        list(copied.watched(Attachment(1, "a", "", content=iter([content]), rendition_of=0)).content or ())
    assert (copied.content, copied.others) == (b"12345", ())  # the third fills what is left, and is the same


DEBIT = {
    "ubl": "<cac:PaymentMeans><cbc:PaymentMeansCode>59</cbc:PaymentMeansCode><cac:PaymentMandate><cbc:ID>M-7</cbc:ID>"
    f"<cac:PayerFinancialAccount><cbc:ID>{building.IBAN}</cbc:ID></cac:PayerFinancialAccount></cac:PaymentMandate>"
    "</cac:PaymentMeans><cac:TaxTotal>",
    "cii": "<CreditorReferenceID>DE98ZZZ09999999999</CreditorReferenceID><SpecifiedTradeSettlementPaymentMeans>"
    f"<TypeCode>59</TypeCode><PayerPartyDebtorFinancialAccount><IBANID>{building.IBAN}</IBANID>"
    "</PayerPartyDebtorFinancialAccount></SpecifiedTradeSettlementPaymentMeans>",
}


def test_a_direct_debit_names_the_account_that_is_debited_and_none_to_pay_to() -> None:
    text = building.ubl(facts()).replace("<cac:TaxTotal>", DEBIT["ubl"], 1)
    start, end = text.index("<cac:PaymentMeans>"), text.index("</cac:PaymentMeans>") + len("</cac:PaymentMeans>")
    found = {each.name: (each.value, each.term) for each in fields.flat(_one(text[:start] + text[end:]))}
    assert found["debited_iban"] == (building.IBAN, "BT-91")
    assert (found["mandate"], found["payment_means"]) == (("M-7", "BT-89"), ("59", "BT-81"))
    assert "iban" not in found


def test_a_direct_debit_in_cii_names_its_creditor_too() -> None:
    text = building.cii(facts())
    start = text.index("<SpecifiedTradeSettlementPaymentMeans>")
    end = text.index("<ApplicableTradeTax><CalculatedAmount>")
    found = {each.name: each.value for each in fields.flat(_one(text[:start] + DEBIT["cii"] + text[end:]))}
    assert (found["debited_iban"], found["creditor_id"]) == (building.IBAN, "DE98ZZZ09999999999")
    assert "iban" not in found


def test_a_credit_note_is_an_invoice_with_its_code_and_its_amounts_as_written() -> None:
    text = building.cii(facts()).replace("<TypeCode>380<", "<TypeCode>381<")
    result = _pdf(text)
    assert (result["document_type"], _value(result, "type_code")) == ("invoice", "381")
    assert _value(result, "total_gross") == "357.00"
