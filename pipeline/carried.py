"""The electronic invoice that a document is, or carries to say in XML what its pages say in print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from pipeline.documents.contract import Attachment
from pipeline.documents.markup.einvoice_xml import kind_of

ITSELF = 0  # the number of the document itself, where an attachment says what it is another form of
MOST_BYTES = 20_000_000  # a larger one is read by its print alone
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
    """What is remembered of a document's files while they pass by: the first electronic invoice."""

    def __init__(self, content: bytes | None) -> None:
        self.content = content

    def watched(self, attachment: Attachment) -> Attachment:
        """The same attachment; once its content was read to the end, it is remembered if it is not too large."""
        return replace(attachment, content=self._copied(attachment.content)) if attachment.content else attachment

    def _copied(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        seen: list[bytes] = []
        size = 0
        for piece in pieces:
            size += len(piece)
            if size <= MOST_BYTES:
                seen.append(piece)
            yield piece
        if self.content is None and size <= MOST_BYTES:
            self.content = b"".join(seen)
