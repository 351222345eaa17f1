"""HTML as a stream of tags and text, in time proportional to its length: there is no tree, so no depth can hurt."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = re.compile(r"</?([A-Za-z][^\s/>]*)")
_PLAIN = re.compile(r"""[^>"']*""")
_NO_TEXT = frozenset(
    {"script", "style", "template", "iframe", "noembed", "noframes", "object", "svg", "math", "datalist"}
)


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or end tag; `attributes` as written."""

    name: str
    ends: bool
    attributes: str


def tokens(text: str) -> Iterator[Tag | str]:
    """Tags, and the text between them with its entities resolved; comments, scripts and styles are left out."""
    place, reader = 0, _TagReader(text)
    while place < len(text):
        less = text.find("<", place)
        if less < 0:
            less = len(text)
        if less > place:
            yield html.unescape(text[place:less])
        place = less
        if place == len(text):
            return
        tag, place = reader.read(place)
        if isinstance(tag, Tag) and tag.name in _NO_TEXT and not tag.ends and not tag.attributes.endswith("/"):
            place = reader.end_of(tag.name, place)
        elif tag is not None:
            yield tag


class _TagReader:
    """Reads what begins at a `<`. Remembers what does not come again, so that nothing is searched for twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._gone: set[str] = set()

    def read(self, place: int) -> tuple[Tag | str | None, int]:
        """The tag or text at `place`, or None for what is neither, and where it ends."""
        text = self._text
        if text.startswith("<!--", place):
            return None, self._after("-->", place + 4)
        if text.startswith("<![CDATA[", place):
            end = self._after("]]>", place + 9)
            return text[place + 9 : end].removesuffix("]]>"), end
        if text.startswith(("<!", "<?"), place):
            return None, self._after(">", place)
        name = _NAME.match(text, place)
        if name is None:
            return "<", place + 1
        end = self._end_of_tag(name.end())
        attributes = text[name.end() : end - 1]
        return Tag(name[1].lower(), text.startswith("</", place), attributes), end

    def end_of(self, name: str, place: int) -> int:
        """Where an element ends whose content is no text."""
        end = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(self._text, place)
        return self._after(">", end.end()) if end else len(self._text)

    def _after(self, mark: str, place: int) -> int:
        found = self._text.find(mark, place)
        return len(self._text) if found < 0 else found + len(mark)

    def _end_of_tag(self, start: int) -> int:
        """Behind the `>` that is not in quotes; behind the next one at all when a quote is never closed."""
        place = start
        while True:
            match = _PLAIN.match(self._text, place)
            place = match.end() if match else place
            sign = self._text[place : place + 1]
            if sign in ("", ">"):
                return min(place + 1, len(self._text))
            closing = -1 if sign in self._gone else self._text.find(sign, place + 1)
            if closing < 0:
                self._gone.add(sign)
                return self._after(">", place)
            place = closing + 1
