"""Whether a page must be recognised optically: a pure rule over what the page is, never over how long its text is.

The text layer stays unless it is not there (blank pages aside), is a stamp on a picture of print, or cannot be read as
language. A page that could be either is looked at: `is_doubtful` says when the figure `ink` is worth its price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from pipeline.documents.pdf.legibility import Legibility

_COVERED = 0.5  # of the page by images: a scan with margins has 0.6 and more
_PICTURE = 0.2  # an image that may show print, when the page says nothing else
_FULL_OF_TEXT = 0.25  # of the page under its own text; a stamp covers some hundredths
_PRINTED = 0.08  # of the page with print that is no text: a short letter; a letterhead has less
_BY_FAR = 2.5  # times as much print as text
_DRAWING = 1.8  # times more is asked of drawings: charts look like print
_FEW_CHARACTERS = 30
_STAMP_CHARACTERS = 250
_MOST_BESIDE = 1_000  # characters beside a scan; no notice is longer
_DRAWN = 150  # strokes; a logo has fewer, an outlined line of text as many
_BAD = 0.08
_UNMAPPED = 0.15
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class Figures:
    """What a page is. Shares are 0..1 of the page's area or of its characters.

    `characters` of the text layer that are no blanks, `invisible` the share of them drawn without ink, as recognition
    layers are; `text_area` what visible text covers, `image_area` what images cover; `bad` the share of characters that
    stand for nothing, `unmapped` of those whose font does not say what they mean; `strokes` of drawings; `objects` of
    any kind. `ink` is the area that looks like print and has no visible text, None when nobody looked.
    `plain` says that the text reads well at first sight; the figures that were not needed then are left at 0.
    """

    characters: int = 0
    objects: int = 0
    invisible: float = 0.0
    text_area: float = 0.0
    image_area: float = 0.0
    bad: float = 0.0
    unmapped: float = 0.0
    strokes: int = 0
    ink: float | None = None
    plain: bool = False
    language: Legibility = field(default_factory=Legibility)

    def told(self) -> Mapping[str, float | str]:
        """The figures by name, to be stored; what is not known is left out, on a plain page also what is 0."""
        if self.plain:  # most pages: by hand and short, as each figure is written, sent, checked and stored
            image = {"image_area": round(self.image_area, 3)} if self.image_area else {}
            strokes = {"strokes": self.strokes} if self.strokes else {}
            return {"characters": self.characters, "objects": self.objects, **image, **strokes}
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("plain", "language")}
        words = {each.name: getattr(self.language, each.name) for each in fields(self.language)}
        return {name: round(value, 3) for name, value in (own | words).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Need:
    """The decision and its reason in a word or two. `keep` says that the text layer is good and goes with the rest."""

    ocr: bool
    why: str
    keep: bool = False


def need(figures: Figures) -> Need:
    """Decide. Ask `is_doubtful` first: without `ink`, a doubtful page counts as printed."""
    if figures.objects == 0 and figures.characters == 0:
        return Need(ocr=False, why="blank")
    garbled = "" if figures.plain else _garbled(figures)
    if garbled:
        return Need(ocr=True, why=garbled)
    if figures.characters == 0 and figures.image_area > 0:
        return Need(ocr=True, why="scan")
    if is_doubtful(figures) and _is_printed(figures):
        return Need(ocr=True, why=_printed_how(figures), keep=True)
    if figures.characters == 0:
        return Need(ocr=False, why="nothing written")
    return Need(ocr=False, why="recognised before" if figures.invisible >= _MOSTLY else "text")


def is_doubtful(figures: Figures) -> bool:
    """Whether there may be print beside the text: little text, and images or drawings that can hold some.

    A recognition layer is believed once it is longer than a stamp.
    """
    if figures.plain or figures.objects == 0:
        return False
    if figures.text_area > _FULL_OF_TEXT or figures.characters > _MOST_BESIDE:
        return False
    if figures.characters == 0:
        return figures.image_area == 0
    if figures.invisible >= _MOSTLY and figures.characters >= _STAMP_CHARACTERS:
        return False
    enough = _PICTURE if figures.characters < _FEW_CHARACTERS else _COVERED
    return figures.image_area >= enough or figures.strokes >= _DRAWN


def _is_printed(figures: Figures) -> bool:
    if figures.ink is None:
        return True
    if figures.characters == 0:
        return figures.ink > 0
    if figures.image_area < _PICTURE and figures.characters >= _FEW_CHARACTERS:
        return figures.ink >= _DRAWING * _PRINTED and figures.ink >= _DRAWING * _BY_FAR * figures.text_area
    return figures.ink >= _PRINTED and figures.ink >= _BY_FAR * figures.text_area


def _printed_how(figures: Figures) -> str:
    if figures.image_area >= _PICTURE:
        return "text on a scan"
    return "drawn text"


def _garbled(figures: Figures) -> str:
    """Why the text layer cannot be read; empty if it can, or is too little to say."""
    if figures.bad > _BAD:
        return "characters without meaning"
    if figures.unmapped > _UNMAPPED and _is_odd(figures):
        return "font without a map"
    return _no_language(figures.language)


def _no_language(language: Legibility) -> str:
    wordiness, likeness, common = language.wordiness, language.likeness, language.common or 0.0
    if wordiness is not None and wordiness < (0.35 if likeness is None else 0.55) and (likeness or 0.0) < 0.85:
        return "no words"
    if likeness is None:
        return ""
    sounds = wordiness is None or wordiness > 0.95  # or cannot be said; ciphers hardly ever sound that well
    if likeness < (0.68 if sounds else 0.72) and common < 0.08:
        return "letters of no language"
    if likeness < 0.8 and wordiness is not None and wordiness < 0.8 and common < 0.04:
        return "letters of no language"
    return ""


def _is_odd(figures: Figures) -> bool:
    wordiness = figures.language.wordiness
    return figures.characters > _STAMP_CHARACTERS if wordiness is None else wordiness < 0.85
