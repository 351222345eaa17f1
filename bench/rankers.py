"""Train the rankers of receipts: `python -m bench.rankers RECEIPTS [PRINTED] [--cache FOLDER] [--folds N] [--write]`

RECEIPTS is a folder as bench/fields.py knows it (NAME.boxes.csv with NAME.json): receipts as a perfect recognition
would read them. PRINTED is what bench/printed_receipts.py makes of it: the same receipts on worn paper, read by our own
recognition, pages kept in --cache. For each ranker the share of receipts that have a right candidate, and the share in
which it comes first, on the half trained on and on the other. `--write` replaces pipeline/reading/weights.json. Halves
are by issuer; shipped weights are trained on the dev half, on perfect and on recognised text alike.

`--folds` shows what each ranker is worth on issuers not trained on without a look at the test half: trained on all
but one of so many parts of the dev half, by issuer, and tried on that one; and how many of its choices a probability of
0.9 accepts, and how many of those are wrong.

Recognition gets few addresses right to the letter, so of the candidates for a text those nearest to the label are the
right ones: what is learned is which rows to take, not how well they were read.

The model is a softmax over the candidates of one receipt (McFadden's conditional logit); gradient ascent with a pull to
zero, started from zero, so the same data give the same weights.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.fields import Sample, equal, half, samples
from pipeline.config import OcrSettings
from pipeline.documents import ocr
from pipeline.documents.contract import Means
from pipeline.reading import amounts, ranking
from pipeline.reading.receipts.merchants import merchants
from pipeline.reading.receipts.till_addresses import addresses
from pipeline.reading.receipts.till_totals import totals
from pipeline.reading.receipts.till_words import Span
from pipeline.reading.rows import fold, rows

WEIGHTS = Path(ranking.__file__).with_name("weights.json")
RANKERS = {"merchant": "seller_name", "address": "seller_address", "total": "total_gross"}
_STEPS, _RATE, _PULL = 300, 0.5, 0.002
# With more of it names are more often right for issuers held out of the dev half. Totals too, and yet far less often
# for all others: what the words of some issuers say of an amount is not what others mean by them.
_PULLS = {"merchant": 0.008, "address": 0.008, "total": 0.002}
# Which rows are a name is learned from what recognition makes of them too; what words say of an amount is not.
_BOTH = ("perfect", "recognised")
_LEARNED = {"merchant": _BOTH, "address": _BOTH, "total": ("perfect",)}
_ACCEPTED = 0.9
_LEAST_LIKENESS = 0.8  # of a text to its label; one that is less like it was read from other rows

Choices = list[tuple[dict[str, float], bool]]


def choices(name: str, sample: Sample) -> Choices:
    """The candidates of a receipt: their features, and whether they are right."""
    printed = rows(sample.document)
    comma = amounts.decimal_comma([row.text for row in printed])
    made: list[tuple[Span, dict[str, float]]] = {
        "merchant": lambda: list(merchants(printed)),
        "address": lambda: list(addresses(printed)),
        "total": lambda: list(totals(printed, comma=comma)),
    }[name]()
    wanted = sample.gold.get(RANKERS[name]) or ""
    exact = [equal(RANKERS[name], span.value, wanted) for span, _ in made]
    right = exact if any(exact) or name == "total" else _nearest([span.value for span, _ in made], wanted)
    return [(features, good) for (_, features), good in zip(made, right, strict=True)]


def _nearest(values: Sequence[str], wanted: str) -> list[bool]:
    """Which of the texts are most like the one wanted; none if all are unlike it."""
    likeness = [_likeness(value, wanted) for value in values]
    most = max(likeness, default=0.0)
    return [each == most >= _LEAST_LIKENESS for each in likeness]


def _likeness(one: str, other: str) -> float:
    left, right = (re.sub(r"[\W_]", "", fold(text)) for text in (one, other))
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= _LEAST_LIKENESS else 0.0


def train(data: Sequence[Choices], issuers: Sequence[str], *, pull: float = _PULL) -> dict[str, float]:
    """The weights that make the right candidates likeliest. An issuer's receipts together count as their root."""
    often = Counter(issuers)
    shares = [often[issuer] ** -0.5 for issuer in issuers]
    usable = [(each, share) for each, share in zip(data, shares, strict=True) if any(right for _, right in each)]
    whole = sum(share for _, share in usable)
    weight: dict[str, float] = defaultdict(float)
    momentum: dict[str, float] = defaultdict(float)
    for step in range(_STEPS):
        slope: dict[str, float] = defaultdict(float)
        for listed, share in usable:
            for name, value in _slope(listed, weight):
                slope[name] += share * value / whole
        for name, value in slope.items():
            momentum[name] = 0.9 * momentum[name] + value - pull * weight[name]
            weight[name] += _RATE * momentum[name] * (1 - step / _STEPS)
    return {name: round(value, 3) for name, value in sorted(weight.items()) if abs(value) >= 0.01}


