"""What people corrected on an issuer's documents, used on the next one: the memory of an issuer.

A lesson teaches where a field stands (anchors), what it always is (the seller's own facts), or that it stands nowhere.
What an XML says and what a second sum proved is never overruled. A pure function: what is remembered comes in.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pipeline.documents.text import Document
from pipeline.handling import Extraction, Field
from pipeline.reading.memory.anchors import Anchor, Hit, learn, recall
from pipeline.reading.memory.lessons import Lesson, Remembered, issuer_keys, of_the_issuer
from pipeline.reading.memory.spans import Print, Sort, compact, printed, same, sort_of, stands_in
from pipeline.reading.rows import Row, squeeze

METHOD = "memory"
INVOICE, XML = "invoice", "application/xml"
SUM = ("total_net", "total_tax", "total_gross")
# The same on every document of an issuer; of its customers the same on many.
OWN = ("seller_name", "seller_address", "seller_vat_id", "seller_tax_id", "iban", "bic", "currency")
FAMILIAR = ("buyer_name", "buyer_vat_id")
# Of an issuer there is one: where it is printed again it is right. It may have several addresses and accounts.
THE_ISSUERS = ("seller_name", "seller_vat_id", "seller_tax_id", "bic")
WITNESSES = ("items_add_up", "taxes_add_up")
ADDS_UP = "net_plus_tax_is_gross"
CENT = Decimal("0.01")
SURE, UNPROVED = 0.97, 0.85
DOUBTFUL, SHARED, ONE_OF_SEVERAL = 0.7, 0.6, 0.88  # of the trust that a value has else
CERTAIN = 0.8  # memory that is less sure overrules nothing
GUESS, DISPUTED, DISPROVED = 0.65, 0.7, 0.3  # of what was found otherwise

Ask = Callable[[Sequence[str]], Sequence[Remembered]]
Taken = frozenset[tuple[str, str]]  # values and the rows they were found in


class Mistake(enum.Enum):
    """What a correction says of what was found this time."""

    NONE = "none"
    AGAIN = "again"  # the same mistake
    NOTHING = "nothing"  # the same, and nothing is printed


@dataclass(frozen=True, slots=True)
class _Known:
    """A remembered document as it is compared: its rows, its text without blanks, its lessons by field."""

    sheet: Print
    texts: tuple[str, ...]
    lessons: Mapping[str, Lesson]


def with_memory(document: Document, extraction: Extraction, ask: Ask) -> Extraction:
    """The extraction, with what was remembered of the document's issuer.

    `ask` gives what was corrected on documents with one of the keys, newest first; it is called at most once, for
    printed invoices that have a key.
    """
    if extraction.document_type != INVOICE or document.media_type == XML:
        return extraction
    here = printed(document)
    keys = issuer_keys(document, extraction.fields, here.rows)
    if not keys:
        return extraction
    known = [_known(each) for each in of_the_issuer(ask(keys), keys, extraction.fields)]
    return _recalled(extraction, known, here, _texts(document))


def recalled(document: Document, extraction: Extraction, remembered: Sequence[Remembered]) -> Extraction:
    """The extraction corrected by what is remembered of the issuer, newest first; whose it is was judged before."""
    return _recalled(extraction, [_known(each) for each in remembered], printed(document), _texts(document))


def _recalled(extraction: Extraction, known: Sequence[_Known], here: Print, texts: Sequence[str]) -> Extraction:
    if not known or not here.rows:
        return extraction
    fields = dict(extraction.fields)
    waiting = {name for each in known for name in each.lessons}
    # Backwards: totals come before the amount due, the day of issue before the day when payment is due.
    for name in sorted(waiting, reverse=True):
        waiting.remove(name)
        before = next(iter(fields.get(name, ())), None)
        if _is_proved(name, before, extraction):
            continue
        taken = _taken({other: several for other, several in fields.items() if other not in {name, *waiting}})
        told = _constant(name, known, here, texts) or _anchored(name, known, here, taken)
        chosen = _chosen(name, before, told, _mistake(name, before, known, here))
        if chosen is not None:
            fields[name] = (chosen,)
        else:
            fields.pop(name, None)
    return _summed(extraction, fields)


def _taken(fields: Mapping[str, Sequence[Field]]) -> Taken:
    return frozenset((found.value, found.snippet) for several in fields.values() for found in several)


def _known(remembered: Remembered) -> _Known:
    document = Document("", "", remembered.pages)
    lessons: dict[str, Lesson] = {}
    for lesson in remembered.lessons:
        lessons.setdefault(lesson.name, lesson)
    return _Known(printed(document), _texts(document), lessons)


def _texts(document: Document) -> tuple[str, ...]:
    return tuple(compact(page.layout or page.text) for page in document.pages)


def _is_proved(name: str, field: Field | None, extraction: Extraction) -> bool:
    """Whether what was found needs no memory: an XML says it, or two sums make it."""
    if field is None:
        return False
    witnessed = any(extraction.checks.get(each) for each in WITNESSES) and extraction.checks.get(ADDS_UP, False)
    return field.method == "xml" or (name in SUM and witnessed)


def _mistake(name: str, before: Field | None, known: Sequence[_Known], here: Print) -> Mistake:
    """Whether what was found is a mistake again that a person corrected: the same value, or from the same place.

    A place that was right on another document is none of a mistake.
    """
    if before is None:
        return Mistake.NONE
    for each in (each for each in known if name in each.lessons and each.lessons[name].wrong):
        lesson = each.lessons[name]
        again = name in OWN + FAMILIAR and same(Sort.WORDS, lesson.wrong, before.value)
        anchors = learn(name, lesson.wrong, each.sheet, snippet=lesson.wrong_row)
        if again or any(_is_there(recall(anchor, here), before) and not _right(anchor, known) for anchor in anchors):
            return Mistake.AGAIN if lesson.value else Mistake.NOTHING
    return Mistake.NONE


def _is_there(hit: Hit | None, found: Field) -> bool:
    """Whether a field was found where an anchor hit, be it a part of what stands there."""
    return (
        hit is not None
        and squeeze(hit.row.text) == found.snippet
        and (same(sort_of(hit.name), hit.value, found.value) or compact(found.value) in compact(hit.value))
    )


def _constant(name: str, known: Sequence[_Known], here: Print, texts: Sequence[str]) -> Field | None:
    """The issuer's own fact, or a customer it had before, if this document does not speak against it."""
    for each in known:
        lesson = each.lessons.get(name)
        if lesson is None or not lesson.value or name not in OWN + FAMILIAR:
            continue
        if stands_in(lesson.value, texts):
            return _at(lesson.value, here, SURE if name in OWN else 0.93)
        if name in ("seller_name", "seller_address", "currency") and not stands_in(lesson.value, each.texts):
            return Field(lesson.value, 0, "", METHOD, UNPROVED)
    return None


