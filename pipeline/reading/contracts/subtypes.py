"""What kind of contract it is, for the one kind whose words give it away: a contract on secrecy."""

from __future__ import annotations

import re

from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.prose import Prose

TITLE = 1_200  # characters that have the title, or the subject of a letter
OPENING = 6_000  # characters in which a contract says what it is about
_TITLE = re.compile(
    r"\b(?:non-? ?disclosure|confidentiality|confidential disclosure|(?:confidential|proprietary) information|secrecy)"
    r"(?:,? (?:and|or|&)?[\w, -]{1,50}?)? (?:agreement|undertaking|deed)\b"
    r"|\bagreement (?:not to disclose|(?:regarding|on|as to) (?:confidentiality|non-?disclosure))\b"
    r"|\bgeheimhaltungsvereinbarung|\bverschwiegenheits\w+|\bvertraulichkeits\w+|\baccord de confidentialite"
    r"|\bengagement de confidentialite|\bgeheimhoudings\w+|\bacuerdo de confidencialidad|\baccordo di riservatezza"
)
_WORDS = re.compile(
    r"\b(?:evaluation material|confidential information|proprietary information|information|confiden\w+|receiving party"
    r"|disclosing party|secret|vertraulich\w*|geheim\w*|informations confidentielles|riservat\w+|vertrouwelijk\w*)\b"
)
_LETTER = re.compile(r"\b(?:to whom it may concern|ladies and gentlemen|gentlemen|dear (?:sirs?|mr|ms|mrs|[a-z]))\b")
_EVALUATION = re.compile(
    r"\bevaluation material|\b(?:possible|potential|proposed|negotiated) (?:\w+ ){0,3}transaction\b"
)


def contract_type(prose: Prose) -> Answer | None:
    """NDA for a contract on secrecy: its title says so, or it is a letter that lends information for a transaction."""
    often = sum(1 for _ in _WORDS.finditer(prose.folded, 0, OPENING))
    named = _TITLE.search(prose.folded, 0, TITLE)
    if named and often:
        return Answer("nda", named.start(), named.end(), "pattern", 0.85)
    about = _EVALUATION.search(prose.folded, 0, OPENING)
    if about and often >= 4 and _LETTER.search(prose.folded, 0, TITLE * 2):
        return Answer("nda", about.start(), about.end(), "pattern", 0.75)
    return None
