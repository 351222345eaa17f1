"""An OpenDocument text: a paragraph a line, a style with a page break for the first of each page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.documents.packing import packed

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
SPACES = " ".join(
    f'xmlns:{prefix}="{_URN}{name}:1.0"'
    for prefix, name in {
        "office": "office",
        "text": "text",
        "table": "table",
        "style": "style",
        "draw": "drawing",
        "fo": "xsl-fo-compatible",
        "presentation": "presentation",
    }.items()
)
TURN = (
    '<style:style style:name="turn" style:family="paragraph">'
    '<style:paragraph-properties fo:break-before="page"/></style:style>'
)


def content(kind: str, inside: str, styles: str = TURN) -> str:
    """The part content.xml of a document of this kind: text, spreadsheet or presentation."""
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    shown = f"<office:body><office:{kind}>{inside}</office:{kind}></office:body>"
    return f"<office:document-content {SPACES}>{automatic}{shown}</office:document-content>"


def document(kind: str, inside: str, parts: Mapping[str, str | bytes] | None = None, styles: str = TURN) -> bytes:
    """A package with this content; `parts` are further parts."""
    return packed(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content(kind, inside, styles),
            "META-INF/manifest.xml": "<manifest/>",
            **(parts or {}),
        }
    )


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a style."""
    return f'<text:p text:style-name="{style}">{escape(text)}</text:p>'


def build(pages: Sequence[str]) -> bytes:
    """An OpenDocument text with these texts, each on its page."""
    inside = ""
    for page in pages:
        first, *others = page.split("\n")
        inside += paragraph(first, "turn") + "".join(map(paragraph, others))
    return document("text", inside)
