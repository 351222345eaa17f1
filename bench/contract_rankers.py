"""Train the models of contracts: `python -m bench.contract_rankers CONTRACTS [--write]`

CONTRACTS is a folder as bench/contracts.py knows it. For each model the share of contracts that have a right candidate
and the share in which it is chosen, on the half trained on and on the other. `--write` replaces
pipeline/reading/contracts/weights.json. Halves are by company; shipped weights are trained on the dev half alone, with
the sentences of bench/own_contracts.json beside it.

No answer says how long a contract runs: its duration is taken to be right where it leads from a right date to the
right end, or, without an end, where it stands in the words that the label marks.
"""

from __future__ import annotations

import argparse
import ast
import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.contracts import Case, alike, cases, document, half, normal
from bench.rankers import Choices, train
from pipeline.reading import ranking
from pipeline.reading.contracts import deciding, ends, parties, renewals, signing, terms
from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.prose import Prose, prose
from pipeline.reading.dates import FoundDate, day_first, find_dates
from pipeline.reading.periods import Period, find_periods
from pipeline.reading.rows import fold

WEIGHTS = Path(deciding.__file__).with_name("weights.json")
OWN = Path(__file__).with_name("own_contracts.json")
NONE: dict[str, float] = {}


@dataclass(frozen=True, slots=True)
class Lesson:
    """A contract as it is read, with its answers and the spans that the label marks as saying when it ends."""

    case: Case
    prose: Prose
    dates: list[FoundDate]
    periods: list[Period]
    ends: list[tuple[int, int]]


def lesson(case: Case, folder: Path) -> Lesson:
    """Read a contract and find the label's words in it."""
    read = prose(document(case.name, case.text))
    dates = find_dates(read.folded, day_first=day_first([read.text]))
    stored = json.loads((folder / f"{case.name}.json").read_text("utf-8"))
    marked = ast.literal_eval(stored["Expiration Date"])
    return Lesson(case, read, dates, list(find_periods(read.folded)), list(_places(read, marked)))


def _places(read: Prose, marked: list[str]) -> Iterator[tuple[int, int]]:
    for words in (" ".join(fold(part).split()) for each in marked for part in each.split("<omitted>")):
        place = read.folded.find(words[:60]) if len(words) >= 15 else -1
        if place >= 0:
            yield place, place + len(words)


def of_parties(given: Lesson) -> Iterator[Choices]:
    """Each candidate against "is no party"."""
    right = given.case.answers["parties"]
    for party, features in parties.candidates(given.prose):
        names = list(normal("parties", party.name))
        good = any(alike(name, each) for name in names for each in right)
        yield [(_plain(features), good), (NONE, not good)]


def of_dates(given: Lesson, field: str) -> Iterator[Choices]:
    """The dates of a contract against "has no such date"."""
    yield _against_none(
        [
            (_plain(features), date.value in given.case.answers[field])
            for date, features in signing.candidates(given.prose, given.dates)
        ]
    )


def of_ends(given: Lesson) -> Iterator[Choices]:
    """The printed dates of an end against "none is printed"."""
    agreed = sorted(given.case.answers["agreement_date"])
    made = Answer(agreed[0], 0, 0, "label", 1.0) if agreed else None
    yield _against_none(
        [
            (_plain(features), date.value in given.case.answers["expiration_date"])
            for date, features in ends.candidates(given.prose, given.dates, made)
        ]
    )


def of_terms(given: Lesson) -> Iterator[Choices]:
    """The durations of a contract against "says none of itself"."""
    yield _against_none(
        [
            (_plain(features), _is_term(given, period, features))
            for period, features in terms.candidates(given.prose, given.periods)
        ]
    )


def _is_term(given: Lesson, period: Period, features: deciding.Features) -> bool:
    answers = given.case.answers
    inside = any(start <= period.start <= end for start, end in given.ends)
    if not answers["expiration_date"]:
        return inside and not any(features.get(name) for name in ("then before", "again", "within"))
    counted = terms.start(given.prose, Answer(period.value, period.start, period.end, "label", 1.0), given.dates)
    starts = answers["effective_date"] | answers["agreement_date"] | ({counted.value} if counted else set())
    return (inside or not given.ends) and any(
        (end := ends.plus(dt.date.fromisoformat(start), period.value)) is not None
        and {end.isoformat(), (end - dt.timedelta(days=1)).isoformat()} & answers["expiration_date"]
        for start in starts
    )


def of_renewals(given: Lesson, field: str) -> Iterator[Choices]:
    """The durations of a contract against "has no such length"."""
    right = given.case.answers[field]
    yield _against_none(
        [
            (_plain(features), bool(right.intersection(normal(field, period.value))))
            for period, features in _renewals(given.prose, given.periods, field)
        ]
    )


