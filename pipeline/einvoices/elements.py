"""An element of an invoice, asked by paths of local names; what it holds becomes texts, decimals and dates.

Namespaces and prefixes do not count below the root: each version of ZUGFeRD has others, FatturaPA's are often wrong.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal

from lxml import etree

from pipeline.documents.text import clean
from pipeline.einvoices.model import Identifier, Unread

MAX_TEXT = 20_000  # characters of one value; attachments are not values
MAX_UNREAD = 100
_DECIMAL = re.compile(r"[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:Z|[+-]\d\d:\d\d)?(?:T[\d:.]{1,20}(?:Z|[+-]\d\d:\d\d)?)?")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")


class Log:
    """What is noted while one invoice is read: where terms stand, and what could not be understood."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        self.unread: list[Unread] = []

    def copy(self) -> Log:
        """A log that starts with what this one holds."""
        other = Log()
        other.places.update(self.places)
        other.unread.extend(self.unread)
        return other


class Group:
    """An element and everything below it. `place` is its path from the root."""

    def __init__(self, element: etree._Element, place: str, log: Log, *, noted: bool = True) -> None:
        self.element = element
        self.place = place
        self.log = log
        self.noted = noted  # the terms of a row occur many times: only the row's place is kept

    @property
    def name(self) -> str:
        """The element's name without namespace."""
        return local(self.element)

    def find(self, path: str) -> Group | None:
        """The first element at a path such as `Party/PostalAddress`; `A|B` is either name."""
        found = next(_descend(self.element, path.split("/")), None)
        return None if found is None else Group(found, self._place(found), self.log, noted=self.noted)

    def all(self, path: str, *, noted: bool = False) -> list[Group]:
        """All elements at a path, in order, each with its number in its place."""
        found = list(_descend(self.element, path.split("/")))
        name = path.replace("|", " or ")
        return [
            Group(each, f"{self.place}/{name}[{number}]", self.log, noted=noted) for number, each in enumerate(found, 1)
        ]

    def has(self, path: str) -> bool:
        """Whether there is such an element, empty or not."""
        return next(_descend(self.element, path.split("/")), None) is not None

    def text(self, term: str, path: str) -> str | None:
        """The first text that is not empty at a path, white space folded; notes where it stands."""
        for element in _descend(self.element, path.split("/")):
            words = _words(element)
            if words:
                self._note(term, element)
                return words
        return None

    def attribute(self, path: str, name: str) -> str | None:
        """An attribute of the first element at a path, None when it is missing or empty."""
        found = next(_descend(self.element, path.split("/")), None)
        value = None if found is None else found.get(name)
        return clean(value.strip()[:MAX_TEXT]) or None if value else None

    def identifier(self, term: str, path: str, scheme: str = "schemeID") -> Identifier | None:
        """An identifier and the scheme it names."""
        value = self.text(term, path)
        return Identifier(value, self.attribute(path, scheme)) if value else None

    def identifiers(self, path: str, scheme: str = "schemeID") -> tuple[Identifier, ...]:
        """All identifiers at a path."""
        return tuple(found for each in self.all(path) if (found := each.identifier("", ".", scheme)))

    def amount(self, term: str, path: str) -> Decimal | None:
        """A decimal number, exactly as written."""
        raw = self.text(term, path)
        if raw is None:
            return None
        if _DECIMAL.fullmatch(raw):
            return Decimal(raw)
        self._unread(term, raw, path, "no decimal number with a point")
        return None

    def date(self, term: str, path: str) -> dt.date | None:
        """A date as YYYY-MM-DD, or YYYYMMDD as CII has it."""
        raw = self.text(term, path)
        if raw is None:
            return None
        match = _ISO.fullmatch(raw) or _COMPACT.fullmatch(raw)
        try:
            if match:
                return dt.date(int(match[1]), int(match[2]), int(match[3]))
        except ValueError:
            pass  # the 31st of February: told below
        self._unread(term, raw, path, "no date")
        return None

    def _note(self, term: str, element: etree._Element) -> None:
        if self.noted and term and term not in self.log.places:
            self.log.places[term] = self._place(element)

    def _place(self, element: etree._Element) -> str:
        names: list[str] = []
        above = element
        while above is not self.element:
            names.append(local(above))
            parent = above.getparent()
            if parent is None:
                break
            above = parent
        return "/".join([self.place, *reversed(names)])

    def _unread(self, term: str, raw: str, path: str, problem: str) -> None:
        if len(self.log.unread) < MAX_UNREAD:
            self.log.unread.append(Unread(term, raw[:200], f"{self.place}/{path}", problem))


def local(element: etree._Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _descend(element: etree._Element, steps: list[str]) -> Iterator[etree._Element]:
    if not steps or steps[0] == ".":
        yield element
        return
    names = steps[0].split("|")
    for child in element:
        if local(child) in names:
            yield from _descend(child, steps[1:])


def _words(element: etree._Element) -> str:
    text = element.text
    return clean(" ".join(text[:MAX_TEXT].split())) if text else ""
