"""Receipts as recognition reads them: spaces lost, letters for digits, rows that slipped, and how sure that can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers.invoice import handler
from pipeline.documents.text import Document, Source
from pipeline.handling import Field
from pipeline.reading.receipts import misread
from pipeline.reading.receipts.merchants import merchants
from pipeline.reading.receipts.till_dates import find_till_dates
from pipeline.reading.receipts.till_words import restored
from pipeline.reading.rows import rows
from tests.handlers.pages import RECEIPT, document

DATE_ROW = "DATE: 14/08/2017 18:22:07"


def _read(layout: str) -> Mapping[str, Field]:
    return {name: several[0] for name, several in handler.extract(document(layout)).fields.items()}


def _recognised(layout: str, confidence: float) -> Document:
    printed = document(layout)
    page = replace(printed.pages[0], source=Source.OCR, figures={"confidence": confidence})
    return replace(printed, pages=(page,))


@pytest.mark.parametrize(
    ("printed", "trusted"),
    [
        ("DATE: 14/08/2017 18:22:07", True),
        ("14/08/201718:22:07", True),
        ("14-08-20178:22 PM", True),
        ("DATE 14/08/178:22", True),
        ("2017-08-1418:22", True),
        ("DATE/TIME 20170814/182207", True),
        ("DATE: 14 AUG 17", True),
        ("14-AUG-17 18:22", True),
        ("AUG14'17 18:22", True),
        ("DATE: I4/O8/2Ol7", False),
        ("14 08 2017 18:22", False),
        ("14-08~17 18:22", False),
        ("14/08/2017.18:22", True),
        ("14/082017 18:22", False),
        ("DATE: 14082017", False),
        ("DATE: 14 AU6 2017", False),
        ("DATE: 14 AVG 2017", False),
    ],
)
def test_a_day_is_read_however_its_space_its_marks_or_its_digits_were_lost(printed: str, trusted: bool) -> None:
    read = _read(RECEIPT.replace(DATE_ROW, printed))["issue_date"]
    assert read.value == "2017-08-14"
    assert (read.confidence >= 0.85) is trusted
    assert (read.confidence >= 0.9) <= trusted


@pytest.mark.parametrize("row", ["member 14082017", "2 set 15   4.50", "tel 03 12 2019", "no 20170814"])
def test_figures_without_a_label_or_a_time_are_no_date(row: str) -> None:
    assert not find_till_dates(row, day_first=True, labelled=False)


def test_a_year_that_no_till_prints_is_not_the_year_of_the_sale() -> None:
    assert _read(RECEIPT.replace("TEL: 03-1234 5678", "DATE 14/08/2077 10:00"))["issue_date"].value == "2017-08-14"


def test_a_day_that_could_be_a_month_is_sure_only_where_the_country_tells() -> None:
    here = RECEIPT.replace("14/08/2017", "04/08/2017")
    assert _read(here)["issue_date"].confidence >= 0.9
    nowhere = here.replace(" RM ", "    ").replace("SDN BHD", "ENTERPRISE").replace("SELANGOR", "")
    found = _read(nowhere)["issue_date"]
    assert found.value == "2017-08-04"
    assert found.confidence < 0.9


def test_letters_in_amounts_are_digits_and_the_total_is_less_trusted() -> None:
    clean = _read(RECEIPT)["total_gross"]
    read = _read(RECEIPT.replace("12.95", "12.9S"))["total_gross"]
    assert (clean.value, read.value) == ("12.95", "12.95")
    assert read.confidence < 0.9 < clean.confidence


@pytest.mark.parametrize(
    "foot",
    [
        "TOTAL INCL GST\nCASH            RM    12.95\nCHANGE          RM    20.00\n                RM     7.05",
        "                RM    12.95\nTOTAL INCL GST  RM    20.00\nCASH            RM     7.05\nCHANGE",
    ],
)
def test_words_that_slipped_a_row_off_their_amounts_are_read_beside_them(foot: str) -> None:
    begin, end = RECEIPT.index("TOTAL EXCL"), RECEIPT.index("        THANK YOU")
    assert _read(RECEIPT[:begin] + foot + "\n" + RECEIPT[end:])["total_gross"].value == "12.95"


def test_a_misread_legal_form_is_put_right_and_less_trusted() -> None:
    clean, read = _read(RECEIPT)["seller_name"], _read(RECEIPT.replace("SDN BHD", "SDN DHD"))["seller_name"]
    assert read.value == clean.value == "KEDAI ROTI MERPATI SDN BHD"
    assert read.confidence < min(clean.confidence, 0.9)


def test_what_is_scribbled_above_the_name_is_not_the_name() -> None:
    scribbled = "  3180404\n   A02/45\n" + RECEIPT
    assert _read(scribbled)["seller_name"].value == "KEDAI ROTI MERPATI SDN BHD"
    named = {span.value: features for span, features in merchants(rows(document(scribbled)))}
    assert "at 0" in named["KEDAI ROTI MERPATI SDN BHD"]


def test_a_currency_over_a_column_is_named_and_one_of_the_country_is_derived() -> None:
    bare = RECEIPT.replace(" RM ", "    ")
    assert _read(bare.replace("AMOUNT", "AMT(RM)"))["currency"].method == "pattern"
    derived = _read(bare)["currency"]
    assert (derived.value, derived.method) == ("MYR", "derived")
    assert derived.confidence < 0.9
    assert "currency" not in _read(bare.replace("SDN BHD", "ENTERPRISE").replace("SELANGOR", ""))


def test_of_a_poorly_read_page_only_what_a_sum_proves_is_sure() -> None:
    assert _sure(0.9) == {"total_gross"}


def test_of_a_fairly_read_page_figures_are_sure_and_names_are_not() -> None:
    assert _sure(0.98) == {"total_gross", "issue_date", "currency"}
    assert "seller_name" in _sure(1.0)


def _sure(confidence: float) -> set[str]:
    found = handler.extract(_recognised(RECEIPT, confidence)).fields
    return {name for name, several in found.items() if several[0].confidence >= 0.9}


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("KEDAI R0TI MERPATI SDN BHD", "KEDAI ROTI MERPATI SDN BHD"),
        ("KEDAI ROTI MERPATISDNBHD", "KEDAI ROTI MERPATI SDN BHD"),
        ("KEDAI F00D HALL", "KEDAI FOOD HALL"),
        ("M.1.D. ENTERPRISE", "M.I.D. ENTERPRISE"),
        ("MERPATIENTERPRISE", "MERPATI ENTERPRISE"),
        ("BLOK A10 RESTAURANTS", "BLOK A10 RESTAURANTS"),
    ],
)
def test_letters_and_spaces_of_a_name_are_put_back(read: str, meant: str) -> None:
    assert restored(read) == meant


@given(st.text(alphabet="0123456789OoIlSB.,/:-| RMtotalcash", max_size=60))
def test_repaired_text_is_as_long_as_what_was_read(text: str) -> None:
    assert len(misread.money(text)) == len(text)
    assert len(misread.words(text.lower(), {"total", "change"})) == len(text)


def test_only_letters_that_look_alike_are_taken_for_one_another() -> None:
    known = {"total", "change", "pharmacy", "stationery"}
    assert misread.words("tolal t0tal chanqe pharhacy", known) == "total total change pharmacy"
    assert misread.words("tonal stationary range", known) == "tonal stationary range"
