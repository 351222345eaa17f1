"""Who sends an invoice and who receives it: names of companies and people, found by label, address and letterhead."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.reading.labels import Kind, find_labels
from pipeline.reading.rows import Cell, Row, fold
from pipeline.reading.tables import is_header

_FORM = (
    r"(?:GmbH(?: ?& ?Co\.? ?(?:KG|OHG))?|mbH|UG(?: \(haftungsbeschränkt\))?|AG|SE|KG|OHG|GbR|e\.? ?K\.?|e\.V\.|Ltd\.?"
    r"|Limited"
    r"|L\.?L\.?C\.?|L\.?L\.?P\.?|PLC|plc|Inc\.?|Incorporated|Corp\.?|Corporation|Company|Co\.|Pty\.?(?: Ltd\.?)?"
    r"|Pvt\.?(?: Ltd\.?)?"
    r"|B\.?V\.?|N\.?V\.?|V\.?O\.?F\.?|S\.?A\.?S\.?U?|S\.?A\.?R\.?L\.?|SARL|EURL|SCI|S\.?A\.?|S\.?L\.?U?\.?"
    r"|S\.?R\.?L\.?|S\.?p\.?A\.?|S\.?n\.?c\.?"
    r"|ApS|A/S|AB|AS|Oy|sp\. z o\.o\.|s\.r\.o\.|Kft\.?)"
)
_HAS_FORM = re.compile(rf"(?<!\w){_FORM}(?![\w-])", re.IGNORECASE)
_JOINING = r"&|and|und|et|y|of|the|de|du|des|del|della|di|da|van|der|den|von|la|le"
_COMPANY = re.compile(
    rf"((?:[A-ZÀ-Þ0-9][\w&.'’+-]*|the)(?:,? (?:[A-ZÀ-Þ][\w&.'’+-]*|{_JOINING})){{0,6}},? {_FORM})(?![\w-])"
)
POSTAL = re.compile(
    r"^(?:[A-Z]{1,2}[- ])?(?:\d{4,5} [^\W\d_]|\d{4} ?[A-Z]{2}\b)|\b[A-Z]{2},? {1,2}\d{5}(?:-\d{4})?\b"
    r"|\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"
    r"|\b[A-Z]\d[A-Z] ?\d[A-Z]\d\b"
)
_DOMAIN = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([a-z0-9-]{2,40}(?:\.[a-z0-9-]{2,20}){1,3})")
_NOT_NAME = re.compile(
    r"[@:]|https?|www\.|\d{5,}|\b(?:tel|fax|phone|iban|bic|page|seite|telefon|email|e-mail)\b|%|[€$£]|^\W|\.com\b"
    r"|\(c\)|©",
    re.IGNORECASE,
)
_ATTENTION = re.compile(
    r"^(?:attn|attention|att|z\. ?hd|c/o|to|an|firma|herrn?|frau|mr|mrs|ms|dr|m\.|mme)\b[.:]? *", re.IGNORECASE
)
_SENDER_BREAK = re.compile(r" [•·|*∙–—-] | ?[•·|∙] ?")
_NAME_LINE = re.compile(r"(?:name|firma|company|nom|naam|nombre|nome|ragione sociale) ?: *(.*)$", re.IGNORECASE)
_STREET = re.compile(r"\d{1,4} ?[a-zA-Z]?$|^\d{1,4},? [a-z]")
_WORD = re.compile(r"[a-z0-9]{3,}")
_COUNTRIES = (
    "deutschland germany france austria österreich schweiz switzerland suisse nederland netherlands belgium belgië"
    " belgique italia italy españa spain usa canada ireland india"
)
_NOBODY = frozenset(_COUNTRIES.split()) | {"united states", "united kingdom", "hong kong", "the netherlands"}
# What heads the sender's and the receiver's address, in pairs: alone, the words are too common to announce anything.
_FROM_TO = {"from": "to", "von": "an", "de": "a para", "van": "aan", "da": "a"}
_ROUTE_WORDS = frozenset(_FROM_TO) | {word for words in _FROM_TO.values() for word in words.split()}
_WORDS_OF_FORMS = _ROUTE_WORDS | {"nummer", "number", "amount", "name", "adresse", "address", "anschrift"}
_NOT_NAMES = _NOBODY | _WORDS_OF_FORMS
ROUTE_ROWS = 12
_FREEMAIL = frozenset(
    {"gmail", "hotmail", "outlook", "yahoo", "example", "gmx", "web", "icloud", "aol", "live", "orange"}
)
_BANK = re.compile(r"\b(?:bank|sparkasse|volksbank|banque|banco|banca|kreditinstitut)\b", re.IGNORECASE)
BLOCK_ROWS = 6


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name, the row it stands in, how it was found (label or pattern) and how sure that is."""

    value: str
    row: Row
    method: str
    confidence: float


