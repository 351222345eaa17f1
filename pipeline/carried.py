"""The electronic invoice that a document is, or carries to say in XML what its pages say in print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from pipeline.documents.contract import Attachment
from pipeline.documents.markup.einvoice_xml import kind_of

ITSELF = 0  # the number of the document itself, where an attachment says what it is another form of
MOST_BYTES = 20_000_000  # a larger one is read by its print alone
MOST_INVOICES = 10
_HEAD_BYTES = 65_536
_XML = "application/xml"


def own_einvoice(file: BinaryIO, media_type: str) -> bytes | None:
    """The whole file when it is an electronic invoice of at most 20 MB. Moves the file's position."""
    if media_type != _XML:
        return None
    file.seek(0)
    content = file.read(MOST_BYTES + 1)
    return content if len(content) <= MOST_BYTES and kind_of(content[:_HEAD_BYTES]) else None


class Copied:
    """What is remembered of a document's files while they pass by: its electronic invoices, in order.

    All that are kept have at most MOST_BYTES together.
    """

    def __init__(self, content: bytes | None) -> None:
        self._kept = [] if content is None else [content]

    @property
    def content(self) -> bytes | None:
        """The first, None when there is none."""
        return self._kept[0] if self._kept else None

    @property
    def others(self) -> tuple[bytes, ...]:
        """Those after the first, each once: a PDF may carry an invoice in two versions."""
        return tuple(dict.fromkeys(each for each in self._kept[1:] if each != self._kept[0]))

    def watched(self, attachment: Attachment) -> Attachment:
        """The same attachment; once its content was read to the end, it is remembered if it is not too large."""
        return replace(attachment, content=self._copied(attachment.content)) if attachment.content else attachment

    def _copied(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        room = MOST_BYTES - sum(map(len, self._kept))
        seen: list[bytes] = []
        size = 0
        for piece in pieces:
            size += len(piece)
            if size <= room:
                seen.append(piece)
            yield piece
        if size <= room and len(self._kept) < MOST_INVOICES:
            self._kept.append(b"".join(seen))
