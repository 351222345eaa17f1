"""Contracts on secrecy of different shapes, all invented: letters, mutual ones, in German, blank forms."""

from __future__ import annotations

import pytest

from handlers.contract import handler
from pipeline import handling
from pipeline.handling import Extraction
from tests.handlers.pages import CONTRACT_FIRST, CONTRACT_SECOND, document

LETTER = (
    """[Letterhead of Brightwater Holdings, Inc.]

CONFIDENTIAL

March 14, 2007

Stonegate Capital Partners, LLC
1200 Harbor Street, 14th Floor
Boston, Massachusetts 02110
Attention: Mr. James T. Holloway

Ladies and Gentlemen:

In connection with your consideration of a possible negotiated transaction (a "Transaction") with Brightwater
Holdings, Inc. (together with its subsidiaries, the "Company"), the Company is prepared to make available to you
certain information concerning the business, financial condition, operations, assets and liabilities of the Company.
As a condition to such information being furnished to you and your directors, officers, employees, agents or advisors
(collectively, "Representatives"), you agree to treat any information concerning the Company (herein collectively
referred to as the "Evaluation Material") in accordance with the provisions of this letter agreement.
""",
    """You agree that, for a period of eighteen months from the date of this letter agreement, you will not solicit for
employment any officer of the Company. In consideration of the Evaluation Material being furnished to you, you agree
that for a period of one year from the date hereof, unless specifically invited in writing by the Company, neither you
nor any of your affiliates will acquire any securities of the Company.
This letter agreement shall be governed by and construed in accordance with the laws of the State of Delaware, without
regard to the conflict of law principles thereof. All obligations under this letter agreement shall terminate two
years from the date of this letter agreement.
Please confirm your agreement with the foregoing by signing and returning one copy of this letter to the undersigned.

Very truly yours,

BRIGHTWATER HOLDINGS, INC.

By: /s/ Alan Pryce
Name: Alan Pryce
Title: Chief Executive Officer

Accepted and agreed as of the date first written above:

STONEGATE CAPITAL PARTNERS, LLC

By: /s/ James T. Holloway
Name: James T. Holloway
Title: Managing Director
""",
)

SHORT_LETTER = """July 8, 2011

PERSONAL AND CONFIDENTIAL

Cedar Ridge Acquisition Corp.
c/o Fairmont Equity Partners
590 Madison Avenue
New York, New York 10022

Re: Confidentiality Agreement

Gentlemen:

Tamarack Industries Inc. ("Tamarack" or the "Company") has agreed to furnish to Cedar Ridge Acquisition Corp. ("you" or
"your") certain non-public information in order to assist you in evaluating a possible transaction.
You agree to keep the Information confidential. Your obligations hereunder shall continue for a period of 24 months
from the date hereof. This agreement will be governed by New York law.

Sincerely,
TAMARACK INDUSTRIES INC.
By: Owen Marsh
President

AGREED AND ACCEPTED:
CEDAR RIDGE ACQUISITION CORP.
By: Dana Whitlock
"""

MUTUAL = """MUTUAL CONFIDENTIALITY AGREEMENT

This MUTUAL CONFIDENTIALITY AGREEMENT (this "Agreement"), dated as of October 3, 2012, is entered into by and between
Quillon Semiconductor Corporation, a Delaware corporation ("Quillon"), and Ardent Photonics, Inc., a California
corporation ("Ardent"). Each of Quillon and Ardent is sometimes referred to herein as a "Party".

1. Each Party (the "Disclosing Party") may disclose to the other (the "Receiving Party") Confidential Information.
2. Term. This Agreement shall expire three (3) years after the date hereof.
3. Standstill. For a period of twelve (12) months from the date of this Agreement neither Party shall acquire shares.
4. This Agreement shall be governed by the laws of the State of California.

QUILLON SEMICONDUCTOR CORPORATION          ARDENT PHOTONICS, INC.
By: /s/ R. Ames                            By: /s/ L. Ortega
"""

WITH_A_PERSON = """CONFIDENTIALITY AND NON-DISCLOSURE AGREEMENT

THIS AGREEMENT is made and entered into this 21st day of August, 2003 between MERIDIAN TOOL WORKS, INC., an Ohio
corporation with its principal office at 88 Foundry Road, Dayton, Ohio (hereinafter "Meridian") and PATRICIA L. SOMERS,
residing at 4 Elm Court, Lima, Ohio (hereinafter "Employee").

WHEREAS, Employee will have access to confidential information of Meridian;
1. Employee shall not disclose Confidential Information during her employment and for five (5) years thereafter.
6. This Agreement shall be construed under the laws of Ohio.

MERIDIAN TOOL WORKS, INC.
By: ____________________
"""

OF_THREE = """NONDISCLOSURE AGREEMENT

This Nondisclosure Agreement ("Agreement") is effective as of February 1, 2016 ("Effective Date") by and among
Halcyon Bancorp, Inc. ("Halcyon"), Halcyon National Bank ("Bank") and Theodore R. Winslow ("Director").
The obligations of the Director under this Agreement shall continue for a period of two (2) years following the date
on which he ceases to be a director. This Agreement is governed by the laws of the Commonwealth of Virginia.
The Director shall keep all Confidential Information confidential.
"""

