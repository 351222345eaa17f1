"""The sender of an invoice without a label: the name that letterhead, footer, legal form and web domain agree on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.reading.amounts import currency
from pipeline.reading.invoices.addresses import FoundName, domains, is_of, sender
from pipeline.reading.invoices.naming import HAS_FORM, POSTAL, PROPRIETOR, as_name, company_in
from pipeline.reading.invoices.tables import headed
from pipeline.reading.labels import Kind
from pipeline.reading.rows import Row, fold

LEAST = 2.5  # of the score; what has less is a guess
FOOTER_ROWS = 10
LEAST_ROWS = 12  # of a page that has a foot
TOP_ROWS = 2
NEAR_ROWS = 5
HEAD_ROWS = 12
PRICE = re.compile(r"(?<![\d./-])\d{1,3}(?:[.,' ]\d{3})*[.,]\d\d(?![\d./-])")
_SHIPPED = frozenset({Kind.SHIP})
_BANK = re.compile(r"\w*bank\b|\b(?:\w*sparkasse|banque|banco|banca|kreditinstitut|caixa\w*|credit)\b")
_ACCOUNT = re.compile(r"\b(?:iban|account (?:no|number)|konto|compte)\b")
_REACHED = re.compile(
    r"@|\bwww\.|\b(?:tel|phone|fon|fax|iban|ust|vat|tva|btw|iva|nif|cif|gstin|abn|ein|hr[ab]|amtsgericht|siret|rcs|kvk)\b"
    r"|, \d{4,5} [a-z]{3}|, \d{4} ?[a-z]{2} [a-z]{3}|\d{3}[-. ]\d{3}[-. ]\d{4}"
)
_IMPRINT = re.compile(
    r"\b(?:au capital|capital social|cap\. soc|rcs|siret|registered (?:in|office|at|address)"
    r"|company (?:no|number|reg\w*)|hr[ab] ?\d|amtsgericht|handelsreg\w*|kvk|reg\. merc|registro mercantil|rea\b)"
)
_STREET = re.compile(
    r"\b(?:street|st|road|rd|lane|avenue|ave|blvd|boulevard|drive|(?<!^)dr|row|unit|suite|floor|p\.? ?o\.? box|rue|av"
    r"|bd|chemin|route|cours|impasse|quai|z\.?[ai]\.?|zac|calle|c/|avda|avenida|plaza|paseo|via|viale|corso|piazza|vicolo"
    r"|am|an der)\b"
    r"|(?:strasse|straße|str\.|weg|gasse|platz|allee|straat|laan|plein|gracht|postfach)(?: ?\d|$)"
)
_SALUTATION = re.compile(
    r"(?:gent\.?(?:le|m[oa])|egr\.?(?:egio)?|sig\.?(?:ra|nor[ae]?)?|dott\.?(?:ssa)?|familie|famille|famiglia|familia|eheleute"
    r"|herrn?|frau|firma|de heer|mevrouw|monsieur|madame|vertraulich|vertrouwelijk|persoonlijk|personlich|personal"
    r"|confidential|original|copy|kopie|duplicata?|duplikat|[ .]){1,4}"
)
_HOST = re.compile(r"[a-z0-9-]{3,40}\.(?:com|net|org|eu|de|at|ch|fr|be|nl|es|it|co\.uk|ie|io|example)")
_NO_NAME = re.compile(r"\d{4} ?[A-Z]{2}|[A-Z0-9]{1,4}|.{0,30}\d.{0,10}|.{0,30}\b[A-Z]{2}")


@dataclass(frozen=True, slots=True)
class Weighed:
    """A name with its score; `signs` is the part of it that speaks of a sender, not only of a company."""

    found: FoundName
    score: float
    signs: float


@dataclass(frozen=True, slots=True)
class _Named:
    """A name, and where it stands."""

    name: str
    place: int
    column: int


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of the whole document when one of its names is weighed."""

    rows: Sequence[Row]
    hosts: Sequence[str]
    counts: Mapping[str, int]
    senders: frozenset[str]
    footer: frozenset[int]
    elsewhere: bool  # the sender stands in a line above the window or in the footer


