"""What optical recognition gives and what it asks of an engine: lines with boxes and confidence, read from an image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pipeline.config import OcrSettings

if TYPE_CHECKING:  # formats name these types also in processes that never see an image
    from PIL import Image


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a part of one, that an engine saw. The box is in pixels, y downwards; `confidence` is in 0..1."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float

    @property
    def width(self) -> float:
        """Width of the box in pixels."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Height of the box in pixels."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Where the middle of the box is, in pixels from the top."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was read from one image.

    `text` is in reading order; `layout` has rows and columns rebuilt with spaces. `confidence` is the mean over
    characters, 0..1, and 0 when nothing was found. `turns` quarter turns clockwise made the image upright, and
    `skew_degrees` is by how much its lines still fell to the right before they were straightened. The boxes of `lines`
    are in pixels of the upright, straightened image; `places` are those of the layout's words in the image as it came,
    packed by pipeline.documents.places.
    """

    text: str
    layout: str
    confidence: float
    turns: int
    skew_degrees: float
    engine: str
    lines: tuple[Line, ...]
    places: bytes = b""


@runtime_checkable
class Engine(Protocol):
    """A library with its model, loaded. Used by one thread at a time."""

    name: str
    version: str

    def recognise(self, image: Image.Image) -> Sequence[Line]:
        """Find and read the lines of an upright image, RGB or L, in any order. Nothing found is an empty answer."""


class Reader(Protocol):
    """What a format gets when recognition is on."""

    def read(self, image: Image.Image) -> Recognised:
        """Read an image of any mode, turned and skewed as it may be. Raises ConfigurationError when the engine is
        not installed."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """What an engine module offers: its usual model, and a larger one for doubtful lines, or None.

    `upright_above` is the confidence that upside-down text stays below, and upright text of fair quality does not.
    """

    usual: Callable[[], Engine]
    larger: Callable[[], Engine] | None = None
    upright_above: float = 0.85


Maker = Callable[[OcrSettings], Ladder]


def characters(lines: Iterable[Line]) -> int:
    """How many characters the lines have together."""
    return sum(len(line.text) for line in lines)


def confidence(lines: Sequence[Line]) -> float:
    """Mean confidence weighted by characters, 0..1; 0 without any."""
    total = characters(lines)
    return sum(len(line.text) * line.confidence for line in lines) / total if total else 0.0