WITHOUT_BETWEEN = """CONFIDENTIALITY AGREEMENT

Orchard Biologics, Inc.
450 Research Way
San Diego, California

Date: June 30, 2009

To: Pellucid Pharma S.A.

Orchard Biologics, Inc. ("Orchard") and Pellucid Pharma S.A. ("Pellucid") wish to explore a business opportunity of
mutual interest and in connection with it each may disclose Confidential Information to the other. In consideration
of this the parties agree: Each party shall protect the Confidential Information of the other for a period of
seven (7) years from the date of disclosure.
This Agreement shall be governed by the laws of England and Wales.
"""

GERMAN = """GEHEIMHALTUNGSVEREINBARUNG

zwischen

Falkenberg Maschinenbau GmbH, Industriestraße 12, 70565 Stuttgart
- nachfolgend „Falkenberg“ genannt -

und

Nordlicht Sensorik AG, Am Hafen 3, 24103 Kiel
- nachfolgend „Nordlicht“ genannt -

Die Parteien wollen über eine Zusammenarbeit sprechen und tauschen dazu vertrauliche Informationen aus.
§ 1 Die Parteien behandeln alle vertraulichen Informationen geheim.
§ 5 Diese Vereinbarung tritt am 1. März 2021 in Kraft und hat eine Laufzeit von zwei Jahren. Die Pflicht zur
Geheimhaltung besteht nach ihrem Ende fünf Jahre fort.
§ 6 Es gilt das Recht der Bundesrepublik Deutschland. Gerichtsstand ist Stuttgart.

Stuttgart, den 22. Februar 2021
"""

BLANK = """MUTUAL NON-DISCLOSURE AGREEMENT
This Agreement is made as of ____________, 20__ by and between [COMPANY NAME] ("Company") and ______________
("Recipient"). The term of this Agreement is two (2) years. It is governed by the laws of the State of ________.
"""


def _read(*pages: str) -> Extraction:
    return handler.extract(document(*pages))


def _values(extraction: Extraction, name: str) -> list[str]:
    return [field.value for field in extraction.fields.get(name, ())]


@pytest.mark.parametrize(
    ("pages", "parties", "day", "term", "law"),
    [
        (
            LETTER,
            ["Brightwater Holdings, Inc.", "Stonegate Capital Partners, LLC"],
            "2007-03-14",
            "2 years",
            "Delaware",
        ),
        (
            (SHORT_LETTER,),
            ["Cedar Ridge Acquisition Corp.", "TAMARACK INDUSTRIES INC."],
            "2011-07-08",
            "24 months",
            "New York",
        ),
        (
            (MUTUAL,),
            ["Quillon Semiconductor Corporation", "Ardent Photonics, Inc."],
            "2012-10-03",
            "3 years",
            "California",
        ),
        (
            (OF_THREE,),
            ["Halcyon Bancorp, Inc.", "Halcyon National Bank", "Theodore R. Winslow"],
            "2016-02-01",
            "2 years",
            "Virginia",
        ),
        (
            (WITHOUT_BETWEEN,),
            ["Orchard Biologics, Inc.", "Pellucid Pharma S.A."],
            "2009-06-30",
            "7 years",
            "England and Wales",
        ),
        (
            (GERMAN,),
            ["Falkenberg Maschinenbau GmbH", "Nordlicht Sensorik AG"],
            "2021-02-22",
            "2 years",
            "Bundesrepublik Deutschland",
        ),
    ],
)
def test_a_contract_on_secrecy_gives_who_since_when_how_long_and_under_which_law(
    pages: tuple[str, ...], parties: list[str], day: str, term: str, law: str
) -> None:
    read = _read(*pages)
    assert _values(read, "parties") == parties
    assert [_values(read, name) for name in ("agreement_date", "term", "governing_law")] == [[day], [term], [law]]


@pytest.mark.parametrize("pages", [LETTER, (SHORT_LETTER,), (MUTUAL,), (WITH_A_PERSON,), (OF_THREE,), (GERMAN,)])
def test_a_contract_on_secrecy_is_a_contract_and_named_as_what_it_is(pages: tuple[str, ...]) -> None:
    chosen, _ = handling.choose(handling.discover(), document(*pages))
    assert chosen.name == "contract"
    assert _values(chosen.extract(document(*pages)), "contract_type") == ["nda"]


def test_a_contract_on_secrecy_without_another_day_counts_from_the_one_it_was_made_on() -> None:
    since = _read(WITHOUT_BETWEEN).fields["effective_date"][0]
    assert (since.value, since.method) == ("2009-06-30", "derived")
    assert since.confidence <= 0.6
    assert "effective_date" not in _read(WITHOUT_BETWEEN.replace("Date: June 30, 2009", "")).fields