def senders(rows: Sequence[Row]) -> list[Weighed]:
    """Every name that can be the sender's, the best first."""
    names = [each for place in range(len(rows)) for each in _candidates(rows, place)]
    seen = _seen(rows, names)
    best: dict[str, Weighed] = {}
    for each in names:
        weighed = _weighed(each, seen)
        before = best.get(fold(each.name))
        if before is None or weighed.score > before.score:
            best[fold(each.name)] = weighed
    return sorted(best.values(), key=lambda each: -each.score)


def _weighed(each: _Named, seen: _Seen) -> Weighed:
    signs = _signs(each.name, each.place, each.column, seen)
    score = signs + (3.0 if HAS_FORM.search(each.name) else 0.0) - (6.0 if _banks(each, seen.rows) else 0.0)
    trust = min(0.9, 0.3 + max(0.0, score) / 14)
    return Weighed(FoundName(each.name, seen.rows[each.place], "pattern", trust), score, signs)


def find_sender(rows: Sequence[Row], buyer: FoundName | None) -> FoundName | None:
    """The best that is not the buyer, as the letterhead spells it; None if no name has two signs of a sender."""
    names = senders(rows)
    for each in names:
        if buyer is None or fold(each.found.value) not in fold(buyer.value):
            return _spelled(each.found, names, rows) if each.score >= LEAST else None
    return None


def _spelled(found: FoundName, names: Sequence[Weighed], rows: Sequence[Row]) -> FoundName:
    """The fuller name at the top of the page that a name shortens, as "U. Falk" does "Carpenter Uwe Falk"."""
    top = rows[:TOP_ROWS]
    full = (each.found for each in names if any(each.found.row is row for row in top))
    longer = next((each for each in full if _shortens(found.value, each, rows)), found)
    return replace(longer, confidence=found.confidence)


def _shortens(name: str, full: FoundName, rows: Sequence[Row]) -> bool:
    """Whether a name, maybe in part of initials, ends as a longer one does and has no other words.

    Where the longer one is the first thing printed, the same last word is enough: "Gardens Falk" is Uwe Falk's house.
    """
    short, long = fold(name).split(), fold(full.value).split()
    if len(full.value) <= len(name) or short[-1] != long[-1] or HAS_FORM.search(name + " " + full.value):
        return False
    if full.row is rows[0]:
        return True
    return all(
        word in long or (word.endswith(".") and any(each.startswith(word[:-1]) for each in long)) for word in short
    )


def is_nobody(text: str) -> bool:
    """Whether a text is a salutation or prose rather than a name: of many longer words most begin small."""
    if _SALUTATION.fullmatch(fold(text)):
        return True
    words = [word for word in text.split() if len(word) > 3]
    small = sum(word[0].islower() for word in words)
    prose = small * 2 > len(words) > 3 or text[:1].islower() or (text.endswith(".") and len(words) > 3)
    return prose and HAS_FORM.search(text) is None


def _seen(rows: Sequence[Row], names: Sequence[_Named]) -> _Seen:
    counts = Counter(name for name, _ in {(fold(each.name), each.place) for each in names})
    lines = frozenset(fold(name) for row in rows for cell in row.cells if (name := sender(cell)))
    footer = frozenset(_footer(rows))
    heads = any(each.place in footer and _heads_address(rows, each.place, each.column) for each in names)
    imprint = any(_IMPRINT.search(rows[place].folded) and company_in(rows[place].text) for place in footer)
    hosts = [
        *domains(rows),
        *(fold(cell.text) for row in rows for cell in row.cells if _HOST.fullmatch(fold(cell.text))),
    ]
    return _Seen(rows, hosts, counts, lines, footer, bool(lines) or heads or imprint)


def _footer(rows: Sequence[Row]) -> Iterator[int]:
    """The last rows of each page, in its lower half; a few rows have no foot."""
    pages = Counter(row.page for row in rows)
    passed: Counter[int] = Counter()
    for place, row in enumerate(rows):
        passed[row.page] += 1
        left = pages[row.page] - passed[row.page]
        if left < FOOTER_ROWS and left < passed[row.page] and pages[row.page] >= LEAST_ROWS:
            yield place


