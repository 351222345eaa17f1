"""What parent and child say to each other: JSON objects, each behind its length in four bytes.

The parent does not trust the child: a frame is limited in size and checked for its kind before it is used.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.documents.formats import Inspection
from pipeline.documents.text import Page, Source
from pipeline.work import Job

MAX_FRAME_BYTES = 256 * 1024 * 1024
_HEADER = struct.Struct("!I")
_MOST = 2**53  # more than any figure of a document, less than what a column holds

Frame = dict[str, Any]


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


def job_frame(job: Job, *, cpu_seconds: float) -> Frame:
    """A job for the child; `cpu_seconds` is what its processor limit is set to."""
    return {
        "kind": "job",
        "path": str(job.path),
        "name": job.name,
        "handler": job.handler,
        "max_pages": job.max_pages,
        "stored": [asdict(page) for page in job.stored],
        "skip": {str(number): error for number, error in job.skip.items()},
        "cpu_seconds": cpu_seconds,
    }


def job_of(frame: Frame) -> Job:
    """The job in a frame."""
    return Job(
        path=Path(frame["path"]),
        name=frame["name"],
        handler=frame["handler"],
        max_pages=frame["max_pages"],
        stored=tuple(page_of(page) for page in frame["stored"]),
        skip={int(number): error for number, error in frame["skip"].items()},
    )


def page_of(fields: Mapping[str, Any]) -> Page:
    """The page in a frame. Raises BrokenFrame for anything else."""
    try:
        source = Source(fields["source"])
        error = fields["error"]
        return Page(
            number=int(fields["number"]),
            text=str(fields["text"]),
            layout=str(fields["layout"]),
            source=source,
            engine=str(fields["engine"])[:64],
            error=str(error) if source is Source.NONE else None,
            seconds=float(fields["seconds"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error_found:
        raise BrokenFrame(f"no page: {error_found}") from error_found


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
