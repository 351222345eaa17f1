"""A Word document: one paragraph a line, a page break before each page but the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.documents.packing import packed

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """A part of relations: id to kind and target."""
    entries = "".join(
        f'<Relationship Id="{name}" Type="{R}/{kind}" Target="{target}"/>' for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_RELATIONS}">{entries}</Relationships>'


def body(content: str, root: str = "document") -> str:
    """A part of WordprocessingML around this content; the document's own has a body."""
    inside = f"<w:body>{content}</w:body>" if root == "document" else content
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} xmlns:w="{W}" xmlns:r="{R}">{inside}</w:{root}>'


def paragraph(text: str, before: str = "") -> str:
    """A paragraph with one run; `before` is markup at its beginning."""
    return f'<w:p>{before}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def document(
    content: str, parts: Mapping[str, str | bytes] | None = None, kinds: Mapping[str, str] | None = None
) -> bytes:
    """A package with this content; `parts` are further parts below word/, `kinds` the relations to them by name."""
    found = {f"r{number}": (kind, name) for number, (name, kind) in enumerate((kinds or {}).items())}
    return packed(
        {
            "[Content_Types].xml": TYPES,
            "_rels/.rels": relations({"r1": ("officeDocument", "word/document.xml")}),
            "word/document.xml": body(content),
            "word/_rels/document.xml.rels": relations(found),
        }
        | {f"word/{name}": part for name, part in (parts or {}).items()}
    )


def build(pages: Sequence[str]) -> bytes:
    """A Word document with these texts, each on its page."""
    turn = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
    return document(turn.join("".join(map(paragraph, page.split("\n"))) for page in pages))