def company_in(text: str) -> str | None:
    """The first company name with a legal form in a text, or None."""
    match = _COMPANY.search(text[:300])
    return match[1] if match else None


def find_buyer(rows: Sequence[Row]) -> FoundName | None:
    """The receiver: beside or under its label, else the addressee of the address window."""
    inline = under = None
    for place, cell, word in _routed(rows):
        if word not in _FROM_TO:
            under = under or _under(rows, place, cell)
    for place, row in enumerate(rows):
        for cell, start, end in _labels_of(row, Kind.BUYER):
            inline = inline or _inline(row, cell, start, end) or _beside(rows, place, cell, end)
            under = under or _under(rows, place, cell)
    return inline or under or _window([row for row in rows if not is_header(row)])


def find_seller(rows: Sequence[Row], buyer: FoundName | None) -> FoundName | None:
    """The sender: under its label, else the name that letterhead, footer, legal form and web domain agree on."""
    for place, row in enumerate(rows):
        for cell, start, end in _labels_of(row, Kind.SELLER):
            found = _inline(row, cell, start, end) or _beside(rows, place, cell, end) or _under(rows, place, cell)
            if found and _differs(found.value, buyer):
                return found
    for place, cell, word in _routed(rows):
        found = _under(rows, place, cell) if word in _FROM_TO else None
        if found and _differs(found.value, buyer):
            return found
    return _letterhead([row for row in rows if not is_header(row)], buyer)


def _routed(rows: Sequence[Row]) -> Iterator[tuple[int, Cell, str]]:
    """The headings "From" and "To" of two address blocks, alone in cells: side by side, or "To" further down."""
    heads = [
        (place, cell, word)
        for place, row in enumerate(rows)
        for cell in row.cells
        if (word := fold(cell.text).rstrip(" :")) in _ROUTE_WORDS
    ]
    for number, (place, cell, word) in enumerate(heads):
        for other in heads[number + 1 :]:
            near = rows[other[0]].page == rows[place].page and other[0] - place <= ROUTE_ROWS
            if near and other[2] in _FROM_TO.get(word, "").split():
                yield place, cell, word
                yield other
                return


def _differs(name: str, buyer: FoundName | None) -> bool:
    return buyer is None or fold(buyer.value) != fold(name)


def _labels_of(row: Row, kind: Kind) -> Iterator[tuple[Cell, int, int]]:
    """Labels of a kind that open a cell and are part of neither a sentence nor, without a colon, a company's name."""
    for label in row.labels:
        cell = next((each for each in row.cells if each.start == label.start), None)
        if label.kind is not kind or cell is None:
            continue
        rest = row.text[label.end : cell.end].lstrip()
        named = rest[:1] != ":" and _HAS_FORM.search(cell.text)
        if not named and (not rest or rest[0] in ":(/" or _name(rest)):
            yield cell, label.start, label.end


