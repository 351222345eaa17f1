"""Scans and photos as documents: frames are pages; what a frame costs is known from its header before it is decoded.

Two bounds. A picture of more than `limits.max_page_megapixels` is scaled down while or right after it is decoded, and
the page says so. One that has more than `limits.max_decoded_megabytes` when it is decoded is refused: the parser child
has `worker.max_memory_megabytes` for that, for recognition, and for itself.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO

from PIL import ExifTags, Image, ImageFile, JpegImagePlugin, TiffImagePlugin, UnidentifiedImageError
from PIL import __version__ as pillow_version

from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.contract import Inspection, Means, OpenDocument
from pipeline.documents.images import raster
from pipeline.documents.images.resolution import resolution, size_to_read
from pipeline.documents.ocr import Reader
from pipeline.documents.paging import check_number
from pipeline.documents.parsing import faults_are_corruption, read_edges
from pipeline.documents.text import Page, Source
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason

_SHRUNK = 4  # pixels of a JPEG for each byte allowed: it is decoded at an eighth of its size, in some ten seconds
_MOST_LOST = 0.1  # of a cut picture; more may be half an invoice
_LEAST_SIDE = 8  # pixels; nothing narrower can be read
_UPRIGHTED = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_TURNED = (5, 6, 7, 8)  # orientations that swap width and height
_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2, "LA": 4, "PA": 4}
_ENGINE = f"pillow {pillow_version}"

Opener = Callable[[], Image.Image]  # reads the header of one frame only
Frames = Callable[[BinaryIO, LimitSettings], Sequence[Opener]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A frame, upright and plain, with what to tell of it."""

    image: Image.Image
    note: str
    figures: dict[str, float | str]


class PictureFormat:
    """A format of pictures: `is_ours` judges the first bytes, `frames` gives an opener for each page.

    `extra_bytes` is what its decoder needs for a pixel besides the picture itself.
    """

    def __init__(
        self, name: str, media_type: str, is_ours: Callable[[bytes], bool], frames: Frames, *, extra_bytes: int = 0
    ) -> None:
        self.name = name
        self.media_types: tuple[str, ...] = (media_type,)
        self._is_ours, self._frames, self._extra_bytes = is_ours, frames, extra_bytes

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the first bytes."""
        return self.media_types[0] if self._is_ours(head) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count frames by their headers. Raises DocumentError, also for a picture too large to decode."""
        frames = self._opened(file, means)
        if len(frames) == 1:
            with _header(frames[0]) as image:
                check_decodable(image, means.limits, self._extra_bytes)
        return Inspection(self.media_types[0], len(frames), ocr_page_count=len(frames) if means.ocr else 0)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading; a single picture is decoded here, so that its fault is the document's.

        Raises DocumentError: empty_file, unsupported, bomb, truncated, corrupt, too_many_pages, io_error.
        """
        document = _OpenPictures(self._opened(file, means), means, self._extra_bytes)
        if document.page_count == 1:
            document.picture(1)
        yield document

    def _opened(self, file: BinaryIO, means: Means) -> Sequence[Opener]:
        head, _ = read_edges(file)
        if not self._is_ours(head):
            raise DocumentError(Reason.UNSUPPORTED, f"it does not begin as {self.media_types[0]} does")
        return self._frames(file, means.limits)


class _OpenPictures:
    """Frames, of which the one read last is kept decoded."""

    def __init__(self, frames: Sequence[Opener], means: Means, extra_bytes: int) -> None:
        self._frames, self._means, self._extra_bytes = frames, means, extra_bytes
        self._last: tuple[int, Picture] | None = None

    @property
    def page_count(self) -> int:
        """How many frames there are."""
        return len(self._frames)

    def read_page(self, number: int) -> Page:
        """The text of frame `number`. Raises UnreadablePage."""
        started = time.perf_counter()
        check_number(number, self.page_count)
        try:
            picture = self.picture(number)
        except UnreadablePage:
            raise
        except DocumentError as error:
            raise UnreadablePage(error.reason, str(error)) from error
        page = replace(_recognised(picture, self._means.ocr), number=number)
        return replace(page, seconds=time.perf_counter() - started).storable()

    def picture(self, number: int) -> Picture:
        """Frame `number`, decoded. Raises DocumentError."""
        if self._last is None or self._last[0] != number:
            self._last = None
            self._last = (number, decode(self._frames[number - 1], self._means.limits, self._extra_bytes))
        return self._last[1]


def by_pillow(codec: str) -> Frames:
    """The first frame only, as the codec of this name opens it; the frames of an animation are no pages."""

    def frames(file: BinaryIO, limits: LimitSettings) -> Sequence[Opener]:
        return (lambda: open_by_pillow(file, codec),)

    return frames


def open_by_pillow(file: BinaryIO, codec: str) -> Image.Image:
    """Read the header. Raises what Pillow raises. Bounds on the size are the caller's, before it loads the pixels."""
    file.seek(0)
    most = Image.MAX_IMAGE_PIXELS
    Image.MAX_IMAGE_PIXELS = None  # Pillow's own bound would not tell the size found
    try:
        return Image.open(file, formats=[codec])
    finally:
        Image.MAX_IMAGE_PIXELS = most


