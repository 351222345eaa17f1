"""Where the parts of a mail are in its file: one pass over its lines, without recursion, whatever is in memory.

Nothing is decoded and nothing kept but positions and heads, so that a mail of any size or depth costs little more than
reading it. Senders' faults are taken as mail programs take them: a boundary that never comes, an end that is missing,
a multipart without parts, a mail that was pasted into a text by uuencode.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import BinaryIO

from pipeline.documents.mail.headers import IS_FIELD, Headers, parse

MOST_LINE_BYTES = 65_536  # a longer line is seen in pieces
MOST_HEAD_BYTES = 262_144
MOST_PARTS = 20_000
_SPECIAL = b"-be"  # what a boundary, "begin" and "end" start with
_PASTED = "application/octet-stream; pasted"
_BLANK = (b"\n", b"\r\n", b"\r", b"")
_UU_BEGIN = re.compile(rb"begin [0-7]{3,4} (\S[^\r\n]{0,250})\r?\n")
_FIRST_LINES = re.compile(rb"(?:\xef\xbb\xbf)?(?:>?From |\d{1,12}\s*$)")  # of a mailbox; of Apple's .emlx


@dataclass(frozen=True, slots=True)
class Part:
    """One part that has no parts: its head and where its content starts and ends in the file.

    `encoding` is its transfer encoding, empty if there is nothing to decode. `choice` is the same for the alternatives
    of one text, 0 for a part that is no alternative.
    """

    headers: Headers
    media_type: str
    start: int
    end: int
    encoding: str = ""
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A mail: its head and its parts in order. `cut` says that parts beyond the 20,000th are not here."""

    headers: Headers
    parts: tuple[Part, ...]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class _Multipart:
    """A multipart whose end has not come. `hidden` is the depth of an outer one with the same boundary."""

    boundary: bytes
    media_type: str
    choice: int
    start: int
    parts_before: int
    hidden: int | None


def scan(file: BinaryIO) -> Message:
    """Find the parts of the mail in a file. Never raises for what is in it; OSError passes."""
    return _Scanner(file).run()


