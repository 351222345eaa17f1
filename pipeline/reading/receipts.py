"""What a till prints: merchant, address, date and total, chosen among candidates by features of their rows.

A receipt has no letterhead and no columns that a label heads; it has a few rows on top, and a payment at the bottom
that proves the total: cash less change. Candidates are made here, generously; pipeline.reading.ranking chooses.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pipeline.reading import ranking
from pipeline.reading.amounts import find_amounts
from pipeline.reading.dates import find_dates
from pipeline.reading.labels import Kind
from pipeline.reading.rows import Row, fold, squeeze

WIDEST = 64  # characters of a row; a till's paper takes 48, a sheet 100
TILL_WIDTH, TILL_ROWS = 50, 10  # paper alone tells: words of tills differ from one country to the next
FEWEST_ROWS = 5
HEAD_ROWS = 14
ADDRESS_ROWS = 6
ADDRESS_TRUST = 0.9  # where an address ends is a matter of taste: as printed, right less often than it is likely
MOST_TOTALS = 60  # rows with amounts, from the last one back

_CUE = re.compile(
    r"\b(?:cash(?:ier)?|change|tender(?:ed)?|rounding|rounded|receipt|gst summary|pax|item\(s\)|qty\(s\)|thank you"
    r"|goods sold|visa|mastercard|till|terminal|pos no|salesperson|terima kasih|bar|ruckgeld|gegeben|kassenbon|bon"
    r"|paid by|customer copy|credit card|total qty|amt paid|total items|especes?|rendu|ticket|efectivo|cambio"
    r"|contante|resto|scontrino|kassabon|wisselgeld|contant)\b"
)
_REGISTERED = re.compile(
    r" ?\(? ?(?:co\.? ?(?:reg|no)\S{0,3} ?(?:no)?\.? ?:? ?)?\d{4,12} ?-? ?[a-z]{1,2}? ?\)?(?: ?\([a-z0-9]{1,5}\))?$"
)
_REG_ROW = re.compile(
    r"\bco(?:mpany)?\b.{0,8}\b(?:reg|no)\b|\breg\b.{0,4}\bno\b|^\W{0,3}[a-z]{0,3}\d{5,12} ?-? ?[a-z]{0,2}\W{0,3}$"
)
_PREFIX = re.compile(r"^(?:(?:hq )?add(?:ress)?|own(?:ed)? by|operated by|dimiliki(?: oleh)?|alamat)\b ?[:.] ?")
_PHONE_ROW = re.compile(r"^\W{0,2}(?:\+?\d{1,3}[- ]?)?\(?\d{2,4}\)?[- ]?\d{3,4} ?-? ?\d{3,5}(?:\W.{0,30})?$")
_BRANCH = re.compile(r"^\(?\d{3,4} ?[-:] ?[a-z]")
_FORM = re.compile(
    r"\b(?:sdn\.? ?bhd|s/b|bhd|berhad|ltd|limited|inc|llc|gmbh|pte|plc|corp|plt"
    r"|s\.?a\.?r\.?l|s\.?r\.?l|b\.?v|kg|ohg|e\.? ?k)\b"
)
_TRADE = re.compile(
    r"\b(?:enterprise|trading|perniagaan|syarikat|restora\w{1,3}|restaurant|cafe|coffee|mart|market|supermarket|store"
    r"|shop|hardware|stationer\w{1,3}|bakery|books?|house|pharmacy|hotel|kedai|pasar|mini ?market|hypermarket"
    r"|gift|deco|seafood|kitchen|bistro|center|centre|company|sons|apotheke|backerei|markt|boulangerie|librairie|bakkerij)\b"
)
_STREET = re.compile(
    r"\b(?:jalan|jln|jl|lot|no\.? ?\d|lorong|taman|tmn|persiaran|lebuh|bandar|seksyen|block|blok|kawasan|ground floor"
    r"|level|unit|street|st|road|rd|avenue|ave|lane|drive|square|way|rue|via|calle|plaza|place|strasse"
    r"|\w{3,20}str(?:asse)?|weg|platz|straat|laan|medan|pusat|wisma|menara|mall|batu|kampung|kg|off|floor|bangunan)\b"
    r"|^\W?\d{1,5}[a-z]?[-,. ]"
)
_PLACE = re.compile(
    r"\b(?:kuala lumpur|k\.? ?l|selangor|johor|penang|pulau pinang|perak|melaka|pahang|sabah|sarawak|kedah|klang"
    r"|petaling|shah alam|ipoh|puchong|seremban|negeri sembilan|malaysia|ehsan|d\.e|wilayah|london|singapore|usa|uk)\b"
)
_POSTCODE = re.compile(r"\b\d{5}\b|\b[a-z]{1,2}\d{1,2}[a-z]? \d[a-z]{2}\b|\b\d{4} ?[a-z]{2}\b")
_OTHER = re.compile(
    r"\b(?:tel|fax|phone|gst|tax|invoice|receipt|cash|bill|date|time|email|www|http|cashier|table|sst|vat|doc|welcome"
    r"|description|item|qty|branch|original|copy|reprint|hotline|customer|order|ust|tva|btw"
    r"|thanks?|tq|please|goods|return\w{0,5}|reg|company no|duplicate)\b|@|\.com|\d[.,]\d\d\b|%"
)
_CUT = re.compile(r"[ (,]{1,3}(?:tel|fax|phone|gst|hp)\b.{0,80}$")
_TIME = re.compile(r"\b\d{1,2}[:.]\d\d(?:[:.]\d\d)? ?(?:am|pm)?\b")
_NOT_ISSUED = re.compile(r"\b(?:expir\w{1,3}|valid|due|effective|until|before|promo\w{0,5}|member|since)\b")
_WORDS = {
    "total": re.compile(r"\b(?:totals?|tota1|t0tal|summe|gesamt\w{0,8}|totaal|totale|jumlah)\b"),
    "grand": re.compile(r"\b(?:grand|nett?|payable|due|amount to pay|zu zahlen|a payer|te betalen|final)\b"),
    "incl": re.compile(r"\b(?:incl\w{0,8}|inc|with gst|ttc|after)\b"),
    "excl": re.compile(r"\b(?:excl?\w{0,8}|before|without|w/o)\b"),
    "sub": re.compile(r"\b(?:sub-? ?totals?|subtotal|zwischensumme|sous-total)\b"),
    "rounded": re.compile(r"\b(?:rounded|round(?:ing)?)\b"),
    "adjust": re.compile(r"\b(?:rounding ?(?:adj\w{0,8}|amt)?|adj\w{0,8})\b"),
    "tax": re.compile(r"\b(?:gst|tax|vat|sst|mwst|tva|btw|iva)\b"),
    "cash": re.compile(
        r"\b(?:cash|tender\w{0,3}|paid|payment|pay|visa|master\w{0,4}|card|debit|gegeben|especes|bar)\b"
    ),
    "change": re.compile(r"\b(?:change|balance|rendu|ruckgeld|wisselgeld|cambio|resto)\b"),
    "count": re.compile(r"\b(?:qty|quantity|items?|item\(s\)|count|points?|pcs)\b"),
    "less": re.compile(r"\b(?:disc\w{0,6}|saving\w{0,2}|charge|service|deposit|voucher|rabatt|remise)\b"),
    "amount": re.compile(r"\b(?:amount|amt|sales?|bill|rm)\b"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, the row it begins in, and its probability among the candidates."""

    value: str
    row: Row
    confidence: float


