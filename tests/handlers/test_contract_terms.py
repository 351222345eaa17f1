"""What invented contracts say of renewal, notice and dates; contracts on secrecy; and no text that takes for ever."""

from __future__ import annotations

import subprocess
import sys

import pytest

from handlers.contract import handler
from pipeline.reading.contracts.parties import find_parties
from pipeline.reading.contracts.prose import prose
from tests.handlers.pages import document

HANG_SECONDS = 60
AGREED = "AGREEMENT\nThis Agreement is made on 4 June 2015 between Larkspur Foods, Inc. and Finch Mills Ltd. "

INDIVIDUAL_NDA = """
CONFIDENTIALITY AGREEMENT
This Confidentiality Agreement (this "Agreement") is made as of June 4, 2015 by and between Larkspur Foods, Inc., a
Delaware corporation (the "Company"), and Harold B. Finch, an individual residing in Ohio ("Recipient").
1. The Recipient shall keep the Evaluation Material confidential.
7. This Agreement shall terminate two (2) years from the date hereof.
8. This Agreement shall be governed by the laws of the State of Ohio.
"""

LETTER_NDA = """
Larkspur Foods, Inc.
12 Mill Lane
June 4, 2015
Pinewood Capital Partners, L.P.
400 Lake Street
Chicago, IL 60601
Ladies and Gentlemen:
In connection with your consideration of a possible transaction with Larkspur Foods, Inc. (the "Company"), the Company
is prepared to furnish Pinewood Capital Partners, L.P. ("you") with certain information.
The obligations under this letter agreement shall expire eighteen (18) months after the date of this letter agreement.
This letter agreement shall be governed by, and construed in accordance with, the laws of the State of New York.
"""

MUTUAL_NDA = """
MUTUAL NON-DISCLOSURE AGREEMENT
THIS AGREEMENT, effective March 1, 2011 (the "Effective Date"), is between Tern Systems LLC, with offices at 4 Bay Road,
Reno ("Tern") and Gannet Labs Corporation ("Gannet").
The parties' obligations of confidentiality shall survive for a period of three (3) years from the Effective Date.
The validity of this Agreement shall be governed by California law.
"""

EMPLOYEE_NDA = """
EMPLOYEE CONFIDENTIALITY AND NON-COMPETE AGREEMENT
This Agreement is entered into this 9th day of May, 2008, by and between Ridge Bancorp and John Q. Miller.
Employee agrees that for a period of one year following the termination of employment he will not compete.
This agreement is governed by the law of the Commonwealth of Pennsylvania.
"""


def _read(*pages: str) -> dict[str, list[str]]:
    fields = handler.extract(document(*pages)).fields
    return {name: [field.value for field in several] for name, several in fields.items()}


@pytest.mark.parametrize(
    ("text", "parties", "term", "law"),
    [
        (INDIVIDUAL_NDA, ["Larkspur Foods, Inc.", "Harold B. Finch"], ["2 years"], ["Ohio"]),
        (LETTER_NDA, ["Larkspur Foods, Inc.", "Pinewood Capital Partners, L.P."], ["18 months"], ["New York"]),
        (MUTUAL_NDA, ["Tern Systems LLC", "Gannet Labs Corporation"], ["3 years"], ["California"]),
        (EMPLOYEE_NDA, ["Ridge Bancorp", "John Q. Miller"], None, ["Pennsylvania"]),
    ],
)
def test_a_contract_on_secrecy_gives_its_parties_term_and_law(
    text: str, parties: list[str], term: list[str] | None, law: list[str]
) -> None:
    read = _read(text)
    assert (read["parties"], read.get("term"), read["governing_law"]) == (parties, term, law)


def test_a_party_has_its_alias_and_its_kind_where_the_text_says_so() -> None:
    found = find_parties(prose(document(INDIVIDUAL_NDA)))
    assert [(each.name, each.alias, each.kind) for each in found] == [
        ("Larkspur Foods, Inc.", "Company", "company"),
        ("Harold B. Finch", "Recipient", "person"),
    ]
    assert [each.alias for each in find_parties(prose(document(LETTER_NDA)))] == ["Company", ""]


