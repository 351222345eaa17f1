"""Pages that are recognised in a second of processor time, beside tesseract: `python -m bench.ocr_figures [--quick]`

Pages drawn by bench/ocr_pages.py go as images of 200 dpi, clean and spoilt in four ways, through doclease's engine as
it is set, tesseract kept in a process, the program tesseract started for each page, and OCRmyPDF with pdftotext. All
run on one thread and read a page in turn. CER, the character error rate of bench/ocr.py, is of pages of prose: it
counts order, and engines may differ in how they order columns and tables. Word F1 knows no order and is of all pages.
An engine that gives up on half a page is quick with it: words read right in a second say what that speed is worth.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from bench import ocr_pages
from bench.extraction_readers import IMAGE_PEERS, OWN_IMAGE, TESSERACTS, Answer, Peer, Reading, chosen, running
from bench.figures import Figure, Table, add_json, tell
from bench.ocr import error_rate, word_f1

Spoil = Callable[[Image.Image, random.Random], Image.Image]


def _clean(image: Image.Image, chance: random.Random) -> Image.Image:
    del chance
    return image


KINDS: Mapping[str, Spoil] = {
    "clean": _clean,
    "skewed": ocr_pages.skewed,
    "scanned": ocr_pages.scanned,
    "noisy": ocr_pages.noisy,
    "photographed": ocr_pages.photographed,
}
QUICK = ("clean", "skewed", "noisy", "photographed")
PROSE = "prose"


@dataclass(frozen=True, slots=True)
class Read:
    """A page as one engine read it."""

    layout: str
    cpu_seconds: float
    error_rate: float
    word_f1: float
    right_words: int


@dataclass(frozen=True, slots=True)
class Means:
    """Of an engine on a kind of page."""

    pages_a_cpu_second: float
    error_rate: float
    word_f1: float
    right_words_a_cpu_second: float

    @classmethod
    def of(cls, reads: Sequence[Read]) -> Means:
        """Over all pages."""
        seconds = sum(each.cpu_seconds for each in reads)
        return cls(
            len(reads) / seconds,
            statistics.fmean(each.error_rate for each in reads if each.layout == PROSE),
            statistics.fmean(each.word_f1 for each in reads),
            sum(each.right_words for each in reads) / seconds,
        )


def measured(
    peers: Sequence[Peer], kinds: Sequence[str], layouts: Sequence[str], count: int, missing: dict[str, str]
) -> dict[str, dict[Peer, Means]]:
    """By kind, what each engine did on `count` pages of each layout."""
    reads: dict[str, dict[Peer, list[Read]]] = {kind: defaultdict(list) for kind in kinds}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doclease-bench-")))
        readings = list(_started(peers, stack, missing))
        for kind, layout, path, truth in _papers(folder, kinds, layouts, count):
            for reading in readings:
                if reading.is_new:
                    reading.ask(path)  # models are loaded at the first page
                reads[kind][reading.peer].append(_read(layout, reading.ask(path), truth))
    return {kind: {peer: Means.of(found) for peer, found in of_kind.items()} for kind, of_kind in reads.items()}


def _started(peers: Sequence[Peer], stack: ExitStack, missing: dict[str, str]) -> Iterator[Reading]:
    for peer in peers:
        try:
            yield stack.enter_context(running(peer))
        except RuntimeError as error:
            missing[peer.name] = str(error)


def _papers(
    folder: Path, kinds: Sequence[str], layouts: Sequence[str], count: int
) -> Iterator[tuple[str, str, Path, str]]:
    for name, image, truth in ocr_pages.pages(count):
        layout = name.rstrip("0123456789")
        for kind in kinds if layout in layouts else ():
            path = folder / f"{name}-{kind}.png"
            chance = random.Random(f"{name} {kind}")  # noqa: S311 - a measurement, no secret
            KINDS[kind](image, chance).save(path, dpi=(ocr_pages.DPI, ocr_pages.DPI))
            yield kind, layout, path, truth


def _read(layout: str, answer: Answer, truth: str) -> Read:
    right = (Counter(truth.split()) & Counter(answer.text.split())).total()
    return Read(layout, answer.cpu_seconds, error_rate(truth, answer.text), word_f1(truth, answer.text), right)


def tables(found: Mapping[str, Mapping[Peer, Means]], missing: Mapping[str, str]) -> Iterator[Table]:
    """Goals of each kind first, then what each engine did."""
    absent = "; ".join(f"{name}: {why}" for name, why in missing.items())
    goals = [figure for kind, means in found.items() for figure in _goals(kind, means)]
    engines = len({peer for means in found.values() for peer in means})
    goals.append(Figure("engines measured", engines, f"of {engines + len(missing)}", note=absent))
    yield Table("Recognition: doclease to tesseract", goals)
    for kind, means in found.items():
        yield Table(f"Recognition of {kind} pages", [_figure(peer, each) for peer, each in means.items()])


def _goals(kind: str, means: Mapping[Peer, Means]) -> Iterator[Figure]:
    """Against tesseract in a process, which has no start to pay; against the program where there is no other."""
    theirs = next((means[peer] for peer in TESSERACTS if peer in means), None)
    if theirs is None or OWN_IMAGE not in means:
        return
    own = means[OWN_IMAGE]
    yield Figure(f"{kind}: pages a CPU second", own.pages_a_cpu_second / theirs.pages_a_cpu_second, "times", least=1)
    if theirs.right_words_a_cpu_second:
        worth = own.right_words_a_cpu_second / theirs.right_words_a_cpu_second
        yield Figure(f"{kind}: words read right a CPU second", worth, "times")
    less = 100 * (own.error_rate - theirs.error_rate)
    note = f"{own.error_rate:.2%} and {theirs.error_rate:.2%}"
    yield Figure(f"{kind}: CER of prose, less tesseract's", less, "points", most=0, note=note)
    more = 100 * (own.word_f1 - theirs.word_f1)
    note = f"{own.word_f1:.1%} and {theirs.word_f1:.1%}"
    yield Figure(f"{kind}: word F1, more than tesseract's", more, "points", least=0, note=note)


def _figure(peer: Peer, means: Means) -> Figure:
    note = f"CER of prose {means.error_rate:.2%}, word F1 {means.word_f1:.1%}, "
    note += f"{means.right_words_a_cpu_second:.0f} words read right a CPU second"
    return Figure(f"{peer.name} ({peer.version})", means.pages_a_cpu_second, "pages a CPU second", note=note)


def main() -> None:
    """Measure what was asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="one page of each of two layouts, within three minutes")
    options.add_argument("--pages", type=int, default=4, help="pages of each layout (default: 4)")
    options.add_argument("--layouts", default="prose,columns,invoice", help="of pages, prose among them")
    options.add_argument("--kinds", help=f"of {','.join(KINDS)} (default: all)")
    options.add_argument("--peers", help="names of engines or of their environments, joined by commas")
    add_json(options)
    given = options.parse_args()
    peers, absent = chosen(given.peers.split(",") if given.peers else None, IMAGE_PEERS)
    missing = dict(absent)
    layouts, count = ("prose,invoice", 1) if given.quick else (given.layouts, given.pages)
    kinds = given.kinds.split(",") if given.kinds else QUICK if given.quick else tuple(KINDS)
    found = measured(peers, kinds, layouts.split(","), count, missing)
    tell(list(tables(found, missing)), given.json)
    for name, why in missing.items():
        print(f"{name}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
