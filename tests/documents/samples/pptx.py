"""A PowerPoint presentation: a slide a page, a paragraph a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.documents.packing import packed
from tests.documents.samples.docx import TYPES, R, relations

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"


def slide(content: str, *, root: str = "sld", attributes: str = "") -> str:
    """A slide, or notes, around a text body's content."""
    shape = f"<p:sp><p:txBody>{content}</p:txBody></p:sp>"
    spaces = f'xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{R}"'
    return f"<p:{root} {spaces}{attributes}><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:{root}>"


def paragraphs(text: str) -> str:
    """A paragraph a line."""
    return "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in text.split("\n"))


def presentation(slides: Sequence[str], parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A package of slides; `parts` are further parts with full names."""
    order = "".join(f'<p:sldId id="{256 + number}" r:id="r{number}"/>' for number in range(len(slides)))
    targets = {f"r{number}": ("slide", f"slides/slide{number}.xml") for number in range(len(slides))}
    deck = f'<p:presentation xmlns:p="{P}" xmlns:r="{R}"><p:sldIdLst>{order}</p:sldIdLst></p:presentation>'
    return packed(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": relations({"r1": ("officeDocument", "ppt/presentation.xml")}),
            "ppt/presentation.xml": deck,
            "ppt/_rels/presentation.xml.rels": relations(targets),
            **{f"ppt/slides/slide{number}.xml": content for number, content in enumerate(slides)},
            **(parts or {}),
        }
    )


def build(pages: Sequence[str]) -> bytes:
    """A presentation with these texts, each on its slide."""
    return presentation([slide(paragraphs(page)) for page in pages])
