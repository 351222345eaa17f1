"""What parent and child say to each other: JSON objects, each behind its length in four bytes.

The parent does not trust the child: a frame is limited in size and checked for its kind before it is used.
"""

from __future__ import annotations

import base64
import enum
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.documents.contract import Inspection
from pipeline.documents.places import MAX_BYTES
from pipeline.documents.text import Page, Source
from pipeline.reasons import Reason

MAX_FRAME_BYTES = 256 * 1024 * 1024
STORED_CHARACTERS = 4_000_000
MAX_NOTE_CHARACTERS = 500
MAX_FIGURES = 30
PLACES_TO_A_CHARACTER = 2  # bytes; a usual page has a fifth of one
MAX_NAME_CHARACTERS = 1_000
MAX_ATTACHMENTS = 1_000_000
_HEADER = struct.Struct("!I")
_MOST = 2**53  # more than any figure of a document, less than what a column holds

Frame = dict[str, Any]


class Purpose(enum.StrEnum):
    """What a child is started for: it loads what that takes before it says ready, and all else when it is asked."""

    READING = "reading"
    COUNTING = "counting"


class BrokenFrame(Exception):
    """The child sent something that is no frame."""


def encode(frame: Mapping[str, Any]) -> bytes:
    """A frame as it goes over the pipe."""
    body = json.dumps(frame, ensure_ascii=False).encode("utf-8", "replace")
    return _HEADER.pack(len(body)) + body


