"""Where on a page what was found is printed, and how: the recipe asks this of every field that a handler leaves open.

A field's snippet says which part of its page is meant; there its value is looked for, in any notation. A value that was
worked out from others is looked for nowhere else, any other also elsewhere on the page if it says enough to be known
again. Fields of an electronic invoice name no page; they are looked for on those that a reader starts with.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pipeline.documents.text import Box, Page
from pipeline.handling import Extraction, Field, Group
from pipeline.reading.labels import find_labels
from pipeline.reading.places.value_spans import Part
from pipeline.reading.places.word_boxes import PrintedPage, around
from pipeline.reading.rows import fold

MAX_FIELDS = 1_000  # of a document; more are the rows of a list that nobody looks at one by one
MAX_PRINTED = 300  # characters
NO_PAGE = 0
_FIRST_PAGES = 5
_TELLING = 4  # letters and digits of a value that is known again anywhere on a page
_WORKED_OUT = frozenset({"arithmetic", "derived"})
_PIECE, _PIECES = 40, 4  # characters that tell a snippet's place where the whole of it is not found; how many are tried
_MOST_MEANT = 20  # rows of a page that read the same
_MOST_PLACES = 100
_MOST_WORDS, _MOST_LINES = 40, 4  # of a value that runs over lines
_LINES_BELOW = 3  # with the line itself; between two lines of a name another column may have one
_LABELLED = 10  # places of a value of which the one beside a label of its kind is taken
# Values of a row that are alike stand in this order; what is not named stands before.
_AMOUNTS = ("net_amount", "price", "taxable_amount", "tax_amount")
_COLUMNS = ("quantity", "unit", "price", "tax_category", "tax_rate", "taxable_amount", "tax_amount", "net_amount")


def placed(found: Extraction, pages: Sequence[Page]) -> Extraction:
    """The extraction with `printed` and `box` of each field that is found on its page, where a handler gave none."""
    sheets = _Sheets(pages)
    fields = {name: tuple(sheets.placed(name, each) for each in several) for name, several in found.fields.items()}
    return replace(found, fields=fields, groups=tuple(map(sheets.placed_group, found.groups)))


def place(field: Field, page: Page) -> tuple[str, Box | None]:
    """How a field's value is printed on its page, and where; "" and the place of its snippet if it is not."""
    found = _Sheets([page]).placed("", replace(field, page=page.number))
    return found.printed, found.box


class _Sheets:
    """The pages as far as they are needed, and which parts of them are taken: alike values are different places."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = {page.number: page for page in pages if page.layout or page.text}
        self._read: dict[int, PrintedPage] = {}
        self._taken: set[tuple[int, Part]] = set()
        self._rows: dict[tuple[int, str], list[Part]] = {}
        self._announced: dict[tuple[int, Part], frozenset[str]] = {}
        self._left = MAX_FIELDS

    def placed(self, name: str, field: Field) -> Field:
        """The field with what is open filled in."""
        if field.printed or field.box or self._left <= 0:
            return field
        self._left -= 1
        if field.page == NO_PAGE:
            found = self._anywhere(name, field.value) if field.method == "xml" else None
            return self._with(field, *found) if found else field
        sheet = self._sheet(field.page)
        if sheet is None:
            return field
        meant = self._meant(field, sheet)
        part = self._free(field.page, _places(field, sheet, meant))
        if part:
            return self._with(field, field.page, part)
        if field.method not in _WORKED_OUT and (pieces := _broken(field.value, sheet, meant)):
            return self._with(field, field.page, *pieces)
        return replace(field, box=sheet.box(*meant[0])) if meant else field

    def _meant(self, field: Field, sheet: PrintedPage) -> list[Part]:
        """The parts of its page that a field's snippet stands for, which is the same for all cells of a row."""
        known = self._rows.get((field.page, field.snippet))
        if known is None:
            known = self._rows[field.page, field.snippet] = _meant(field.snippet, sheet)
        return known

    def placed_group(self, group: Group) -> Group:
        """The group with its fields placed, in the order in which columns usually stand.

        One of an electronic invoice is placed if a row of the print has its name, or two of its amounts.
        """
        order = sorted(group.fields, key=lambda name: _COLUMNS.index(name) if name in _COLUMNS else -1)
        row = self._row(group)
        done = {each: self._of_row(group.fields[each], row) for each in order}
        return replace(group, fields={each: done[each] for each in group.fields})

    def _row(self, group: Group) -> tuple[int, Part] | None:
        cells = {name: each.value for name, each in group.fields.items() if each.page == NO_PAGE and not each.printed}
        self._left -= len(cells)
        if not cells or self._left <= 0:
            return None
        row = self._anywhere("name", cells["name"]) if "name" in cells else None
        amounts = [cells[name] for name in _AMOUNTS if _is_telling(cells.get(name, ""))]
        return row or (self._with_both(*amounts[:2]) if len(amounts) > 1 else None)

    def _with_both(self, one: str, other: str) -> tuple[int, Part] | None:
        """A line that prints both values, at different places."""
        for number, sheet in self._first_sheets():
            for part in itertools.islice(sheet.searched.find(one), _LABELLED):
                if any(each != part for each in sheet.searched.find(other, sheet.line(part[0]))):
                    return number, part
        return None

    def _first_sheets(self) -> Iterator[tuple[int, PrintedPage]]:
        """The pages on which fields of an electronic invoice are looked for."""
        for number in itertools.islice(self._pages, _FIRST_PAGES):
            sheet = self._sheet(number) if self._pages[number].places else None
            if sheet:
                yield number, sheet

    def _of_row(self, field: Field, row: tuple[int, Part] | None) -> Field:
        if field.page != NO_PAGE:
            return self.placed("", field)
        sheet = self._sheet(row[0]) if row else None
        if row is None or sheet is None or field.printed:
            return field
        part = self._free(row[0], [sheet.searched.find(field.value, sheet.line(row[1][0]))])
        return self._with(field, row[0], part) if part else field

    def _anywhere(self, name: str, value: str) -> tuple[int, Part] | None:
        """The first page that prints a value, and where: beside a label of its kind, or else if it says enough."""
        enough = _is_telling(value) or name == "currency"
        for number, sheet in self._first_sheets():
            first, rest = itertools.tee(itertools.islice(sheet.searched.find(value), _LABELLED))
            labelled = (part for part in first if name in self._labels(number, sheet, part))
            part = self._free(number, [labelled, rest if enough else ()])
            if part:
                return number, part
        return None

    def _labels(self, number: int, sheet: PrintedPage, part: Part) -> frozenset[str]:
        """What is announced in the line there, by the names of fields."""
        line = sheet.line(part[0])
        known = self._announced.get((number, line))
        if known is None:
            known = frozenset(label.kind.value for label in find_labels(fold(sheet.text[slice(*line)])))
            self._announced[number, line] = known
        return known

    def _free(self, number: int, ways: Iterable[Iterable[Part]]) -> Part | None:
        """The first place of the first way that finds any, one that nothing else has taken if there is one."""
        for way in ways:
            first = None
            for part in itertools.islice(way, _MOST_PLACES):
                first = first or part
                if (number, part) not in self._taken:
                    self._taken.add((number, part))
                    return part
            if first:
                return first
        return None

    def _with(self, field: Field, number: int, *parts: Part) -> Field:
        sheet = self._read[number]
        words = [word for part in parts for word in sheet.text[slice(*part)].split()]
        box = around(box for part in parts if (box := sheet.box(*part)))
        return replace(field, page=number, printed=" ".join(words)[:MAX_PRINTED], box=box)

    def _sheet(self, number: int) -> PrintedPage | None:
        if number not in self._read and number in self._pages:
            self._read[number] = PrintedPage(self._pages[number])
        return self._read.get(number)


