"""What is fuzzed: a target takes bytes from outside through code of doclease and says how that ended.

An answer is one of the words of Reason or "ok"; any exception that leaves `run` is a finding.
"""

from __future__ import annotations

import importlib
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline import handling
from pipeline.config import LimitSettings
from pipeline.documents import formats
from pipeline.documents.contract import Format, Means, Tree
from pipeline.documents.identify import identify, inspect
from pipeline.documents.text import Document, Page, Source
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.handling import Handler
from pipeline.reasons import Reason
from pipeline.worker.frames import encode, unpacked_of
from pipeline.worker.unpacking import Unpacker
from tests.documents.seeing import Seeing
from tests.fuzz import einvoice_target, hostile
from tests.fuzz.oracle import require_finite, require_storable
from tests.fuzz.plain_targets import PLAIN
from tests.handlers.pages import ENGLISH_INVOICE, GERMAN_INVOICE

SAMPLES = Path(__file__).resolve().parents[2] / "sample_docs"
MOST_PAGES = 8
LARGEST_SEED = 120_000
LIMITS = LimitSettings(max_pages=2000, max_inflated_megabytes=60, max_megabytes=20, max_children=60, max_nesting=3)
MARKERS = ("Marker 001 of this invoice", "Marker 002 of this invoice, 12.50 EUR on 3 May 2026")


@dataclass(frozen=True, slots=True)
class Target:
    """Something to fuzz. `seeds` are inputs to begin with, `run` raises for a finding."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    run: Callable[[bytes], str]


def targets() -> Mapping[str, Target]:
    """Every target by name: one for each format, and those that take no document."""
    kinds, handlers = formats.discover(), handling.discover()
    corpus = hostile.corpus()
    found = [_of_format(kind, kinds, handlers, corpus.get(kind.name, ())) for kind in kinds]
    found.append(Target("identify", _every_seed, lambda data: _identified(data, kinds)))
    found.append(Target("handlers", _texts, lambda data: _handled(data, handlers)))
    found.append(Target("einvoice", einvoice_target.seeds, einvoice_target.run))
    found += [Target(name, seeds, run) for name, (seeds, run) in PLAIN.items()]
    return {each.name: each for each in found}


def _of_format(kind: Format, kinds: Sequence[Format], handlers: Mapping[str, Handler], bad: Sequence[bytes]) -> Target:
    return Target(
        f"format:{kind.name}",
        lambda: [*_samples(kind, kinds), *bad],
        lambda data: _read(kind, kinds, handlers, data),
    )


def _samples(kind: Format, kinds: Sequence[Format]) -> list[bytes]:
    """What the tests build, and the sample documents that are this format."""
    build = importlib.import_module(f"tests.documents.samples.{kind.name}").build
    found: list[bytes] = [build(MARKERS[:1]), build(MARKERS)]
    for path in sorted(SAMPLES.iterdir()):
        if path.is_file() and path.stat().st_size < LARGEST_SEED:
            data = path.read_bytes()
            try:
                if identify(io.BytesIO(data), path.name, kinds)[0] is kind:
                    found.append(data)
            except DocumentError:
                continue
    return found


def _every_seed() -> list[bytes]:
    kinds = formats.discover()
    built = [importlib.import_module(f"tests.documents.samples.{kind.name}").build(MARKERS[:1]) for kind in kinds]
    return [*built, *(data for files in hostile.corpus().values() for data in files)]


def _texts() -> list[bytes]:
    contract = (SAMPLES / "dienstleistungsvertrag.txt").read_bytes()
    return [ENGLISH_INVOICE.encode(), GERMAN_INVOICE.encode(), contract, (SAMPLES / "memo.txt").read_bytes()]


def _identified(data: bytes, kinds: Sequence[Format]) -> str:
    try:
        found = inspect(io.BytesIO(data), "document.pdf", kinds, _means())
    except DocumentError as refusal:
        return _reason(refusal)
    require_storable(found.media_type)
    require_finite(found.page_count, found.ocr_page_count)
    assert found.page_count >= 1
    return "ok"


def _read(kind: Format, kinds: Sequence[Format], handlers: Mapping[str, Handler], data: bytes) -> str:
    """The document read as a child reads it, whether or not it would have been told for this format."""
    outcome = "ok"
    try:
        kind.inspect(io.BytesIO(data), _means())
    except DocumentError as refusal:
        outcome = _reason(refusal)
    pages: list[Page] = []
    try:
        with kind.open(io.BytesIO(data), _means()) as document:
            assert document.page_count >= 1
            pages = [_page(document.read_page, number) for number in range(1, document.page_count + 1)[:MOST_PAGES]]
            if isinstance(document, Tree):
                _unpack(document, kinds)
    except DocumentError as refusal:
        outcome = _reason(refusal)
    if pages:
        _extract(Document("document", kind.media_types[0], tuple(pages)), handlers)
    return outcome


def _page(read: Callable[[int], Page], number: int) -> Page:
    try:
        page = read(number)
    except UnreadablePage as gap:
        page = Page(number, "", source=Source.NONE, error=str(gap))
    page = page.storable()
    require_storable(page.text, page.layout, page.error, page.note)
    require_finite(page.seconds)
    return page


def _unpack(document: Tree, kinds: Sequence[Format]) -> None:
    unpacker = Unpacker(Path.cwd(), kinds, _means(), 0)

    def say(facts: dict[str, Any]) -> None:
        encode(facts)
        unpacked = unpacked_of(facts)
        assert unpacked.file is None or Path(unpacked.file).name == unpacked.file

    try:
        for attachment in document.attachments():
            unpacker.unpack(attachment, say)
    finally:
        assert os.listdir() == [], "something stays in the scratch folder"  # noqa: PTH208


def _extract(document: Document, handlers: Mapping[str, Handler]) -> None:
    for handler in handlers.values():
        assert 0 <= handler.score(document) <= 1
        extraction = handler.extract(document)
        json.dumps(
            {name: [asdict(value) for value in values] for name, values in extraction.fields.items()}, allow_nan=False
        )


def _handled(data: bytes, handlers: Mapping[str, Handler]) -> str:
    text = data.decode("utf-8", "replace")
    pages = tuple(Page(number, each, each).storable() for number, each in enumerate(text.split("\f"), 1))
    _extract(Document("document", "text/plain", pages[:MOST_PAGES]), handlers)
    return "ok"


def _means() -> Means:
    return Means(LIMITS, ("secret",), Seeing())


def _reason(refusal: DocumentError) -> str:
    encode({"reason": refusal.reason, "error": str(refusal)})
    return Reason(refusal.reason).value