@pytest.mark.parametrize(
    ("printed", "renewed", "notice"),
    [
        (
            (
                "It shall automatically renew for successive two (2) year terms unless either party gives notice "
                "of its intention not to renew at least 60 days prior to the end of the then current term."
            ),
            ["2 years"],
            ["60 days"],
        ),
        ("After the initial term this Agreement continues on a month to month basis.", ["1 month"], None),
        ("This Agreement will renew automatically for one year.", ["1 year"], None),
        ("The warranty may be extended for an additional one year period.", None, None),
        ("The certificate shall say that there is no non-renewal of the insurance without 30 days notice.", None, None),
        ("If the parties wish to renew, they shall agree in writing 30 days before the term expires.", None, None),
    ],
)
def test_the_renewal_and_the_notice_that_stops_it_are_told_from_other_lengths(
    printed: str, renewed: list[str] | None, notice: list[str] | None
) -> None:
    read = _read(AGREED + printed)
    assert (read.get("renewal_term"), read.get("renewal_notice")) == (renewed, notice)


def test_notice_to_end_without_a_cause_is_not_the_time_to_mend_a_breach() -> None:
    free = "Either party may terminate this Agreement without cause upon forty-five (45) days' prior written notice."
    caused = "Either party may terminate upon thirty (30) days' prior written notice of a breach that is not cured."
    assert _read(AGREED + free)["termination_notice"] == ["45 days"]
    assert "termination_notice" not in _read(AGREED + caused)


def test_the_date_of_another_contract_is_not_the_date_of_this_one() -> None:
    text = (
        'AMENDMENT\nThis is an Amendment to the Loan Agreement (the "Loan") dated as of May 1, 2010, made by Fern Ltd '
        "and Moss Ltd. This Amendment is dated July 9, 2012."
    )
    assert _read(text)["agreement_date"] == ["2012-07-09"]


def test_a_day_with_its_ending_torn_apart_is_read() -> None:
    assert _read("AGREEMENT\nThis Agreement is made on the 15t h day of January 2018.")["agreement_date"] == [
        "2018-01-15"
    ]


def test_companies_that_only_sign_are_the_parties_of_a_paper_that_names_nobody_else() -> None:
    text = (
        "JOINT FILING AGREEMENT\nThe undersigned agree to file together.\n"
        + "It is so. " * 200
        + "\nDated: May 2, 2020\n"
        "FERN HOLDINGS, LLC\nBy: /s/ A. Reed\nA. Reed, President\nMOSS FUND, L.P.\nBy: Moss Advisors, LLC, its general "
        "partner\nBy: /s/ B. Hay\nB. Hay, Manager\n"
    )
    assert _read(text)["parties"] == ["FERN HOLDINGS, LLC", "MOSS FUND, L.P."]
    named = 'This Agreement is made between Fern Inc. ("Fern") and Moss LLC ("Moss"). ' + "It is so. " * 200
    assert _read("AGREEMENT\n" + named + "Reed Bank, N.A.\nBy: /s/ A. Reed")["parties"] == ["Fern Inc.", "Moss LLC"]


def test_an_unfilled_template_has_no_notice_and_no_length_either() -> None:
    template = (
        "SERVICE AGREEMENT\nEffective Date: [ ]\nThis Agreement is made between the Cover Page and the Terms. "
        "The term of this Agreement is two years. Either party may terminate it at any time upon 30 days notice. "
        "Signed: ________ It is governed by the laws of Ohio."
    )
    assert _read(template) == {}
    assert _read(template.replace("[ ]", "May 1, 2020"))["term"] == ["2 years"]


def test_the_law_under_which_a_party_was_founded_does_not_govern() -> None:
    text = (
        "Governed how? Fern is incorporated under the laws of Brazil. This Agreement is governed by the laws of Ohio."
    )
    assert _read("AGREEMENT\n" + text)["governing_law"] == ["Ohio"]


def test_a_title_that_shares_its_line_is_found() -> None:
    assert _read("EXHIBIT 10.2 SUPPLY AGREEMENT This Agreement is made today.")["title"] == ["SUPPLY AGREEMENT"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "agreement between ",
        'this agreement is made by and between A Ltd ("A") and ',
        "term of this agreement is for a period of two years renew extend ",
        "30 days prior written notice renew ",
        "AND A, AND B & ",
        'EXHIBIT ("A") Ltd ',
        "the undersigned by: ",
        "(i) (a) 1. ",
        "1.1 A ",
        "By: FERN, INC. ",
        "made on May 1, 2020 this agreement until ",
    ],
)
def test_a_long_text_of_one_phrase_does_not_hang_the_handler(piece: str) -> None:
    program = (
        "import sys; from handlers.contract import handler; from tests.handlers.pages import document\n"
        "print(len(handler.extract(document(sys.argv[1] * (400_000 // len(sys.argv[1])))).fields))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, piece], timeout=HANG_SECONDS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
