"""An invoice that came as PDF and as XML is one; two invoices are never taken for one."""

from __future__ import annotations

import pytest

from pipeline.documents.pairs import MOST_BYTES, Candidate, folded, renditions, stands_in
from pipeline.errors import DocumentError
from tests.documents.samples import pdf
from tests.documents.trees import invoice_pdf, invoice_xml


def _file(name: str, content: bytes, left_out: str = "") -> Candidate:
    return Candidate(name, len(content), lambda: iter([content[:50], content[50:]]), left_out)


SCAN = pdf.build([""])


def test_an_xml_points_at_the_pdf_that_has_its_number_whatever_their_names() -> None:
    files = [
        _file("terms.pdf", invoice_pdf("none")),
        _file("a.bin", invoice_xml("INV-42")),
        _file("b", invoice_pdf("INV-42")),
    ]
    assert renditions(files) == {2: 3}


def test_two_invoices_of_one_mail_are_two() -> None:
    files = [_file("1.xml", invoice_xml("A-1")), _file("2.pdf", invoice_pdf("A-2"))]
    assert renditions(files) == {}
    files += [_file("1.pdf", invoice_pdf("A-1")), _file("2.xml", invoice_xml("A-2"))]
    assert renditions(files) == {1: 3, 4: 2}


def test_a_name_in_common_is_no_pair_when_the_pdf_says_another_number() -> None:
    assert renditions([_file("invoice.xml", invoice_xml("A-1")), _file("invoice.pdf", invoice_pdf("A-2"))]) == {}


def test_of_two_pdfs_with_the_number_the_namesake_is_chosen_else_the_first() -> None:
    xml, paper = invoice_xml("INV-1"), invoice_pdf("INV-1")
    assert renditions([_file("x.pdf", paper), _file("a.pdf", paper), _file("A.xml", xml)]) == {3: 2}
    assert renditions([_file("x.pdf", paper), _file("y.pdf", paper), _file("a.xml", xml)]) == {3: 1}


def test_a_scan_pairs_by_name_alone() -> None:
    assert renditions([_file("A-1.pdf", SCAN), _file("a-1.ubl.xml", invoice_xml("A-1"))]) == {2: 1}
    assert renditions([_file("scan.pdf", SCAN), _file("a-1.xml", invoice_xml("A-1"))]) == {}
    assert renditions([_file("1.001.pdf", SCAN), _file("1.002.xml", invoice_xml("A-1"))]) == {}


def test_a_number_of_one_sign_pairs_only_with_a_namesake_or_the_only_pdf() -> None:
    first, second = _file("a.pdf", invoice_pdf("7")), _file("b.pdf", invoice_pdf("8"))
    assert renditions([first, _file("x.xml", invoice_xml("7"))]) == {2: 1}
    assert renditions([first, second, _file("x.xml", invoice_xml("7"))]) == {}
    assert renditions([first, second, _file("a.xml", invoice_xml("7"))]) == {3: 1}


def test_files_left_out_or_too_large_or_broken_have_no_pair_and_harm_nobody() -> None:
    def broken() -> object:
        raise DocumentError("corrupt", "damaged")

    xml, paper = invoice_xml("A-1"), invoice_pdf("A-1")
    large = Candidate("a.pdf", MOST_BYTES + 1, lambda: iter([paper]))
    damaged = Candidate("a.pdf", 9, broken)  # type: ignore[arg-type]
    locked = _file("a.pdf", b"%PDF-1.4 nothing")
    others = [_file("a.pdf", paper, "signature"), large, damaged, _file("n", b"")]
    assert renditions([_file("a.xml", xml), *others]) == {}
    assert renditions([_file("a.xml", xml), locked, *others, _file("b.pdf", paper)]) == {1: 2}


@pytest.mark.parametrize(
    ("number", "text", "stands"),
    [
        ("INV-42", "Invoice INV-42.", True),
        ("INV-42", "Invoice inv- 42", True),
        ("2026 / 42", "Nr. 2026/42", True),
        ("INV-42", "Invoice INV-421", False),
        ("42", "page 142", False),
        ("a.b", "axb", False),
        ("", "anything", False),
        ("9" * 5_000, "9" * 5_000, False),
    ],
)
def test_a_number_stands_as_a_word_of_its_own(number: str, text: str, stands: bool) -> None:
    assert stands_in(number, folded(text)) is stands
