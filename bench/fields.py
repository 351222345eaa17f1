"""How many fields come out right: `python -m bench.fields FOLDER… [--half dev|test] [--errors] [--reliability]`

A folder holds documents, each with FILE.gold.json beside it: `fields` by name (null: not printed, so an answer there is
wrong), `accept` (values that are right too) and `traps` (wrong values that stand on the page); a name the labels do not
know is not scored. Or it holds NAME.boxes.csv (eight corners and the text of each line, in pixels) with NAME.json
(company, date, address, total): receipts as a perfect recognition would read them. Both are read as the product reads
them and handed to the handler; pages that were read are kept in --cache. The handler gets pages alone, never an XML
that came with them: what is scored is the reading of the print.

Halves are by issuer, never by document: the digest of the seller's name decides. Precision is right / answered,
recall right / printed. With --visible a label counts only if its value stands on a page, in any notation: for labels
that were taken from the XML beside the print.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import pickle
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import formats, ocr
from pipeline.documents.contract import Means
from pipeline.documents.identify import identify
from pipeline.documents.ocr.order import layout, reading
from pipeline.documents.ocr.seen import Line
from pipeline.documents.text import Document, Page, Source
from pipeline.errors import DocumentError
from pipeline.handling import Field
from pipeline.reading import amounts, dates
from pipeline.reading.rows import fold

_AMOUNTS = frozenset({"total_net", "total_tax", "total_gross", "amount_due", "prepaid"})
_DATES = frozenset({"issue_date", "due_date", "delivery_date", "period_start", "period_end"})
_CODED = frozenset({"type_code"})  # a code of the XML, which no print shows but by chance
_NAMES = frozenset({"seller_name", "buyer_name"})
_FORMS = re.compile(
    r"\b(?:inc|llc|ltd|limited|gmbh|co kg|b ?v|sa|sas|sarl|srl|corp|corporation|company|co|ag|plc|pty)\b"
)
_BUCKETS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)


@dataclass(frozen=True, slots=True)
class Sample:
    """A document as it was read, and its labels."""

    name: str
    document: Document
    gold: Mapping[str, str | None]
    accept: Mapping[str, Sequence[str]]
    traps: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """One field of one document: what was printed (None: nothing), what was answered (None: nothing), and if right."""

    sample: str
    name: str
    wanted: str | None
    given: Field | None
    right: bool
    trapped: bool


def samples(folder: Path, cache: Path | None, means: Means) -> Iterator[Sample]:
    """The labelled documents of a folder, in order of their names."""
    for path in sorted(folder.glob("*.boxes.csv")):
        yield receipt(path)
    for labels in sorted(folder.glob("*.gold.json")):
        gold = json.loads(labels.read_text(encoding="utf-8"))
        path = labels.with_name(labels.name.removesuffix(".gold.json"))
        document = _cached(path, cache, means)
        if document is not None:
            fields = gold.get("fields") or {}
            yield Sample(path.name, document, fields, gold.get("accept") or {}, gold.get("traps") or {})


def boxes(path: Path) -> list[Line]:
    """The lines of a receipt, each with its box: NAME.boxes.csv."""
    lines = []
    for row in path.read_text(encoding="utf-8", errors="replace").splitlines():
        corners = row.split(",", 8)
        if len(corners) == 9 and corners[8].strip():
            x, y = [float(each) for each in corners[0:8:2]], [float(each) for each in corners[1:8:2]]
            lines.append(Line(corners[8].strip(), min(x), min(y), max(x), max(y), 1.0))
    return lines


def receipt(path: Path) -> Sample:
    """A receipt as a perfect recognition would read it, from NAME.boxes.csv and NAME.json."""
    lines = boxes(path)
    page = Page(1, reading(lines), layout(lines).text, Source.OCR)
    key = json.loads(path.with_name(path.name.replace(".boxes.csv", ".json")).read_text(encoding="utf-8"))
    day = dates.find_dates(fold(key.get("date", "")))
    money = amounts.find_amounts(re.sub(r"^\D+", "", key.get("total", "")))
    gold = {
        "seller_name": key.get("company") or None,
        "seller_address": key.get("address") or None,
        "issue_date": day[0].value if day else None,
        "total_gross": str(abs(money[0].value)) if money else None,
    }
    readable = {name: value for name, value in gold.items() if value is not None}
    return Sample(path.name.removesuffix(".boxes.csv"), Document(path.name, "image/png", (page,)), readable, {}, {})


def _cached(path: Path, cache: Path | None, means: Means) -> Document | None:
    """The document as its format reads it, from the cache if it was read before. None if it cannot be read."""
    kept = cache / (hashlib.sha256(path.read_bytes()).hexdigest() + ".pickle") if cache else None
    if kept is not None and kept.exists():
        known, read = pickle.loads(kept.read_bytes())  # noqa: S301 - written here
        return Document(path.name, known, read)
    try:
        with path.open("rb") as file:
            kind, media_type = identify(file, path.name, formats.discover())
            with kind.open(file, means) as opened:
                pages = tuple(opened.read_page(number).storable() for number in range(1, opened.page_count + 1))
    except DocumentError:
        return None
    document = Document(path.name, media_type, pages)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps((media_type, pages)))
    return document


def half(sample: Sample) -> str:
    """The half of a sample: one issuer's documents are all in the same one."""
    issuer = " ".join(re.findall(r"[a-z0-9]+", fold(sample.gold.get("seller_name") or sample.name)))
    return "dev" if hashlib.sha256(issuer.encode()).digest()[0] % 2 == 0 else "test"


