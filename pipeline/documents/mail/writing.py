"""A mail written as it travels, in pieces: what a message inside an Outlook file becomes, so that it is a document.

The same message always gives the same bytes. All content is in base64, so that no text can pretend to be a boundary.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator, Sequence

from pipeline.documents.entries import Entry
from pipeline.documents.mail.text import Enclosed, Mail

_LINE_BYTES = 57  # of content a line of base64 has
_CHUNK_BYTES = _LINE_BYTES * 1_000


def written(mail: Mail, enclosed: Sequence[Enclosed], level: int) -> Iterator[bytes]:
    """The mail in pieces. `level` tells it from the mails around it. Raises DocumentError as its files' pieces do."""
    boundary = f"doclease-level-{level}"
    fields = {"From": mail.sender, "To": mail.to, "Cc": mail.cc, "Date": mail.date, "Subject": mail.subject}
    yield "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in fields.items() if value.strip()).encode()
    yield f'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="{boundary}"\r\n'.encode()
    for kind, text in (("text/plain", mail.body), ("text/html", mail.html)):
        if text.strip():
            yield f"\r\n--{boundary}\r\nContent-Type: {kind}; charset=utf-8\r\n".encode()
            yield from _encoded(iter([text.encode("utf-8", "replace")]))
            break  # the body is already the better one of two
    for each in enclosed:
        yield f"\r\n--{boundary}\r\n".encode()
        yield from _file(each)
    yield f"\r\n--{boundary}--\r\n".encode()


def _file(enclosed: Enclosed) -> Iterator[bytes]:
    entry = enclosed.entry
    if enclosed.content_id:
        yield f"Content-ID: <{' '.join(enclosed.content_id.split())}>\r\n".encode("utf-8", "replace")
    name = entry.name.replace("\\", "_").replace('"', "'")
    yield f'Content-Disposition: attachment; filename="{name}"\r\n'.encode("utf-8", "replace")
    if entry.media_type == "message/rfc822":
        yield b"Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
        yield from entry.pieces()
        return
    yield f"Content-Type: {_media_type(entry)}\r\n".encode("ascii", "replace")
    yield from _encoded(entry.pieces())


def _media_type(entry: Entry) -> str:
    kind = entry.media_type
    return (
        kind
        if kind.isascii() and kind.isprintable() and " " not in kind and "/" in kind
        else "application/octet-stream"
    )


def _encoded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield b"Content-Transfer-Encoding: base64\r\n\r\n"
    kept = b""
    for piece in pieces:
        kept += piece
        whole = len(kept) // _CHUNK_BYTES * _CHUNK_BYTES
        yield _lines(kept[:whole])
        kept = kept[whole:]
    yield _lines(kept)


def _lines(content: bytes) -> bytes:
    return b"".join(
        binascii.b2a_base64(content[start : start + _LINE_BYTES], newline=False) + b"\r\n"
        for start in range(0, len(content), _LINE_BYTES)
    )
