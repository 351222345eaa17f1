"""Files inside office documents: embedded documents become children; pictures only where they carry the content."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.config import MEGABYTE
from pipeline.documents.contract import Attachment
from pipeline.documents.office.compound import MAX_STREAM_BYTES, opened, read_stream
from pipeline.documents.office.packages import Parts
from pipeline.documents.signatures import looks_like
from pipeline.errors import DocumentError

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".heic")
_DRAWINGS = (".emf", ".wmf", ".svg", ".wdp", ".emz", ".wmz")
_PICTURE_HEAD_BYTES = MEGABYTE  # headers with colour profiles and thumbnails before the size
LARGE_PIXELS = 250_000  # about a third of a page at 72 dpi; logos and icons are smaller
SCARCE_CHARACTERS = 400  # for each large picture: a page of text has some 2,000
_NATIVE, _PACKAGE, _CONTENTS = "\x01Ole10Native", "Package", "CONTENTS"
_OLD_OFFICE = {"Workbook": ".xls", "Book": ".xls", "WordDocument": ".doc", "PowerPoint Document": ".ppt"}


@dataclass(frozen=True, slots=True)
class Inside:
    """Where a package keeps its files: folders of embedded documents and of pictures, lower case, ending in a slash."""

    embedded: tuple[str, ...]
    pictures: tuple[str, ...]


OFFICE_OPEN = Inside(
    embedded=("word/embeddings/", "xl/embeddings/", "ppt/embeddings/"),
    pictures=("word/media/", "xl/media/", "ppt/media/"),
)


def files_inside(parts: Parts, inside: Inside, written: int) -> Iterator[Attachment]:
    """Every file, in the order of the package. `written` is how many characters of text the document has.

    Pictures are decoration, unless there is next to no text for so many large ones: then they are scanned pages.
    """
    names = [name for name in parts.names if name.startswith(inside.embedded + inside.pictures) and name[-1:] != "/"]
    pictures = {name: _pixels(parts, name) for name in names if name.startswith(inside.pictures)}
    large = [name for name, (width, height) in pictures.items() if width * height >= LARGE_PIXELS]
    scanned = bool(large) and written < SCARCE_CHARACTERS * len(large)
    for number, name in enumerate(names, start=1):
        shown = parts.shown_name(name)
        if name not in pictures:
            yield _embedded(parts, number, name)
        elif scanned and name in large:
            yield Attachment(number, shown, content=parts.pieces(name))
        else:
            yield Attachment(number, shown, left_out=_decoration(*pictures[name]))


def _decoration(width: int, height: int) -> str:
    return f"decoration: an image of {width} x {height} pixels" if width else "decoration: a drawing"


def _pixels(parts: Parts, name: str) -> tuple[int, int]:
    """Width and height by the picture's header; nothing for a drawing or what cannot be told."""
    if not name.endswith(_PICTURES):
        return 0, 0
    from PIL import Image  # noqa: PLC0415 - few documents have pictures, and Pillow is large

    try:
        head = _head(parts, name, _PICTURE_HEAD_BYTES)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Image.open(io.BytesIO(head)).size
    except Exception:  # noqa: BLE001 - a picture whose size cannot be told is looked at by nobody
        return 0, 0


def _head(parts: Parts, name: str, most: int) -> bytes:
    head = b""
    for piece in parts.pieces(name):
        head += piece
        if len(head) >= most:
            break
    return head


def _embedded(parts: Parts, number: int, name: str) -> Attachment:
    shown = parts.shown_name(name)
    if not name.endswith((".bin", ".ole")):
        return Attachment(number, shown, content=parts.pieces(name))
    if parts.size(name) > MAX_STREAM_BYTES:
        return Attachment(number, shown, left_out=f"an embedded object of more than {MAX_STREAM_BYTES:,} bytes")
    try:
        found = unwrapped(b"".join(parts.pieces(name)), shown)
    except DocumentError as error:
        return Attachment(number, shown, left_out=f"{error.reason}: {error}")
    if found is None:
        return Attachment(number, shown, left_out="an embedded object of an unknown kind")
    return Attachment(number, found[0], content=iter((found[1],)))


def unwrapped(raw: bytes, name: str) -> tuple[str, bytes] | None:
    """Name and bytes of the file in an embedded object; None for one that no file is in. Raises DocumentError."""
    with opened(io.BytesIO(raw)) as found:
        streams = {entry[0] for entry in found.listdir() if len(entry) == 1}
        if _NATIVE in streams:
            return _native(read_stream(found, _NATIVE), name)
        if _PACKAGE in streams:
            return name, read_stream(found, _PACKAGE)
        old = next((suffix for stream, suffix in _OLD_OFFICE.items() if stream in streams), None)
        if old:
            return name.rpartition(".")[0] + old, raw
        if _CONTENTS in streams:
            content = read_stream(found, _CONTENTS)
            return (name, content) if looks_like(content[:4096], content[-4096:]) else None
    return None


def _native(stream: bytes, name: str) -> tuple[str, bytes] | None:
    """A file as the Packager wraps it: lengths, a label, the file's path, a temporary path, the bytes."""
    try:
        label_end = stream.index(b"\x00", 6)
        path_end = stream.index(b"\x00", label_end + 1)
        at = path_end + 1 + 4
        (temporary,) = struct.unpack_from("<I", stream, at)
        at += 4 + temporary
        (size,) = struct.unpack_from("<I", stream, at)
    except (ValueError, struct.error):
        return None
    content = stream[at + 4 : at + 4 + size]
    label = stream[6:label_end].decode("cp1252", "replace").replace("\\", "/").rpartition("/")[2]
    return (label or name, content) if content else None