def equal(name: str, one: str, other: str) -> bool:
    """Whether two values of a field are the same to a reader: legal forms, punctuation and case do not count."""
    if name in _AMOUNTS:
        try:
            return abs(Decimal(one) - Decimal(other)) < Decimal("0.005")
        except InvalidOperation:
            return False
    if name in _DATES:
        return one[:10] == other[:10]
    if name in _NAMES:
        return _bare_name(one) == _bare_name(other)
    return re.sub(r"[\W_]", "", one).casefold() == re.sub(r"[\W_]", "", other).casefold()


def _bare_name(name: str) -> str:
    plain = re.sub(r"[\W_]+", " ", name.casefold()).strip()
    return " ".join(_FORMS.sub("", plain).split()) or plain


def visible(name: str, value: str, document: Document) -> bool:
    """Whether a value stands on a page, in any notation."""
    if name in _CODED:
        return False
    text = fold("\n".join(page.layout or page.text for page in document.pages))
    if name in _AMOUNTS:
        digits = {each.value for comma in (True, False) for each in amounts.find_amounts(text, comma=comma)}
        return Decimal(value) in digits
    if name in _DATES:
        return any(
            each.value == value[:10] for order in (True, False) for each in dates.find_dates(text, day_first=order)
        )
    if name == "currency":
        found = amounts.currency([page.text for page in document.pages])
        return found is not None and found[0] == value
    compact = re.sub(r"[\W_]", "", text)
    return re.sub(r"[\W_]", "", fold(value)) in compact


def answers(
    sample: Sample, names: Sequence[str], extracted: Mapping[str, Sequence[Field]], *, only_visible: bool
) -> Iterator[Answer]:
    """The answers to those of the names that the labels know."""
    for name in names:
        wanted, given = sample.gold.get(name) or None, next(iter(extracted.get(name, ())), None)
        if name not in sample.gold or (only_visible and not (wanted and visible(name, wanted, sample.document))):
            continue
        accepted = ([wanted] if wanted else []) + list(sample.accept.get(name, ()))
        right = given is not None and any(equal(name, given.value, each) for each in accepted)
        trapped = given is not None and any(equal(name, given.value, each) for each in sample.traps.get(name, ()))
        if wanted is not None or given is not None:
            yield Answer(sample.name, name, wanted, given, right, trapped)


def show(title: str, found: Sequence[Answer], documents: int) -> None:
    """Precision and recall by name, documents that are all right, and traps."""
    by_name: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = {each.sample for each in found if not each.right}
    for each in found:
        by_name[each.name].update(
            right=each.right, answered=each.given is not None, printed=each.wanted is not None, n=1
        )
    for name, count in (*sorted(by_name.items()), ("all", sum(by_name.values(), Counter()))):
        precision = count["right"] / max(1, count["answered"])
        recall = count["right"] / max(1, count["printed"])
        print(f"{title:24} {name:16} n {count['printed']:5} P {precision:.3f} R {recall:.3f}")
    trapped = sum(each.trapped for each in found)
    print(f"{title:24} all right {documents - len(wrong)} of {documents}, traps {trapped}")


def reliability(title: str, found: Sequence[Answer]) -> None:
    """What a confidence is worth: the precision of the answers in each bucket, and what a threshold would accept."""
    given = [(each.given.confidence, each.right) for each in found if each.given is not None]
    for low, high in itertools.pairwise(_BUCKETS):
        inside = [right for confidence, right in given if low <= confidence < high]
        above = [right for confidence, right in given if confidence >= low]
        if inside:
            print(
                f"{title:24} {low:.2f}-{min(high, 1):.2f} n {len(inside):5} P {sum(inside) / len(inside):.3f}"
                f"   from {low:.2f}: {len(above) / len(given):.3f} accepted, {1 - sum(above) / len(above):.4f} wrong"
            )


def measure(folder: Path, options: argparse.Namespace, means: Means) -> None:
    """Score a folder and print it."""
    handler = handling.discover()[options.handler]
    found: list[Answer] = []
    seconds, count, pages = 0.0, 0, 0
    for sample in samples(folder, options.cache, means):
        if options.half not in (None, half(sample)) or options.only not in sample.name:
            continue
        started = time.process_time()
        extraction = handler.extract(sample.document)
        seconds, count = seconds + time.process_time() - started, count + 1
        pages += len(sample.document.pages)
        found += answers(sample, handler.fields, extraction.fields, only_visible=options.visible)
    if options.errors:
        for each in (each for each in found if not each.right):
            given = f"{each.given.value!r} ({each.given.confidence})" if each.given else "nothing"
            print(f"  {each.sample[:44]:44} {each.name:15} {each.wanted!r} <- {given}")
    title = f"{folder.name} {options.half or 'all'}"
    show(title, found, count)
    if options.reliability:
        reliability(title, found)
    print(f"{title:24} {1000 * seconds / max(1, count):.1f} ms a document, {1000 * seconds / max(1, pages):.1f} a page")


def main() -> None:
    """Measure each folder."""
    parser = argparse.ArgumentParser(description="Precision and recall of each field on labelled documents.")
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--handler", default="invoice")
    parser.add_argument("--half", choices=("dev", "test"))
    parser.add_argument("--only", default="", help="only documents whose name contains this")
    parser.add_argument("--visible", action="store_true", help="only labels whose value stands on a page")
    parser.add_argument("--errors", action="store_true", help="each wrong or missing answer")
    parser.add_argument("--reliability", action="store_true", help="precision by confidence")
    parser.add_argument("--cache", type=Path, help="folder for pages that were read")
    parser.add_argument("--ocr", action="store_true", help="read images too")
    options = parser.parse_args()
    means = Means(ocr=ocr.reader(OcrSettings()) if options.ocr else None)
    for folder in options.folder:
        measure(folder, options, means)


if __name__ == "__main__":
    main()