def _at(value: str, here: Print, confidence: float) -> Field:
    """A field whose value is known, with the row it stands in where that is one."""
    wanted = compact(value)
    row = next((row for row in here.rows if wanted in compact(row.text)), None)
    return _field(value, row, confidence) if row else Field(value, 1, "", METHOD, confidence)


def _field(value: str, row: Row, confidence: float) -> Field:
    return Field(value, row.page, squeeze(row.text), METHOD, round(confidence, 2))


def _anchored(name: str, known: Sequence[_Known], here: Print, taken: Taken) -> Field | None:
    """What the anchors of the lessons find, the value that most of them agree on."""
    ranked = _ranked(name, known, here)
    if not ranked:
        return None
    best = max(ranked[0], key=lambda hit: hit.trust)
    return _field(best.value, best.row, _trust(best, ranked, taken))


def _ranked(name: str, known: Sequence[_Known], here: Print) -> list[list[Hit]]:
    """The hits of each value, the weightiest first.

    Anchors that are wrong on as many remembered documents as right do not count.
    """
    hits: dict[str, list[Hit]] = defaultdict(list)
    for anchor in dict.fromkeys(anchor for each in known for anchor in _learned(name, each)):
        hit = recall(anchor, here)
        if hit is not None and _right(anchor, known) > sum(_says(anchor, each) is False for each in known):
            hits[hit.value].append(hit)
    return sorted(hits.values(), key=_weight, reverse=True)


