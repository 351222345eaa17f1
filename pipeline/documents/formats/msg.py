"""Outlook messages (MSG): the same as any mail, from properties instead of lines.

A message inside a message is a folder there and no file; it becomes a document as the mail it would be in a file of its
own, written anew. RTF is read only where there is no other text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.entries import PIECE_BYTES, Entry, check_total, shown_name
from pipeline.documents.mail.compressed_rtf import decompressed
from pipeline.documents.mail.headers import parse
from pipeline.documents.mail.mapi import TABLE, MessageFile, Properties
from pipeline.documents.mail.text import MOST_BODY_BYTES, Enclosed, Mail, best_text, open_mail
from pipeline.documents.mail.writing import written
from pipeline.documents.office.compound import is_compound, opened
from pipeline.documents.office.packages import holds
from pipeline.documents.parsing import faults_are_io, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_ENGINE = "msg 1"
_SUBJECT, _HEADERS = 0x0037, 0x007D
_SENT, _DELIVERED, _CREATED = 0x0039, 0x0E06, 0x3007
_SENDERS = ((0x0C1A, 0x5D01, 0x0C1F), (0x0042, 0x5D02, 0x0065))  # the sender; whom he sent it for
_RECIPIENT, _KIND, _NAME, _SMTP, _ADDRESS = "__recip_version1.0_", 0x0C15, 0x3001, 0x39FE, 0x3003
_TO, _CC, _SHOWN_TO, _SHOWN_CC = 1, 2, 0x0E04, 0x0E03
_BODY, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_FILE, _DATA, _LONG_NAME, _SHORT_NAME, _MEDIA_TYPE, _CONTENT_ID = (
    "__attach_version1.0_", 0x3701, 0x3707, 0x3704, 0x370E, 0x3712,
)  # fmt: skip
_METHOD, _BY_VALUE = 0x3705, 1
_TABLE_IN_DIRECTORY = TABLE.encode("utf-16-le")


class MsgFormat:
    """A message that Outlook saved."""

    name = "msg"
    media_types: tuple[str, ...] = ("application/vnd.ms-outlook",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the table of properties in a compound file."""
        has_table = holds(tail, TABLE.encode()) or _TABLE_IN_DIRECTORY in head or _TABLE_IN_DIRECTORY in tail
        return self.media_types[0] if is_compound(head) and has_table else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the text. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading; in memory are the text and, one after the other, the files. Raises DocumentError.

        Reasons: empty_file, unsupported, corrupt, bomb for more files than limits.max_children, io_error.
        """
        head, _ = read_edges(file)
        if not is_compound(head):
            raise DocumentError(Reason.UNSUPPORTED, "not an Outlook message: it is no compound file")
        with faults_are_io():
            size = file.seek(0, 2)
        with opened(file) as found:
            message = MessageFile(found, size).message
            reader = _Reader(means)
            yield open_mail(reader.mail(message), reader.files(message, 0), means.limits, _ENGINE)


class _Reader:
    """Reads mails out of messages, as deep as limits.max_nesting allows."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def mail(self, message: Properties) -> Mail:
        """What a person sees of the message."""
        headers = parse(message.text(_HEADERS).encode("utf-8", "replace").replace(b"\r\n", b"\n"))
        body, html = self._texts(message)
        return Mail(
            sender=_sender(message, headers.text("from")),
            to=_recipients(message, _TO) or message.text(_SHOWN_TO) or headers.text("to"),
            cc=_recipients(message, _CC) or message.text(_SHOWN_CC) or headers.text("cc"),
            date=headers.text("date") or message.date(_SENT) or message.date(_DELIVERED) or message.date(_CREATED),
            subject=message.text(_SUBJECT) or headers.text("subject"),
            body=body,
            html=html,
        )

    def files(self, message: Properties, level: int) -> list[Enclosed]:
        """The files of the message, those of messages inside it not counted."""
        found = list(message.objects(_FILE))
        check_total(len(found), self._means.limits)
        return [self._file(each, number, level) for number, each in enumerate(found, 1)]

    def _texts(self, message: Properties) -> tuple[str, str]:
        """The text to read, and the HTML for what it shows."""
        html = message.decoded(message.raw(_HTML)[:MOST_BODY_BYTES]) or message.text(_HTML)[:MOST_BODY_BYTES]
        text = best_text(message.text(_BODY)[:MOST_BODY_BYTES], html)
        if text.strip() and html:
            return text, html
        rtf = decompressed(message.raw(_RTF))
        return text if text.strip() else _text_of(rtf, self._means), rtf.decode("latin-1")

    def _file(self, file: Properties, number: int, level: int) -> Enclosed:
        content_id = file.text(_CONTENT_ID).strip().strip("<>")
        inner = file.message(_DATA)
        if inner:
            return Enclosed(self._message(file, inner, number, level), content_id)
        named = file.text(_LONG_NAME) or file.text(_SHORT_NAME) or file.text(_NAME)
        media_type = file.text(_MEDIA_TYPE).strip().lower()[:100]
        name = shown_name(named, otherwise=f"attachment {number}", media_type=media_type)
        left_out = _without_bytes(file)
        size = 0 if left_out else file.size(_DATA)
        return Enclosed(Entry(name, media_type, size, partial(file.pieces, _DATA, PIECE_BYTES), left_out), content_id)

    def _message(self, file: Properties, inner: Properties, number: int, level: int) -> Entry:
        most = self._means.limits.max_nesting
        subject = (inner.text(_SUBJECT) or file.text(_NAME)).replace("/", "-").replace("\\", "-")
        otherwise, kind = f"attachment {number}", "message/rfc822"
        name = shown_name(f"{subject}.eml" if subject.strip() else "", otherwise=otherwise, media_type=kind)
        pieces = partial(self._written, inner, level + 1)
        if level >= most:
            return Entry(name, kind, 0, pieces, f"nested {level + 1} deep, limits.max_nesting is {most}")
        # Only the list of the outermost message shows sizes; counting at every level would double the work of each.
        return Entry(name, kind, 0 if level else sum(map(len, pieces())), pieces)

    def _written(self, message: Properties, level: int) -> Iterator[bytes]:
        files = [each for each in self.files(message, level) if not each.entry.left_out]
        return written(self.mail(message), files, level)


