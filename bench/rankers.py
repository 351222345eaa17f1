"""Train the rankers of receipts: `python -m bench.rankers RECEIPTS [--write]`

RECEIPTS is a folder as bench/fields.py knows it (NAME.boxes.csv with NAME.json). For each ranker the share of
receipts that have a right candidate, and the share in which it comes first, on the half trained on and on the other.
`--write` replaces pipeline/reading/weights.json. Halves are by issuer; shipped weights are trained on the dev half.

The model is a softmax over the candidates of one receipt (McFadden's conditional logit); gradient ascent with a pull to
zero, started from zero, so the same data give the same weights.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.fields import Sample, equal, half, samples
from pipeline.config import OcrSettings
from pipeline.documents import ocr
from pipeline.documents.contract import Means
from pipeline.reading import amounts, ranking, receipts
from pipeline.reading.rows import rows

WEIGHTS = Path(ranking.__file__).with_name("weights.json")
RANKERS = {"merchant": "seller_name", "address": "seller_address", "total": "total_gross"}
_STEPS, _RATE, _PULL = 300, 0.5, 0.002

Choices = list[tuple[dict[str, float], bool]]


def choices(name: str, sample: Sample) -> Choices:
    """The candidates of a receipt: their features, and whether they are right."""
    printed = rows(sample.document)
    comma = amounts.decimal_comma([row.text for row in printed])
    made = {
        "merchant": lambda: receipts.merchants(printed),
        "address": lambda: receipts.addresses(printed),
        "total": lambda: receipts.totals(printed, comma=comma),
    }[name]()
    wanted = sample.gold.get(RANKERS[name])
    return [(features, bool(wanted) and equal(RANKERS[name], span.value, str(wanted))) for span, features in made]


def train(data: Sequence[Choices], issuers: Sequence[str]) -> dict[str, float]:
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
            momentum[name] = 0.9 * momentum[name] + value - _PULL * weight[name]
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


def main() -> None:
    """Train, show, and write if asked to."""
    parser = argparse.ArgumentParser(description="Train the rankers of receipts.")
    parser.add_argument("receipts", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    everything = list(samples(options.receipts, None, Means(ocr=ocr.reader(OcrSettings(engine="none")))))
    stored: dict[str, dict[str, float]] = {}
    for name, field in RANKERS.items():
        labelled = [sample for sample in everything if sample.gold.get(field)]
        dev, test = ([choices(name, each) for each in labelled if half(each) == side] for side in ("dev", "test"))
        issuers = [issuer(each) for each in labelled if half(each) == "dev"]
        stored[name] = train(dev, issuers)
        show(f"{name} dev", dev, stored[name])
        show(f"{name} test", test, stored[name])
    if options.write:
        WEIGHTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