def issuer(sample: Sample) -> str:
    """The first letters of the seller's name: branches and misspellings are the same issuer."""
    return re.sub("[^a-z]", "", (sample.gold.get("seller_name") or "").lower())[:8]


def _slope(listed: Choices, weight: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    shares = ranking.probabilities([features for features, _ in listed], weight)
    right = sum(share for share, (_, good) in zip(shares, listed, strict=True) if good)
    for share, (features, good) in zip(shares, listed, strict=True):
        pull = share / right * good - share if right else 0.0
        for name, value in features.items():
            yield name, pull * value


def show(title: str, data: Sequence[Choices], weight: Mapping[str, float]) -> None:
    """Print how often a right candidate exists, and how often it comes first."""
    possible = sum(any(right for _, right in each) for each in data)
    first = 0
    for listed in data:
        found = ranking.best(((right, features) for features, right in listed), weight)
        first += found is not None and found[0]
    print(f"{title:22} n {len(data):4} a right candidate {possible / len(data):.3f}, first {first / len(data):.3f}")


def held_out(title: str, data: Sequence[Choices], issuers: Sequence[str], *, folds: int, pull: float) -> None:
    """Print how often the first candidate is right, and how often at 0.9 and more, on issuers not trained on."""
    bare = [each.partition(" ")[2] for each in issuers]  # of one issuer all that was printed and all that was read
    parts = [hashlib.sha256(each.encode()).digest()[0] % folds for each in bare]
    found: list[tuple[bool, float]] = []
    for left_out in range(folds):
        kept = [number for number, part in enumerate(parts) if part != left_out]
        weight = train([data[each] for each in kept], [issuers[each] for each in kept], pull=pull)
        tried = (listed for listed, part in zip(data, parts, strict=True) if part == left_out)
        chosen = (ranking.best(((right, features) for features, right in listed), weight) for listed in tried)
        found += [each for each in chosen if each is not None]
    sure = [right for right, share in found if share >= _ACCEPTED]
    right = sum(good for good, _ in found) / len(found)
    wrong = 1 - sum(sure) / len(sure)
    print(f"{title:22} n {len(found):4} right {right:.3f}, {len(sure) / len(found):.3f} accepted, {wrong:.4f} wrong")


def main() -> None:
    """Train, show, and write if asked to."""
    parser = argparse.ArgumentParser(description="Train the rankers of receipts.")
    parser.add_argument("receipts", type=Path)
    parser.add_argument("printed", type=Path, nargs="?")
    parser.add_argument("--cache", type=Path, help="folder for pages that were read")
    parser.add_argument("--folds", type=int, default=0, help="parts of the dev half, each tried without training on it")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    sets = {"perfect": list(samples(options.receipts, None, Means(ocr=None)))}
    if options.printed:
        sets["recognised"] = list(samples(options.printed, options.cache, Means(ocr=ocr.reader(OcrSettings()))))
    stored = {name: _trained(name, sets, folds=options.folds) for name in RANKERS}
    if options.write:
        WEIGHTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def _trained(name: str, sets: Mapping[str, Sequence[Sample]], *, folds: int = 0) -> dict[str, float]:
    made: dict[tuple[str, str], list[Choices]] = defaultdict(list)
    issuers: list[str] = []
    for title, several in sets.items():
        for sample in (each for each in several if each.gold.get(RANKERS[name])):
            side = half(sample)
            made[title, side].append(choices(name, sample))
            if side == "dev" and title in _LEARNED[name]:
                issuers.append(f"{title} {issuer(sample)}")
    learned = [each for title in _LEARNED[name] for each in made[title, "dev"]]
    if folds:
        held_out(f"{name} held out", learned, issuers, folds=folds, pull=_PULLS[name])
    weight = train(learned, issuers, pull=_PULLS[name])
    for (title, side), listed in sorted(made.items()):
        show(f"{name} {title} {side}", listed, weight)
    return weight


if __name__ == "__main__":
    main()
