"""Whether text is HTML, other XML, or neither, in any encoding, and whether HTML is what somebody meant to send."""

from __future__ import annotations

import re
from pathlib import PurePath

from pipeline.documents.encodings import decode

HTML, XML = "html", "xml"
HTML_NAMES = (".html", ".htm", ".xhtml", ".xht", ".shtml")
_PROLOGUE = re.compile(r"(?:\ufeff|\s|<\?(?:xml|mso)[^>]{0,400}\?>|<!--.*?-->)*", re.DOTALL | re.IGNORECASE)
_HTML = re.compile(
    r"<(?:!doctype\s+html|html[\s>]|(?:head|body|title|meta|script|style|div|table|p|h[1-6]|font|center)[\s>])", re.I
)
_ELEMENT = re.compile(r"<([A-Za-z_][\w.:-]*)((?:\s[^<>]*)?)(/?)>")
_TAG = re.compile(
    r"<(script|style)\b.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)|<[^>]*(?:>|$)|&#?\w+;", re.DOTALL | re.IGNORECASE
)
_ASKING = re.compile(r"""type\s*=\s*["']?password|<form\b|http-equiv\s*=\s*["']?refresh""", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_NEVER_FIRST = frozenset(bytes([byte]) for byte in range(0x21, 0x7F) if byte != ord("<"))  # the same in all encodings
_LEAST_WORDS = 60  # a login or error page saved under another name has fewer within its first and last 4 KiB


def markup_of(head: bytes, tail: bytes) -> str | None:
    """`html` or `xml` by the first and last bytes, None for everything else. Never raises."""
    if b"<" not in head:
        return None
    if tail.rstrip(b"\0 \r\n\t").lower().endswith(b"</html>"):
        return HTML
    # Looked at before it is decoded: to guess the encoding of a binary file costs a hundred times as much.
    return None if head.lstrip()[:1] in _NEVER_FIRST else _by_beginning(decode(head).text, tail)


def _by_beginning(text: str, tail: bytes) -> str | None:
    begin = _PROLOGUE.match(text)
    start = begin.end() if begin else 0
    if _HTML.match(text, start):
        return HTML
    declared = text[:200].lstrip("\ufeff \t\r\n").startswith("<?xml")
    if declared or text.startswith("<!DOCTYPE", start):
        return XML
    if begin and text.startswith("<!--", start):  # a comment longer than the head
        return XML if _ends_as_markup(tail) else None
    root = _ELEMENT.match(text, start)
    return XML if root and ("xmlns" in root[2] or _ends_as_markup(tail)) else None


def is_html_document(head: bytes, tail: bytes, name: str) -> bool:
    """Whether HTML is what the sender meant to send: it is named so, or has much to read and asks for nothing.

    What a server says instead of the document - log in, expired, not found - arrives under the document's name, most
    often one of a PDF.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in HTML_NAMES or suffix == ".pdf":
        return suffix != ".pdf"
    text = decode(head).text + " " + (decode(tail).text if tail != head else "")
    return not _ASKING.search(text) and len(_WORD.findall(_TAG.sub(" ", text))) >= _LEAST_WORDS


def _ends_as_markup(tail: bytes) -> bool:
    return tail.rstrip(b"\0 \r\n\t").endswith((b">", b">\0"))
