"""PostgreSQL's wire protocol as far as a trial listens in: which statement a client sends, under which lease tokens.

Messages are a type byte, a length that counts itself, and a body; only the first of a client has no type (Protocol
version 3, "Message Formats").
"""

from __future__ import annotations

import re
import struct
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

READY_FOR_QUERY = b"Z\x00\x00\x00\x05"  # a status byte follows
_UUID_TEXT_BYTES = 36
_NAMED_TOKEN = re.compile(rb'(?<!\\)"lease_token": "([0-9a-f-]{36})"')  # in a value that brings many rows as JSON


@dataclass(frozen=True, slots=True)
class Request:
    """A statement that a client has the server run. `tokens` are the UUIDs among its values."""

    text: str
    tokens: frozenset[uuid.UUID] = frozenset()


class Messages:
    """Cuts a stream into messages. `typed` is False for a client's, whose first one has no type."""

    def __init__(self, *, typed: bool) -> None:
        self._typed = typed
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Type and body of every message that is complete by now."""
        self._rest += data
        while True:
            start = 1 if self._typed else 0
            if len(self._rest) < start + 4:
                return
            length = struct.unpack_from("!I", self._rest, start)[0]
            if len(self._rest) < start + length:
                return
            message = self._rest[: start + length]
            self._rest = self._rest[start + length :]
            self._typed = True
            yield message[:start], message[start + 4 :]


class Requests:
    """Follows what one client asks of the server, also by the names of prepared statements."""

    def __init__(self) -> None:
        self._messages = Messages(typed=False)
        self._texts: dict[bytes, str] = {}

    def feed(self, data: bytes) -> Iterator[Request]:
        """Every statement that the bytes complete."""
        for kind, body in self._messages.feed(data):
            if kind == b"Q":
                yield Request(_text(body))
            elif kind == b"P":
                name, _, rest = body.partition(b"\0")
                self._texts[name] = _text(rest)
            elif kind == b"B":
                name, _, values = body.partition(b"\0")[2].partition(b"\0")
                yield Request(self._texts.get(name, ""), frozenset(_uuids(values)))


def backend_pid(kind: bytes, body: bytes) -> int | None:
    """The process of the server that serves a connection, from the message that tells it; None for any other."""
    return int(struct.unpack_from("!i", body)[0]) if kind == b"K" else None


def _text(body: bytes) -> str:
    return body.partition(b"\0")[0].decode("utf-8", "replace")


def _uuids(values: bytes) -> Iterator[uuid.UUID]:
    """The UUIDs among the values of a Bind: 16 bytes in binary format, 36 characters, or named so in a text."""
    format_count = struct.unpack_from("!h", values)[0]
    formats = struct.unpack_from(f"!{format_count}h", values, 2)
    offset = 2 + 2 * format_count
    count = struct.unpack_from("!h", values, offset)[0]
    offset += 2
    for number in range(count):
        length = struct.unpack_from("!i", values, offset)[0]
        value = values[offset + 4 : offset + 4 + max(length, 0)]
        offset += 4 + max(length, 0)
        is_binary = bool(formats[number] if format_count > 1 else sum(formats))
        if is_binary and length == 16:
            yield uuid.UUID(bytes=value)
        elif not is_binary and length == _UUID_TEXT_BYTES:
            try:
                yield uuid.UUID(value.decode("ascii"))
            except ValueError:
                continue
        elif not is_binary:
            yield from (uuid.UUID(found.decode("ascii")) for found in _NAMED_TOKEN.findall(value))
