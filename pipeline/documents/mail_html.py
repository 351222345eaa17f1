"""The HTML of a mail as plain text, in one pass over its tags: linear in its length, whatever stands in it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_TAG_NAME = re.compile(r"/?([a-zA-Z][a-zA-Z0-9]{0,20})")
_RUNS = re.compile(r"[ \t\r\n\f\v\xa0\u200b\u200c\u00ad\ufeff]+")
_UNSEEN = ("script", "style", "head", "title", "template", "xml")
_BREAKS = frozenset((
    "br", "p", "div", "tr", "li", "ul", "ol", "dl", "dt", "dd", "table", "tbody", "thead", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "blockquote", "pre", "section", "article", "header", "footer", "address", "form", "center", "body",
    "html",
))  # fmt: skip
_CELLS = ("td", "th")


def html_text(source: str) -> str:
    """The text as it is read: blocks on lines of their own, cells of a row apart, scripts and styles gone.

    Never raises; text behind a tag that never ends is kept.
    """
    signs: list[str] = []
    for text, tag in _tokens(source):
        signs.append(_RUNS.sub(" ", html.unescape(text)))
        if tag in _BREAKS:
            signs.append("\n")
        elif tag in _CELLS:
            signs.append("  ")
    lines = (line.strip() for line in "".join(signs).split("\n"))
    return "\n".join(line for line in lines if line)


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    """Each run of text with the name of the tag behind it; a closing tag of a cell has none."""
    seeker = _Seeker(source)
    position = 0
    while (start := source.find("<", position)) >= 0:
        name, end = seeker.tag(start)
        if end <= start:
            yield source[position : start + 1], ""
            position = start + 1
            continue
        yield source[position:start], name
        position = end
    yield source[position:], ""


class _Seeker:
    """Finds where tags end, and looks for no ending again that was not there before."""

    def __init__(self, source: str) -> None:
        lowered = source.lower()
        # A letter that grows when it is lowered would move all positions.
        self._source = lowered if len(lowered) == len(source) else source
        self._missing: set[str] = set()

    def tag(self, start: int) -> tuple[str, int]:
        """The name of the tag at `start` and where it ends, with all that nobody sees; 0 if it is no tag."""
        if self._source.startswith("<!--", start):
            return "", self._behind("-->", start) or len(self._source)
        if self._source.startswith(("<!", "<?"), start):
            return "", self._behind(">", start)
        match = _TAG_NAME.match(self._source, start + 1)
        end = self._behind(">", start) if match else 0
        if not match or not end:
            return "", 0
        name = match[1].lower()
        if self._source[start + 1] == "/":
            return ("" if name in _CELLS else name), end
        if name in _UNSEEN and self._source[end - 2] != "/":
            return "", self._behind(f"</{name}", end) or end
        return name, end

    def _behind(self, ending: str, start: int) -> int:
        found = -1 if ending in self._missing else self._source.find(ending, start)
        if found < 0:
            self._missing.add(ending)
            return 0
        return found + len(ending)
