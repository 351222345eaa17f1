"""A PDF page read by recognition: rendered, read, and joined with what its text layer has beside.

Recognition may fail on a page that a broken font map made unreadable, too; then the layer is the better of the two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from PIL import Image

from pipeline.documents.ocr import Reader, Recognised
from pipeline.documents.pdf.by_pdfium import Seen
from pipeline.documents.pdf.page_need import Need
from pipeline.documents.pdf.render import Plan
from pipeline.documents.text import Page, Source, clean

_USUAL_DPI = 200.0  # where letters are large enough for every engine
_TOO_LITTLE = 0.3  # of what the unreadable layer has; recognition rarely misses more than a tenth
_FOUND = 0.8  # of a line's words
_KEPT_LAYER = 2_000  # characters of an unreadable layer that are kept, to compare
_WORD = re.compile(r"\w+")

OFF = "recognition is off (ocr.engine), and this page needs it: {why}"


@dataclass(frozen=True, slots=True)
class Recognition:
    """What recognition made of a page; `page` is None when the text layer is better, and `note` says why."""

    page: Page | None
    note: str = ""


def dpi_of(ocr: Reader) -> float:
    """The resolution that a reader asks for, or the usual one."""
    return float(getattr(ocr, "dpi", _USUAL_DPI))


def recognise(number: int, seen: Seen, need: Need, rendered: tuple[Image.Image, Plan], ocr: Reader) -> Recognition:
    """Read the rendered page `number`."""
    image, how = rendered
    found = ocr.read(image)
    little = _found_too_little(found.text, seen.text, all_of_it=need.keep)
    if little:
        return Recognition(None, little)
    return Recognition(_page(number, seen, need, found, how))


def _found_too_little(recognised: str, layer: str, *, all_of_it: bool) -> str:
    """Why the layer is better; empty if it is not. The letters of a broken one are wrong, but there are as many.

    `all_of_it` says that the layer goes with what is recognised anyway.
    """
    found, there = (sum(map(str.isalnum, text)) for text in (recognised, layer))
    if not found:
        return "recognition found no text" + (": the text layer is kept" if there else "")
    if found < _TOO_LITTLE * there and not all_of_it:
        return f"recognition found {found} characters, the text layer has {there} and is kept"
    return ""


def _page(number: int, seen: Seen, need: Need, found: Recognised, how: Plan) -> Page:
    beside = missing_lines(seen.text, found.text) if need.keep else []
    figures: dict[str, float | str] = {
        **seen.figures.told(),
        "why": need.why,
        "confidence": round(found.confidence, 3),
        "dpi": round(how.dpi, 1),
        "turns": found.turns,
        "skew_degrees": round(found.skew_degrees, 2),
    }
    if not need.keep and seen.text.strip():
        figures["text_layer"] = clean(seen.text)[:_KEPT_LAYER]
    return Page(
        number,
        "\n".join([found.text, *beside]),
        "\n".join([found.layout, *beside]),
        Source.OCR,
        found.engine,
        note=how.note,
        figures=figures,
        places=found.places,
    )


def missing_lines(layer: str, recognised: str) -> list[str]:
    """The lines of a good text layer that recognition did not find, such as a stamp's, in order."""
    run = "".join(_WORD.findall(recognised.casefold()))
    words = set(_WORD.findall(recognised.casefold()))
    return [line.strip() for line in clean(layer).splitlines() if line.strip() and not _is_found(line, run, words)]


def _is_found(line: str, run: str, words: set[str]) -> bool:
    """Whether most words of a line were recognised, and each of its numbers as it is."""
    own = _WORD.findall(line.casefold())
    if "".join(own) in run:
        return True
    numbers = [number for token in line.casefold().split() if (number := _figures(token))]
    return all(number in run for number in numbers) and sum(word in words for word in own) >= _FOUND * len(own)


def _figures(token: str) -> str:
    """A token that holds digits, as it stands in a run of letters and digits; empty for any other."""
    return "".join(_WORD.findall(token)) if any(map(str.isdigit, token)) else ""
