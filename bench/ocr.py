"""How well each engine reads, and what it costs: `python -m bench.ocr CORPUS [--engine NAME[:BELOW]]…`

Character error rate (CER): the Levenshtein distance between what was read and the true text, divided by the length of
the true text (S. V. Rice, Measuring the Accuracy of Page-Reading Systems, UNLV 1996, calls 1 - CER the accuracy).
Before, both are folded: NFKC, white space to one space, typographic quotes and dashes to plain ones, and case where
the true text has none. Order counts: the true text of receipts is in the order of upstream's boxes, which is by rows
for most but not for all, so a row read otherwise shows as errors. Word F1 beside it knows no order.

CORPUS has a MANIFEST.csv with the columns path and expected; files under scans/ that have a .txt are read. Pages drawn
by bench/ocr_pages.py are a set of their own: `made` clean, `scanned` askew and noisy. `BELOW` is
ocr.second_look_below, 0 for the usual model alone. Each engine runs in a process of its own, one after the other.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import random
import re
import resource
import statistics
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageOps, ImageSequence

from bench.ocr_pages import pages, scanned
from pipeline.config import OcrSettings
from pipeline.documents.ocr import Reader, Recognised, reader

_PLAIN = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "•": "·", "\u00ad": ""})


@dataclass(frozen=True, slots=True)
class Sample:
    """A document to read: its pages are made when they are needed."""

    group: str
    name: str
    truth: str
    images: Callable[[], Iterator[Image.Image]]


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured on one sample, whichever way it was turned."""

    group: str
    error_rate: float
    word_f1: float
    cpu_seconds: float  # of each page
    confidence: float
    turns: tuple[int, ...]  # by which each page was turned


def folded(text: str) -> str:
    """The text as it is compared: one white space, plain quotes and dashes."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).translate(_PLAIN)).strip()


def distance(one: str, other: str) -> int:
    """Levenshtein distance, by Myers' bit vectors (Journal of the ACM 46, 1999): one step for each sign of `other`."""
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = defaultdict(int)
    for number, sign in enumerate(one):
        places[sign] |= 1 << number
    everywhere, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    plus, minus, score = everywhere, 0, len(one)
    for sign in other:
        match = places.get(sign, 0)
        across = (((match & plus) + plus) ^ plus) | match
        up, down = minus | ~(across | plus), plus & across
        score += bool(up & last) - bool(down & last)
        up, down = up << 1 | 1, down << 1
        vertical = match | minus
        plus, minus = (down | ~(vertical | up)) & everywhere, up & vertical & everywhere
    return score


def error_rate(truth: str, read: str) -> float:
    """CER as the module's docstring defines it."""
    truth, read = folded(truth), folded(read)
    if truth == truth.upper():
        read = read.upper()
    return distance(truth, read) / max(len(truth), 1)


def word_f1(truth: str, read: str) -> float:
    """Words in common, whatever their order: 2 x common / (words of both)."""
    truth, read = folded(truth), folded(read)
    if truth == truth.upper():
        read = read.upper()
    one, other = Counter(truth.split()), Counter(read.split())
    return 2 * (one & other).total() / max(one.total() + other.total(), 1)


