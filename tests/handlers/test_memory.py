"""The memory of an issuer: one correction makes the next invoice right, and makes nothing wrong that was right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.issuers import drawn
from bench.memory import corrected, first, is_right, scored
from handlers.invoice import handler
from pipeline.documents.text import Document
from pipeline.handling import Extraction, Field
from pipeline.reading.memory.anchors import learn, recall
from pipeline.reading.memory.lessons import Lesson, Remembered, issuer_keys, name_key
from pipeline.reading.memory.memory import recalled, with_memory
from pipeline.reading.memory.spans import FIRST_PAGES, LAST_PAGES, MOST_ROWS, printed
from tests.handlers.pages import document

VAT_ID, IBAN, BUYERS_VAT_ID = "DE136695976", "DE89370400440532013000", "ATU12345675"
ROW = st.text(st.sampled_from("ab Z19.,:-/€%ß\u0130\t"), max_size=40)


def _invoice(number: str, made: str, due: str, sums: Sequence[str], *, vat_id: str = VAT_ID) -> Document:
    """An invoice of an issuer who calls things by names of its own."""
    net, levy, owed = sums
    return document(
        f"""
Quarry & Sons                                         Note
Fenland Library, 4 Dyke Road                          Customer     77810
UID {BUYERS_VAT_ID}

Voucher          Delivery       Made out        Settle until
{number}          {made}        {made}         {due}

Gravel, 2 loads                                        {net}
Goods before levy                                      {net}
State takes                                            {levy}
Comes to                                               {owed}

