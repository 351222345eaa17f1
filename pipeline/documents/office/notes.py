"""Footnotes, endnotes and comments: parts of their own, each note kept until the text refers to it."""

from __future__ import annotations

from pipeline.documents.office.story import MAX_HELD_CHARACTERS, Story
from pipeline.documents.office.text import Block
from pipeline.documents.office.xml import Attributes, attribute
from pipeline.errors import DocumentError
from pipeline.reasons import Reason


class Notes:
    """Listens to a part of footnotes, endnotes or comments and keeps each by its kind and id."""

    def __init__(self, kind: str, prefix: str = "") -> None:
        self.found: dict[str, Block] = {}
        self._kind, self._prefix = kind, prefix
        self._story: Story | None = None
        self._block = Block()
        self._characters = 0

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins; separators are no notes."""
        if self._story:
            self._story.start(tag, attributes)
        elif tag == self._kind and attribute(attributes, "type") in (None, "normal"):
            self._block = Block()
            self._story = Story(self._block)
            self.found[f"{self._kind} {attribute(attributes, 'id')}"] = self._block

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag == self._kind and self._story:
            self._story = None
            shown = Block()
            if self._prefix and any(line.strip() for line in self._block.text):
                shown.line(self._prefix)
            self._block.text[:0], self._block.layout[:0] = shown.text, shown.layout
        elif self._story:
            self._story.end(tag)

    def text(self, data: str) -> None:
        """Characters."""
        if self._story:
            self._characters += len(data)
            if self._characters > MAX_HELD_CHARACTERS:
                raise DocumentError(
                    Reason.BOMB,
                    f"its {self._kind}s have more than {MAX_HELD_CHARACTERS:,} characters, as many as are held",
                )
            self._story.text(data)