def _inline(row: Row, cell: Cell, start: int, end: int) -> FoundName | None:
    """The name after the colon of a label, or in the next cell if the label ends with a colon."""
    rest = row.text[end : cell.end].strip()
    if rest.startswith(":") and rest[1:].strip():
        name = _name(rest[1:].strip())
        return FoundName(name, row, "label", 0.8) if name else None
    if rest == ":":
        after = next((each for each in row.cells if each.start >= cell.end), None)
        name = _name(after.text) if after else None
        return FoundName(name, row, "label", 0.75) if name else None
    return None


def _beside(rows: Sequence[Row], place: int, cell: Cell, end: int) -> FoundName | None:
    """The name in the column right of a label that is alone in its cell, if no heading of columns can be meant.

    So it is where nothing stands under the label, or where another label does, with its own value beside it.
    """
    row = rows[place]
    after = next((each for each in row.cells if each.start >= cell.end), None)
    name = _name(after.text) if after and end >= cell.end - 1 and not is_header(row) else None
    if after is None or name is None:
        return None
    near = [each for each in rows[max(0, place - 1) : place + 2] if each.page == row.page and each is not row]
    listed = any(_labelled(each, cell) and _starts(each, after) for each in near)
    alone = not any(_starts(each, cell) for each in rows[place + 1 : place + 2])
    return FoundName(name, row, "label", 0.7) if listed or alone else None


def _starts(row: Row, above: Cell) -> bool:
    return any(abs(each.start - above.start) <= 4 for each in row.cells)


def _labelled(row: Row, above: Cell) -> bool:
    return any(abs(label.start - above.start) <= 4 for label in row.labels)


def _under(rows: Sequence[Row], place: int, cell: Cell) -> FoundName | None:
    """The name in the rows under a label; a company there wins over the person printed above it."""
    first: FoundName | None = None
    for row in rows[place + 1 : place + 6]:
        if row.page != rows[place].page or is_header(row):
            break
        if named := _named(row, cell):
            return named
        below = next((each for each in row.cells if abs(each.start - cell.start) <= 4), None)
        name = _name(below.text) if below else None
        if name is None:
            if first:
                break
            continue
        if _HAS_FORM.search(name):
            return FoundName(name, row, "label", 0.8)
        first = first or FoundName(name, row, "label", 0.65)
    return first


def _named(row: Row, label: Cell) -> FoundName | None:
    """The value of a line "Name: X" in the block under a label."""
    for position, cell in enumerate(row.cells):
        match = _NAME_LINE.match(cell.text)
        if match and abs(cell.start - label.start) <= 4:
            rest = match[1] or (row.cells[position + 1].text if position + 1 < len(row.cells) else "")
            name = _name(rest)
            return FoundName(name, row, "label", 0.85) if name else None
    return None


