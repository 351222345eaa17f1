"""Binary Excel workbooks: every kind of cell, texts that continue in another record, and counts that lie."""

from __future__ import annotations

import struct

import pytest

from pipeline.reasons import Reason
from tests.documents.packing import compound
from tests.documents.reading import layout, pages, refusal, text, texts
from tests.documents.samples.xls import begin, label, number, record, shared_texts, stream
from tests.documents.samples.xls import text as wide

EUROS = record(0x41E, struct.pack("<H", 164) + wide("0.00\\ [$€-407]"))


def _styles(*formats: int) -> bytes:
    return b"".join(record(0xE0, struct.pack("<HH", 0, each) + bytes(16)) for each in formats)


def _book(rows: bytes, *, shared: list[bytes] | None = None, extra: bytes = b"") -> bytes:
    return compound({"Workbook": stream({"S": rows}, shared=shared or [], extra=extra)})


def _rk(row: int, column: int, value: int) -> bytes:
    return record(0x27E, struct.pack("<HHHI", row, column, 0, value & 0xFFFFFFFF))


def _formula(column: int, result: bytes) -> bytes:
    return record(0x06, struct.pack("<HHH", 0, column, 0) + result + bytes(8))


def test_numbers_dates_and_currencies_are_shown_as_in_the_new_format() -> None:
    rows = number(0, 0, 43363, 1) + number(0, 1, 12.5, 2) + number(0, 2, 1e19) + number(0, 3, 0.1 + 0.2)
    assert text(_book(rows, extra=EUROS + _styles(0, 14, 164))).split("  ") == [
        "2018-09-20", "12.50 €", "10000000000000000000", "0.3",
    ]  # fmt: skip


def test_packed_numbers_are_unpacked() -> None:
    many = record(0xBD, struct.pack("<HHHIHIH", 0, 4, 0, 7 << 2 | 2, 0, 9 << 2 | 2, 5))
    rows = _rk(0, 0, 5 << 2 | 2) + _rk(0, 1, -5 << 2 | 2) + _rk(0, 2, 1234 << 2 | 3) + _rk(0, 3, 0x3FF80000) + many
    assert text(_book(rows)) == "5  -5  12.34  1.5  7  9"


def test_formulas_show_their_results() -> None:
    rows = (
        _formula(0, struct.pack("<d", 2.5))
        + _formula(1, b"\x00" + bytes(5) + b"\xff\xff")
        + record(0x207, wide("made"))
        + _formula(2, b"\x01\x00\x01" + bytes(3) + b"\xff\xff")
        + _formula(3, b"\x02\x00\x2a" + bytes(3) + b"\xff\xff")
        + record(0x205, struct.pack("<HHHBB", 0, 4, 0, 0, 0))
        + record(0x204, struct.pack("<HHH", 0, 5, 0) + wide("label"))
    )
    assert text(_book(rows)) == "2.5  made  TRUE  #N/A  FALSE  label"


def test_a_text_that_continues_in_another_record_may_change_its_width() -> None:
    first = record(0xFC, struct.pack("<II", 2, 2) + struct.pack("<HB", 6, 0) + b"abc")
    second = record(0x3C, b"\x01" + "déf".encode("utf-16-le") + wide("next"))
    assert text(_book(label(0, 0, 0) + label(0, 1, 1), shared=[first, second])) == "abcdéf  next"


def test_formatting_of_a_text_is_passed_over() -> None:
    rich = struct.pack("<HBHI", 4, 0x0D, 1, 6) + "rich".encode("utf-16-le") + bytes(4) + bytes(6)
    texts_record = record(0xFC, struct.pack("<II", 2, 2) + rich + wide("plain"))
    assert text(_book(label(0, 0, 0) + label(0, 1, 1), shared=[texts_record])) == "rich  plain"


def test_counts_that_lie_reserve_nothing() -> None:
    lying = record(0xFC, struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFF) + wide("one"))
    huge = record(0x200, struct.pack("<IIHHH", 0, 0xFFFFFFFF, 0, 0xFFFF, 0))
    assert text(_book(huge + label(0, 0, 0) + number(65_535, 255, 1), shared=[lying])) == "one\n1"


def test_text_boxes_follow_the_rows() -> None:
    box = record(0x1B6, bytes(10) + struct.pack("<HH", 5, 0) + bytes(4)) + record(0x3C, b"\x00a box")
    assert text(_book(box + number(0, 0, 1))) == "1\na box"


def test_charts_are_no_sheets_and_charts_within_a_sheet_no_rows() -> None:
    inner = begin(0x20) + number(0, 5, 99) + record(0x0A)
    content = stream({"S": inner + number(0, 0, 1)})
    assert texts(compound({"Workbook": content})) == ["1"]
    chart = bytearray(content)
    struct.pack_into("<H", chart, content.rfind(begin(0x10)) + 6, 0x20)
    assert texts(compound({"Workbook": bytes(chart)})) == [""]


def test_an_older_workbook_is_read_in_its_code_page() -> None:
    opening = record(0x809, struct.pack("<HHHH", 0x500, 5, 0, 0)) + record(0x42, struct.pack("<H", 1251))
    name = "Лист".encode("cp1251")
    sheet = record(0x809, struct.pack("<HHHH", 0x500, 0x10, 0, 0))
    sheet += record(0x204, struct.pack("<HHHH", 0, 0, 0, 6) + "Привет".encode("cp1251")) + record(0x0A)
    at = len(opening) + 11 + len(name) + 4
    listed = record(0x85, struct.pack("<IBBB", at, 1, 0, len(name)) + name)
    (page,) = pages(compound({"Book": opening + listed + record(0x0A) + sheet}))
    assert (page.text, page.note) == ("Привет", "hidden sheet Лист, rows 1 to 1")


def test_a_cut_sheet_is_read_up_to_the_cut() -> None:
    whole = stream({"S": b"".join(number(row, 0, row) for row in range(400))})
    kept = compound({"Workbook": whole[: len(whole) // 2]})
    assert len("\n".join(texts(kept)).split("\n")) > 150


def test_a_locked_workbook_without_its_password_says_so() -> None:
    reason, _ = refusal(_book(b"", extra=record(0x2F, struct.pack("<HHHH", 0, 1, 1, 1) + bytes(48))))
    assert reason in (Reason.NEEDS_PASSWORD, Reason.CORRUPT)


@pytest.mark.parametrize("content", [b"", b"\x09\x02\x06\x00" + bytes(6)])
def test_what_is_no_workbook_is_refused(content: bytes) -> None:
    assert refusal(compound({"Workbook": content}))[0] is Reason.UNSUPPORTED


def test_columns_stand_below_each_other() -> None:
    rows = label(0, 0, 0) + label(0, 1, 1) + label(0, 2, 0) + label(1, 0, 0) + label(1, 2, 1)
    assert layout(_book(rows, shared=[shared_texts(["ab", "c"])])) == ["ab  c  ab", "ab     c"]