UID {vat_id}   Konto {IBAN}
"""
    )


FIRST = _invoice("Q-4471", "03.05.2024", "02.06.2024", ("200,00", "38,00", "238,00"))
SECOND = _invoice("Q-5120", "17.09.2024", "17.10.2024", ("1.300,00", "247,00", "1.547,00"))
RIGHT = {
    "invoice_number": ("Q-4471", "Q-5120"),
    "issue_date": ("2024-05-03", "2024-09-17"),
    "due_date": ("2024-06-02", "2024-10-17"),
    "total_net": ("200.00", "1300.00"),
    "total_tax": ("38.00", "247.00"),
    "total_gross": ("238.00", "1547.00"),
    "seller_name": ("Quarry & Sons", "Quarry & Sons"),
    "buyer_name": ("Fenland Library", "Fenland Library"),
    "seller_vat_id": (VAT_ID, VAT_ID),
}


def _remembered(*lessons: Lesson, of: Document = FIRST, vat_id: str = VAT_ID, seller: str = "") -> Remembered:
    return Remembered(vat_id, "", seller, of.pages, lessons)


def _found(**fields: Field) -> Extraction:
    return Extraction("invoice", {name: (field,) for name, field in fields.items()})


def _value(extraction: Extraction, name: str) -> str | None:
    return next((field.value for field in extraction.fields.get(name, ())), None)


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_what_was_corrected_once_is_right_on_the_next_invoice(name: str) -> None:
    before, after = RIGHT[name]
    found = recalled(SECOND, _found(), [_remembered(Lesson(name, "fix", before))])
    (field,) = found.fields[name]
    assert (field.value, field.method) == (after, "memory")
    assert field.confidence > 0.8
    assert after.split("-")[0] in field.snippet or name.startswith(("total", "issue", "due"))


def test_the_handlers_own_mistakes_are_mended_and_nothing_else_changes() -> None:
    teacher = handler.extract(FIRST)
    wrong = {name: values[0] for name, values in RIGHT.items() if _value(teacher, name) != values[0]}
    assert wrong
    lessons = [
        Lesson(name, "fix", value, wrong=_value(teacher, name) or "", wrong_row=_row(teacher, name))
        for name, value in wrong.items()
    ]
    read = with_memory(SECOND, handler.extract(SECOND), lambda _: [_remembered(*lessons)])
    assert {name: _value(read, name) for name in RIGHT} == {name: values[1] for name, values in RIGHT.items()}


def _row(extraction: Extraction, name: str) -> str:
    return next((field.snippet for field in extraction.fields.get(name, ())), "")


def test_one_correction_mends_the_next_invoices_of_drawn_issuers_and_breaks_none() -> None:
    better = worse = 0
    samples = list(drawn(4))
    for place in range(0, len(samples), 3):
        teacher, *others = samples[place : place + 3]
        names = scored(teacher, only_visible=True)
        known = corrected(teacher, handler.extract(teacher.document), names)
        for sample in others:
            before = handler.extract(sample.document)
            after = recalled(sample.document, before, [known])
            for name in scored(sample, only_visible=True):
                was, now = (is_right(sample, name, first(each, name)) for each in (before, after))
                better, worse = better + (now and not was), worse + (was and not now)
    assert better > 20
    assert worse == 0


def test_what_an_xml_says_is_never_overruled() -> None:
    xml = Field("X-1", 0, "", "xml", 1.0)
    found = recalled(SECOND, _found(invoice_number=xml), [_remembered(Lesson("invoice_number", "fix", "Q-4471"))])
    assert found.fields["invoice_number"] == (xml,)


def test_totals_that_a_second_sum_proves_are_never_overruled() -> None:
    sums = {"total_net": "500.00", "total_tax": "95.00", "total_gross": "595.00"}
    proved = replace(
        _found(**{name: Field(value, 1, "", "label", 0.5) for name, value in sums.items()}),
        checks={"net_plus_tax_is_gross": True, "items_add_up": True},
    )
    known = _remembered(*(Lesson(name, "fix", RIGHT[name][0]) for name in sums))
    assert recalled(SECOND, proved, [known]) == proved
    unproved = replace(proved, checks={"net_plus_tax_is_gross": True})
    assert _value(recalled(SECOND, unproved, [known]), "total_gross") == "1547.00"


def test_totals_that_add_up_are_not_given_away_for_some_that_do_not() -> None:
    sums = {"total_net": "1300.00", "total_tax": "247.00", "total_gross": "1547.00"}
    guessed = _found(**{name: Field(value, 1, "", "label", 0.5) for name, value in sums.items()})
    found = recalled(SECOND, guessed, [_remembered(Lesson("total_gross", "fix", "38.00"))])
    assert {name: _value(found, name) for name in sums} == sums


def test_mended_totals_are_checked_again() -> None:
    broken = _found(
        total_net=Field("1300.00", 1, "", "label", 0.5),
        total_tax=Field("247.00", 1, "", "label", 0.5),
        total_gross=Field("247.00", 1, "State takes 247,00", "label", 0.5),
    )
    known = _remembered(Lesson("total_gross", "fix", "238.00", wrong="38.00", wrong_row="State takes 38,00"))
    found = recalled(SECOND, replace(broken, checks={"net_plus_tax_is_gross": False}), [known])
    assert (_value(found, "total_gross"), found.checks) == ("1547.00", {"net_plus_tax_is_gross": True})


def test_what_was_removed_is_not_answered_again_from_that_place() -> None:
    customer = Field("77810", 1, "Fenland Library, 4 Dyke Road Customer 77810", "label", 0.9)
    removed = _remembered(Lesson("purchase_order", "remove", "", wrong="77810", wrong_row=customer.snippet))
    assert _value(recalled(SECOND, _found(purchase_order=customer), [removed]), "purchase_order") is None
    elsewhere = replace(customer, value="Q-5120", snippet="Q-5120 17.09.2024 17.09.2024 17.10.2024")
    assert recalled(SECOND, _found(purchase_order=elsewhere), [removed]).fields["purchase_order"] == (elsewhere,)


def test_an_answer_from_another_place_than_the_mistake_stays_and_is_less_sure() -> None:
    other = Field("C-99", 1, "printed elsewhere", "label", 0.94)
    known = _remembered(Lesson("invoice_number", "fix", "Q-4471", wrong="77810", wrong_row="Customer 77810"))
    (kept,) = recalled(SECOND, _found(invoice_number=other), [known]).fields["invoice_number"]
    assert (kept.value, kept.confidence) == ("C-99", 0.7)


def test_a_second_document_whose_value_is_known_takes_back_an_anchor_that_would_be_wrong_there() -> None:
    """On the first invoice delivery and issue fell on one day: which column is meant shows only the other one."""
    other = document("Voucher   Delivery      Made out\nQ-7      01.02.2024    05.02.2024\nComes to   10,00")
    latest = document("Voucher   Delivery      Made out\nQ-8      01.03.2024    09.03.2024\nComes to   12,00")
    alone = _remembered(Lesson("issue_date", "fix", "2024-05-03"))
    both = [_remembered(Lesson("issue_date", "fix", "2024-02-05"), of=other), alone]
    (doubtful,) = recalled(latest, _found(), [alone]).fields["issue_date"]
    (sure,) = recalled(latest, _found(), both).fields["issue_date"]
    assert doubtful.confidence < 0.8
    assert (sure.value, sure.confidence > 0.9) == ("2024-03-09", True)


def test_one_slip_of_a_person_does_not_unteach_what_other_documents_show() -> None:
    sums = ("200,00", "38,00", "238,00")
    others = [_invoice(number, "04.05.2024", "03.06.2024", sums) for number in ("Q-4480", "Q-4490")]
    right = [_remembered(Lesson("invoice_number", "fix", "Q-4471"))]
    right.append(_remembered(Lesson("invoice_number", "fix", "Q-4480"), of=others[0]))
    slip = _remembered(Lesson("invoice_number", "fix", "77810"), of=others[1])
    (field,) = recalled(SECOND, _found(), [slip, *right]).fields["invoice_number"]
    assert (field.value, field.confidence > 0.9) == ("Q-5120", True)


def test_a_mistake_is_known_again_though_the_latest_correction_was_of_another_one() -> None:
    customer = Field("77810", 1, "Fenland Library, 4 Dyke Road Customer 77810", "label", 0.9)
    older = Lesson("invoice_number", "fix", "Q-4471", wrong="77810", wrong_row=customer.snippet)
    latest = Lesson("invoice_number", "fix", "Q-4471", wrong="2", wrong_row="Gravel, 2 loads 200,00")
    known = [_remembered(latest), _remembered(older)]
    assert _value(recalled(SECOND, _found(invoice_number=customer), known), "invoice_number") == "Q-5120"


def test_one_row_is_hardly_two_totals_though_both_were_the_same_on_the_corrected_invoice() -> None:
    both = _remembered(Lesson("amount_due", "fix", "238.00"), Lesson("total_gross", "fix", "238.00"))
    found = recalled(SECOND, _found(), [both]).fields
    assert [found[name][0].confidence > 0.8 for name in ("total_gross", "amount_due")] == [True, False]


def test_a_value_that_stood_at_several_places_is_not_sure_where_one_of_them_is_left() -> None:
    twice = document("Day        03.05.2024\nDelivered  03.05.2024\nComes to   10,00")
    other = document("Day        04.06.2024\nComes to   12,00")
    known = _remembered(Lesson("issue_date", "fix", "2024-05-03"), of=twice)
    (field,) = recalled(other, _found(), [known]).fields["issue_date"]
    assert (field.value, 0.8 < field.confidence < 0.9) == ("2024-06-04", True)


def test_a_new_account_is_read_where_the_old_one_stood_if_it_is_one() -> None:
    known = [_remembered(Lesson("iban", "fix", IBAN))]
    text = f"Quarry & Sons\nUID {VAT_ID}\nKonto {{}}\nComes to 5,00"
    changed, mistyped = (text.format(each) for each in ("DE02 1203 0000 0000 2020 51", "DE02 1203 0000 0000 2020 52"))
    assert _value(recalled(document(changed), _found(), known), "iban") == "DE02120300000000202051"
    assert _value(recalled(document(mistyped), _found(), known), "iban") is None


def test_a_name_that_is_only_in_the_logo_is_recalled_and_says_that_it_stands_nowhere() -> None:
    (field,) = recalled(SECOND, _found(), [_remembered(Lesson("seller_name", "fix", "QS Group"))]).fields["seller_name"]
    assert (field.value, field.page, field.confidence) == ("QS Group", 0, 0.85)


def test_a_document_is_asked_about_by_what_may_be_its_issuers_keys() -> None:
    keys = issuer_keys(SECOND, {}, printed(SECOND).rows)
    assert {VAT_ID.lower(), IBAN.lower(), BUYERS_VAT_ID.lower(), name_key("Quarry & Sons")} <= set(keys)


@pytest.mark.parametrize(
    ("known", "found", "is_used"),
    [
        (_remembered(), {}, True),
        (_remembered(), {"seller_vat_id": VAT_ID}, True),
        # The customer of this invoice is the seller of another one, which was corrected.
        (_remembered(vat_id=BUYERS_VAT_ID), {"seller_vat_id": VAT_ID}, False),
        (_remembered(vat_id="FR12345678901"), {}, False),
        (_remembered(vat_id="", seller="Quarry & Sons"), {}, True),
        (_remembered(vat_id="", seller="Quarry & Sons"), {"buyer_name": "QUARRY & SONS"}, False),
        (_remembered(vat_id="", seller="Quarry & Sons"), {"seller_vat_id": VAT_ID}, False),
        (_remembered(vat_id="", seller="Somebody Else"), {}, False),
        (_remembered(vat_id="", seller=""), {}, False),
    ],
)
def test_only_the_memory_of_its_own_issuer_is_used(known: Remembered, found: dict[str, str], is_used: bool) -> None:
    lessons = (Lesson("invoice_number", "fix", "Q-4471"),)
    fields = _found(**{name: Field(value, 1, "", "label", 0.9) for name, value in found.items()})
    read = with_memory(SECOND, fields, lambda _: [replace(known, lessons=lessons)])
    assert _value(read, "invoice_number") == ("Q-5120" if is_used else None)


def test_nobody_is_asked_about_what_is_no_invoice_or_has_no_key() -> None:
    def ask(keys: Sequence[str]) -> Sequence[Remembered]:
        raise AssertionError(keys)

    contract = Extraction("contract")
    assert with_memory(SECOND, contract, ask) is contract
    bare = document("12,00\n7")
    assert with_memory(bare, _found(), ask) == _found()


def test_a_document_of_nothing_but_labels_costs_no_more_than_its_outer_rows_and_says_nothing() -> None:
    page = "\n".join(["Voucher  Q-9   Comes to  7,00"] * 400)
    sheet = printed(document(*[page] * 30))
    assert len(sheet.rows) == (FIRST_PAGES + LAST_PAGES) * MOST_ROWS
    (anchor, *_) = learn("total_gross", "238.00", printed(FIRST))
    assert recall(anchor, sheet) is None


@given(st.lists(ROW, min_size=1, max_size=8), st.lists(ROW, max_size=8), ROW, st.sampled_from(sorted(RIGHT)))
@example(["1"], [], "1", "buyer_name")
def test_any_text_may_be_remembered_and_any_text_read(then: list[str], now: list[str], value: str, name: str) -> None:
    before, after = document("\n".join(then)), document("\n".join(now))
    known = Remembered("", "", "", before.pages, (Lesson(name, "fix", value, wrong=now[0] if now else ""),))
    found = recalled(after, _found(**{name: Field("1.00", 1, "", "label", 0.5)}), [known])
    assert all(0 <= field.confidence <= 1 for several in found.fields.values() for field in several)


@given(st.lists(ROW, min_size=1, max_size=8), st.data())
def test_an_anchor_finds_again_what_it_was_learned_from(lines: list[str], data: st.DataObject) -> None:
    sheet = printed(document("\n".join(lines)))
    cells = [cell.text for row in sheet.rows for cell in row.cells if any(map(str.isalnum, cell.text))]
    if not cells:
        return
    value = data.draw(st.sampled_from(cells))
    for anchor in learn("invoice_number", value, sheet):
        hit = recall(anchor, sheet)
        assert hit is not None
        assert name_key(hit.value) == name_key(value)