class _Scanner:
    """Lines in, parts out. `_leaf` is the part that the lines belong to, None between parts."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = 0
        self._parts: list[Part] = []
        self._open: list[_Multipart] = []
        self._depths: dict[bytes, int] = {}  # of open multiparts, by boundary
        self._leaf: Part | None = None
        self._choices = 0
        self._break = 0  # length of the last line's break, which belongs to a boundary that follows

    def run(self) -> Message:
        """The whole file."""
        self._file.seek(0)
        headers = self._head(first=True)
        self._enter(headers)
        starts_line = True
        while len(self._parts) < MOST_PARTS and (line := self._line()):
            if not (starts_line and line[0] in _SPECIAL and self._ends_part(line)):
                self._break = 2 if line.endswith(b"\r\n") else 1
            starts_line = line.endswith(b"\n")
        cut = len(self._parts) >= MOST_PARTS
        self._close_leaf(self._at)
        self._close_multiparts(0, self._at)
        return Message(headers, tuple(self._parts), cut)

    def _line(self) -> bytes:
        line = self._file.readline(MOST_LINE_BYTES)
        self._at += len(line)
        return line

    def _back(self, line: bytes) -> None:
        self._at -= len(line)
        self._file.seek(self._at)

    def _head(self, *, first: bool = False) -> Headers:
        """The fields up to the blank line; a boundary, or no field to begin with, ends them too and stays unread."""
        lines: list[bytes] = []
        size = 0
        while line := self._line():
            if first and not lines and (line in _BLANK or _FIRST_LINES.match(line)):
                continue
            if line in _BLANK:
                break
            if self._boundary(line) or (not lines and not IS_FIELD.match(line)):
                self._back(line)
                break
            line = self._to_its_end(line)
            size += len(line)
            if size <= MOST_HEAD_BYTES:
                lines.append(line)
        return parse(b"".join(lines))

    def _to_its_end(self, line: bytes) -> bytes:
        while not line.endswith(b"\n") and (rest := self._line()):
            line = line[:MOST_LINE_BYTES] + rest[-1:]
        return line

    def _enter(self, headers: Headers) -> None:
        """Begin the part whose head was just read."""
        outer = self._open[-1] if self._open else None
        media_type = _media_type(headers, outer)
        choice = outer.choice if outer else 0
        boundary = headers.parameter("content-type", "boundary").encode("utf-8", "replace").rstrip()
        self._break = 0
        if not (media_type.startswith("multipart/") and boundary):
            kind = "text/plain" if media_type.startswith("multipart/") else media_type
            self._leaf = Part(headers, kind, self._at, self._at, _encoding(headers), choice)
            return
        if media_type == "multipart/alternative" and not choice:
            self._choices += 1
            choice = self._choices
        hidden = self._depths.get(boundary)
        self._depths[boundary] = len(self._open)
        self._open.append(_Multipart(boundary, media_type, choice, self._at, len(self._parts), hidden))

    def _ends_part(self, line: bytes) -> bool:
        """Whether the line ends a part: a boundary, or one that begins or ends a pasted file."""
        found = self._boundary(line)
        if not found:
            return self._begins_pasted(line) or self._ends_pasted(line)
        depth, is_last = found
        end = self._at - len(line)
        self._close_leaf(end - self._break)
        self._close_multiparts(depth + (0 if is_last else 1), end)
        if not is_last:
            self._enter(self._head())
        return True

    def _boundary(self, line: bytes) -> tuple[int, bool] | None:
        """The depth of the open multipart whose boundary the line is, and whether it is its last."""
        if not line.startswith(b"--"):
            return None
        marked = line.rstrip()[2:]
        if marked in self._depths:
            return self._depths[marked], False
        depth = self._depths.get(marked.removesuffix(b"--"))
        return None if depth is None else (depth, True)

    def _close_leaf(self, end: int) -> None:
        if self._leaf:
            self._parts.append(replace(self._leaf, end=max(self._leaf.start, end)))
        self._leaf = None

    def _close_multiparts(self, depth: int, end: int) -> None:
        """End all from `depth` inwards. One whose parts never came is the text that stands in it."""
        while len(self._open) > depth:
            closed = self._open.pop()
            del self._depths[closed.boundary]
            if closed.hidden is not None:
                self._depths[closed.boundary] = closed.hidden
            if len(self._parts) == closed.parts_before and end > closed.start:
                self._parts.append(Part(Headers(), "text/plain", closed.start, end, "", closed.choice))

    def _begins_pasted(self, line: bytes) -> bool:
        """A file that was pasted into a text by uuencode becomes a part of its own."""
        leaf = self._leaf
        if not leaf or leaf.media_type != "text/plain" or leaf.encoding:
            return False
        begin = _UU_BEGIN.fullmatch(line)
        if not begin or not self._looks_uuencoded():
            return False
        self._close_leaf(self._at - len(line))
        name = begin[1].strip().replace(b'"', b"")
        headers = Headers((("content-disposition", b'attachment; filename="' + name + b'"'),))
        self._leaf = Part(headers, _PASTED, self._at, self._at, "x-uuencode", 0)
        return True

    def _ends_pasted(self, line: bytes) -> bool:
        leaf = self._leaf
        if not leaf or leaf.media_type != _PASTED or line.rstrip() != b"end":
            return False
        self._close_leaf(self._at)
        self._leaf = Part(Headers(), "text/plain", self._at, self._at)
        return True

    def _looks_uuencoded(self) -> bool:
        """Whether the next line has the length that its first byte says."""
        line = self._file.readline(100).rstrip(b"\r\n")
        self._file.seek(self._at)
        if not line:
            return False
        expected = (((line[0] - 32) & 63) + 2) // 3 * 4
        return expected - 3 <= len(line) - 1 <= expected + 1


def _media_type(headers: Headers, outer: _Multipart | None) -> str:
    if outer and outer.media_type == "multipart/digest" and not headers.raw("content-type"):
        return "message/rfc822"
    return headers.media_type


def _encoding(headers: Headers) -> str:
    encoding = headers.raw("content-transfer-encoding").strip().lower()
    if encoding in ("x-uuencode", "uuencode", "x-uue", "uue"):
        return "x-uuencode"
    return encoding if encoding in ("base64", "quoted-printable") else ""