def corpus_samples(corpus: Path, only: str) -> Iterator[Sample]:
    """Files under scans/ that have a true text."""
    with (corpus / "MANIFEST.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            texts = [each for each in row["expected"].split(";") if each.endswith(".txt")]
            if row["path"].startswith("scans/") and texts and only in row["path"]:
                truth = (corpus / texts[0]).read_text(encoding="utf-8", errors="replace")
                group = row["path"].rsplit("/", 1)[0]
                yield Sample(group, row["path"], truth, partial(_images, corpus / row["path"]))


def made_samples(count: int) -> Iterator[Sample]:
    """The pages drawn here, clean and scanned."""
    for name, image, truth in pages(count):
        kind = name.rstrip("0123456789")
        yield Sample(f"made/{kind}", f"made/{name}", truth, partial(iter, [image]))
        scan = scanned(image, random.Random(name))  # noqa: S311 - a measurement, no secret
        yield Sample(f"scanned/{kind}", f"scanned/{name}", truth, partial(iter, [scan]))


def _images(path: Path) -> Iterator[Image.Image]:
    """The pages of a file, PDF pages rendered at the settings' dpi."""
    if path.suffix != ".pdf":
        with Image.open(path) as image:
            for frame in ImageSequence.Iterator(image):
                yield ImageOps.exif_transpose(frame)
        return
    document = pdfium.PdfDocument(path)
    try:
        for page in document:
            yield page.render(scale=OcrSettings().dpi / 72).to_pil()
    finally:
        document.close()


def measured(ocr: Reader, sample: Sample, turns: int) -> Figures:
    """Read a sample, every page turned by quarter turns anticlockwise first."""
    seen: list[Recognised] = []
    seconds = 0.0
    for image in sample.images():
        lying = image.rotate(90 * turns, expand=True) if turns else image
        before = time.process_time()
        seen.append(ocr.read(lying))
        seconds += time.process_time() - before
    text = "\n".join(each.text for each in seen)
    return Figures(
        sample.group,
        error_rate(sample.truth, text),
        word_f1(sample.truth, text),
        seconds / max(len(seen), 1),
        statistics.fmean(each.confidence for each in seen),
        tuple(each.turns for each in seen),
    )


def run(engine: str, options: argparse.Namespace) -> None:
    """Measure one engine and print it; runs in a process of its own, so that peak memory is the engine's."""
    name, _, below = engine.partition(":")
    settings = OcrSettings(engine=name, languages=options.languages)
    ocr = reader(replace(settings, second_look_below=float(below)) if below else settings)
    assert ocr is not None, "engine none reads nothing"
    samples = [*made_samples(options.made)]
    if options.corpus is not None:
        samples += corpus_samples(options.corpus, options.only)
    found: list[list[Figures]] = []
    for sample in samples:
        found.append([measured(ocr, sample, turns) for turns in range(4 if options.turn else 1)])
        for turns, figures in enumerate(found[-1]):
            _show(_title(sample.name, turns), [figures], options.quiet)
    print(f"\n== {engine}: means; peak RSS {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
    _summarise(found)


def _summarise(found: Sequence[Sequence[Figures]]) -> None:
    """Means by group and turn. A turned page came out right if it was turned by that much more than the file."""
    for group in sorted({figures[0].group for figures in found}):
        of_group = [figures for figures in found if figures[0].group == group]
        for turns, each in enumerate(zip(*of_group, strict=True)):
            _show(_title(group, turns), each)
    right = [
        all((one + turns - other) % 4 == 0 for one, other in zip(figures[0].turns, figures[turns].turns, strict=True))
        for figures in found
        for turns in range(1, len(figures))
    ]
    if right:
        print(f"orientation right on {sum(right)} of {len(right)} turned documents")


def _title(name: str, turns: int) -> str:
    return f"{name} turned {90 * turns}" if turns else name


def _show(name: str, figures: Sequence[Figures], quiet: bool = False) -> None:
    if quiet:
        return
    means = [
        statistics.fmean(getattr(each, field) for each in figures)
        for field in ("error_rate", "word_f1", "cpu_seconds", "confidence")
    ]
    print("{:46} n {:3} CER {:6.2%} F1 {:.3f} CPU {:5.2f} s conf {:.3f}".format(name, len(figures), *means), flush=True)


def main() -> None:
    """Measure every engine asked for, one after the other."""
    parser = argparse.ArgumentParser(description="Character error rate and cost of each OCR engine.")
    parser.add_argument("corpus", type=Path, nargs="?", help="folder with MANIFEST.csv")
    parser.add_argument("--engine", action="append", help="NAME or NAME:SECOND_LOOK_BELOW; may be given again")
    parser.add_argument("--languages", default="eng", help="for tesseract")
    parser.add_argument("--made", type=int, default=0, metavar="N", help="also N drawn pages of each kind")
    parser.add_argument("--only", default="", help="only files of the corpus whose path contains this")
    parser.add_argument("--turn", action="store_true", help="also each document turned by 90, 180 and 270 degrees")
    parser.add_argument("--quiet", action="store_true", help="only the means")
    options = parser.parse_args()
    for engine in options.engine or ["paddle"]:
        process = multiprocessing.get_context("spawn").Process(target=run, args=(engine, options))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