class Decoder:
    """Puts frames together from whatever pieces the pipe delivers."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self._buffer += data

    def next(self) -> Frame | None:
        """The next whole frame, None if it has not arrived yet. Raises BrokenFrame."""
        if len(self._buffer) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._buffer)
        if length > MAX_FRAME_BYTES:
            raise BrokenFrame(f"a frame of {length:,} bytes")
        end = _HEADER.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_HEADER.size : end])
        del self._buffer[:end]
        return _parse(body)


def _parse(body: bytes) -> Frame:
    try:
        frame = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame("not JSON") from error
    if not isinstance(frame, dict) or not isinstance(frame.get("kind"), str):
        raise BrokenFrame("no kind")
    return frame


def job_frame(
    *,
    name: str,
    handler: str,
    stored: int = 0,
    whole: int = 0,
    skip: Mapping[int, str],
    depth: int,
    cpu_seconds: float,
    may_ask: bool = False,
) -> Frame:
    """A job for the child, but its file and its provision; the child's processor limit is set to `cpu_seconds`.

    `stored` pages follow in frames of their own, of which the first `whole` are whole. `may_ask`: what people corrected
    on documents of the same issuer, see issuer_frames.py.
    """
    return {
        "kind": "job",
        "name": name,
        "handler": handler,
        "stored": stored,
        "whole": whole,
        "skip": {str(number): error for number, error in skip.items()},
        "depth": depth,
        "cpu_seconds": cpu_seconds,
        "may_ask": may_ask,
    }


def stored_frames(pages: Iterable[Page]) -> Iterator[Frame]:
    """The pages that earlier attempts finished, so many to a frame that none comes near the limit."""
    together: list[dict[str, Any]] = []
    size = 0
    for page in pages:
        together.append(page_fields(page))
        size += len(page.text) + len(page.layout) + len(page.places)
        if size > STORED_CHARACTERS:
            yield {"kind": "stored", "pages": together}
            together, size = [], 0
    if together:
        yield {"kind": "stored", "pages": together}


def page_fields(page: Page) -> dict[str, Any]:
    """The page as it travels: its layout is None where it is the text. By hand, as asdict() takes ten times as long."""
    return {
        "number": page.number,
        "text": page.text,
        "layout": None if page.layout == page.text else page.layout,
        "source": page.source,
        "engine": page.engine,
        "error": page.error,
        "seconds": page.seconds,
        "note": page.note,
        "figures": page.figures,
        "places": base64.b64encode(page.places).decode("ascii"),
    }


def page_of(fields: Mapping[str, Any]) -> Page:
    """The page in a frame. Raises BrokenFrame for anything else."""
    try:
        source = Source(fields["source"])
        text, layout, error = str(fields["text"]), fields["layout"], fields["error"]
        return Page(
            number=int(fields["number"]),
            text=text,
            layout=text if layout is None else str(layout),
            source=source,
            engine=str(fields["engine"])[:64],
            error=str(error) if source is Source.NONE else None,
            seconds=float(fields["seconds"]),
            note=str(fields["note"])[:MAX_NOTE_CHARACTERS],
            figures=_figures(fields["figures"]),
            places=_places(fields["places"], len(layout or text)),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error_found:
        raise BrokenFrame(f"no page: {error_found}") from error_found


def _places(given: object, characters: int) -> bytes:
    """Packed places as they came, or none: they too cost no page its life, and have less to say than its words."""
    try:
        places = base64.b64decode(given, validate=True) if isinstance(given, str) else b""
    except ValueError:
        return b""
    return places if len(places) <= min(MAX_BYTES, PLACES_TO_A_CHARACTER * characters) else b""


def _figures(given: object) -> dict[str, float | str]:
    """Plain figures by name, the rest left out: they are for people, and no page fails for one."""
    pairs = list(given.items())[:MAX_FIGURES] if isinstance(given, dict) else []
    return {str(name)[:64]: figure for name, value in pairs if (figure := _figure(value)) is not None}


def _figure(value: object) -> float | str | None:
    if isinstance(value, str):
        return value[:64]
    return value if isinstance(value, int | float) and abs(value) < _MOST else None


def inspection_of(fields: Mapping[str, Any]) -> Inspection:
    """The inspection in a frame. Raises BrokenFrame for anything else."""
    try:
        return Inspection(
            media_type=str(fields["media_type"])[:128],
            page_count=max(int(fields["page_count"]), 1),
            ocr_page_count=max(int(fields["ocr_page_count"]), 0),
            restricted=bool(fields["restricted"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BrokenFrame(f"no inspection: {error}") from error


def page_count_of(frame: Frame) -> int:
    """The page count of an opened document, at least 1. Raises BrokenFrame."""
    found = frame.get("page_count")
    if not isinstance(found, int) or isinstance(found, bool):
        raise BrokenFrame("no page count")
    return max(found, 1)


def usage_of(frame: Frame) -> tuple[float | None, int | None]:
    """Processor seconds and peak bytes as a child tells them, None for what cannot be."""
    cpu_seconds, peak = frame.get("cpu_seconds"), frame.get("peak_rss_bytes")
    return (
        float(cpu_seconds) if isinstance(cpu_seconds, int | float) and 0 <= cpu_seconds < _MOST else None,
        peak if isinstance(peak, int) and 0 < peak < _MOST else None,
    )


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A file inside a document, as a child tells of it.

    `file` is its name in the child's scratch folder, None when it was left out. Of the files that were not, either
    `inspection` says what it is or `reason` and `error` why it cannot be read.
    """

    number: int
    name: str
    media_type: str
    left_out: str
    rendition_of: int | None
    file: str | None
    inspection: Inspection | None
    reason: Reason | None
    error: str


def unpacked_of(fields: Mapping[str, Any]) -> Unpacked:
    """The unpacked file in a frame. Raises BrokenFrame for anything else."""
    try:
        file, inspection, reason = fields["file"], fields["inspection"], fields["reason"]
        rendition_of = fields["rendition_of"]
        return Unpacked(
            number=min(max(int(fields["number"]), 1), MAX_ATTACHMENTS),
            name=str(fields["name"])[:MAX_NAME_CHARACTERS],
            media_type=str(fields["media_type"])[:128],
            left_out=str(fields["left_out"])[:MAX_NOTE_CHARACTERS],
            rendition_of=None if rendition_of is None else min(max(int(rendition_of), 0), MAX_ATTACHMENTS),
            file=None if file is None else str(file),
            inspection=None if inspection is None else inspection_of(inspection),
            reason=None if reason is None else known_reason(reason),
            error=str(fields["error"])[:MAX_NOTE_CHARACTERS],
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BrokenFrame(f"no attachment: {error}") from error


def known_reason(value: object) -> Reason:
    """A reason that a child gave; one that does not exist is a fault of ours."""
    try:
        return Reason(str(value))
    except ValueError:
        return Reason.INTERNAL_ERROR