def check_decodable(image: Image.Image, limits: LimitSettings, extra_bytes: int = 0) -> None:
    """Raises DocumentError(bomb) for a picture beyond limits.max_decoded_megabytes, by its header."""
    pixels = image.width * image.height
    if pixels == 0:
        raise DocumentError(Reason.CORRUPT, f"the picture has {image.width:,} x {image.height:,} pixels")
    shrinks = isinstance(image, JpegImagePlugin.JpegImageFile)
    if shrinks and not image.info.get("progressive"):
        needed, bound, words = pixels, _SHRUNK * decoded_bytes(limits), "pixels to shrink"
    else:
        each = _coefficients(image) * 2.0 if shrinks else _BYTES.get(image.mode, 4) + extra_bytes
        needed, bound, words = int(pixels * each), decoded_bytes(limits), "bytes when decoded"
    if needed > bound:
        raise DocumentError(
            Reason.BOMB,
            f"the picture has {image.width:,} x {image.height:,} pixels, {needed:,} {words}; "
            f"limits.max_decoded_megabytes ({limits.max_decoded_megabytes:g}) allows {bound:,}. Scale it down, or "
            "raise the key, and worker.max_memory_megabytes by four times as much",
        )


def decoded_bytes(limits: LimitSettings) -> int:
    """How many bytes a picture may have when it is decoded."""
    return int(limits.max_decoded_megabytes * MEGABYTE)


def _coefficients(image: Image.Image) -> float:
    """How many coefficients a pixel has; a progressive JPEG is kept as these, two bytes each, until its last scan."""
    samples = [layer[1] * layer[2] for layer in getattr(image, "layer", ())]
    return sum(samples) / max(samples) if samples and max(samples) else float(len(image.getbands()))


def decode(opener: Opener, limits: LimitSettings, extra_bytes: int = 0) -> Picture:
    """Decode a frame: upright, on white, with square pixels and no more of them than reading needs.

    Raises DocumentError: bomb before anything is decoded, truncated, corrupt.
    """
    with _header(opener) as image:
        check_decodable(image, limits, extra_bytes)
        pixels, turn = image.width * image.height, _orientation(image)
        # Pillow turns a TIFF itself, but leaves its resolution as it was.
        turns_itself = isinstance(image, TiffImagePlugin.TiffImageFile)
        found = resolution(image.size, image.info, swapped=turns_itself and turn in _TURNED)
        size, dpi = size_to_read(image.size, found, limits.max_page_megapixels)
        loaded, lost = _loaded(image, opener, size)
        plain = raster.fitted(loaded, size)
        loaded.close()
    upright = plain if turns_itself or turn not in _UPRIGHTED else plain.transpose(_UPRIGHTED[turn])
    figures: dict[str, float | str] = {"megapixels": round(pixels / 1e6, 2), **found.figures(), "read_dpi": round(dpi)}
    notes = []
    if pixels > limits.max_page_megapixels * 1e6:
        notes.append(
            f"{pixels / 1e6:,.1f} megapixels, limits.max_page_megapixels is {limits.max_page_megapixels:g}: "
            f"scaled down to {dpi:.0f} dpi"
        )
    if lost:
        notes.append(f"the end of the file is missing, and with it the lowest {lost:.0%} of the picture")
        figures["lost"] = round(lost, 3)
    return Picture(upright, "; ".join(notes), figures)


