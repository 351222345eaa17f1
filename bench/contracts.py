"""How well contracts are read: precision, recall and F1 per field on answers lawyers wrote, on two halves by company.

    python -m bench.contracts FOLDER [--half dev|test|both] [--wrong FIELD]

FOLDER holds either `NAME.txt` beside `NAME.json` with the columns of CUAD's master_clauses.csv, or `NAME.txt` beside
`NAME.gold.json` with `fields`. A company (the first word of the file's name, letters only) falls into one half by its
hash, so that no company is in both. `--wrong` prints the errors of a field, of the dev half only.

How an answer counts as right:
    parties       set against set; equal after dropping case, punctuation, a leading "the", legal forms (Inc, LLC),
                  what is in brackets or quotes and "doing business as …"; one letter in ten may differ, as labels
                  have misprints; an answer without a name ('the "Parties"', blanks) or that only joins the names or
                  terms of others ("Fern and Moss") is no party
    dates         equal as ISO; an answer with a blank day, month or year is no date; "perpetual" is no date
    durations     equal in days, or in months where both are months or years; several answers: any of them
    renewal       as durations, "successive" left out; "perpetual" and dates are no duration
    law           set against set of places, without "State of", "Province of" and the country behind a province
    title         equal letters and digits, or one begins or ends with the other
A wrong answer counts against precision and, if there was a right one, against recall too.

Behind the fields stands how often an answer of a given confidence is right, then the processor time.
"""

from __future__ import annotations

import argparse
import collections
import datetime as dt
import difflib
import hashlib
import itertools
import json
import re
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from handlers.contract import handler
from pipeline.documents.text import Document, Page

PAGE_CHARACTERS = 3_000
_BUCKETS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)  # of confidence
_FORM = re.compile(
    r"\b(?:inc|incorporated|llc|l l c|ltd|limited|llp|l l p|lp|l p|corp|corporation|company|co|plc|gmbh|ag|kg|bv|b v"
    r"|nv|n v|sa|s a|sas|sarl|srl|spa|s p a|pty|ltda|na|n a)\b"
)
_NO_PARTY = re.compile(r"^\W*\(|\b(?:parties|collectively|individually|each a)\b|\[|_{3}|^\W*the [\"“]", re.IGNORECASE)
_ALIAS = re.compile(r"\([^()]{0,300}\)?|[\"“][^\"”]{0,60}[\"”]|\b[df]/?[bk]/?a/?\b.*|\bdoing business as\b.*")
_TERM = re.compile(r"[\"“]([^\"”]{1,60})[\"”]")
_PLACES = {
    "united states": "usa",
    "united states of america": "usa",
    "people s republic of china": "china",
    "prc": "china",
    "hong kong sar": "hong kong",
    "england and wales": "england",
}
_BEHIND = {"canada", "united kingdom", "uk", "usa", "australia", "united states of america", "united states", "wales"}
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


@dataclass(frozen=True, slots=True)
class Case:
    """One contract: its text and the right answers by field, each as a set (empty: there is none)."""

    name: str
    text: str
    answers: Mapping[str, frozenset[str]]


def half(name: str) -> str:
    """The half a file belongs to, by its company."""
    company = re.sub(r"[^a-z]", "", re.split(r"[_ ,]", name)[0].lower())
    return ("dev", "test")[hashlib.sha256(company.encode()).digest()[0] % 2]


def cases(folder: Path) -> Iterator[Case]:
    """The contracts of a folder that have a text and answers, sorted by name."""
    for path in sorted(folder.glob("*.txt")):
        answers = _answers(path)
        if answers:
            yield Case(path.stem, path.read_text("utf-8", "replace"), answers)


def _answers(path: Path) -> dict[str, frozenset[str]] | None:
    columns, labels = path.with_suffix(".json"), path.with_name(path.stem + ".gold.json")
    if labels.exists():
        raw = json.loads(labels.read_text("utf-8"))["raw_answers"]
    elif columns.exists():
        stored = json.loads(columns.read_text("utf-8"))
        raw = {name.removesuffix("-Answer"): answer for name, answer in stored.items() if name.endswith("-Answer")}
    else:
        return None
    return {field: frozenset(normal(field, raw.get(column, ""))) for field, column in COLUMNS.items()}