def _trust(best: Hit, ranked: Sequence[Sequence[Hit]], taken: Taken) -> float:
    trust = min(SURE, _weight(ranked[0]))
    if _is_shared(best, taken):
        trust *= SHARED
    if _is_one_of_several(ranked[0]):
        trust *= ONE_OF_SEVERAL
    if _is_disputed(ranked):
        trust *= DOUBTFUL
    return trust


def _is_shared(hit: Hit, taken: Taken) -> bool:
    """Whether another field was found there, whose value it is: on the corrected document the two were the same."""
    return sort_of(hit.name) is not Sort.WORDS and (hit.value, squeeze(hit.row.text)) in taken


def _is_one_of_several(hits: Sequence[Hit]) -> bool:
    """Whether nobody knows which place was meant, and only one of them was found again."""
    return min(hit.places for hit in hits) > 1 and len({hit.row for hit in hits}) == 1


def _is_disputed(ranked: Sequence[Sequence[Hit]]) -> bool:
    """Whether another value weighs almost as much."""
    return len(ranked) > 1 and _weight(ranked[1]) > _weight(ranked[0]) - 0.1


def _weight(hits: Sequence[Hit]) -> float:
    """The best hit's trust, and a little for each that agrees with it."""
    return max(hit.trust for hit in hits) + 0.02 * (len(hits) - 1)


def _learned(name: str, known: _Known) -> Iterator[Anchor]:
    lesson = known.lessons.get(name)
    if lesson is not None and lesson.value:
        yield from learn(name, lesson.value, known.sheet, page=lesson.page, snippet=lesson.snippet)


def _right(anchor: Anchor, known: Sequence[_Known]) -> int:
    """On how many documents the anchor finds the value that is known to be right."""
    return sum(_says(anchor, each) is True for each in known)


def _says(anchor: Anchor, known: _Known) -> bool | None:
    """Whether the anchor finds the right value on a document; None if it finds nothing or the value is not known."""
    lesson = known.lessons.get(anchor.name)
    hit = recall(anchor, known.sheet) if lesson is not None else None
    return None if hit is None or lesson is None else same(anchor.sort, hit.value, lesson.value)


def _chosen(name: str, before: Field | None, told: Field | None, mistake: Mistake) -> Field | None:
    """Which of the two stands.

    Memory fills what is missing, and overrules a mistake that is made again, or a guess. Otherwise there are two
    opinions: what was found stays, and is less sure.
    """
    if before is None:
        return told
    if mistake is Mistake.NOTHING:
        return None
    if told is None:
        return replace(before, confidence=min(before.confidence, DISPROVED)) if mistake is Mistake.AGAIN else before
    if same(sort_of(name), before.value, told.value):
        return replace(before, confidence=max(before.confidence, told.confidence))
    overruled = mistake is Mistake.AGAIN or before.confidence < GUESS or name in THE_ISSUERS
    if told.confidence >= CERTAIN and overruled:
        return told
    return replace(before, confidence=min(before.confidence, DISPROVED if mistake is Mistake.AGAIN else DISPUTED))


def _summed(extraction: Extraction, fields: Mapping[str, Sequence[Field]]) -> Extraction:
    """The extraction with those fields. Totals that added up are not given away for some that do not."""
    changed = [name for name in SUM if fields.get(name) != extraction.fields.get(name)]
    checks = dict(extraction.checks)
    if changed:
        holds = _adds_up(fields)
        if holds is False and _adds_up(extraction.fields):
            kept = {name: extraction.fields[name] for name in changed if name in extraction.fields}
            return _summed(extraction, {**fields, **kept})
        checks.pop(ADDS_UP, None)
        if holds is not None:
            checks[ADDS_UP] = holds
    return replace(extraction, fields=fields, checks=checks)


def _adds_up(fields: Mapping[str, Sequence[Field]]) -> bool | None:
    """Whether net and tax make the gross total; None where one of them is missing."""
    if not all(fields.get(name) for name in SUM):
        return None
    net, tax, gross = (Decimal(fields[name][0].value) for name in SUM)
    return abs(net + tax - gross) < CENT