def _recognised(picture: Picture, ocr: Reader | None) -> Page:
    """The page, without its number: read, or empty with a note that says why nothing was read."""
    if not raster.has_ink(picture.image) or min(picture.image.size) < _LEAST_SIDE:
        return _unread(picture, "blank: nothing stands out from the background")
    if ocr is None:
        return _unread(picture, "no text recognition: ocr.engine is none")
    read = ocr.read(picture.image)
    figures = {
        **picture.figures,
        "confidence": round(read.confidence, 3),
        "turns": read.turns,
        "skew_degrees": round(read.skew_degrees, 2),
    }
    return Page(
        1, read.text, read.layout, Source.OCR, read.engine, note=picture.note, figures=figures, places=read.places
    )


def _unread(picture: Picture, why: str) -> Page:
    note = "; ".join(each for each in (picture.note, why) if each)
    return Page(1, "", "", Source.NATIVE, _ENGINE, note=note, figures=picture.figures)


@contextmanager
def _header(opener: Opener) -> Iterator[Image.Image]:
    """The frame with its header read. What Pillow raises then and while it is used becomes a DocumentError."""
    with warnings.catch_warnings(), faults_are_corruption("pillow"):
        warnings.simplefilter("ignore")  # of odd metadata, which is not read here
        try:
            with opener() as image:
                yield image
        except UnidentifiedImageError as error:
            raise DocumentError(Reason.CORRUPT, "the header of the picture cannot be read") from error
        except OSError as error:
            if error.errno:
                raise DocumentError(Reason.IO_ERROR, f"the file cannot be read: {error.strerror}") from error
            raise _broken(error) from error


def _broken(error: OSError) -> DocumentError:
    if _is_cut(error):
        return DocumentError(Reason.TRUNCATED, f"the end of the picture is missing: {str(error)[:200]}")
    return DocumentError(Reason.CORRUPT, f"the picture cannot be decoded: {str(error)[:200]}")


def _is_cut(error: OSError) -> bool:
    return "truncated" in str(error).lower()


def _loaded(image: Image.Image, opener: Opener, size: tuple[int, int]) -> tuple[Image.Image, float]:
    """The frame decoded, to no less than `size`, and which share of it is missing.

    Raises what Pillow raises, also for a cut picture of which too little is there.
    """
    try:
        return _draft(image, size), 0.0
    except OSError as error:
        if not _is_cut(error):
            raise
        again = opener()
        tolerant = ImageFile.LOAD_TRUNCATED_IMAGES
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            _draft(again, size)
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = tolerant
        lost = raster.rows_lost(again) / again.height
        if lost > _MOST_LOST:
            raise
        return again, max(lost, 0.001)


def _draft(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    if isinstance(image, JpegImagePlugin.JpegImageFile):
        image.draft(None, size)  # libjpeg shrinks while it decodes, at a fraction of time and memory
    image.load()
    return image


def _orientation(image: Image.Image) -> int:
    """The orientation of its EXIF, 1 (upright) when there is none or it is broken."""
    try:
        return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    except Exception:  # noqa: BLE001 - metadata of any kind of brokenness; the pixels are what counts
        return 1
