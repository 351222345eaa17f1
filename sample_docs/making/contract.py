"""The services agreement of exactly 200 pages: varied clauses from a fixed seed, set in lines of justified type."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from making import contract_words as words

PAGES = 200
LINES_A_PAGE = 45
_BODY_FIRST, _BODY_LAST = 4, 198
_LEFT, _WIDTH, _TOP, _LEADING, _SIZE = 62.0, A4[0] - 124, A4[1] - 86, 15.2, 10.5
_BODY, _BOLD = "Times-Roman", "Times-Bold"
_SLOT = re.compile(r"\{([a-z]+?)2?\}")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of type. `justified` stretches it to the full width; `indent` is in points."""

    text: str
    font: str = _BODY
    size: float = _SIZE
    indent: float = 0.0
    justified: bool = False


class Chooser:
    """Picks words by a seed, the same ones on every Python: it draws only random(), whose values never change."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - prose, not a secret

    def pick(self, choices: tuple[str, ...]) -> str:
        """One of the choices."""
        return choices[self.below(len(choices))]

    def below(self, limit: int) -> int:
        """A number from 0 up to, not including, the limit."""
        return int(self._random.random() * limit)

    def sentence(self, template: str, things: tuple[str, ...]) -> str:
        """The template with its slots filled; the article's things fill `thing`, never the same one twice in a row."""
        left = list(things)

        def fill(slot: re.Match[str]) -> str:
            if slot[1] == "thing":
                return left.pop(self.below(len(left)))
            return self.pick(words.WORDS[slot[1]])

        return _SLOT.sub(fill, template)


def draw(path: Path) -> None:
    """Write the contract to `path`."""
    body, starts = _body(Chooser(seed=117))
    fixed = {
        1: _cover(),
        2: _contents(starts),
        3: _key_terms(),
        PAGES - 1: _plain(words.FINAL),
        PAGES: _plain(words.SIGNATURES, spaced=False),
    }
    canvas = Canvas(str(path), pagesize=A4, invariant=1, pageCompression=1)
    canvas.setTitle(f"{words.TITLE} {words.REFERENCE}")
    canvas.setAuthor(words.SUPPLIER)
    for number in range(1, PAGES + 1):
        start = (number - _BODY_FIRST) * LINES_A_PAGE
        _draw_page(canvas, number, fixed.get(number) or body[start : start + LINES_A_PAGE])
    canvas.save()


def _body(chooser: Chooser) -> tuple[list[Row], list[int]]:
    """All lines of the articles, exactly as many as the pages hold, and the page on which each article starts."""
    budget = (_BODY_LAST - _BODY_FIRST + 1) * LINES_A_PAGE
    rows: list[Row] = []
    starts: list[int] = []
    for number, (title, things) in enumerate(words.ARTICLES, 1):
        rows += _heading(number, title, len(rows))
        starts.append(_BODY_FIRST + (len(rows) - 1) // LINES_A_PAGE)
        share = budget * number // len(words.ARTICLES)
        for clause in range(1, budget):
            lines = list(_clause(chooser, f"{number}.{clause}", things))
            if len(rows) + len(lines) > share:
                break
            rows += lines
    return rows, starts


def _heading(number: int, title: str, used: int) -> list[Row]:
    """An article's heading, moved to the next page where fewer than four lines would follow it."""
    left = -used % LINES_A_PAGE
    gap = left if left < 6 else 1
    return [Row("")] * gap + [Row(f"Article {number}. {title}", _BOLD, 12), Row("")]


def _clause(chooser: Chooser, number: str, things: tuple[str, ...]) -> Iterator[Row]:
    """A numbered clause: some sentences, and in one clause of three a list of duties."""
    count = 2 + chooser.below(3)
    sentences = [chooser.sentence(chooser.pick(words.SENTENCES), things) for _ in range(count)]
    listed = chooser.below(3) == 0
    if listed:
        sentences.append(chooser.sentence(words.LIST_INTRODUCTION, things))
    yield from _wrap(f"{number} {chooser.pick(words.WORDS['head'])}. {' '.join(sentences)}")
    if listed:
        items = [chooser.pick(words.LIST_ITEMS) for _ in range(2 + chooser.below(3))] + [words.LIST_END]
        for letter, item in zip("abcdef", items, strict=False):
            yield from _wrap(f"({letter}) {chooser.sentence(item, things)}", indent=26)


def _wrap(text: str, *, indent: float = 0) -> Iterator[Row]:
    lines = simpleSplit(text, _BODY, _SIZE, _WIDTH - indent)
    for place, line in enumerate(lines, 1):
        yield Row(line, indent=indent, justified=place < len(lines))


def _plain(paragraphs: tuple[str, ...], *, spaced: bool = True) -> list[Row]:
    """A page of its own: a heading, then paragraphs, with a blank line after each where `spaced`."""
    rows = [Row(paragraphs[0], _BOLD, 14), Row("")]
    for paragraph in paragraphs[1:]:
        rows += [*_wrap(paragraph), Row("")] if spaced else list(_wrap(paragraph)) or [Row("")]
    return rows


def _cover() -> list[Row]:
    rows = [Row(""), Row(words.TITLE, _BOLD, 20), Row(""), Row(f"Reference: {words.REFERENCE}"), Row("")]
    return rows + _plain(("Parties", *words.OPENING))


def _key_terms() -> list[Row]:
    return _plain(("Key terms", *(f"K.{place} {term}" for place, term in enumerate(words.KEY_TERMS, 1))))


def _contents(starts: list[int]) -> list[Row]:
    def entry(label: str, page: int) -> Row:
        room = _WIDTH - stringWidth(f"{label}  {page}", _BODY, _SIZE)
        return Row(f"{label} {'.' * int(room / stringWidth('.', _BODY, _SIZE))} {page}")

    articles = [
        entry(f"Article {place}. {title}", page)
        for place, ((title, _), page) in enumerate(zip(words.ARTICLES, starts, strict=True), 1)
    ]
    last = [entry("Final provisions", PAGES - 1), entry("Signatures", PAGES)]
    return [Row("Contents", _BOLD, 14), Row(""), entry("Key terms", 3), *articles, *last]


def _draw_page(canvas: Any, number: int, rows: list[Row]) -> None:
    canvas.setFont(_BODY, 8.5)
    canvas.drawString(_LEFT, A4[1] - 50, f"{words.CUSTOMER} / {words.SUPPLIER}")
    canvas.drawRightString(_LEFT + _WIDTH, A4[1] - 50, words.REFERENCE)
    canvas.line(_LEFT, A4[1] - 56, _LEFT + _WIDTH, A4[1] - 56)
    text = canvas.beginText()
    for place, row in enumerate(rows):
        text.setTextOrigin(_LEFT + row.indent, _TOP - place * _LEADING)
        text.setFont(row.font, row.size)
        text.setWordSpace(_stretch(row))
        text.textOut(row.text)
    canvas.drawText(text)
    canvas.setFont(_BODY, 8.5)
    canvas.drawCentredString(A4[0] / 2, 40, f"Page {number} of {PAGES}")
    canvas.showPage()


def _stretch(row: Row) -> float:
    """What each space of a justified line gets more, in points."""
    gaps = row.text.count(" ")
    if not row.justified or not gaps:
        return 0.0
    room: float = _WIDTH - row.indent - stringWidth(row.text, row.font, row.size)
    return round(room / gaps, 3)
