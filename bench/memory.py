"""What one correction is worth on an issuer's next document: `python -m bench.memory SET… [--visible] [--errors]`

A SET is a folder as bench.fields reads it, or `drawn`: invoices of invented issuers with odd words and places (see
issuers.py). Documents are put together by issuer. A person corrects the first one: what is missing or wrong becomes its
label, what is answered but not printed is removed. Every other one of the issuer is then read without and with that
memory. `better` and `worse` count fields that became right, or stopped being right, through it.

With --alone the handler answers nothing, and a person types every field of the first document: how well places are
learned, whatever the handler can read. With --growing every document is corrected before the next one comes, as in
daily use. With --known the issuer is taken as known, as the labels have it, also on receipts, which carry no number of
the issuer. Otherwise the product's own rule decides.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.fields import Sample, equal, half, samples, visible
from bench.issuers import drawn
from pipeline import handling
from pipeline.documents.contract import Means
from pipeline.documents.text import identifier
from pipeline.handling import Extraction, Field, Handler
from pipeline.reading.memory.lessons import Lesson, Remembered, name_key, of_the_issuer
from pipeline.reading.memory.memory import METHOD, recalled, with_memory
from pipeline.reading.rows import fold
from pipeline.remembered import MAX_DOCUMENTS

XML = "application/xml"
# What is read from print.
PRINTED = frozenset(
    {"invoice_number", "issue_date", "due_date", "seller_name", "seller_address", "buyer_name", "currency"}
    | {"total_net", "total_tax", "total_gross", "amount_due", "seller_vat_id", "iban"}
)


@dataclass(slots=True)
class Tally:
    """What was counted of one set."""

    issuers: int = 0
    pairs: int = 0
    taught_pairs: int = 0
    matched: int = 0
    corrections: int = 0
    seconds: float = 0.0
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    printed: Counter[str] = field(default_factory=Counter)
    better: Counter[str] = field(default_factory=Counter)
    worse: Counter[str] = field(default_factory=Counter)
    taught: Counter[str] = field(default_factory=Counter)  # what came of the fields that were corrected
    answered: Counter[tuple[float, bool]] = field(default_factory=Counter)  # by memory: confidence, right

    def add(self, name: str, was: bool, now: bool, is_taught: bool) -> None:
        """A field that was right without memory or not, and is with it or not."""
        self.printed[name] += 1
        self.before[name] += was
        self.after[name] += now
        self.better[name] += now and not was
        self.worse[name] += was and not now
        if is_taught:
            self.taught["right before" if was else "right after" if now else "still wrong"] += 1


def issuers(every: Sequence[Sample]) -> Iterator[list[Sample]]:
    """The documents of each issuer that has two or more, in order of their names; copies of a page count once.

    XML has no print: the product reads its elements.
    """
    by_name: dict[str, list[Sample]] = defaultdict(list)
    seen: set[str] = set()
    for sample in every:
        name, text = fold(sample.gold.get("seller_name") or ""), "".join(sample.document.text.split())
        if name and text not in seen and sample.document.media_type != XML:
            seen.add(text)
            by_name[name].append(sample)
    yield from (found for _, found in sorted(by_name.items()) if len(found) > 1)


def is_right(sample: Sample, name: str, given: Field | None) -> bool:
    """Whether an answer is right, where none is right if nothing is printed."""
    wanted = sample.gold.get(name)
    accepted = ([wanted] if wanted else []) + list(sample.accept.get(name, ()))
    if given is None:
        return not wanted
    return any(equal(name, given.value, each) for each in accepted)


def first(extraction: Extraction, name: str) -> Field | None:
    """The answer to a field."""
    return next(iter(extraction.fields.get(name, ())), None)


def scored(sample: Sample, *, only_visible: bool) -> list[str]:
    """The fields whose label counts."""
    names = sorted(PRINTED)
    if only_visible:
        return [name for name in names if (value := sample.gold.get(name)) and visible(name, value, sample.document)]
    return [name for name in names if name in sample.gold]


def corrected(sample: Sample, extraction: Extraction, names: Sequence[str]) -> Remembered:
    """What a person makes of the first document."""
    lessons = []
    for name in names:
        given, wanted = first(extraction, name), sample.gold.get(name)
        if not is_right(sample, name, given):
            action, wrong = "fix" if wanted else "remove", (given.value, given.snippet) if given else ("", "")
            lessons.append(Lesson(name, action, wanted or "", wrong=wrong[0], wrong_row=wrong[1]))
    keys = [
        sample.gold.get(name) or (found.value if (found := first(extraction, name)) else "")
        for name in ("seller_vat_id", "iban", "seller_name")
    ]
    return Remembered(keys[0] or "", keys[1] or "", keys[2] or "", sample.document.pages, tuple(lessons))


def measure(every: Sequence[Sample], handler: Handler, options: argparse.Namespace) -> Tally:
    """Teach with the first document of each issuer, or with --growing by all before, and count on the others."""
    tally = Tally()
    for documents in issuers(every):
        tally.issuers += 1
        known: list[Remembered] = []
        for number, sample in enumerate(documents):
            read = Extraction(handler.name) if options.alone else handler.extract(sample.document)
            names = scored(sample, only_visible=options.visible)
            if number:
                read = count(tally, sample, read, known, options)
            if not number or options.growing:
                remembered = corrected(sample, read, names)
                tally.corrections += len(remembered.lessons)
                if remembered.lessons:
                    known = [remembered, *known][:MAX_DOCUMENTS]
    return tally


def answer(known: Sequence[Remembered], keys: Sequence[str]) -> list[Remembered]:
    """What the database would give."""
    return [
        each
        for each in known
        if {identifier(each.vat_id), identifier(each.iban), name_key(each.seller)} - {""} & set(keys)
    ]


def count(
    tally: Tally, sample: Sample, before: Extraction, known: Sequence[Remembered], options: argparse.Namespace
) -> Extraction:
    """Score a document without and with memory; returns what was read with it."""
    asked: list[Remembered] = []

    def ask(keys: Sequence[str]) -> list[Remembered]:
        asked.extend(of_the_issuer(answer(known, keys), keys, before.fields))
        return answer(known, keys)

    started = time.process_time()
    after = recalled(sample.document, before, known) if options.known else with_memory(sample.document, before, ask)
    tally.seconds += time.process_time() - started
    tally.pairs += 1
    tally.taught_pairs += bool(known)
    tally.matched += bool(asked) or (options.known and bool(known))
    told = {lesson.name for each in known for lesson in each.lessons}
    for name in scored(sample, only_visible=options.visible):
        old, new = first(before, name), first(after, name)
        was, now = is_right(sample, name, old), is_right(sample, name, new)
        tally.add(name, was, now, name in told)
        if new is not None and new.method == METHOD:
            tally.answered[new.confidence, now] += 1
        if options.errors and not (was and now):
            print(f"  {sample.name[:40]:40} {name:15} {sample.gold.get(name)!r} <- {_said(old)} -> {_said(new)}")
    return after


def _said(found: Field | None) -> str:
    return f"{found.value!r} ({found.method} {found.confidence})" if found else "nothing"


def show(title: str, tally: Tally) -> None:
    """The figures of a set."""
    total = tally.printed.total()
    print(
        f"{title}: {tally.issuers} issuers, {tally.corrections} corrections, {tally.pairs} later documents,"
        f" {tally.taught_pairs} after a correction, {tally.matched} of them known by their keys,"
        f" {1000 * tally.seconds / max(1, tally.pairs):.1f} ms a document"
    )
    for name in sorted(tally.printed):
        print(
            f"  {name:16} {tally.before[name]:5} -> {tally.after[name]:5} of {tally.printed[name]:5}"
            f"  better {tally.better[name]:4}  worse {tally.worse[name]:3}"
        )
    print(
        f"  {'all':16} {tally.before.total():5} -> {tally.after.total():5} of {total:5}"
        f"  better {tally.better.total():4}  worse {tally.worse.total():3}"
        f"   {tally.before.total() / max(1, total):.3f} -> {tally.after.total() / max(1, total):.3f}"
    )
    print(f"  of the fields that were corrected: {dict(sorted(tally.taught.items()))}")
    _reliability(tally.answered)


def _reliability(answered: Mapping[tuple[float, bool], int]) -> None:
    for low, high in ((0.0, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.01)):
        right = sum(number for (confidence, good), number in answered.items() if low <= confidence < high and good)
        all_ = sum(number for (confidence, _), number in answered.items() if low <= confidence < high)
        if all_:
            print(f"  answered by memory, confidence {low:.1f}-{min(high, 1):.1f}: {right} of {all_} right")


def main() -> None:
    """Measure each set."""
    parser = argparse.ArgumentParser(description="An issuer's next documents after one correction.")
    parser.add_argument("sets", nargs="+", help="folders, or: drawn")
    parser.add_argument("--half", choices=("dev", "test"), help="half of the issuers")
    parser.add_argument("--visible", action="store_true", help="only labels whose value stands on a page")
    parser.add_argument("--known", action="store_true", help="take the issuer as known")
    parser.add_argument("--growing", action="store_true", help="correct every document, not the first alone")
    parser.add_argument("--alone", action="store_true", help="without the handler: what memory alone can read")
    parser.add_argument("--errors", action="store_true", help="each field that changed or is not right")
    parser.add_argument("--seeds", type=int, default=60, help="how many issuers are drawn")
    parser.add_argument("--cache", type=Path, help="folder for pages that were read")
    options = parser.parse_args()
    handler = handling.discover()["invoice"]
    for name in options.sets:
        found = drawn(options.seeds) if name == "drawn" else samples(Path(name), options.cache, Means())
        every = [each for each in found if options.half in (None, half(each))]
        show(f"{Path(name).name} {options.half or 'all'}", measure(every, handler, options))


if __name__ == "__main__":
    main()
