"""Which format a file is, by its content; its name only breaks a tie. The same file is the same format every time."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import BinaryIO

from pipeline.documents.contract import Format, Inspection, Means
from pipeline.documents.office.packages import listing
from pipeline.documents.parsing import read_edges
from pipeline.documents.signatures import looks_like
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_LEAST_SAYING = "text/plain"  # nearly everything that is text is something more
_OFFICE = "application/vnd."  # told by the parts of a package, which is a ZIP as well and may open with a PDF


def identify(file: BinaryIO, name: str, formats: Sequence[Format]) -> tuple[Format, str]:
    """The one format that reads the file, and its media type. `name` is the document's own.

    Raises DocumentError: empty_file for 0 bytes, unsupported with what the file looks like, io_error.
    """
    head, tail = read_edges(file)
    tail += listing(file)
    claims = [(each, media_type) for each in formats if (media_type := each.recognises(head, tail, name))]
    if not claims:
        raise DocumentError(Reason.UNSUPPORTED, _unsupported(head, tail, formats))
    claims = [claim for claim in claims if claim[1].startswith(_OFFICE)] or claims
    # Python's own list, not the host's: the same file is the same format everywhere.
    by_name = mimetypes.types_map.get(PurePath(name).suffix.lower())
    return min(claims, key=lambda claim: (claim[1] != by_name, claim[1] == _LEAST_SAYING, claim[0].name))


def inspect(file: BinaryIO, name: str, formats: Sequence[Format], means: Means) -> Inspection:
    """Identify the file and count its pages; limits are the caller's. Raises DocumentError."""
    found, media_type = identify(file, name, formats)
    return replace(found.inspect(file, means), media_type=media_type)


def _unsupported(head: bytes, tail: bytes, formats: Sequence[Format]) -> str:
    readable = ", ".join(sorted(each.name for each in formats))
    return f"the file looks like {_words(head, tail)}; doclease reads {readable}"


def _words(head: bytes, tail: bytes) -> str:
    if not head.strip(b"\x00"):
        return "a transfer that never finished (zero bytes only)"
    return looks_like(head, tail) or "binary data of an unknown kind"
