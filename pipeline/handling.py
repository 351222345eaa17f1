"""Handlers turn a document's text into fields: their contract, how they are found, and how one is chosen.

A module of `handlers` that ends in `handler: Handler = …` is found by itself. A handler is a pure function of the
document: no clock, no network, no database, the same answer each time. It runs inside the parser child.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pipeline.documents.text import Box, Document
from pipeline.errors import UsageProblem

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Field:
    """One thing a handler found: its normalised value, where it stands, and how sure the handler is.

    `value` is a string in canonical form: a date as YYYY-MM-DD, an amount as a plain decimal with a point, a text as
    printed with white space folded. `page` counts from 1; 0 is on no page. `snippet` is the line or sentence around it,
    at most 300 characters. `method` is xml, label, pattern, ranker, arithmetic, derived or memory (where a person once
    corrected the same issuer's field). `confidence` is between 0 and 1. `printed` and `box` say how the value is
    written on the page and where; the recipe adds them to what a handler leaves empty.
    """

    value: str
    page: int
    snippet: str
    method: str = "label"
    confidence: float = 0.5
    printed: str = ""
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that belong together and come several times: a line, a row of the tax breakdown, a party.

    `name` is lines, taxes or parties; `number` counts from 1 within the name. The names of the fields are those of the
    columns in docs/querying.md.
    """

    name: str
    number: int
    fields: Mapping[str, Field]


@dataclass(frozen=True, slots=True)
class Clause:
    """One numbered clause of a contract: from its number to the next one's, sub-clauses apart.

    `number` is as printed, without "Article" or brackets ("IV", "3.2", "a"); `level` counts from 1; `heading` is empty
    where the clause begins with its sentence. `start` counts characters in the text of `page`, `end` in that of
    `end_page`, which is a later one where the clause runs over. `tags` are governing_law, insurance, assignment,
    expiration, audit, renewal and notice.
    """

    number: str
    level: int
    heading: str
    page: int
    start: int
    end_page: int
    end: int
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a handler makes of a document: fields by name (a name may have several, parties for example) and checks.

    `checks` maps a check's name to True (passed) or False; a check that could not be made is left out. `messages` says
    of those that failed, by the same names, what was found. `groups` are lines, taxes and parties in order, `clauses`
    those of a contract.
    """

    document_type: str
    fields: Mapping[str, Sequence[Field]] = field(default_factory=dict)
    checks: Mapping[str, bool] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    groups: Sequence[Group] = ()
    clauses: Sequence[Clause] = ()


@runtime_checkable
class Handler(Protocol):
    """One type of document. Stateless: one instance serves every document."""

    name: str
    fields: tuple[str, ...]

    def score(self, document: Document) -> float:
        """How much the document looks like this type, from 0 (not at all) to 1. Cheap: looks at few pages."""

    def extract(self, document: Document) -> Extraction:
        """Find the fields. Never raises for odd text; what is not printed is left out."""


def discover() -> dict[str, Handler]:
    """Every handler of the package `handlers`, by name. A module without `handler` is an error, named."""
    package = importlib.import_module("handlers")
    modules = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    found: list[Handler] = [importlib.import_module(f"handlers.{name}").handler for name in modules]
    return {handler.name: handler for handler in found}


def choose(handlers: Mapping[str, Handler], document: Document, wanted: str = AUTO) -> tuple[Handler, dict[str, float]]:
    """The handler for a document and the scores behind the choice.

    A wanted type wins over every score. Ties go to the name that sorts first, so that the choice is the same each time.
    Raises UsageProblem for a wanted type that no handler has.
    """
    if wanted != AUTO:
        return named(handlers, wanted), {wanted: 1.0}
    scores = {name: round(handler.score(document), 3) for name, handler in sorted(handlers.items())}
    best = max(scores, key=lambda name: scores[name])
    return handlers[best], scores


def named(handlers: Mapping[str, Handler], name: str) -> Handler:
    """The handler of that name. Raises UsageProblem that lists the names there are."""
    if name not in handlers:
        raise UsageProblem(f"no handler is named {name!r}; there are: auto, {', '.join(sorted(handlers))}")
    return handlers[name]
