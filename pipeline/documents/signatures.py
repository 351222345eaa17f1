"""What a file looks like by its first and last bytes, in words for the person who dropped it."""

from __future__ import annotations

import re

_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (_COMPOUND, "an old Office document or an Outlook message"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"II+\x00", "a TIFF image"),
    (b"MM\x00+", "a TIFF image"),
    (b"BM", "a BMP image"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript document"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_SHORT_SIGNATURE = 3  # bytes; a shorter one can open a text as well, so the text must be ruled out
_OLD_OFFICE = (
    (b"\x00worddocument\x00", "an old Word document (save it as DOCX or PDF)"),
    (b"\x00powerpoint document\x00", "an old PowerPoint presentation (save it as PPTX or PDF)"),
)
_OFFICE_PARTS = ((b"word/", "a Word document"), (b"xl/", "an Excel workbook"), (b"ppt/", "a PowerPoint presentation"))
_HTML = re.compile(rb"\s*(?:<!doctype\s+html|<html[\s>]|<(?:head|body|title|meta|script|style|div|table|p)[\s>])", re.I)
_MARKUP = re.compile(rb"\s*<(?:\?xml\b|!doctype\b|!--|[a-z][\w.:-]*(?:\s[^<>]*)?/?>)", re.I)
_MAIL_LINES = re.compile(rb"(?:[a-z][a-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){2}", re.I)
_MAIL_ONLY = re.compile(rb"^(?:mime-version|message-id|received|return-path|delivered-to):", re.I | re.M)
_MAILBOX = re.compile(rb"From (?:- |\S[^\n]*\d{4})[^\n]*\n[!-9;-~]{1,200}[ \t]*:")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def looks_like(head: bytes, tail: bytes) -> str | None:
    """What the file looks like, as "a ZIP archive"; None for plain text and for what has no signature.

    With a packages.listing in `tail`, old Office documents are told apart.
    """
    return (
        _by_signature(head, tail) or _by_container(head, tail) or _by_markup(head.removeprefix(_BYTE_ORDER_MARK), tail)
    )


def _by_signature(head: bytes, tail: bytes) -> str | None:
    for name, words in _OLD_OFFICE:
        if head.startswith(_COMPOUND) and name in tail:
            return words
    for signature, words in _SIGNATURES:
        if head.startswith(signature) and (len(signature) >= _SHORT_SIGNATURE or b"\x00" in head):
            return words
    return None


def _by_container(head: bytes, tail: bytes) -> str | None:
    """Formats whose first bytes say only what they are packed in."""
    if head.startswith(b"PK\x03\x04"):
        return next((words for part, words in _OFFICE_PARTS if part in head or part in tail), "a ZIP archive")
    if head.startswith(b"RIFF"):
        return "a WebP image" if head[8:12] == b"WEBP" else "a sound or a film"
    if head[4:8] == b"ftyp":
        return "a HEIC image" if head[8:11] in (b"hei", b"mif", b"hev") else "a film"
    return None


def _by_markup(head: bytes, tail: bytes) -> str | None:
    if _HTML.match(head) or tail.rstrip().lower().endswith(b"</html>"):
        return "an HTML page (a web page, or the login page of a broken download)"
    if _MARKUP.match(head):
        return "an XML document"
    if _MAIL_LINES.match(head) and _MAIL_ONLY.search(head):
        return "an e-mail"
    return "a mailbox" if _MAILBOX.match(head) else None
