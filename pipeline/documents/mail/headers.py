"""The head of a mail or of one of its parts: fields, words and parameters as senders write them, right or wrong.

Everything is linear in the bytes and bounded; a charset nobody knows costs letters, never an error.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from pipeline.documents.encodings import decode

NAMES_OF_ONE_MAIL = (".eml", ".emlx", ".mht", ".mhtml")  # one from a mailbox keeps the mailbox's first line
IS_FIELD = re.compile(rb"[!-9;-~]{1,200}[ \t]*:")
MOST_VALUE_BYTES = 32_768  # a list of a thousand recipients
_MOST_PARAMETER_CHARACTERS = 16_384
_MOST_FIELDS = 500
_FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:")
_BETWEEN_WORDS = re.compile(r"(?<=\?=)[ \t\r\n]+(?==\?)")
_WORD = re.compile(r"=\?([^?\s*]{1,60})(?:\*[^?\s]{0,20})?\?([bBqQ])\?([^?]*)\?=")
_PARAMETER = re.compile(r';\s*([^\s=;"]{1,100})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))', re.DOTALL)
_SECTION = re.compile(r"([^*]+)(?:\*(\d{1,3}))?(\*)?")
_MEDIA_TYPE = re.compile(r"\s*([\w.+-]{1,80}/[\w.+-]{1,100})")


@dataclass(frozen=True, slots=True)
class Headers:
    """The fields of a head in order, names in lower case, values unfolded but not decoded."""

    fields: tuple[tuple[str, bytes], ...] = ()

    def raw(self, name: str) -> str:
        """The first field of the name as it is written, without its encoded words decoded; empty if there is none."""
        value = next((value for field, value in self.fields if field == name), b"")
        return _decoded(value)

    def text(self, name: str) -> str:
        """The first field of the name for people; empty if there is none."""
        return words(self.raw(name))

    def parameter(self, name: str, key: str) -> str:
        """The parameter `key` of a field such as content-type, in any of the ways it is written; empty if not there."""
        return _parameters(self.raw(name)).get(key, "")

    @property
    def media_type(self) -> str:
        """The content type in lower case, text/plain if none is told."""
        match = _MEDIA_TYPE.match(self.raw("content-type"))
        return match[1].lower() if match else "text/plain"

    @property
    def disposition(self) -> str:
        """The first word of content-disposition, in lower case."""
        return self.raw("content-disposition").partition(";")[0].strip().lower()

    @property
    def file_name(self) -> str:
        """The name that the sender gave the part; empty if none."""
        return self.parameter("content-disposition", "filename") or self.parameter("content-type", "name")

    @property
    def content_id(self) -> str:
        """The identifier by which the HTML body shows the part, without brackets."""
        return self.raw("content-id").strip().strip("<>").strip()


def parse(block: bytes) -> Headers:
    """The fields of a head. What is no field is passed over; of a long value the first 32 KB are kept."""
    fields: list[tuple[str, bytes]] = []
    for line in block.splitlines():
        if line[:1] in (b" ", b"\t"):
            if fields and len(fields[-1][1]) < MOST_VALUE_BYTES:
                fields[-1] = (fields[-1][0], fields[-1][1] + b" " + line.strip())
            continue
        match = _FIELD.match(line)
        if match and len(fields) < _MOST_FIELDS:
            fields.append((match[1].decode("ascii").lower(), line[match.end() :].strip()[:MOST_VALUE_BYTES]))
    return Headers(tuple(fields))


def words(value: str) -> str:
    """Encoded words decoded, neighbours of one charset together: some senders cut them within a letter."""
    value = _BETWEEN_WORDS.sub("", value)
    shown: list[str] = []
    position, charset, pending = 0, "", b""
    for match in _WORD.finditer(value):
        if match.start() != position or match[1].lower() != charset:
            shown += [_decoded(pending, charset), value[position : match.start()]]
            pending = b""
        charset, position = match[1].lower(), match.end()
        pending += _word_bytes(match[2], match[3])
    return " ".join("".join([*shown, _decoded(pending, charset), value[position:]]).split())


def _word_bytes(kind: str, written: str) -> bytes:
    raw = written.encode("ascii", "ignore")
    if kind in "qQ":
        return quopri.decodestring(raw.replace(b" ", b"_"), header=True)
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return raw


def _parameters(value: str) -> dict[str, str]:
    """Parameters by name in lower case; continued and encoded ones (RFC 2231) are put together and win."""
    sections: dict[str, list[tuple[int, bool, str]]] = {}
    plain: dict[str, str] = {}
    for key, text in _written(value[:_MOST_PARAMETER_CHARACTERS]):
        match = _SECTION.fullmatch(key)
        if match and (match[2] or match[3]):
            sections.setdefault(match[1], []).append((int(match[2] or 0), bool(match[3]), text))
        else:
            plain.setdefault(key, words(text))
    return plain | {key: _joined(parts) for key, parts in sections.items()}


def _written(value: str) -> Iterator[tuple[str, str]]:
    for match in _PARAMETER.finditer(value):
        quoted, bare = match[2], match[3]
        text = bare.strip().strip('"') if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        yield match[1].lower(), text


def _joined(parts: list[tuple[int, bool, str]]) -> str:
    parts.sort(key=lambda part: part[0])
    charset = ""
    if parts[0][1] and parts[0][2].count("'") >= 2:
        charset, _, first = parts[0][2].split("'", 2)
        parts[0] = (parts[0][0], True, first)
    raw = b"".join(unquote_to_bytes(text) if coded else text.encode() for _, coded, text in parts)
    return _decoded(raw, charset)


def _decoded(raw: bytes, charset: str = "") -> str:
    return decode(raw, charset).text if raw else ""
