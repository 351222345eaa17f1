"""What a rule reads in a contract: a value, and where in the running text it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """What a clause says, in canonical form, and where it stands in the running text.

    `derivation` says how a computed value came about, "2021-05-01 + 2 years: "; empty for what is printed.
    """

    value: str
    start: int
    end: int
    method: str
    confidence: float
    derivation: str = ""
