"""Every syntax gives the same invoice, exactly; hostile XML gives a named refusal, and nothing else."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.einvoices import checks, fields, reading
from pipeline.einvoices.model import Invoice, Profile
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.einvoices import building
from tests.einvoices.building import Facts, facts

WRITERS: dict[str, Callable[[Facts], str]] = {
    "ubl": building.ubl,
    "cii": building.cii,
    "zugferd1": building.zugferd1,
    "release_candidate": lambda told: building.zugferd1(told, root="Invoice"),
    "fatturapa": building.fatturapa,
}
each_syntax = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


def read_one(text: str) -> Invoice:
    (invoice,) = reading.read(text.encode())
    return invoice


def test_every_syntax_is_found_by_itself() -> None:
    assert set(reading.discover()) == {"cii", "ubl", "fatturapa"}
    assert all(name == syntax.name for name, syntax in reading.discover().items())


@each_syntax
def test_the_same_facts_read_the_same_in_every_syntax(write: Callable[[Facts], str]) -> None:
    invoice = read_one(write(facts()))
    found = {field.name: field.value for field in fields.flat(invoice)}
    assert found["invoice_number"].startswith(building.NUMBER)
    assert {name: found[name] for name in ("issue_date", "due_date", "seller_name", "buyer_name", "currency")} == {
        "issue_date": building.ISSUED,
        "due_date": building.DUE,
        "seller_name": building.SELLER,
        "buyer_name": building.BUYER,
        "currency": "EUR",
    }
    assert (found["iban"], found["seller_vat_id"]) == (building.IBAN, building.VAT)
    amounts = ("total_net", "total_tax", "total_gross", "amount_due")
    assert [found[name] for name in amounts] == ["300.00", "57.00", "357.00", "357.00"]
    assert not invoice.unread


@each_syntax
def test_every_field_says_its_term_and_where_it_stands(write: Callable[[Facts], str]) -> None:
    for field in fields.flat(read_one(write(facts()))):
        assert field.term.startswith("BT-")
        assert field.place.startswith("/") or field.name in ("total_net", "total_tax", "type_code"), field


@pytest.mark.parametrize("name", ["ubl", "cii", "zugferd1", "release_candidate"])
def test_lines_have_their_amounts_prices_and_taxes_in_every_syntax(name: str) -> None:
    lines = read_one(WRITERS[name](facts())).lines
    assert [(line.net, line.price, line.quantity, line.unit, line.rate, line.category) for line in lines] == [
        (Decimal(amount), Decimal(amount), Decimal(1), "C62", Decimal(19), "S") for amount in ("100.00", "200.00")
    ]


def test_lines_and_rows_of_taxes_are_groups_with_their_places() -> None:
    found = fields.groups(read_one(building.ubl(facts())))
    assert [(group.name, group.number) for group in found] == [("lines", 1), ("lines", 2), ("taxes", 1)]
    second = {field.name: field.value for field in found[1].fields}
    assert (second["name"], second["net_amount"], second["tax_rate"]) == ("Press 2", "200.00", "19")
    assert found[1].fields[0].place.endswith("[2]")


def test_each_invoice_of_an_italian_file_is_read() -> None:
    invoices = reading.read(building.fatturapa(facts(), bodies=3).encode())
    assert [each.number for each in invoices] == [f"{building.NUMBER}-{number}" for number in (1, 2, 3)]
    assert len({each.places["BT-1"] for each in invoices}) == 3


def test_the_profile_is_the_one_the_invoice_names() -> None:
    for name, profile in (
        ("urn:factur-x.eu:1p0:minimum", Profile.MINIMUM),
        ("urn:factur-x.eu:1p0:basicwl", Profile.BASIC_WL),
        ("urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended", Profile.EXTENDED),
        ("urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic", Profile.BASIC),
        ("urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", Profile.XRECHNUNG),
        ("urn:cen.eu:en16931:2017", Profile.EN16931),
        ("something", Profile.UNKNOWN),
    ):
        assert read_one(building.cii(facts(specification=name))).profile is profile


def test_what_cannot_be_understood_is_kept_raw() -> None:
    invoice = read_one(building.ubl(facts(gross="1.357,00", issued="2026-02-31")))
    assert invoice.totals.gross is None
    assert invoice.issue_date is None
    assert {(each.term, each.raw) for each in invoice.unread} == {("BT-112", "1.357,00"), ("BT-2", "2026-02-31")}


def test_amounts_are_exact() -> None:
    invoice = read_one(building.ubl(facts(net="123456789012345678.10", tax="0.1")))
    assert invoice.totals.net == Decimal("123456789012345678.10")
    assert invoice.totals.tax == Decimal("0.1")
    assert invoice.due_date == dt.date(2026, 4, 4)


def test_other_xml_is_no_invoice() -> None:
    assert reading.read(b"<note><ID>1</ID></note>") == []
    assert reading.read(b"<Invoice><ID>1</ID></Invoice>") == []


ENTITY = '<!DOCTYPE Invoice [<!ENTITY a "x"><!ENTITY b SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("label", ["UTF-8", "UTF-16", "latin-1", "no/such+thing"])
def test_a_document_type_is_refused_in_every_encoding(encoding: str, label: str) -> None:
    text = building.ubl(facts(seller="&b;")).replace("UTF-8", label).replace("<Invoice", ENTITY + "<Invoice", 1)
    with pytest.raises(DocumentError) as refused:
        reading.read(text.encode(encoding))
    assert refused.value.reason in (Reason.BOMB, Reason.CORRUPT)


@pytest.mark.parametrize("label", ["UTF-8_W/O_BOM", "utf8", "x", "UTF-16"])
def test_a_wrong_label_of_the_encoding_costs_nothing(label: str) -> None:
    text = building.ubl(facts()).replace('encoding="UTF-8"', f'encoding="{label}"')
    assert read_one(text).seller.name == building.SELLER


def test_nesting_and_elements_and_bytes_are_bounded() -> None:
    deep = b"<a>" * 5_000 + b"</a>" * 5_000
    wide = b"<Invoice>" + b"<b/>" * (reading.MAX_ELEMENTS + 1) + b"</Invoice>"
    large = b"<a>" + b" " * reading.MAX_BYTES + b"</a>"
    just = b"<a>" * (reading.MAX_DEPTH + 1) + b"</a>" * (reading.MAX_DEPTH + 1)
    for content in (deep, wide, large, just):
        with pytest.raises(DocumentError) as refused:
            reading.read(content)
        assert refused.value.reason is Reason.BOMB


def test_a_large_attachment_inside_does_not_hide_the_invoice() -> None:
    data = "QUJD" * 3_000_000
    text = building.ubl(facts()).replace("</Invoice>", f"<Attachment>{data}</Attachment></Invoice>")
    assert read_one(text).number == building.NUMBER


def test_a_cut_file_is_truncated_and_a_broken_one_corrupt() -> None:
    text = building.cii(facts())
    for content, reason in (
        (text[: len(text) // 2], Reason.TRUNCATED),
        (text.replace("</ID>", "</X>"), Reason.CORRUPT),
    ):
        with pytest.raises(DocumentError) as refused:
            reading.read(content.encode())
        assert refused.value.reason is reason


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(WRITERS)),
    st.lists(
        st.tuples(st.integers(0, 10_000), st.sampled_from(["", "<", "-1", "NaN", "1e9", "\0", "</ID>", "é", "&x;"]))
    ),
)
def test_odd_content_is_read_or_refused_and_never_raises_otherwise(name: str, edits: list[tuple[int, str]]) -> None:
    text = WRITERS[name](facts())
    for place, piece in edits[:5]:
        at = place % len(text)
        text = text[:at] + piece + text[at + len(piece) :]
    try:
        invoices = reading.read(text.encode())
    except DocumentError:
        return
    for invoice in invoices:
        checks.check(invoice)
        fields.flat(invoice)
        fields.groups(invoice)
