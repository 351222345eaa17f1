"""Any XML as indented lines, read as a stream: no document type, no entity, no network, bounded in depth and size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol
from xml.parsers import expat

from pipeline.documents.encodings import Decoded, decode
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAX_DEPTH = 250
MAX_ELEMENTS = 1_000_000
MAX_DATA_CHARACTERS = 1000  # a longer run without a blank is a file in base64, no text
_MAX_INDENT = 20
_PIECE = 1 << 16
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_FORBIDDEN = bytes({*range(0x20)} - {*b"\t\n\r"})  # one stray control would cost the document
_CUT = ("no element found", "unclosed token", "unclosed CDATA section", "partial character")
_DATA = re.compile(r"[A-Za-z0-9+/=_-]+")
_LEAST_DATA_LINE = 50


class Receiver(Protocol):
    """What takes an XML document in, element by element. May raise Enough to end the walk."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins; `name` without its prefix, `attributes` as written."""

    def text(self, text: str) -> None:
        """Text of the innermost open element; one run may come in pieces."""

    def end(self) -> None:
        """The innermost open element ends."""


class Enough(Exception):
    """The receiver knows what it wants to know."""


def decoded(content: bytes) -> Decoded:
    """The text of an XML document or of its beginning, and its encoding. Never raises."""
    declared = _DECLARED.match(content)
    return decode(content, declared[1].decode("ascii") if declared else "utf-8")


def walk(content: bytes, receiver: Receiver) -> str:
    """Hand the document to `receiver` and return its encoding; stops where that raises Enough.

    Raises DocumentError: bomb or corrupt for a document type, bomb beyond MAX_DEPTH or MAX_ELEMENTS, truncated,
    corrupt.
    """
    found = decoded(content)
    raw = found.text.lstrip("\ufeff \t\r\n").encode("utf-8", "replace").translate(None, _FORBIDDEN)
    parser = _parser(receiver)
    try:
        for start in range(0, len(raw), _PIECE):
            parser.Parse(raw[start : start + _PIECE], False)
        parser.Parse(b"", True)
    except Enough:
        pass
    except expat.ExpatError as error:
        raise _refusal(error) from error
    return found.encoding


class Lines:
    """A receiver that makes one indented line of each element that has text or attributes of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._open: list[str] = []  # labels of open elements that have no line yet, "" for those that have
        self._text: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element: its parent, if it waits for a line, gets one."""
        self._settle()
        self._open.append(label(name, attributes))

    def text(self, text: str) -> None:
        """Collect text for the line."""
        self._text.append(text)

    def end(self) -> None:
        """End an element."""
        self._settle(ending=True)
        self._open.pop()

    def _settle(self, *, ending: bool = False) -> None:
        """Write what the innermost open element has so far."""
        words = words_of("".join(self._text))
        self._text.clear()
        if not self._open:
            return
        name = self._open[-1]
        if words or (name and (not ending or "=" in name)):
            indent = "  " * min(len(self._open) - 1 + (not name), _MAX_INDENT)
            self.lines.append(indent + (f"{name}: {words}" if name and words else name or words))
            self._open[-1] = ""


def label(name: str, attributes: Mapping[str, str]) -> str:
    """The element's name with its attributes, `Amount (currencyID=EUR)`; namespaces and schema places are left out."""
    told = [
        f"{key.rpartition(':')[2]}={words_of(value)}"
        for key, value in attributes.items()
        if value and not key.startswith(("xmlns", "xsi:", "xml:"))
    ]
    return f"{name} ({', '.join(told)})" if told else name


def words_of(text: str) -> str:
    """The text with blanks collapsed; a file in base64 becomes a word about its size."""
    words = " ".join(text.split())
    if len(words) > MAX_DATA_CHARACTERS and _is_data(words.split(" ")):
        return f"[embedded data, about {len(words) * 3 // 4:,} bytes]"
    return words


def _is_data(lines: Sequence[str]) -> bool:
    """Whether these are the lines of a file in base64. Each is looked at once, whatever it holds."""
    return all(map(_DATA.fullmatch, lines)) and all(len(line) >= _LEAST_DATA_LINE for line in lines[1:-1])


def _parser(receiver: Receiver) -> expat.XMLParserType:
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    counts = [0, 0]  # depth, elements

    def start(name: str, attributes: dict[str, str]) -> None:
        counts[0] += 1
        counts[1] += 1
        if counts[0] > MAX_DEPTH or counts[1] > MAX_ELEMENTS:
            raise DocumentError(Reason.BOMB, _too_much(*counts))
        receiver.start(name.rpartition(":")[2], attributes)

    def end(_: str) -> None:
        counts[0] -= 1
        receiver.end()

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = receiver.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    return parser


def _too_much(depth: int, elements: int) -> str:
    if depth > MAX_DEPTH:
        return f"its elements are nested more than {MAX_DEPTH} deep; XML is read up to that depth"
    return f"it has more than {MAX_ELEMENTS:,} elements ({elements:,} so far); XML is read up to that number"


def _refuse_doctype(name: str, system_id: str | None, public_id: str | None, has_internal_subset: bool) -> None:
    told = "declares entities or a document type of its own" if has_internal_subset else "names a document type"
    raise DocumentError(
        Reason.BOMB if has_internal_subset else Reason.CORRUPT,
        f"the XML {told} (<!DOCTYPE {name[:40]} …>); doclease expands no entity and fetches nothing, so it reads no "
        "XML with a DOCTYPE. Remove that line and drop the file again",
    )


def _refusal(error: expat.ExpatError) -> DocumentError:
    text = expat.ErrorString(error.code) or str(error)
    if text in _CUT:
        return DocumentError(Reason.TRUNCATED, f"the end of the XML is missing: {text}, line {error.lineno}")
    return DocumentError(Reason.CORRUPT, f"the XML is not well-formed: {text}, line {error.lineno}")
