"""What can be the name of a company or a person in print, and what cannot: legal forms, postcodes, streets, labels."""

from __future__ import annotations

import re

from pipeline.reading.labels import find_labels
from pipeline.reading.rows import fold

_FORM = (
    r"(?:S\.?A\.?/N\.?V\.?|N\.?V\.?/S\.?A\.?"
    r"|GmbH(?: ?& ?Co\.? ?(?:KG|OHG))?|mbH|UG(?: \(haftungsbeschränkt\))?|AG|SE|KG|OHG|GbR|e\.? ?K\.?|e\.V\.|Ltd\.?"
    r"|Limited"
    r"|L\.?L\.?C\.?|L\.?L\.?P\.?|PLC|plc|Inc\.?|Incorporated|Corp\.?|Corporation|Company|Co\.|Pty\.?(?: Ltd\.?)?"
    r"|Pvt\.?(?: Ltd\.?)?"
    r"|B\.?V\.?|N\.?V\.?|V\.?O\.?F\.?|S\.?A\.?S\.?U?|S\.?A\.?R\.?L\.?|SARL|EURL|SCI|S\.?A\.?|S\.?L\.?[UP]?\.?"
    r"|S\.?R\.?L\.?|S\.?r\.?l\.?s?\.?|S\.?p\.?A\.?|S\.?n\.?c\.?"
    r"|ApS|A/S|AB|AS|Oyj?|sp\. z o\.o\.|s\.r\.o\.|Kft\.?|Zrt\.?|Sdn\.? ?Bhd\.?|Bhd\.?|Pte\.?(?: Ltd\.?)?|Lda\.?|Ltda\.?"
    r"|d\.o\.o\.|a\.s\.|OÜ|UAB|SIA|GesmbH|e\.U\.|P\.?L\.?L\.?C\.?|BVBA|ASBL|VZW|S\.C\.A\.?|a\.G\.)"
)
HAS_FORM = re.compile(rf"(?<!\w){_FORM}(?![\w-])", re.IGNORECASE)
_JOINING = r"&|\+|and|und|et|y|of|the|de|du|des|del|della|di|da|van|der|den|von|la|le"
_COMPANY = re.compile(
    rf"((?:[A-ZÀ-Þ0-9][\w&.'’+-]*|the)(?:,? (?:[A-ZÀ-Þ][\w&.'’+-]*|{_JOINING})){{0,6}},? {_FORM})(?![\w-])"
)
POSTAL = re.compile(
    r"^(?:[A-Z]{1,2}[- ])?(?:\d{4,5} [^\W\d_]|\d{5}[A-Z][a-z]|\d{4} ?[A-Z]{2}\b)|\b[A-Z]{2},? {1,2}\d{5}(?:-\d{4})?\b"
    r"|\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"
    r"|\b[A-Z]\d[A-Z] ?\d[A-Z]\d\b"
    r"|\b(?:NSW|VIC|QLD|TAS|ACT|SA|WA|NT),? {1,2}\d{4}$"
)
_NOT_NAME = re.compile(
    r"[@:]|https?|www\.|\d{5,}|\b(?:tel|fax|phone|iban|bic|page|seite|telefon|email|e-mail)\b|%|[€$£]|^\W|\.com\b"
    r"|\(c\)|©",
    re.IGNORECASE,
)
_ATTENTION = re.compile(
    r"^(?:(?:attn|attention|att|z\. ?hd|c/o|to|an|firma|herrn?|frau|mr|mrs|ms|mme|monsieur|madame|de heer|mevrouw)\b"
    r"[.:]? *|m\. (?=[^\W\d_]{3}))",
    re.IGNORECASE,
)
_KEPT_BY = re.compile(r"(?:inh(?:aber(?:in)?)?|prop(?:rietor)?|titolare|gérant)\b[.:]|c/- ", re.IGNORECASE)
# Who keeps or looks after a business whose name stands elsewhere, mostly in the line above.
PROPRIETOR = re.compile(
    r"(?:inh(?:aber(?:in)?)?|prop(?:rietor)?|titolare|g[eé]rant|familie|famille|famiglia)\b|(?:c/-|t/a|di) ",
    re.IGNORECASE,
)
SENDER_BREAK = re.compile(r" [•·|*∙–—-] | ?[•·|∙●▪⋅‧■◦] ?")
_STREET = re.compile(r"\d{1,4} ?[a-zA-Z]?$|^\d{1,4},? [a-z]")
_COUNTRIES = (
    "deutschland germany france austria österreich schweiz switzerland suisse nederland netherlands belgium belgië"
    " belgique italia italy españa spain usa canada ireland india"
)
_NOBODY = frozenset(_COUNTRIES.split()) | {"united states", "united kingdom", "hong kong", "the netherlands"}
# What heads the sender's and the receiver's address, in pairs: alone, the words are too common to announce anything.
FROM_TO = {"from": "to", "von": "an", "de": "a para", "van": "aan", "da": "a"}
ROUTE_WORDS = frozenset(FROM_TO) | {word for words in FROM_TO.values() for word in words.split()}
_WORDS_OF_FORMS = ROUTE_WORDS | {"nummer", "number", "amount", "name", "adresse", "address", "anschrift"}
_NOT_NAMES = _NOBODY | _WORDS_OF_FORMS


def company_in(text: str) -> str | None:
    """The first company name with a legal form in a text, or None."""
    match = _COMPANY.search(text[:300])
    return match[1] if match else None


def as_name(text: str) -> str | None:
    """The text as a name, without salutation and sender line, or None if it cannot be one."""
    text = SENDER_BREAK.split(_ATTENTION.sub("", text.strip()), maxsplit=1)[0].strip(" ,;|")
    letters = sum(map(str.isalpha, text))
    if not 3 <= len(text) <= 70 or text.count(" ") > 8 or letters < len(text) * 0.6:
        return None
    if (
        text.lower() in _NOT_NAMES
        or _KEPT_BY.match(text)
        or _NOT_NAME.search(text)
        or _STREET.search(text)
        or _is_label(text)
        or POSTAL.search(text)
    ):
        return None
    return text


def _is_label(text: str) -> bool:
    labels = find_labels(fold(text))
    return bool(labels) and sum(label.end - label.start for label in labels) > len(text) * 0.6