def _name(text: str) -> str | None:
    """The text as a name, without salutation and sender line, or None if it cannot be one."""
    text = _SENDER_BREAK.split(_ATTENTION.sub("", text.strip()), maxsplit=1)[0].strip(" ,;|")
    letters = sum(map(str.isalpha, text))
    if not 3 <= len(text) <= 70 or text.count(" ") > 8 or letters < len(text) * 0.6:
        return None
    if (
        text.lower() in _NOT_NAMES
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


def _window(rows: Sequence[Row]) -> FoundName | None:
    """The addressee without a label: under a sender line, or the second of the two address blocks of a letter."""
    for place, row in enumerate(rows[:25]):
        for cell in row.cells:
            if _sender_line(cell):
                return _addressee(rows, place, cell) or _first_block(rows)
    blocks = list({fold(name): (place, name) for place, name in _blocks(rows)}.values())[:2]
    if len(blocks) < 2:
        return None
    domains = _domains(rows)
    own = [any(_same(name, domain) for domain in domains) for _, name in blocks]
    place, name = blocks[0] if own[1] and not own[0] else blocks[1]
    return FoundName(name, rows[place], "pattern", 0.6 if any(own) else 0.45)


def _first_block(rows: Sequence[Row]) -> FoundName | None:
    """The first address block: the receiver's, where the sender's address is one line."""
    for place, name in _blocks(rows):
        return FoundName(name, rows[place], "pattern", 0.5)
    return None


def _addressee(rows: Sequence[Row], place: int, sender: Cell) -> FoundName | None:
    for row in rows[place + 1 : place + 4]:
        cell = next((each for each in row.cells if abs(each.start - sender.start) <= 8), None)
        name = _name(cell.text) if cell else None
        if name:
            return FoundName(name, row, "pattern", 0.65)
    return None


def _sender_line(cell: Cell) -> bool:
    parts = [part for part in _SENDER_BREAK.split(cell.text) if part]
    return len(parts) >= 3 and any(re.search(r"\d", part) for part in parts[1:]) and "http" not in cell.text


def _blocks(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Address blocks in the upper half of the first page: place of the first line, and the name there."""
    top = [row for row in rows[:40] if row.page == rows[0].page]
    for place, row in enumerate(top):
        for cell in row.cells:
            if POSTAL.search(cell.text) and not _sender_line(cell):
                first = _climb(top, place, cell)
                if first is not None:
                    yield first


def _climb(rows: Sequence[Row], place: int, cell: Cell) -> tuple[int, str] | None:
    found, missed = None, 0
    for upper in range(place - 1, max(-1, place - BLOCK_ROWS), -1):
        line = next((each for each in rows[upper].cells if abs(each.start - cell.start) <= 2), None)
        if line is None:
            missed += 1
            if missed > 1:
                break
            continue
        if _sender_line(line):
            break
        name = _name(line.text)
        if name is not None and not re.search(r"\d", name):
            found = (upper, name)
    return found


def _letterhead(rows: Sequence[Row], buyer: FoundName | None) -> FoundName | None:
    scores: dict[str, float] = {}
    best: dict[str, FoundName] = {}
    domains = _domains(rows)
    counts = Counter(fold(name) for row in rows for name in set(_candidates(row)))
    for place, row in enumerate(rows):
        for name in _candidates(row):
            key = fold(name)
            if not _differs(name, buyer):
                continue
            score = _score(name, place, domains) + (1.0 if counts[key] > 1 else 0.0)
            if score > scores.get(key, 0.0):
                scores[key], best[key] = score, FoundName(name, row, "pattern", min(0.9, 0.3 + score / 12))
    if not scores:
        return None
    winner = max(scores, key=lambda key: scores[key])
    return best[winner] if scores[winner] >= 2.5 else None


def _domains(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(match[1] for row in rows for match in _DOMAIN.finditer(row.folded)))[:20]


def _candidates(row: Row) -> Iterator[str]:
    for cell in row.cells:
        company, name = company_in(cell.text), _name(cell.text)
        whole = name is not None and (company is None or name.endswith(company))
        if company and not whole:
            yield company
        if name and (whole or company is None or len(name) < len(company) + 12):
            yield name


def _score(name: str, place: int, domains: Sequence[str]) -> float:
    score = 2.5 if _HAS_FORM.search(name) else 0.0
    score += 3.0 if any(_same(name, domain) for domain in domains) else 0.0
    score += max(0.0, 2.0 - place * 0.25)
    return score - (3.0 if _BANK.search(name) else 0.0)


def _same(name: str, domain: str) -> bool:
    """Whether a web domain is made of the name's words: together four letters and most of the domain."""
    host = next((part for part in domain.split(".")[-2::-1] if part not in ("co", "com")), "")
    if host in _FREEMAIL:
        return False
    words = [word for word in _WORD.findall(fold(name)) if len(word) >= 3]
    covered = sum(len(word) for word in words if word in host)
    return covered >= 4 and covered * 10 >= 7 * len(host.replace("-", ""))
