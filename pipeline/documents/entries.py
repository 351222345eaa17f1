"""Files inside a document, before they are documents: what they are called, what is left out, in which order."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from pipeline.config import LimitSettings
from pipeline.documents.contract import Attachment
from pipeline.documents.paging import check_number
from pipeline.documents.pairs import Candidate, renditions
from pipeline.documents.text import Page, Source
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

PIECE_BYTES = 65_536
NAME_CHARACTERS = 200
LEFT_OUT_PER_CHILD = 20  # of folders, logos and litter there may be as many times limits.max_children
_UNSHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, marks of direction, surrogates, line breaks
_SUFFIXES = {
    "application/pdf": ".pdf",
    "application/xml": ".xml",
    "application/zip": ".zip",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/tiff": ".tif",
    "message/rfc822": ".eml",
    "text/calendar": ".ics",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/plain": ".txt",
    "text/xml": ".xml",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file inside a document. `size` is in bytes, as the document says or as it was counted.

    `pieces` yields the bytes, from the start at each call; it may raise DocumentError. `left_out` says why the file
    does not become a document.
    """

    name: str
    media_type: str
    size: int
    pieces: Callable[[], Iterator[bytes]]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class OpenTree:
    """A document that is text and files: the OpenDocument and the Tree of mails and archives."""

    pages: tuple[str, ...]
    entries: tuple[Entry, ...]
    engine: str
    note: str = ""

    @property
    def page_count(self) -> int:
        """How many pages its own text has, at least 1."""
        return len(self.pages)

    def read_page(self, number: int) -> Page:
        """Page `number`; the note stands on the first. Raises UnreadablePage when there is no such page."""
        check_number(number, self.page_count)
        text = self.pages[number - 1]
        note = self.note if number == 1 else ""
        return Page(number, text, text, Source.NATIVE, engine=self.engine, note=note).storable()

    def attachments(self) -> Iterator[Attachment]:
        """Every file, in order. An XML invoice points at the PDF that shows it, see pairs.py."""
        shown_by = renditions([Candidate(each.name, each.size, each.pieces, each.left_out) for each in self.entries])
        for number, entry in enumerate(self.entries, 1):
            yield Attachment(
                number,
                entry.name,
                entry.media_type,
                entry.left_out,
                None if entry.left_out else entry.pieces(),
                shown_by.get(number),
            )


def check_count(entries: Sequence[Entry], limits: LimitSettings) -> None:
    """Raise DocumentError(bomb) for more files than `limits.max_children`, those left out not counted."""
    taken = sum(1 for entry in entries if not entry.left_out)
    if taken > limits.max_children:
        raise too_many(taken, limits)
    check_total(len(entries), limits)


def check_total(count: int, limits: LimitSettings) -> None:
    """Raise DocumentError(bomb) for far too many files, before any is looked at; to leave one out costs something."""
    if count > limits.max_children * LEFT_OUT_PER_CHILD:
        raise too_many(count, limits)


def too_many(found: int, limits: LimitSettings) -> DocumentError:
    """The refusal of a document that holds `found` files or more."""
    return DocumentError(
        Reason.BOMB, f"it holds {found:,} files or more; limits.max_children allows {limits.max_children:,}"
    )


def shown_name(name: str, *, otherwise: str, media_type: str = "", folders: bool = False) -> str:
    """A name fit to be shown: one line, no controls or marks of direction, at most 200 characters with its suffix.

    Only what stands behind the last slash, unless `folders` are part of the name. `otherwise` is for a name of which
    nothing is left; it gets the usual suffix of the media type.
    """
    named = unicodedata.normalize("NFC", name.replace("\x00", ""))
    if not folders:
        named = named.replace("\\", "/").rpartition("/")[2]
    signs = (" " if sign in "\t\r\n" else sign for sign in named)
    named = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(sign) in _UNSHOWN else sign for sign in signs)
    named = " ".join(named.split())
    if not named.strip(". \N{REPLACEMENT CHARACTER}"):
        return otherwise + _SUFFIXES.get(media_type, "")
    return _short(named)


def _short(name: str) -> str:
    if len(name) <= NAME_CHARACTERS:
        return name
    suffix = PurePosixPath(name[-20:]).suffix[:12]
    return name[: NAME_CHARACTERS - len(suffix) - 1] + "\N{HORIZONTAL ELLIPSIS}" + suffix


def listed(entry: Entry) -> str:
    """The line by which a document's text names one of its files."""
    return f"{entry.name} ({entry.size:,} bytes)"


def slice_of(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """The bytes from `start` to `end` in pieces; others may move the file's position meanwhile."""
    while start < end:
        file.seek(start)
        piece = file.read(min(PIECE_BYTES, end - start))
        if not piece:
            return
        start += len(piece)
        yield piece