def _renewals(read: Prose, periods: list[Period], field: str) -> Sequence[tuple[Period, deciding.Features]]:
    listed = renewals.candidates(read, periods)
    return listed if field == "renewal_term" else renewals.notices(read, listed)


def own(name: str) -> Iterator[Choices]:
    """The own sentences for a model, of those that have any."""
    stored = json.loads(OWN.read_text("utf-8").replace("…", "It is so. " * 150))
    if name == "parties":
        yield from _own_parties(stored["parties"])
    if name == "term":
        yield from _own_terms(stored["length"])
    elif name in ("agreement_date", "effective_date"):
        for text, agreed, effective in stored["dates"]:
            read = prose(document("own", text))
            found = signing.candidates(read, find_dates(read.folded))
            right = agreed if name == "agreement_date" else effective
            yield _against_none([(_plain(features), date.value == right) for date, features in found])
    elif name in ("renewal_term", "renewal_notice"):
        yield from _own_renewals(stored["renewals"], name)


def _own_parties(stored: list[tuple[str, list[str]]]) -> Iterator[Choices]:
    for text, right in stored:
        for party, features in parties.candidates(prose(document("own", text))):
            good = parties.bare(party.name) in {parties.bare(name) for name in right}
            yield [(_plain(features), good), (NONE, not good)]


def _own_renewals(stored: list[tuple[str, str | None, str | None]], field: str) -> Iterator[Choices]:
    for text, term, notice in stored:
        read = prose(document("own", text))
        right = term if field == "renewal_term" else notice
        listed = _renewals(read, list(find_periods(read.folded)), field)
        yield _against_none([(_plain(features), period.value == right) for period, features in listed])


def _own_terms(stored: list[tuple[str, str | None]]) -> Iterator[Choices]:
    for text, length in stored:
        read = prose(document("own", text))
        found = terms.candidates(read, list(find_periods(read.folded)))
        yield _against_none([(_plain(features), period.value == length) for period, features in found])


MODELS: dict[str, Callable[[Lesson], Iterator[Choices]]] = {
    "parties": of_parties,
    "agreement_date": lambda given: of_dates(given, "agreement_date"),
    "effective_date": lambda given: of_dates(given, "effective_date"),
    "expiration_date": of_ends,
    "term": of_terms,
    "renewal_term": lambda given: of_renewals(given, "renewal_term"),
    "renewal_notice": lambda given: of_renewals(given, "renewal_notice"),
}


def _plain(features: deciding.Features) -> dict[str, float]:
    return {name: value for name, value in features.items() if value}


def _against_none(listed: Choices) -> Choices:
    return [*listed, (NONE, not any(right for _, right in listed))]


def company(name: str) -> str:
    """The company of a contract, as bench/contracts.py divides them."""
    return re.sub(r"[^a-z]", "", re.split(r"[_ ,]", name)[0].lower())


def show(title: str, data: list[Choices], weight: dict[str, float]) -> None:
    """Print how often a right candidate exists, and how often the right answer, which may be none, is chosen."""
    chosen = [ranking.best(((right, features) for features, right in listed), weight) for listed in data]
    right = sum(found is not None and found[0] for found in chosen)
    possible = sum(any(good for _, good in listed[:-1]) for listed in data)
    print(f"{title:22} n {len(data):5} a right candidate {possible / len(data):.3f}, right {right / len(data):.3f}")


def main() -> None:
    """Train, show, and write if asked to."""
    parser = argparse.ArgumentParser(description="Train the models of contracts.")
    parser.add_argument("contracts", type=Path)
    parser.add_argument("--test", action="store_true", help="show the other half too")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    everything = [case for case in cases(options.contracts) if options.test or half(case.name) == "dev"]
    lessons = [lesson(case, options.contracts) for case in everything]
    dev = [each for each in lessons if half(each.case.name) == "dev"]
    stored: dict[str, dict[str, float]] = {}
    for name, made in MODELS.items():
        data = [(choices, company(each.case.name)) for each in dev for choices in made(each)]
        own_data = [(choices, f"own {place}") for place, choices in enumerate(own(name))]
        stored[name] = train([each for each, _ in (*data, *own_data)], [owner for _, owner in (*data, *own_data)])
        show(f"{name} dev", [each for each, _ in data], stored[name])
        if options.test:
            other = [choices for each in lessons if half(each.case.name) == "test" for choices in made(each)]
            show(f"{name} test", other, stored[name])
    if options.write:
        WEIGHTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
