"""The numbers of list items and headings in OpenDocument text, by the list styles of the document."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.documents.office.word_numbering import written_number
from pipeline.documents.office.xml import Attributes, attribute

LEVELS = 10
_MAX_AFFIX = 20
_FORMATS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


@dataclass(slots=True)
class _Level:
    """One level of a list style. `format` is empty for none and "•" for a bullet; `shown` counts levels displayed."""

    format: str = ""
    before: str = ""
    after: str = ""
    shown: int = 1
    start: int = 1


@dataclass(slots=True)
class _List:
    """A list that is open: its style, and whether the next paragraph is the first of its item."""

    style: str
    fresh: bool = False


@dataclass(slots=True)
class _Counters:
    """How far each level of a style has counted."""

    values: list[int | None] = field(default_factory=lambda: [None] * LEVELS)


class Lists:
    """Listens to styles for list styles; in the body it is told of each element and asked for each label."""

    def __init__(self) -> None:
        self._styles: dict[str, dict[int, _Level]] = {}
        self._counters: dict[str, _Counters] = {}
        self._open: list[_List] = []
        self._heading: int | None = None
        self._style: str | None = None

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element of the styles begins."""
        if tag == "list-style":
            self._style = attribute(attributes, "name") or ""
            self._styles[self._style] = {}
        elif tag == "outline-style":
            self._style = ""
            self._styles[self._style] = {}
        elif self._style is not None and tag in _LEVELS:
            level = _number(attribute(attributes, "level"), 1) - 1
            if 0 <= level < LEVELS:
                self._styles[self._style][level] = _level(tag, attributes)

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in ("list-style", "outline-style"):
            self._style = None

    def text(self, data: str) -> None:
        """Nothing here is text."""

    def in_body(self, tag: str, attributes: Attributes) -> None:
        """An element of the body begins."""
        if tag in ("list", "ordered-list", "unordered-list"):
            self._open_list(attributes)
        elif tag == "list-item" and self._open:
            self._open[-1].fresh = True
            self._restart(attributes)
        elif tag == "h":
            self._heading = _number(attribute(attributes, "outline-level"), 1) - 1

    def out_of_body(self, tag: str) -> None:
        """An element of the body ends."""
        if tag in ("list", "ordered-list", "unordered-list") and self._open:
            self._open.pop()
        elif tag == "h":
            self._heading = None

    def label(self) -> str:
        """The label of the paragraph that begins; empty when it has none."""
        if self._open:
            current = self._open[-1]
            fresh, current.fresh = current.fresh, False
            return self._count(current.style, len(self._open) - 1) if fresh else ""
        if self._heading is None:
            return ""
        level, self._heading = self._heading, None
        return self._count("", level)

    def _open_list(self, attributes: Attributes) -> None:
        outer = self._open[-1].style if self._open else ""
        style = attribute(attributes, "style-name") or outer
        continued = attribute(attributes, "continue-numbering") == "true" or attribute(attributes, "continue-list")
        if not self._open and not continued:
            self._counters[style] = _Counters()
        self._open.append(_List(style))

    def _restart(self, attributes: Attributes) -> None:
        start = attribute(attributes, "start-value")
        level = len(self._open) - 1
        if start and level < LEVELS:
            counters = self._counters.setdefault(self._open[-1].style, _Counters())
            counters.values[level] = _number(start, 1) - 1

    def _count(self, style: str, level: int) -> str:
        levels = self._styles.get(style, {})
        found = levels.get(level)
        if not found or level >= LEVELS:
            return ""
        values = self._counters.setdefault(style, _Counters()).values
        before = values[level]
        values[level] = found.start if before is None else before + 1
        values[level + 1 :] = [None] * (LEVELS - level - 1)
        if found.format in ("", "\u2022"):
            return found.format
        return found.before + _shown(levels, values, level) + found.after


_LEVELS = ("list-level-style-number", "list-level-style-bullet", "outline-level-style")


def _level(tag: str, attributes: Attributes) -> _Level:
    if tag == "list-level-style-bullet":
        return _Level("\u2022")
    return _Level(
        _FORMATS.get(attribute(attributes, "num-format") or "", ""),
        (attribute(attributes, "num-prefix") or "")[:_MAX_AFFIX],
        (attribute(attributes, "num-suffix") or "")[:_MAX_AFFIX],
        _number(attribute(attributes, "display-levels"), 1),
        _number(attribute(attributes, "start-value"), 1),
    )


def _shown(levels: dict[int, _Level], values: list[int | None], level: int) -> str:
    first = max(level + 1 - levels[level].shown, 0)
    pieces = []
    for each in range(first, level + 1):
        found = levels.get(each, _Level())
        if found.format not in ("", "\u2022"):
            value = values[each]
            pieces.append(written_number(found.start if value is None else value, found.format))
    return ".".join(pieces)


def _number(value: str | None, otherwise: int) -> int:
    return int(value) if value and value.isascii() and value.isdecimal() and len(value) < 9 else otherwise
