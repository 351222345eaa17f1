"""An OpenDocument presentation: a slide a page, a paragraph a line."""

from __future__ import annotations

from collections.abc import Sequence

from tests.documents.samples.odt import document, paragraph


def slide(content: str) -> str:
    """A slide with one text box."""
    return f"<draw:page><draw:frame><draw:text-box>{content}</draw:text-box></draw:frame></draw:page>"


def build(pages: Sequence[str]) -> bytes:
    """A presentation with these texts, each on its slide."""
    return document("presentation", "".join(slide("".join(map(paragraph, page.split("\n")))) for page in pages))
