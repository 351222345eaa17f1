"""The recipe of one image: plain and small enough, straightened, read, turned if need be, doubtful lines again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PIL import Image

from pipeline.config import OcrSettings
from pipeline.documents.ocr import engines, images, order, second_look, skew, widths
from pipeline.documents.ocr.paper import as_it_came
from pipeline.documents.ocr.seen import Engine, Line, Recognised, characters, confidence

_LEAST_SKEW_DEGREES = 0.2  # lines of less are read as they are, and straightening would blur them a little


class PageReader:
    """Reads images with the engine that the settings name; each of its models is loaded when it is needed first.

    `dpi` is the resolution at which pages should be rendered for it.
    """

    def __init__(self, settings: OcrSettings) -> None:
        self.dpi = settings.dpi
        self._below = settings.second_look_below
        self._ladder = engines.find(settings.engine)(settings)
        self._usual: Engine | None = None
        self._larger: Engine | None = None

    def read(self, image: Image.Image) -> Recognised:
        """Read an image of any mode. Raises ConfigurationError when the engine's library is missing."""
        engine = self._engine()
        came, scale = images.fitted(images.plain(image))
        level, fall = _level(came)
        page, turns, lines = _upright(engine, level, self._ladder.upright_above)
        if self._ladder.larger is not None:
            lines = second_look.again(page, lines, self._below, self._larger_engine)
        layout = order.layout(lines)
        places = as_it_came(layout.places, came.size, level.size, turns, fall)
        lines = [_scaled(replace(line, text=widths.narrowed(line.text)), 1 / scale) for line in lines]
        return Recognised(
            text=order.reading(lines),
            layout=layout.text,
            confidence=confidence(lines),
            turns=turns,
            skew_degrees=fall,
            engine=f"{engine.name} {engine.version}",
            lines=tuple(lines),
            places=places,
        )

    def _engine(self) -> Engine:
        if self._usual is None:
            self._usual = self._ladder.usual()
        return self._usual

    def _larger_engine(self) -> Engine:
        if self._larger is None:
            assert self._ladder.larger is not None
            self._larger = self._ladder.larger()
        return self._larger


def _level(page: Image.Image) -> tuple[Image.Image, float]:
    fall = skew.measure(page)
    if abs(fall) < _LEAST_SKEW_DEGREES:
        return page, 0.0
    return skew.straightened(page, fall), fall


def _upright(engine: Engine, page: Image.Image, upright_above: float) -> tuple[Image.Image, int, Sequence[Line]]:
    """The page as it reads, the turns that took, and its lines. An upright page is read once.

    High boxes mean a page on its side, low confidence one upside down. The turns that they name are tried until the
    page reads as upright text does; if it never does, the best of all readings stands.
    """
    best = page, 0, engine.recognise(page)
    for turns in _turns(best[2], upright_above):
        other = images.turned(page, turns)
        lines = engine.recognise(other)
        if confidence(lines) > upright_above:
            return other, turns, lines
        if confidence(lines) > confidence(best[2]):
            best = other, turns, lines
    return best


def _turns(lines: Sequence[Line], upright_above: float) -> tuple[int, ...]:
    """Quarter turns clockwise that the lines ask for, the likeliest first.

    Engines turn high boxes before they read them, always one way: so of the two ways that a page can lie on its side
    one is read well.
    """
    long = [line for line in lines if len(line.text) >= 3]
    wide = characters(line for line in long if line.width > line.height) >= characters(long) / 2
    sure = confidence(long) > upright_above
    if wide:
        return () if sure or not long else (2,)
    return (3, 1) if sure else (1, 3)


def _scaled(line: Line, factor: float) -> Line:
    if factor == 1.0:
        return line
    left, top, right, bottom = (each * factor for each in (line.left, line.top, line.right, line.bottom))
    return replace(line, left=left, top=top, right=right, bottom=bottom)
