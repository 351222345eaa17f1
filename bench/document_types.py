"""How well the type of a document is told: `python -m bench.document_types invoice=FOLDER contract=… other=… …`

Each folder is named with the type of what it holds; a label FILE.gold.json with a `doc_type` beside a file says it
better (receipts and credit notes are invoices, what has another type is other). Files are read and chosen for as the
product does, with the XML that a PDF carries; NAME.boxes.csv is a receipt as a perfect recognition reads it. Folders
of one document a company are in halves as in bench.fields and bench.contracts, others are all development. Pages that
were read are kept in --cache.

Prints what was taken for what, and with --errors each wrong choice of the development half with its scores.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import pickle
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import contracts, fields
from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import formats, ocr
from pipeline.documents.contract import Attachment, Means
from pipeline.documents.text import Document, Page
from pipeline.errors import DocumentError
from pipeline.handling import Extraction, Handler
from pipeline.work import Job, process

_INVOICES = frozenset({"invoice", "receipt", "credit_note"})
_LABEL = re.compile(r"\.(?:json|ref\.txt|boxes\.csv|tex)$")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a document is, what it was taken for, and the scores behind that."""

    name: str
    half: str
    wanted: str
    chosen: str
    scores: Mapping[str, float]

    @property
    def is_right(self) -> bool:
        """Whether it was taken for what it is."""
        return self.wanted == self.chosen


@dataclass(slots=True)
class Scored:
    """A handler that is asked for its score only."""

    handler: Handler
    name: str
    fields: tuple[str, ...]

    def score(self, document: Document) -> float:
        """The handler's own."""
        return self.handler.score(document)

    def extract(self, document: Document) -> Extraction:
        """Nothing."""
        return Extraction(self.name)


def choices(folder: Path, kind: str, cache: Path | None, means: Means) -> Iterator[Choice]:
    """The choice for each document of a folder; what cannot be read is left out."""
    handlers: dict[str, Handler] = {name: Scored(each, name, each.fields) for name, each in handling.discover().items()}
    if any(folder.glob("*.boxes.csv")):
        for sample in fields.samples(folder, None, means):
            handler, scores = handling.choose(handlers, sample.document)
            yield Choice(sample.name, fields.half(sample), kind, _type(handler.name), scores)
        return
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and not _is_label(each)):
        found = _chosen(path, handlers, cache, means)
        if found is not None:
            half = contracts.half(path.stem) if path.with_suffix(".json").exists() else "dev"
            yield Choice(path.name, half, _wanted(path, kind), *found)


def _chosen(
    path: Path, handlers: Mapping[str, Handler], cache: Path | None, means: Means
) -> tuple[str, Mapping[str, float]] | None:
    content = path.read_bytes()
    kept = cache / (hashlib.sha256(content).hexdigest() + ".types.pickle") if cache else None
    stored: tuple[Page, ...] = pickle.loads(kept.read_bytes()) if kept and kept.exists() else ()  # noqa: S301 - ours
    pages = list(stored)
    job = Job(io.BytesIO(content), path.name, means=means, stored=stored, whole=len(stored))
    try:
        result = process(
            job, formats.discover(), handlers, on_open=_nothing, on_page=pages.append, on_attachment=_consume
        ).result
    except DocumentError:
        return None
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(tuple(pages)))
    return _type(result["handler"]), result["scores"]


def _nothing(_: int) -> None:
    """The number of pages is of no use here."""


def _consume(attachment: Attachment) -> None:
    for _ in attachment.content or ():
        pass


def _is_label(path: Path) -> bool:
    """Labels, and texts that are the truth of another file."""
    others = [path.with_suffix(""), *map(path.with_suffix, (".pdf", ".png", ".html"))]
    return _LABEL.search(path.name) is not None or (path.suffix == ".txt" and any(each.exists() for each in others))


def _wanted(path: Path, kind: str) -> str:
    label = path.with_name(path.name + ".gold.json")
    labelled = json.loads(label.read_text("utf-8")).get("doc_type") if label.exists() else None
    return kind if labelled is None else "invoice" if labelled in _INVOICES else _type(labelled)


def _type(name: str) -> str:
    return name if name in ("invoice", "contract") else "other"


def show(title: str, found: list[Choice]) -> None:
    """How many were taken for what they are, and what the others were taken for."""
    right = sum(each.is_right for each in found)
    print(f"{title:24} {right} of {len(found)} right, {right / max(1, len(found)):.4f}")
    for (wanted, chosen), count in sorted(Counter((each.wanted, each.chosen) for each in found).items()):
        print(f"{'':24} {wanted:9} taken for {chosen:9} {count:5}")


def main() -> None:
    """Choose for each folder, then say it for all of each half."""
    parser = argparse.ArgumentParser(description="What documents are taken for.")
    parser.add_argument("folder", nargs="+", help="invoice=FOLDER, contract=FOLDER or other=FOLDER")
    parser.add_argument("--cache", type=Path, help="folder for pages that were read")
    parser.add_argument("--ocr", action="store_true", help="read images too")
    parser.add_argument("--errors", action="store_true", help="each wrong choice of the development half")
    options = parser.parse_args()
    means = Means(ocr=ocr.reader(OcrSettings()) if options.ocr else None)
    found: list[Choice] = []
    started = time.process_time()
    for kind, _, folder in (each.partition("=") for each in options.folder):
        here = list(choices(Path(folder), kind, options.cache, means))
        show(f"{Path(folder).name} as {kind}", here)
        found += here
    for each in found:
        if options.errors and each.half == "dev" and not each.is_right:
            print(f"  {each.name[:60]:60} {each.wanted} <- {each.chosen} {dict(each.scores)}")
    for half in ("dev", "test"):
        show(half, [each for each in found if each.half == half])
    print(f"{1000 * (time.process_time() - started) / max(1, len(found)):.1f} ms a document")


if __name__ == "__main__":
    main()