COLUMNS = {
    "title": "Document Name",
    "parties": "Parties",
    "agreement_date": "Agreement Date",
    "effective_date": "Effective Date",
    "expiration_date": "Expiration Date",
    "renewal_term": "Renewal Term",
    "renewal_notice": "Notice Period to Terminate Renewal",
    "governing_law": "Governing Law",
}


def normal(field: str, answer: str) -> Iterator[str]:
    """An answer, printed or of the handler, as the values that are compared."""
    if field == "title":
        yield from filter(None, [_letters(answer)])
    elif field == "parties":
        yield from _parties(answer)
    elif field.endswith("_date"):
        yield from (date for each in answer.split(";") for date in _date(each))
    elif field in ("renewal_term", "renewal_notice", "term"):
        yield from (length for each in answer.split(";") for length in _length(each))
    elif field == "governing_law":
        yield from _places(answer)


def _parties(answer: str) -> Iterator[str]:
    names = [_name(each) for each in answer.split(";") if not _NO_PARTY.search(_ALIAS.sub("", each).strip() or "(")]
    known = {_name(term) for term in _TERM.findall(answer)} | set(names)
    for name in names:
        parts = name.split(" and ")
        joined = len(parts) > 1 and all(
            any(part == each or each.startswith(part + " ") for each in known) for part in parts
        )
        if len(name) > 1 and not joined:
            yield name