def _candidates(rows: Sequence[Row], place: int) -> Iterator[_Named]:
    """The names in a row; where goods are sent is left out, and what stands beside a price in the list of items."""
    if PRICE.search(rows[place].text) and (place > HEAD_ROWS or (place > TOP_ROWS and not rows[place].labels)):
        return
    for cell in rows[place].cells:
        if headed(rows, place, cell.start, _SHIPPED) or PROPRIETOR.match(cell.text):
            continue
        company, name = company_in(cell.text), sender(cell) or as_name(cell.text)
        whole = name is not None and (company is None or name.endswith(company))
        if company and not whole and not (POSTAL.search(cell.text) and _NO_NAME.fullmatch(company)):
            yield _Named(company, place, cell.start)
        if (
            name
            and not is_nobody(name)
            and not _is_other(name)
            and (whole or company is None or len(name) < len(company) + 12)
        ):
            yield _Named(name, place, cell.start)


def _is_other(name: str) -> bool:
    """Whether a text is a street, a currency or the small print about a company rather than a name."""
    if _IMPRINT.search(fold(name)):
        return True
    return HAS_FORM.search(name) is None and (_STREET.search(fold(name)) is not None or currency((name,)) is not None)


def _signs(name: str, place: int, column: int, seen: _Seen) -> float:
    key = fold(name)
    score = 3.5 if key in seen.senders else 0.0
    score += _hosted(name, place, column, seen)
    score += 1.0 if seen.counts[key] > 1 else 0.0
    score += max(0.0, 2.0 - place * 0.25)
    if place < TOP_ROWS:
        score += 1.0 if _reached(seen.rows, place) else 0.0
        score += 2.5 if not seen.elsewhere and _heads_address(seen.rows, place, column) else 0.0
    if name in seen.rows[place].text and _IMPRINT.search(seen.rows[place].folded):
        score += 3.5
    if place in seen.footer and _heads_address(seen.rows, place, column):
        score += 2.5 + (1.0 if _reached(seen.rows, place) else 0.0)
    return score


def _hosted(name: str, place: int, column: int, seen: _Seen) -> float:
    """What it is worth that a web domain is made of a name: little where only the mail address under it says so."""
    own = [host for host in seen.hosts if is_of(name, host)]
    if not own:
        return 0.0
    below = seen.rows[place + 1 : place + NEAR_ROWS]
    under = [cell for row in below for cell in row.cells if abs(cell.start - column) <= 2 and "@" in cell.text]
    theirs = place > TOP_ROWS and any(host in fold(cell.text) for cell in under for host in own)
    return 0.5 if theirs else 3.0


def _banks(each: _Named, rows: Sequence[Row]) -> bool:
    """Whether a name is a bank's: it says so, or an account stands right under or behind it."""
    below = rows[each.place + 1 : each.place + 2]
    under = [cell for row in below for cell in row.cells if abs(cell.start - each.column) <= 2]
    end = each.column + len(each.name)
    return (
        _BANK.search(fold(each.name)) is not None
        or _ACCOUNT.search(rows[each.place].folded[end : end + 12]) is not None
        or any(_ACCOUNT.match(fold(cell.text)) for cell in under)
    )


def _reached(rows: Sequence[Row], place: int) -> bool:
    """Whether a postcode, or a way to reach or to tax somebody, stands in a row or just below it."""
    near = [row for row in rows[place : place + NEAR_ROWS] if row.page == rows[place].page]
    return any(_REACHED.search(row.folded) or any(POSTAL.search(cell.text) for cell in row.cells) for row in near)


def _heads_address(rows: Sequence[Row], place: int, column: int) -> bool:
    """Whether a postcode stands in the column of a name, a few rows below."""
    return any(
        abs(cell.start - column) <= 2 and POSTAL.search(cell.text) is not None
        for row in rows[place + 1 : place + NEAR_ROWS]
        for cell in row.cells
    )
