"""An electronic invoice is read from its XML, alone or inside a PDF, and held against what the PDF prints."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from pypdf import PdfWriter

from pipeline import handling
from pipeline.documents import formats
from pipeline.documents.contract import Attachment
from pipeline.work import Job, process
from tests.documents.samples import pdf
from tests.einvoices import building
from tests.einvoices.building import facts

PRINTED = """Ölmühle Nordhafen GmbH
Invoice no. INV-2026/0042
Invoice date 2026-03-05
Net total 300.00 EUR
VAT 19 % 57.00 EUR
Total 357.00 EUR
Booked by Ida"""


def _carrying(printed: str, content: str, name: str = "anything.bin") -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(pdf.build([printed])))
    writer.add_attachment(name, content.encode())
    whole = io.BytesIO()
    writer.write(whole)
    return whole.getvalue()


def _read(content: bytes, name: str) -> dict[str, Any]:
    def consume(attachment: Attachment) -> None:
        assert sum(map(len, attachment.content or ())) > 0

    job = Job(io.BytesIO(content), name)
    done = process(
        job,
        formats.discover(),
        handling.discover(),
        on_open=lambda _: None,
        on_page=lambda _: None,
        on_attachment=consume,
    )
    return dict(done.result)


def _values(result: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {name: (values[0]["value"], values[0]["method"]) for name, values in result["fields"].items()}


@pytest.mark.parametrize("write", [building.ubl, building.cii], ids=["ubl", "cii"])
def test_xml_alone_is_read_exactly_whatever_it_is_called(write: Any) -> None:
    result = _read(write(facts()).encode(), "upload.tmp")
    found = _values(result)
    assert result["document_type"] == "invoice"
    assert found["invoice_number"] == (building.NUMBER, "xml")
    assert found["total_gross"] == ("357.00", "xml")
    assert found["type_code"] == ("380", "xml")
    assert result["checks"]["BR-CO-15"] is True
    assert result["messages"] == {}
    assert not any(name.startswith("xml_vs_print") for name in result["checks"])


@pytest.mark.parametrize("write", [building.ubl, building.cii], ids=["ubl", "cii"])
def test_an_account_has_no_spaces_however_it_is_written_for_people(write: Any) -> None:
    result = _read(write(replace(facts(), iban="DE02 1203 0000 0000 2020 51")).encode(), "invoice.xml")
    assert _values(result)["iban"] == (building.IBAN, "xml")


def test_the_xml_inside_a_pdf_decides_and_agrees_with_its_print() -> None:
    result = _read(_carrying(PRINTED, building.cii(facts())), "invoice.pdf")
    found = _values(result)
    assert found["total_gross"] == ("357.00", "xml")
    assert found["iban"] == (building.IBAN, "xml")
    assert result["checks"]["xml_vs_print_total_gross"] is True
    assert result["checks"]["xml_vs_print_invoice_number"] is True


def test_a_total_that_the_print_gives_otherwise_is_a_failed_check_that_names_both() -> None:
    printed = PRINTED.replace("VAT 19 % 57.00", "VAT 19 % 77.00").replace("Total 357.00", "Total 377.00")
    result = _read(_carrying(printed, building.cii(facts())), "invoice.pdf")
    assert result["checks"]["xml_vs_print_total_gross"] is False
    message = result["messages"]["xml_vs_print_total_gross"]
    assert "357.00" in message
    assert "377.00" in message
    assert _values(result)["total_gross"] == ("357.00", "xml")


def test_a_broken_sum_fails_its_rule_by_name() -> None:
    result = _read(building.ubl(facts(gross="358.00")).encode(), "a.xml")
    assert result["checks"]["BR-CO-15"] is False
    assert "358.00" in result["messages"]["BR-CO-15"]


def test_xml_that_is_refused_leaves_the_print_alone() -> None:
    hostile = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + building.cii(facts())
    result = _read(_carrying(PRINTED, hostile), "invoice.pdf")
    assert _values(result)["total_gross"] == ("357.00", _values(result)["total_gross"][1])
    assert {method for _, method in _values(result).values()}.isdisjoint({"xml"})
    assert "root:" not in str(result)


def test_xml_that_breaks_off_is_told_and_the_print_is_read() -> None:
    result = _read(_carrying(PRINTED, building.cii(facts())[:2_000]), "invoice.pdf")
    assert result["checks"]["einvoice_readable"] is False
    assert "xml" not in {method for _, method in _values(result).values()}
    assert _values(result)["total_gross"][0] == "357.00"


def _groups(result: dict[str, Any], name: str) -> list[dict[str, tuple[str, str]]]:
    several = [each for each in result["groups"] if each["name"] == name]
    assert [each["number"] for each in several] == list(range(1, len(several) + 1))
    return [{key: (one["value"], one["method"]) for key, one in each["fields"].items()} for each in several]


def test_lines_and_taxes_come_from_the_xml_where_there_is_one() -> None:
    result = _read(_carrying(PRINTED, building.cii(facts())), "invoice.pdf")
    assert [(line["name"], line["net_amount"]) for line in _groups(result, "lines")] == [
        (("Press 1", "xml"), ("100.00", "xml")),
        (("Press 2", "xml"), ("200.00", "xml")),
    ]
    taxes = [(row["taxable_amount"], row["tax_amount"]) for row in _groups(result, "taxes")]
    assert taxes == [(("300.00", "xml"), ("57.00", "xml"))]
