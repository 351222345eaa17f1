"""Whether something is what a field asks for: a logistic model over named features, with weights that ship as JSON.

Each candidate competes with the answer "none of these", whose score is zero: so a probability says how sure the answer
is, not only which candidate is the best. Weights are made by bench/contract_rankers.py from contracts in English; a
feature without a weight counts nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TypeVar

from pipeline.reading.ranking import Features, probabilities

__all__ = ["Features", "chosen", "probability", "weights"]

SURE = 0.95  # of a probability that is left, as other contracts differ from those the weights were made of
Candidate = TypeVar("Candidate")


@cache
def weights(name: str) -> Mapping[str, float]:
    """The weights of a model, read from the package at its first use."""
    stored: dict[str, dict[str, float]] = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return stored[name]


def probability(features: Features, name: str) -> float:
    """How likely a candidate is what it is taken for, by its features alone."""
    return probabilities([features, {}], weights(name))[0]


def chosen(
    candidates: Sequence[tuple[Candidate, Features]], name: str, *, least: float = 1.0
) -> tuple[Candidate, float] | None:
    """The likeliest candidate and how sure it is, among all of a document's and "none of these".

    None where the best is not even `least` times as likely as "none".
    """
    shares = probabilities([*(features for _, features in candidates), {}], weights(name))
    place = max(range(len(candidates)), key=lambda each: shares[each], default=None)
    if place is None or shares[place] < shares[-1] * least:
        return None
    return candidates[place][0], SURE * shares[place]
