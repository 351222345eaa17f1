"""A mail as text and files, whatever it was stored as: who wrote whom when about what, the text, the list of files."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from pipeline.config import LimitSettings
from pipeline.documents.entries import PIECE_BYTES, Entry, OpenTree, check_count, check_total, listed
from pipeline.documents.mail.decoration import (
    MOST_HEADER_BYTES,
    Picture,
    decoration,
    is_image,
    is_shown,
    pixels,
    shown_in,
)
from pipeline.documents.markup import html_text
from pipeline.documents.paging import pages_of

MOST_BODY_BYTES = 8_000_000
MOST_HTML_CHARACTERS = 2_000_000  # without the images that some mails carry in it; a long newsletter has 200,000
_STUB_CHARACTERS = 250  # "this mail is HTML, please use another program"
_INLINE_DATA = re.compile(r"data:[\w/+.-]{1,100};base64,[A-Za-z0-9+/=\s]*")
_ASIDE = {
    "application/pkcs7-signature": "signature",
    "application/x-pkcs7-signature": "signature",
    "application/pgp-signature": "signature",
    "application/pgp-keys": "key",
    "application/pgp-encrypted": "note on encryption",
    "text/calendar": "calendar entry",
    "application/ics": "calendar entry",
    "text/vcard": "visiting card",
    "text/x-vcard": "visiting card",
    "text/directory": "visiting card",
    "message/delivery-status": "report of delivery",
    "message/disposition-notification": "report of delivery",
    "message/external-body": "not in the mail",
    "text/rfc822-headers": "head of a mail that was returned",
    "text/enriched": "another form of the text",
    "text/richtext": "another form of the text",
    "text/x-amp-html": "another form of the text",
}
_ASIDE_BY_SUFFIX = {".p7s": "signature", ".sig": "signature", ".vcf": "visiting card", ".ics": "calendar entry"}


@dataclass(frozen=True, slots=True)
class Mail:
    """What a person sees of a mail. All is text as it was written; `html` is only looked at for what it shows."""

    sender: str = ""
    to: str = ""
    cc: str = ""
    date: str = ""
    subject: str = ""
    body: str = ""
    html: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A file of a mail, and the identifier by which the HTML body can show it."""

    entry: Entry
    content_id: str = ""


def open_mail(mail: Mail, enclosed: Sequence[Enclosed], limits: LimitSettings, engine: str) -> OpenTree:
    """The mail as a document. Raises DocumentError(bomb) for more files than `limits.max_children`."""
    check_total(len(enclosed), limits)
    entries = judged(enclosed, mail.html)
    check_count(entries, limits)
    notes = [mail.note] if mail.note else []
    if len(mail.html) > MOST_HTML_CHARACTERS and len(_INLINE_DATA.sub("", mail.html)) > MOST_HTML_CHARACTERS:
        notes.append(f"of its HTML only the first {MOST_HTML_CHARACTERS:,} characters are read")
    return OpenTree(tuple(pages_of(_text(mail, entries))), entries, engine, "; ".join(notes))


def best_text(plain: str, html: str) -> str:
    """The text of a mail that has it twice: the plain one, unless it is blank or only says that there is the other."""
    if plain.strip() and (len(plain) > _STUB_CHARACTERS or not html.strip()):
        return plain
    markup = _INLINE_DATA.sub("", html)[:MOST_HTML_CHARACTERS]
    read = html_text.read(markup.encode("utf-8", "replace")) if markup.strip() else None
    shown = "\n".join(text for text, _ in read.pages) if read else ""
    return shown if len(shown) > 4 * len(plain) else plain or shown


def judged(enclosed: Sequence[Enclosed], html: str) -> tuple[Entry, ...]:
    """The files with what is no document left out: decoration, signatures, invitations, cards, reports."""
    shown = shown_in(html)
    heads = [_head(each.entry) for each in enclosed]
    times = Counter((each.entry.size, zlib.crc32(head)) for each, head in zip(enclosed, heads, strict=True))
    return tuple(_judge(each, head, shown, times) for each, head in zip(enclosed, heads, strict=True))


def aside(entry: Entry) -> str:
    """Why a file is left out by its kind alone, empty if it is not."""
    return entry.left_out or _ASIDE.get(entry.media_type) or _ASIDE_BY_SUFFIX.get(entry.name[-4:].lower(), "")


def _judge(enclosed: Enclosed, head: bytes, shown: frozenset[str], times: Counter[tuple[int, int]]) -> Entry:
    entry = enclosed.entry
    reason = aside(entry)
    if not reason and is_image(head, entry.media_type):
        width, height = pixels(head)
        is_dress = is_shown(entry.name, enclosed.content_id, shown)
        seen = times[entry.size, zlib.crc32(head)]
        reason = decoration(Picture(width, height, entry.size, is_dress, seen))
    return replace(entry, left_out=reason)


def _head(entry: Entry) -> bytes:
    if entry.left_out:
        return b""
    pieces = entry.pieces()
    head = next(pieces, b"")
    if is_image(head, entry.media_type):
        head += b"".join(islice(pieces, MOST_HEADER_BYTES // PIECE_BYTES))
    return head


def _text(mail: Mail, entries: Sequence[Entry]) -> str:
    fields = (
        ("From", mail.sender),
        ("To", mail.to),
        ("Cc", mail.cc),
        ("Date", mail.date),
        ("Subject", mail.subject),
    )
    head = "\n".join(f"{name}: {' '.join(value.split())}" for name, value in fields if value.strip())
    files = "\n".join(["Attachments:", *map(listed, entries)]) if entries else ""
    body = mail.body.replace("\r\n", "\n").strip("\n")
    return "\n\n".join(each for each in (head, body, files) if each.strip())