def test_other_contracts_are_not_taken_for_contracts_on_secrecy() -> None:
    secret = "The parties keep confidential information confidential; confidential information is secret. " * 3
    assert "contract_type" not in _read(CONTRACT_FIRST, CONTRACT_SECOND + secret).fields


def test_how_long_a_standstill_lasts_is_not_how_long_the_contract_does() -> None:
    standstill = "AGREEMENT\nFor one year from the date hereof you will not acquire any securities of the Company."
    assert "term" not in _read("CONFIDENTIALITY " + standstill).fields


def test_each_party_is_a_group_of_its_name_its_term_and_its_kind() -> None:
    groups = _read(WITH_A_PERSON).groups
    assert [
        (each.name, each.number, {name: field.value for name, field in each.fields.items()}) for each in groups
    ] == [
        ("parties", 1, {"name": "MERIDIAN TOOL WORKS, INC.", "alias": "Meridian", "kind": "company"}),
        ("parties", 2, {"name": "PATRICIA L. SOMERS", "alias": "Employee", "kind": "person"}),
    ]
    assert all(field.page == 1 and "THIS AGREEMENT" in field.snippet for field in groups[0].fields.values())


def test_a_contract_has_its_clauses_with_their_tags() -> None:
    found = _read(MUTUAL).clauses
    assert [(each.number, each.heading) for each in found][1:3] == [("2", "Term"), ("3", "Standstill")]
    assert "governing_law" in found[-1].tags


def test_a_blank_form_on_secrecy_has_neither_fields_nor_parties() -> None:
    read = _read(BLANK)
    assert (read.fields, read.groups) == ({}, ())


def test_a_party_that_signs_is_surer_than_one_that_does_not() -> None:
    party = 'CONFIDENTIALITY AGREEMENT\nFern Mills Inc. ("Fern") and Moss LLC ("Moss") wish to talk in confidence.'
    text = party + "\nIt is so. " * 40 + "\nFERN MILLS INC.\n"
    named, signed = (_read(text + end).fields["parties"][0].confidence for end in ("is there.", "By: /s/ A. Reed"))
    assert named < signed < 0.9


SECRECY = 'CONFIDENTIALITY AGREEMENT\nConfidential information is secret at Fern Mills Inc. (the "Company").\n'
MATTER = "It is so. " * 150 + "\n"


@pytest.mark.parametrize(
    ("end", "parties"),
    [
        ("FERN MILLS INC.\nBy: /s/ A. Reed\n\n/s/ Ivy B. Stone\nIvy B. Stone\n", ["Fern Mills Inc.", "Ivy B. Stone"]),
        ("FERN MILLS INC.\nBy: /s/ Ivy B. Stone\nIvy B. Stone\nPresident\n", ["Fern Mills Inc."]),
        ("Date: 5/14/2012\n\n/s/ Oscar Pine\nSignature\n\nOscar Pine\nName\n", ["Fern Mills Inc.", "Oscar Pine"]),
    ],
)
def test_a_person_who_signs_alone_is_a_party_and_an_officer_is_not(end: str, parties: list[str]) -> None:
    assert _values(_read(SECRECY + MATTER + end), "parties") == parties


def test_a_name_ends_where_its_line_or_column_does() -> None:
    end = "FERN MILLS INC.\nBy: /s/ Ann Reed\nAnn Reed\nMOSS FUND L.P.\nBy: /s/ Joan Hill\n"
    assert _values(_read(SECRECY + MATTER + end), "parties") == ["Fern Mills Inc.", "MOSS FUND L.P."]
    columns = "Nordby Medical AB              Fern Mills Inc.\nBy: /s/ L. Ek                  By: /s/ A. Reed\n"
    assert "Nordby Medical AB" in _values(_read(SECRECY + MATTER + columns), "parties")


@pytest.mark.parametrize(
    ("clause", "term"),
    [
        ("The obligations hereunder shall cease two years following the date of this letter agreement.", "2 years"),
        ("Its provisions will be of no further effect upon the expiry of one (1) year from its date.", "1 year"),
    ],
)
def test_duties_that_cease_or_lapse_say_how_long_the_contract_runs(clause: str, term: str) -> None:
    assert _values(_read(SECRECY + clause), "term") == [term]


@pytest.mark.parametrize(
    ("clause", "law"),
    [
        ("Wisconsin law shall apply.", "Wisconsin"),
        ("Indiana law (excluding rules on the conflict of laws) applies to this undertaking.", "Indiana"),
    ],
)
def test_a_law_that_applies_governs(clause: str, law: str) -> None:
    assert _values(_read(SECRECY + clause), "governing_law") == [law]


def test_the_day_of_a_letter_wins_over_the_day_it_was_agreed_to() -> None:
    letter = "May 12, 2014\nFern Mills Inc.\nTo Whom It May Concern:\n" + SECRECY + MATTER
    read = _read(letter + "Agreed to this 16th day of May, 2014:\nMOSS LLC\nBy: /s/ A. Reed\n")
    assert _values(read, "agreement_date") == ["2014-05-12"]