def _places(field: Field, sheet: PrintedPage, meant: Sequence[Part]) -> Iterator[Iterator[Part]]:
    """Where the value stands in the parts that are meant; then elsewhere, first behind the start of those."""
    yield (each for part in meant for each in sheet.searched.find(field.value, part))
    if field.method not in _WORKED_OUT and _is_telling(field.value):
        start = meant[0][0] if meant else 0
        yield sheet.searched.find(field.value, (start, len(sheet.text)))
        yield sheet.searched.find(field.value)


def _broken(value: str, sheet: PrintedPage, meant: Sequence[Part]) -> list[Part]:
    """The pieces of a value that runs over lines of a column, beside which other columns stand."""
    words = value.split()[:_MOST_WORDS]
    for row in meant:
        pieces: list[Part] = []
        rest, part = words, row
        while rest and len(pieces) < _MOST_LINES:
            count, found = _head(rest, sheet, part)
            if not found:
                break
            pieces.append(found)
            rest, part = rest[count:], (found[1], sheet.line(found[1], _LINES_BELOW)[1])
        if not rest:
            return pieces
    return []


def _head(words: Sequence[str], sheet: PrintedPage, part: Part) -> tuple[int, Part | None]:
    """How many of the words stand together in that part of the page, and where."""
    for count in range(len(words), 0, -1):
        found = next(sheet.searched.find(" ".join(words[:count]), part), None)
        if found:
            return count, found
    return 0, None


def _meant(snippet: str, sheet: PrintedPage) -> list[Part]:
    """The parts of the page that read like the snippet, whole lines first; about where it is if a piece is found."""
    words = " ".join(snippet.split())
    found: list[Part] = []
    at = sheet.find_words(words) if words else -1
    while at >= 0 and len(found) < _MOST_MEANT:
        found.append((at, at + len(words)))
        at = sheet.find_words(words, at + 1)
    if found:
        return sorted(found, key=lambda part: sheet.line(part[0])[0] != part[0])
    for offset in (len(words) * number // _PIECES for number in range(_PIECES)):
        piece = words[offset : offset + _PIECE]
        at = sheet.find_words(piece) if len(piece) == _PIECE else -1
        if at >= 0:
            return [(max(at - offset, 0), min(at - offset + len(words), len(sheet.text)))]
    return []


def _is_telling(value: str) -> bool:
    return sum(map(str.isalnum, value[:100])) >= _TELLING
