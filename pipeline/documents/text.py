"""What reading a document yields: pages of clean text. The one place where text is made safe for the database."""

from __future__ import annotations

import enum
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

_UNSTORABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_ASCII_CONTROLS = bytes(code for code in range(128) if _UNSTORABLE.match(chr(code)))
# As it is written, its first sign is searched for several times as fast as a plain repetition.
_MARKS_PERHAPS = re.compile(r"[^\x00-\u02ff][^\x00-\u02ff]{30}")
_MOST_MARKS = 30  # on one letter, as Unicode's stream-safe text has it; to put more in order takes their square in time
_FROM_A_DIGIT = re.compile(r"\d\S*")
_NOT_ALNUM = re.compile(r"[^0-9a-z]+")
_NOT_ALNUM_NOR_SPACE = re.compile(r"[^0-9a-z ]+")
IDENTIFIER_CHARACTERS = 100_000
_NOT_SHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # controls, marks of direction, halves of pairs, line breaks


class Source(enum.StrEnum):
    """Where the text of a page came from."""

    TEXT_LAYER = "text_layer"
    NATIVE = "native"
    OCR = "ocr"
    XML = "xml"
    NONE = "none"  # the page could not be read: a gap, named by its error


class Box(NamedTuple):
    """Where something stands on a page, in parts of the page's width and height from its upper left corner, 0 to 1."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document.

    `number` counts from 1. `text` is in reading order, for search; `layout` has the page's rows and columns rebuilt
    with spaces, for handlers, and equals `text` where a format has no geometry. `engine` names library and version.
    `error` is None unless the page is a gap. `seconds` is the wall time that reading took. `note` is what a person
    should know of a page that was read, "rendered at 96 dpi" for example. `figures` are what decided how it was read,
    plain numbers and words by name, stored as they are. `places` is where the words of the layout stand, packed by
    pipeline.documents.places; empty where a format has no geometry.
    """

    number: int
    text: str
    layout: str = ""
    source: Source = Source.TEXT_LAYER
    engine: str = ""
    error: str | None = None
    seconds: float = 0.0
    note: str = ""
    figures: Mapping[str, float | str] = field(default_factory=dict)
    places: bytes = b""

    def storable(self) -> Page:
        """The same page with text that PostgreSQL accepts; safe to call again."""
        text = clean(self.text)
        return replace(
            self,
            text=text,
            layout=text if self.layout == self.text else clean(self.layout),
            error=self.error and clean(self.error),
            note=clean(self.note),
        )


@dataclass(frozen=True, slots=True)
class Document:
    """All pages of a document, in order, with what handlers may use of its origin. `name` is the file's own.

    `einvoice` is the XML of the electronic invoice that the document is or carries, None when there is none;
    `other_einvoices` are those that a PDF carries besides.
    """

    name: str
    media_type: str
    pages: tuple[Page, ...]
    einvoice: bytes | None = None
    other_einvoices: tuple[bytes, ...] = ()

    @property
    def text(self) -> str:
        """The document's text, pages joined by form feeds. Derived from the pages, never stored beside them."""
        return "\f".join(page.text for page in self.pages)


def clean(text: str) -> str:
    """Drop what PostgreSQL or a terminal cannot take (NUL, controls, lone surrogates), keep tab and newline.

    Of marks stacked on one letter 30 are kept.
    """
    if text.isascii() and text.isprintable():  # most of what is not a page
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():  # without an expression it takes a fifth of the time, and most pages are that plain
        return text.encode("ascii").translate(None, _ASCII_CONTROLS).decode("ascii")
    return _normal(_UNSTORABLE.sub("", text))


def _normal(text: str) -> str:
    """The text in Unicode's form C, in linear time."""
    if text.isascii() or not _MARKS_PERHAPS.search(text):
        return unicodedata.normalize("NFC", text)
    return _unstacked(unicodedata.normalize("NFC", _unstacked(text)))


def _unstacked(text: str) -> str:
    marks = re.escape("".join(sign for sign in set(text) if unicodedata.combining(sign)))
    return re.sub(rf"([{marks}]{{{_MOST_MARKS}}})[{marks}]+", r"\1", text) if marks else text


def display_name(raw: bytes) -> str:
    """A file name to show and store as text, from the bytes that the file system gave; invalid bytes become U+FFFD."""
    name = _normal(raw.decode("utf-8", "replace"))
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign) in _NOT_SHOWN else sign for sign in name)


def identifier(token: str) -> str:
    """A token as identifiers are compared: lower case, letters and digits only. `INV-2026/0042` is `inv20260042`."""
    if token.isascii():
        return _NOT_ALNUM.sub("", token.lower())
    return _NOT_ALNUM.sub("", unicodedata.normalize("NFKD", _normal(token)).casefold())


def identifiers(text: str) -> str:
    """The page's tokens that carry a digit, normalised, each once, joined by spaces, to find partial numbers in."""
    tokens = list(_tokens_with_a_digit(text))
    together = " ".join(tokens)
    plain = together.isascii()  # then one substitution serves for all
    compared = _NOT_ALNUM_NOR_SPACE.sub("", together.lower()).split(" ") if plain else map(identifier, tokens)
    return " ".join(token for token in dict.fromkeys(compared) if len(token) >= 3)[:IDENTIFIER_CHARACTERS]


def _tokens_with_a_digit(text: str) -> Iterator[str]:
    """Found by their digits, which are few: to split the text costs several times as much."""
    end = 0
    for match in _FROM_A_DIGIT.finditer(text):
        before = text[end : match.start()]
        yield match[0] if not before or before[-1].isspace() else before.rsplit(None, 1)[-1] + match[0]
        end = match.end()
