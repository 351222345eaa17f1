"""The likeliest of several candidates: a logistic model over named features, with weights that ship as JSON.

The probabilities of a document's candidates add up to one, so the best one's is its confidence. Weights are made by
bench/rankers.py; a feature without a weight counts nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TypeVar

Candidate = TypeVar("Candidate")
Features = Mapping[str, float]


@cache
def weights(name: str) -> Mapping[str, float]:
    """The weights of a ranker, read from the package at its first use."""
    stored: dict[str, dict[str, float]] = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return stored[name]


def best(
    candidates: Iterable[tuple[Candidate, Features]], weight: Mapping[str, float]
) -> tuple[Candidate, float] | None:
    """The candidate of the highest score, the first of equals, and its probability. None if there is none."""
    listed = list(candidates)
    if not listed:
        return None
    shares = probabilities([features for _, features in listed], weight)
    place = max(range(len(listed)), key=lambda each: shares[each])
    return listed[place][0], shares[place]


def probabilities(listed: Sequence[Features], weight: Mapping[str, float]) -> list[float]:
    """The probability of each candidate, by its features, to be the one."""
    scores = [sum(value * weight.get(name, 0.0) for name, value in features.items()) for features in listed]
    top = max(scores, default=0.0)
    powers = [math.exp(score - top) for score in scores]
    return [power / sum(powers) for power in powers]
