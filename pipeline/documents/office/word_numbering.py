"""The numbers of numbered paragraphs, which Word does not write into the text: counters, levels, patterns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.documents.office.xml import Attributes, attribute

LEVELS = 9
_MAX_LABEL = 60
_MAX_BASED_ON = 20
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_ROMAN = 3999
_NO_NUMBER = "0"  # a paragraph says numId 0 to have none although its style does


@dataclass(slots=True)
class _Level:
    """One level of a list. `pattern` has %1 … %9 for the counters."""

    start: int = 1
    style: str = "decimal"
    pattern: str = ""


@dataclass(slots=True)
class _Style:
    """What a paragraph style says of numbering."""

    number: str | None = None
    level: str | None = None
    based_on: str | None = None


@dataclass(slots=True)
class _Instance:
    """A list: which pattern it follows, and where it starts anew."""

    pattern: str = ""
    starts: dict[int, int] = field(default_factory=dict)
    begun: bool = False


class Numbering:
    """Counts. Listens to the parts numbering and styles first; then `label` is asked paragraph by paragraph."""

    def __init__(self) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._instances: dict[str, _Instance] = {}
        self._styles: dict[str, _Style] = {}
        self._counters: dict[str, list[int | None]] = {}
        self._abstract = self._instance = self._style = ""
        self._level: int | None = None

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element of numbering or styles begins."""
        if tag == "abstractNum":
            self._abstract, self._instance = attribute(attributes, "abstractNumId") or "", ""
            self._levels[self._abstract] = {}
        elif tag == "num":
            self._instance, self._abstract = attribute(attributes, "numId") or "", ""
            self._instances[self._instance] = _Instance()
        elif tag == "style":
            self._style = attribute(attributes, "styleId") or ""
            self._styles[self._style] = _Style()
        elif tag in ("lvl", "lvlOverride"):
            self._level = _whole(attribute(attributes, "ilvl"))
        else:
            self._on_value(tag, attribute(attributes, "val") or "")

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag == "style":
            self._style = ""
        elif tag in ("num", "abstractNum"):
            self._abstract = self._instance = ""

    def text(self, data: str) -> None:
        """Nothing here is text."""

    def _on_value(self, tag: str, value: str) -> None:
        if self._style:
            self._on_style_value(self._styles[self._style], tag, value)
        elif self._instance and tag == "abstractNumId":
            self._instances[self._instance].pattern = value
        elif self._instance and tag == "startOverride" and self._level is not None:
            self._instances[self._instance].starts[self._level] = _whole(value) or 0
        elif self._abstract and self._level is not None:
            self._on_level_value(tag, value)

    def _on_style_value(self, style: _Style, tag: str, value: str) -> None:
        if tag == "numId":
            style.number = value
        elif tag == "ilvl":
            style.level = value
        elif tag == "basedOn":
            style.based_on = value

    def _on_level_value(self, tag: str, value: str) -> None:
        level = self._levels[self._abstract].setdefault(self._level or 0, _Level())
        if tag == "start":
            level.start = _whole(value) or 0
        elif tag == "numFmt":
            level.style = value
        elif tag == "lvlText":
            level.pattern = value[:_MAX_LABEL]

    def label(self, number: str | None, level: str | None, style: str | None) -> str:
        """The label of the next paragraph of list `number`, or of its style's; empty when it has none."""
        by_style = self._of_style(style)
        number = number if number is not None else by_style.number
        instance = self._instances.get(number or _NO_NUMBER)
        at = _whole(level if level is not None else by_style.level) or 0
        if not instance or number == _NO_NUMBER or at >= LEVELS:
            return ""
        levels = self._levels.get(instance.pattern, {})
        if at not in levels:
            return ""
        return _shown(levels, self._count(instance, levels, at), at)

    def _of_style(self, name: str | None) -> _Style:
        """A style with what it inherits, a chain of bounded length."""
        found = _Style()
        for _ in range(_MAX_BASED_ON):
            style = self._styles.get(name or "")
            if not style or found.number is not None:
                break
            found.number = style.number
            found.level = found.level or style.level
            name = style.based_on
        return found

    def _count(self, instance: _Instance, levels: Mapping[int, _Level], at: int) -> list[int | None]:
        """Lists of one pattern share its counters, unless one starts anew."""
        counters = self._counters.setdefault(instance.pattern, [None] * LEVELS)
        if not instance.begun:
            instance.begun = True
            for level in instance.starts:
                if level < LEVELS:
                    counters[level] = None
        for above in range(at):
            if counters[above] is None:
                counters[above] = _first(instance, levels, above)
        value = counters[at]
        counters[at] = _first(instance, levels, at) if value is None else value + 1
        counters[at + 1 :] = [None] * (LEVELS - at - 1)
        return counters


def _first(instance: _Instance, levels: Mapping[int, _Level], at: int) -> int:
    return instance.starts.get(at, levels.get(at, _Level()).start)


def _shown(levels: Mapping[int, _Level], counters: list[int | None], at: int) -> str:
    level = levels[at]
    if level.style == "none":
        return level.pattern if "%" not in level.pattern else ""
    if level.style == "bullet":
        return "\u2022"
    label = level.pattern
    for each in range(at + 1):
        value = counters[each]
        label = label.replace(f"%{each + 1}", written_number(value or 0, levels.get(each, _Level()).style))
    return label[:_MAX_LABEL].strip()


def written_number(value: int, style: str) -> str:
    """A counter as its style writes it; nothing for a bullet, decimal for a style unknown here."""
    if style in ("lowerLetter", "upperLetter"):
        letters = _letters(value)
        return letters.upper() if style.startswith("upper") else letters
    if style in ("lowerRoman", "upperRoman"):
        roman = _roman(value)
        return roman.upper() if style.startswith("upper") else roman
    if style == "decimalZero":
        return f"{value:02d}"
    return "" if style in ("none", "bullet") else str(value)


def _letters(value: int) -> str:
    """a … z, then aa, bb … as Word counts on."""
    if not 1 <= value <= 26 * 10:
        return str(value)
    return chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)


def _roman(value: int) -> str:
    if not 1 <= value <= _LARGEST_ROMAN:
        return str(value)
    written = ""
    for worth, sign in _ROMAN:
        while value >= worth:
            written += sign
            value -= worth
    return written


def _whole(value: str | None) -> int | None:
    return int(value) if value and value.isascii() and value.isdecimal() and len(value) < 9 else None
