"""Mailboxes (mbox): the text is the list of mails, and every mail becomes a document.

The file is read line by line, and only where the mails are stays in memory. A line that begins with "From " begins a
mail when it has a date, an empty line before it and a field behind it: in texts such lines are not always quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from pipeline.config import LimitSettings
from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.entries import Entry, OpenTree, check_count, shown_name, slice_of, too_many
from pipeline.documents.mail.headers import IS_FIELD, NAMES_OF_ONE_MAIL, Headers, parse
from pipeline.documents.parsing import faults_are_io, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAILS_PER_PAGE = 50
_ENGINE = "mbox 1"
_MOST_LINE_BYTES = 65_536
_MOST_HEAD_BYTES = 65_536
_BEGINS_MAIL = re.compile(rb"From (?:- |\S[^\n]*\d{4})[^\n]*\n")
_QUOTED = re.compile(rb">+From ")
_BLANK = (b"\n", b"\r\n")


class MboxFormat:
    """A mailbox in one file, as Thunderbird, mutt and Google Takeout write it."""

    name = "mbox"
    media_types: tuple[str, ...] = ("application/mbox",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first two lines. A file that is named like a single mail is one."""
        if name.lower().endswith(NAMES_OF_ONE_MAIL):
            return None
        return self.media_types[0] if _begins_mail(head) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the whole file. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading. Raises DocumentError.

        Reasons: empty_file, unsupported, bomb for more mails than limits.max_children, io_error.
        """
        head, _ = read_edges(file)
        if not _begins_mail(head):
            raise DocumentError(Reason.UNSUPPORTED, "not a mailbox: its first line begins no mail")
        with faults_are_io():
            mails = _scan(file, means.limits)
        entries = tuple(_entry(file, mail, number) for number, mail in enumerate(mails, 1))
        check_count(entries, means.limits)
        yield OpenTree(tuple(_pages(mails)), entries, _ENGINE)


@dataclass(slots=True)
class _Mail:
    """Where a mail is in the file, and what the list says of it. `quotes` says that lines in it are quoted."""

    start: int
    end: int
    quotes: bool
    date: str
    sender: str
    subject: str


def _begins_mail(head: bytes) -> bool:
    first = _BEGINS_MAIL.match(head)
    return bool(first and IS_FIELD.match(head, first.end()))


def _scan(file: BinaryIO, limits: LimitSettings) -> list[_Mail]:
    """All mails. Raises DocumentError(bomb) at the first that is too many."""
    mails: list[_Mail] = []
    file.seek(0)
    at, before = 0, b"\n"
    while line := file.readline(_MOST_LINE_BYTES):
        at += len(line)
        if before in _BLANK and line.startswith(b"From ") and _is_beginning(file, line, at):
            if len(mails) >= limits.max_children:
                raise too_many(len(mails) + 1, limits)
            if mails:
                mails[-1].end = at - len(line) - len(before)
            headers, size = _head(file)
            mails.append(_mail(headers, at))
            at, line = at + size, b""
        elif mails and line.startswith(b">") and before.endswith(b"\n") and _QUOTED.match(line):
            mails[-1].quotes = True
        before = line
    if mails:
        mails[-1].end = at
    return mails


def _is_beginning(file: BinaryIO, line: bytes, at: int) -> bool:
    """Whether the line begins a mail; leaves the file where it is."""
    following = file.readline(_MOST_LINE_BYTES)
    file.seek(at)
    return bool(_BEGINS_MAIL.match(line) and IS_FIELD.match(following))


def _head(file: BinaryIO) -> tuple[Headers, int]:
    """The mail's fields, and how many bytes were read for them. The blank line behind them stays unread."""
    lines: list[bytes] = []
    size = 0
    while size < _MOST_HEAD_BYTES and (line := file.readline(_MOST_LINE_BYTES)):
        if line in _BLANK:
            file.seek(-len(line), 1)
            break
        lines.append(line)
        size += len(line)
    return parse(b"".join(lines)), size


def _mail(headers: Headers, start: int) -> _Mail:
    date, sender, subject = (headers.text(name)[:200] for name in ("date", "from", "subject"))
    return _Mail(start, start, quotes=False, date=date, sender=sender, subject=subject)


def _entry(file: BinaryIO, mail: _Mail, number: int) -> Entry:
    named = mail.subject.replace("/", "-").replace("\\", "-")
    name = shown_name(f"{named}.eml" if named else "", otherwise=f"mail {number}", media_type="message/rfc822")
    read = _unquoted if mail.quotes else slice_of
    return Entry(name, "message/rfc822", mail.end - mail.start, partial(read, file, mail.start, mail.end))


def _unquoted(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """The mail's lines as they were sent: one sign that quotes "From " is taken away."""
    starts_line = True
    while start < end:
        file.seek(start)
        line = file.readline(min(_MOST_LINE_BYTES, end - start))
        if not line:
            return
        start += len(line)
        yield line[1:] if starts_line and _QUOTED.match(line) else line
        starts_line = line.endswith(b"\n")


def _pages(mails: Sequence[_Mail]) -> Iterator[str]:
    """Fifty mails a page: number, date, sender, subject."""
    lines = [f"{number}  {mail.date}  {mail.sender}  {mail.subject}" for number, mail in enumerate(mails, 1)]
    for start in range(0, len(lines), MAILS_PER_PAGE):
        yield "\n".join(lines[start : start + MAILS_PER_PAGE])


format: Format = MboxFormat()  # noqa: A001 - the name by which formats are found