def _sender(message: Properties, in_headers: str) -> str:
    """Who sent it, with an address if one is told anywhere."""
    found = [
        _person(message.text(name), message.text(smtp) or message.text(address)) for name, smtp, address in _SENDERS
    ]
    told = [person for person in (*found, in_headers) if person]
    return next((person for person in told if "@" in person), told[0] if told else "")


def _recipients(message: Properties, kind: int) -> str:
    found = (each for each in message.objects(_RECIPIENT) if each.number(_KIND) & 0xF == kind)
    people = (_person(each.text(_NAME), each.text(_SMTP) or each.text(_ADDRESS)) for each in found)
    return ", ".join(person for person in people if person)


def _person(name: str, address: str) -> str:
    """Name and address; what is no internet address, Exchange's own for example, says nothing to anybody."""
    name, address = name.strip().strip("'"), address.strip()
    if "@" not in address:
        return name
    return f"{name} <{address}>" if name and name != address else address


def _without_bytes(file: Properties) -> str:
    if file.holds_object(_DATA):
        return "an object of another program"
    if file.number(_METHOD) > _BY_VALUE and not file.size(_DATA):
        return "a reference to a file that is elsewhere"
    return ""


def _text_of(rtf: bytes, means: Means) -> str:
    if not rtf.strip():
        return ""
    from pipeline.documents.office.rtf_reading import RtfReading  # noqa: PLC0415
    from pipeline.documents.office.text import PageBuilder  # noqa: PLC0415 - few messages have RTF alone

    pages = PageBuilder(means.limits)
    RtfReading(pages).read(rtf)
    document = pages.finish(_ENGINE)
    return "\n".join(document.read_page(number).text for number in range(1, document.page_count + 1))


format: Format = MsgFormat()  # noqa: A001 - the name by which formats are found
