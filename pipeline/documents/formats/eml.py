"""E-mail as it travels (RFC 5322, MIME): head, text and a list of files; every file that is matter is an attachment.

Content-disposition is not believed: an inline PDF is a file like any other. A mail inside a mail is a file too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.encodings import decode
from pipeline.documents.entries import Entry, shown_name
from pipeline.documents.mail.headers import NAMES_OF_ONE_MAIL, Headers, parse
from pipeline.documents.mail.mime import Part, scan
from pipeline.documents.mail.text import MOST_BODY_BYTES, Enclosed, Mail, best_text, open_mail
from pipeline.documents.mail.transfer import decoded
from pipeline.documents.parsing import EDGE_BYTES, faults_are_io, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_ENGINE = "eml 1"
_TEXTS = ("text/plain", "text/html")
_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf|\s)*(?:\d{1,12}\s*\n|>?From [^\n]*\n)?((?:[!-9;-~]{1,200}[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*)+)"
)
_NAMES = re.compile(rb"^([!-9;-~]+?)[ \t]*:", re.M)
_SENT = frozenset((b"from", b"received", b"return-path", b"message-id", b"mime-version", b"delivered-to"))
_USUAL = _SENT | {
    b"to", b"cc", b"subject", b"date", b"sender", b"reply-to", b"content-type", b"content-transfer-encoding",
    b"x-mailer", b"references", b"in-reply-to", b"dkim-signature", b"x-sender", b"importance", b"thread-topic",
}  # fmt: skip


class EmlFormat:
    """One mail in a file of its own, as mail programs save it, with or without what Apple or a mailbox put before."""

    name = "eml"
    media_types: tuple[str, ...] = ("message/rfc822",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first fields: two that mails have, one of them of those that only mails have.

        A mailbox with a single mail is a mail if it is named so.
        """
        if head.startswith(b"From ") and not name.lower().endswith(NAMES_OF_ONE_MAIL):
            return None
        return self.media_types[0] if _begins_as_mail(head) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the whole file. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading; in memory are the text and where the parts are. Raises DocumentError.

        Reasons: empty_file, unsupported, bomb for more files than limits.max_children, io_error.
        """
        if not _begins_as_mail(read_edges(file)[0]):
            raise DocumentError(Reason.UNSUPPORTED, "not an e-mail: it does not begin with the fields of one")
        with faults_are_io():
            message = scan(file)
            bodies = [part for part in message.parts if _is_body(part)]
            files = [part for part in message.parts if not _is_body(part)]
            enclosed = [_enclosed(file, part, number) for number, part in enumerate(files, 1)]
            mail = _mail(file, message.headers, bodies, cut=message.cut)
            document = open_mail(mail, enclosed, means.limits, _ENGINE)
        yield document


def _begins_as_mail(head: bytes) -> bool:
    match = _HEAD.match(head if len(head) >= EDGE_BYTES else head + b"\n")
    if not match:
        return False
    names = {name.lower() for name in _NAMES.findall(match[1])}
    return len(names & _USUAL) >= 2 and bool(names & _SENT)


def _is_body(part: Part) -> bool:
    """Text without a name; a sender who attaches text gives it one."""
    return part.media_type in _TEXTS and not part.headers.file_name and part.headers.disposition != "attachment"


def _mail(file: BinaryIO, headers: Headers, bodies: Sequence[Part], *, cut: bool) -> Mail:
    texts, is_long = _texts(file, bodies)
    notes = [f"of its text only the first {MOST_BODY_BYTES // 1_000_000} MB are read"] if is_long else []
    notes += ["parts beyond the 20,000th are not read"] if cut else []
    return Mail(
        sender=headers.text("from") or headers.text("sender"),
        to=headers.text("to"),
        cc=headers.text("cc"),
        date=headers.text("date"),
        subject=headers.text("subject"),
        body="\n\n".join(_chosen(texts)),
        html="\n".join(text for part, text in texts if part.media_type == "text/html"),
        note="; ".join(notes),
    )


def _texts(file: BinaryIO, bodies: Sequence[Part]) -> tuple[list[tuple[Part, str]], bool]:
    """The texts of the parts, and whether there is more than the most that is read of all together."""
    texts: list[tuple[Part, str]] = []
    left = MOST_BODY_BYTES
    for part in bodies:
        raw = b"".join(decoded(file, part.start, min(part.end, part.start + left), part.encoding))
        texts.append((part, decode(raw, part.headers.parameter("content-type", "charset")).text))
        left -= min(part.end - part.start, left)
    return texts, sum(part.end - part.start for part in bodies) > MOST_BODY_BYTES


def _chosen(texts: Sequence[tuple[Part, str]]) -> Iterator[str]:
    """The texts to read, in order: of alternatives one, with the place of the first."""
    groups: dict[tuple[int, int], list[tuple[Part, str]]] = {}
    for position, (part, text) in enumerate(texts):
        key = (part.choice, 0) if part.choice else (0, position)
        groups.setdefault(key, []).append((part, text))
    for group in groups.values():
        plain = "\n\n".join(text for part, text in group if part.media_type == "text/plain")
        html = "\n".join(text for part, text in group if part.media_type == "text/html")
        chosen = best_text(plain, html)
        if chosen.strip():
            yield chosen.replace("\r\n", "\n").strip("\n")


def _enclosed(file: BinaryIO, part: Part, number: int) -> Enclosed:
    pieces = partial(decoded, file, part.start, part.end, part.encoding)
    media_type = part.media_type.partition(";")[0]
    name = part.headers.file_name
    if not name and media_type == "message/rfc822":
        name = _subject(next(iter(pieces()), b""))
    size = sum(map(len, pieces())) if part.encoding else part.end - part.start
    shown = shown_name(name, otherwise=f"attachment {number}", media_type=media_type)
    return Enclosed(Entry(shown, media_type, size, pieces), part.headers.content_id)


def _subject(head: bytes) -> str:
    """A name for a mail inside this one."""
    subject = parse(head.replace(b"\r\n", b"\n").partition(b"\n\n")[0]).text("subject")
    return subject.replace("/", "-").replace("\\", "-") + ".eml" if subject.strip() else ""


format: Format = EmlFormat()  # noqa: A001 - the name by which formats are found