def _letters(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", text.casefold()).split())


def _name(text: str) -> str:
    letters = _letters(_ALIAS.sub(" ", text)).removeprefix("the ")
    return " ".join(_FORM.sub(" ", letters).split()) or letters


def _date(text: str) -> Iterator[str]:
    match = re.fullmatch(r"\s*(\d{1,4})[/-](\d{1,2})[/-](\d{1,4})\s*", text)
    if not match:
        return
    first, second, third = (int(part) for part in match.groups())
    orders = [(first, second, third)] if first > 31 else [(third, first, second), (third, second, first)]
    for year, month, day in orders:
        try:
            yield dt.date(year + (0 if year > 99 else 1900 if year > 50 else 2000), month, day).isoformat()
        except ValueError:
            continue
        return


def _length(text: str) -> Iterator[str]:
    folded = text.casefold().replace("(", " ").replace(")", " ")
    match = re.search(r"(\d+)[ -]*(?:\d+ )?(day|week|month|year)", re.sub(r"\d+ (?=successive)", "", folded))
    number = int(match[1]) if match else 0
    if not match:
        match = re.search(rf"({'|'.join(_WORDS)}) (day|week|month|year)", folded)
        number = _WORDS.index(match[1]) if match else 0
    if match:
        many = {"day": 1, "week": 7, "month": 1, "year": 12}[match[2]] * number
        yield f"{many} {'days' if match[2] in ('day', 'week') else 'months'}"


def _places(text: str) -> Iterator[str]:
    for each in re.split(r"[;,]| and (?=wales)", text.casefold()):
        place = re.sub(
            r"^(?:the )?(?:state|province|commonwealth|republic|federal republic) of (?:the )?", "", _letters(each)
        )
        place = _PLACES.get(place.removeprefix("the "), place.removeprefix("the "))
        if place and not (place in _BEHIND and _letters(text) != place):
            yield place


def document(name: str, text: str) -> Document:
    """The text as pages of some 3,000 characters, cut at line ends."""
    pages: list[Page] = []
    rest = text
    while rest:
        cut = rest.rfind("\n", 0, PAGE_CHARACTERS) + 1 if len(rest) > PAGE_CHARACTERS else len(rest)
        cut = cut or PAGE_CHARACTERS
        pages.append(Page(len(pages) + 1, rest[:cut], rest[:cut]))
        rest = rest[cut:]
    return Document(name, "application/pdf", tuple(pages))


@dataclass(frozen=True, slots=True)
class Reading:
    """The handler's answers as compared, each with its confidence, the seconds they took, and the number of pages."""

    answers: Mapping[str, Mapping[str, float]]
    seconds: float
    pages: int


def read(case: Case) -> Reading:
    """Read one contract with the handler."""
    pages = document(case.name, case.text)
    began = time.process_time()
    fields = handler.extract(pages).fields
    seconds = time.process_time() - began
    found = {
        field: {value: each.confidence for each in fields.get(field, ()) for value in normal(field, each.value)}
        for field in COLUMNS
    }
    return Reading(found, seconds, len(pages.pages))


def judge(field: str, right: frozenset[str], found: frozenset[str]) -> tuple[int, int, int]:
    """How many answers are right, wrong and missing."""
    if field == "title":
        good = any(a.startswith(b) or a.endswith(b) or b.startswith(a) or b.endswith(a) for a in right for b in found)
    elif field == "parties":
        both = sum(any(alike(name, each) for each in right) for name in found)
        both = min(both, len(right))
        return both, len(found) - both, len(right) - both
    elif field == "governing_law":
        both = len(right & found)
        return both, len(found) - both, len(right) - both
    else:
        good = bool(right & found)
    return int(good), int(bool(found) and not good), int(bool(right) and not good)


def alike(one: str, other: str) -> bool:
    """Whether two names are the same but for a misprint."""
    return one == other or difflib.SequenceMatcher(None, one, other).ratio() >= 0.9


def score(chosen: Iterable[Case], wrong: str | None) -> None:
    """Read the cases and print a line per field, then the reliability, then the time."""
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    sure: list[tuple[str, float, bool]] = []
    times: list[tuple[int, float]] = []
    for case in chosen:
        reading = read(case)
        times.append((reading.pages, reading.seconds * 1_000))
        for field, right in case.answers.items():
            found = {name: frozenset(values) for name, values in reading.answers.items()}
            verdict = judge(field, right, found[field])
            counts[field] = [old + new for old, new in zip(counts[field], verdict, strict=True)]
            sure += [
                (field, confidence, judge(field, right, frozenset({value}))[0] == 1)
                for value, confidence in reading.answers[field].items()
            ]
            if field == wrong and (verdict[1] or verdict[2]):
                print(f"{case.name[:70]}\n    right {sorted(right)}\n    found {sorted(found[field])}")
    for field, (hits, false, missing) in counts.items():
        precision, recall = hits / max(1, hits + false), hits / max(1, hits + missing)
        print(
            f"  {field:<18} n={hits + missing:<4} P={precision:.3f} R={recall:.3f} "
            f"F1={2 * hits / max(1, 2 * hits + false + missing):.3f}"
        )
    _print_reliability(sure)
    _print_times(times)


def _print_reliability(sure: Sequence[tuple[str, float, bool]]) -> None:
    buckets = list(itertools.pairwise(_BUCKETS))
    print("  right of those at   " + "".join(f"{low:>9.2f}" for low, _ in buckets))
    for field in (*COLUMNS, "all"):
        cells = []
        for low, high in buckets:
            rights = [good for name, share, good in sure if field in (name, "all") and low <= share < high]
            cells.append(f"{sum(rights)}/{len(rights)}" if rights else "-")
        print(f"  {field:<20}" + "".join(f"{cell:>9}" for cell in cells))


def _print_times(times: list[tuple[int, float]]) -> None:
    groups: dict[str, list[tuple[int, float]]] = collections.defaultdict(list)
    for pages, spent in times:
        name = next(f"up to {limit} pages" for limit in (5, 10, 20, 50, 100, 1_000) if pages <= limit)
        groups[name].append((pages, spent))
    for name, members in sorted(groups.items(), key=lambda item: item[1][0][0]):
        middle = statistics.median(spent for _, spent in members)
        page = sum(spent for _, spent in members) / sum(pages for pages, _ in members)
        print(f"  {name:<18} n={len(members):<4} median {middle:.0f} ms a document, {page:.2f} ms a page")


def main() -> None:
    """Score one folder, by halves."""
    arguments = argparse.ArgumentParser(description="Score the contract handler on a folder of labelled contracts.")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--half", choices=("dev", "test", "both"), default="both")
    arguments.add_argument("--wrong", choices=tuple(COLUMNS))
    options = arguments.parse_args()
    everything = list(cases(options.folder))
    for name in ("dev", "test"):
        if options.half in (name, "both"):
            chosen = [case for case in everything if half(case.name) == name]
            print(f"{name}: {len(chosen)} contracts of {options.folder.name}")
            score(chosen, options.wrong if name == "dev" else None)


if __name__ == "__main__":
    main()