@dataclass(frozen=True, slots=True)
class Span:
    """A text of one or more rows that follow each other."""

    value: str
    row: Row


def is_receipt(rows: Sequence[Row]) -> bool:
    """Whether a till printed it: one page as narrow as a till's paper, or nearly so with two words of tills."""
    if len(rows) < FEWEST_ROWS or rows[-1].page > 1:
        return False
    widths = sorted(len(row.text.strip()) for row in rows)
    usual = widths[len(widths) * 9 // 10]
    if usual <= TILL_WIDTH and len(rows) >= TILL_ROWS:
        return True
    return usual <= WIDEST and len({match[0] for row in rows for match in _CUE.finditer(row.folded)}) >= 2


def merchant(rows: Sequence[Row]) -> Choice | None:
    """Who sold."""
    return _chosen("merchant", merchants(rows))


def address(rows: Sequence[Row]) -> Choice | None:
    """Where the merchant is: some rows of the head, on one line."""
    found = _chosen("address", addresses(rows))
    return replace(found, confidence=found.confidence * ADDRESS_TRUST) if found else None


def total(rows: Sequence[Row], *, comma: bool) -> Choice | None:
    """What was paid, after rounding, as a plain decimal."""
    return _chosen("total", totals(rows, comma=comma))


def issued(rows: Sequence[Row], *, day_first: bool) -> Choice | None:
    """The day of the sale: a labelled date, else one with a time of day beside it, else the first."""
    best: tuple[int, str, Row] | None = None
    seen: set[str] = set()
    for row in rows:
        for date in find_dates(row.folded, day_first=day_first):
            labelled = any(label.kind in (Kind.DATE, Kind.ISSUED) for label in row.labels)
            timed = _TIME.search(row.folded[date.end :]) is not None
            rank = 2 * labelled + timed - 4 * (_NOT_ISSUED.search(row.folded) is not None)
            seen.add(date.value)
            if best is None or rank > best[0]:
                best = (rank, date.value, row)
    if best is None or best[0] < 0:
        return None
    return Choice(best[1], best[2], (0.96 if len(seen) == 1 else 0.9) if best[0] else 0.9 if len(seen) == 1 else 0.7)


def _chosen(name: str, candidates: Iterator[tuple[Span, dict[str, float]]]) -> Choice | None:
    found = ranking.best(candidates, ranking.weights(name))
    return Choice(found[0].value, found[0].row, min(0.98, found[1])) if found else None


def merchants(rows: Sequence[Row]) -> Iterator[tuple[Span, dict[str, float]]]:
    """The rows of the head, and pairs of them, as names of the merchant."""
    head = rows[:10]
    forms = [_FORM.search(row.folded) is not None for row in head]
    for place, row in enumerate(head):
        text = _unprefixed(squeeze(row.text))
        bare = text[: len(text) - len(match[0])] if (match := _REGISTERED.search(fold(text))) else text
        texts = {bare.strip(" -([,"): 0.0}
        if place + 1 < len(head):
            texts[f"{bare} {squeeze(head[place + 1].text)}"] = 1.0
        for value, pair in texts.items():
            if 3 <= len(value) <= 90:
                yield Span(value, row), _merchant_features(head, forms, place, fold(value), pair)


def _merchant_features(
    head: Sequence[Row], forms: Sequence[bool], place: int, text: str, pair: float
) -> dict[str, float]:
    after = head[place + 1 + int(pair)].folded if place + 1 + pair < len(head) else ""
    before = head[place - 1].folded if place else ""
    form = _FORM.search(text) is not None
    second = head[place + 1].folded if place + 1 < len(head) else ""
    features = {
        f"at {min(place, 5)}": 1.0,
        "form": form,
        "form at the end": form and text.rstrip(" .)")[-3:] in ("bhd", "s/b", "ltd", "mbh", "inc"),
        "trade": _TRADE.search(text) is not None,
        "street": _STREET.search(text) is not None,
        "place": _PLACE.search(text) is not None,
        "postcode": _POSTCODE.search(text) is not None,
        "other": _OTHER.search(text) is not None,
        "many digits": sum(map(str.isdigit, text)) > 0.2 * len(text),
        "short": len(text) < 7,
        "ends open": text.endswith(("&", "and", ",")),
        "phone": _PHONE_ROW.search(text) is not None,
        "before registration": _REG_ROW.search(after) is not None,
        "before street": _STREET.search(after) is not None,
        "after form": any(forms[:place]),
        "form further down": any(forms[place + 1 + int(pair) :]),
        "after other": _OTHER.search(before) is not None,
        "starts like before": bool(before.strip()) and before.split()[0] in text,
    }
    if pair:
        features |= {
            "pair": 1.0,
            "pair form second": forms[place + 1] and not forms[place],
            "pair second street": _STREET.search(second) is not None,
            "pair second registration": _REG_ROW.search(second) is not None,
            "pair second trade": _TRADE.search(second) is not None,
            "pair second bracket": second.strip().startswith("("),
            "pair first open": text[: len(text) - len(squeeze(second))].rstrip().endswith(("&", "and", ",")),
            "pair second other": _OTHER.search(second) is not None,
            "pair second short": len(second.strip()) < 8,
            "pair both form": forms[place + 1] and forms[place],
        }
    return {name: float(value) for name, value in features.items() if value}


def addresses(rows: Sequence[Row]) -> Iterator[tuple[Span, dict[str, float]]]:
    """The runs of rows of the head, as the merchant's address."""
    head = rows[:HEAD_ROWS]
    texts = [_cut(row) for row in head]
    for start in range(min(len(head), 10)):
        for stop in range(start + 1, min(start + ADDRESS_ROWS, len(head)) + 1):
            value = " ".join(squeeze(text) for text in texts[start:stop])
            if 10 <= len(value) <= 250:
                yield Span(value, head[start]), _address_features([fold(text) for text in texts], start, stop)


def _cut(row: Row) -> str:
    match = _CUT.search(row.folded)
    return _unprefixed((row.text[: match.start()] if match and match.start() > 8 else row.text).strip())


def _unprefixed(text: str) -> str:
    match = _PREFIX.match(fold(text))
    return text[match.end() :] if match else text


def _address_features(texts: Sequence[str], start: int, stop: int) -> dict[str, float]:
    others = [_OTHER.search(each) is not None or _PHONE_ROW.search(each.strip()) is not None for each in texts]
    features: dict[str, float] = {
        f"rows {stop - start}": 1.0,
        f"at {min(start, 6)}": 1.0,
        "others": sum(others[start:stop]),
        "after other": others[stop] if stop < len(texts) else False,
        **_of_its_ends(texts[start:stop]),
        **_of_its_rows(texts[start:stop]),
        **_of_its_neighbours(texts[start - 1] if start else "", texts[stop] if stop < len(texts) else ""),
    }
    return {name: float(value) for name, value in features.items() if value}


def _of_its_ends(inside: Sequence[str]) -> dict[str, float]:
    first, last = inside[0].strip(), inside[-1].strip(" .,")
    return {
        "first street": _STREET.search(first) is not None,
        "first digit": first[:1].isdigit(),
        "first no": first.startswith(("no", "lot", "block", "unit")),
        "first form": _FORM.search(first) is not None,
        "first trade": _TRADE.search(first) is not None,
        "first registration": _REG_ROW.search(first) is not None,
        "first branch": _BRANCH.search(first) is not None,
        "first bracket": first.startswith("("),
        "last place": _PLACE.search(last) is not None,
        "last postcode": _POSTCODE.search(last) is not None,
        "last branch": _BRANCH.search(last) is not None,
        "last bracket": last.startswith("("),
        "ends with comma": inside[-1].rstrip().endswith((",", "-")),
    }


def _of_its_rows(inside: Sequence[str]) -> dict[str, float]:
    postcodes = sum(_POSTCODE.search(each) is not None for each in inside)
    return {
        "forms": sum(_FORM.search(each) is not None for each in inside[1:]),
        "registrations": sum(_REG_ROW.search(each) is not None for each in inside[1:]),
        "plain rows": sum(
            not (_STREET.search(each) or _PLACE.search(each) or _POSTCODE.search(each)) for each in inside
        ),
        "postcodes": postcodes,
        "no postcode": postcodes == 0,
        "streets": sum(_STREET.search(each) is not None for each in inside),
    }


def _of_its_neighbours(before: str, after: str) -> dict[str, float]:
    return {
        "before form": _FORM.search(before) is not None,
        "before registration": _REG_ROW.search(before) is not None,
        "before street": _STREET.search(before) is not None and not _FORM.search(before),
        "before comma": before.rstrip().endswith(","),
        "after branch": _BRANCH.search(after.strip()) is not None,
        "after place": _PLACE.search(after) is not None,
        "after postcode": _POSTCODE.search(after) is not None and not _OTHER.search(after),
        "after street": _STREET.search(after) is not None and not _OTHER.search(after),
        "after registration": _REG_ROW.search(after) is not None,
        "after bracket": after.strip().startswith("("),
    }


def totals(rows: Sequence[Row], *, comma: bool) -> Iterator[tuple[Span, dict[str, float]]]:
    """The amounts of a receipt as what was paid, with what all their rows say of them."""
    places = _money(rows, comma)[-MOST_TOTALS:]
    named: dict[str, set[Decimal]] = defaultdict(set)
    for _, said, value in places:
        for word in said:
            named[word].add(abs(value))
    values = list(dict.fromkeys(value for _, _, value in places if value > 0))
    largest = max(values, default=Decimal(1))
    for value in values:
        here = [(place, said) for place, said, other in places if other == value]
        yield Span(f"{value:.2f}", rows[here[-1][0]]), _total_features(value, here, named, largest, len(rows))


def _money(rows: Sequence[Row], comma: bool) -> list[tuple[int, frozenset[str], Decimal]]:
    """The last amount of each row with what the words before it say; a row of figures belongs to the words above it."""
    found: list[tuple[int, frozenset[str], Decimal]] = []
    for place, row in enumerate(rows):
        listed = [each for each in find_amounts(row.text, comma=comma) if each.cents or each.currency]
        if not listed:
            continue
        words, under = row.folded[: listed[0].start], False
        if sum(map(str.isalpha, words)) < 3 and place and not find_amounts(rows[place - 1].text, comma=comma):
            words, under = rows[place - 1].folded, True
        said = {name for name, pattern in _WORDS.items() if pattern.search(words)} | ({"under"} if under else set())
        kept = frozenset(said or {"unsaid"}) | (frozenset({"several"}) if len(listed) > 1 else frozenset())
        found += [(place, kept, each.value) for each in listed[-3:]]
    return found


def _total_features(
    value: Decimal,
    here: Sequence[tuple[int, frozenset[str]]],
    named: dict[str, set[Decimal]],
    largest: Decimal,
    length: int,
) -> dict[str, float]:
    features: dict[str, float] = {}
    for _, said in here:
        clean = said - {"several"}
        for word in clean:
            features[f"said {word}"] = 1.0
        features["said " + " ".join(sorted(clean & {"total", "sub", "excl", "incl", "tax", "rounded", "count"}))] = 1.0
        if "several" in said:
            features["in a table"] = 1.0
        if "total" in clean and not clean & {"sub", "excl", "tax", "count", "less", "adjust", "change"}:
            features["mere total"] = 1.0
    change = named["change"] - {Decimal(0)}
    near = {value + step * Decimal("0.01") for step in range(-4, 5) if step}
    features |= {
        "cash less change": any(value + back in named["cash"] for back in change),
        "cash itself": value in named["cash"] and (not change or value not in change),
        "cash, change stated": value in named["cash"] and bool(change),
        "largest": value == largest,
        "often": min(len(here), 5) / 5,
        "once": len(here) == 1,
        "low on the page": here[-1][0] / length,
        "round": value % Decimal("0.05") == 0,
        "rounded from": value % Decimal("0.05") == 0 and bool(near & named["total"]),
        "rounded to": value % Decimal("0.05") != 0 and bool(near & (named["total"] | named["cash"] | named["rounded"])),
        "tax added": any(value - tax in named["excl"] | named["sub"] for tax in named["tax"] if tax < value / 4),
    }
    return {name: float(each) for name, each in features.items() if each}
