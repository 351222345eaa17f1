"""The sample documents, read as a user's documents are, give the right answers that stand in expected.json."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import ocr
from pipeline.documents.contract import Attachment, Means
from pipeline.documents.formats import discover
from pipeline.documents.text import Page
from pipeline.work import Job, process

FOLDER = Path(__file__).parent.parent.parent / "sample_docs"
DOCUMENTS: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))["documents"]
INSIDE = {name: entry for outer in DOCUMENTS.values() for name, entry in outer.get("inside", {}).items()}
ENTRIES = DOCUMENTS | INSIDE
READABLE = sorted(name for name, entry in ENTRIES.items() if entry.get("reason") == "ok")
NOT_READ_YET: frozenset[tuple[str, str]] = frozenset()  # (file, field); what starts to be read must leave it

each_sample = pytest.mark.parametrize("name", READABLE)


@dataclass(frozen=True, slots=True)
class Read:
    """What came of a document: its result, its pages, and the files in it as they were told of."""

    result: Mapping[str, Any]
    pages: list[Page]
    told: list[Attachment]


@pytest.fixture(scope="module")
def read() -> dict[str, Read]:
    """Each readable sample as the worker's child reads it, by name, and the files inside as documents of their own."""
    means = Means(ocr=ocr.reader(OcrSettings()))
    found: dict[str, Read] = {}
    for name in DOCUMENTS:
        if name in READABLE:
            with (FOLDER / name).open("rb") as file:
                found |= _read(file, name, means)
    return found


@pytest.fixture(scope="module")
def results(read: dict[str, Read]) -> dict[str, dict[str, Any]]:
    """The result of each readable sample, by name."""
    return {name: dict(each.result) for name, each in read.items()}


def _read(file: BinaryIO, name: str, means: Means) -> dict[str, Read]:
    """The document and all that is in it."""
    pages: list[Page] = []
    told: list[Attachment] = []
    contents: dict[str, bytes] = {}

    def take(attachment: Attachment) -> None:
        told.append(attachment)
        if attachment.content is not None:
            contents[attachment.name] = b"".join(attachment.content)

    job = Job(file, name, means=means)
    finished = process(job, discover(), handling.discover(), on_open=_ignore, on_page=pages.append, on_attachment=take)
    found = {name: Read(finished.result, pages, told)}
    for inner, content in contents.items():
        found |= _read(io.BytesIO(content), inner, means)
    return found


def _ignore(_: object) -> None:
    """Nothing but the result matters here."""


def _values(found: list[dict[str, Any]]) -> list[str]:
    return [each["value"] for each in found]


@each_sample
def test_a_sample_is_read_by_the_handler_of_its_type(name: str, results: dict[str, dict[str, Any]]) -> None:
    assert results[name]["document_type"] == ENTRIES[name]["type"]


@each_sample
def test_every_expected_field_of_a_sample_is_right(name: str, results: dict[str, dict[str, Any]]) -> None:
    wanted = {field: _values(found) for field, found in ENTRIES[name]["fields"].items()}
    read = {field: _values(found) for field, found in results[name]["fields"].items() if field in wanted}
    missed = {(name, field) for field in wanted if read.get(field) != wanted[field]}
    known = {each for each in NOT_READ_YET if each[0] == name}
    assert {field: read.get(field) for _, field in missed - known} == {}
    assert known <= missed, "named as not read yet, but it is right: take it off the list"


@each_sample
def test_nothing_is_read_that_the_answers_of_a_type_leave_out(name: str, results: dict[str, dict[str, Any]]) -> None:
    """A field that other samples of the type have and this one does not is not printed here."""
    kind = ENTRIES[name]["type"]
    known = {field for entry in ENTRIES.values() if entry.get("type") == kind for field in entry["fields"]}
    assert set(results[name]["fields"]) & known <= set(ENTRIES[name]["fields"])


@each_sample
def test_the_sums_of_a_sample_pass_their_checks_but_for_those_that_must_fail(
    name: str, results: dict[str, dict[str, Any]]
) -> None:
    checks = results[name]["checks"]
    assert sorted(check for check, passed in checks.items() if not passed) == sorted(
        ENTRIES[name].get("failed_checks", ())
    )
    assert bool(checks) == (ENTRIES[name]["type"] == "invoice")


@each_sample
def test_a_sample_has_its_pages_and_only_a_scan_is_recognised(name: str, read: dict[str, Read]) -> None:
    entry, pages = ENTRIES[name], read[name].pages
    assert len(pages) == entry["pages"]
    assert {page.source.value == "ocr" for page in pages} == {entry.get("source") == "ocr"}


def test_recognition_reads_every_line_of_the_scan(read: dict[str, Read]) -> None:
    (page,) = read["scanned-invoice.pdf"].pages
    lines = ENTRIES["scanned-invoice.pdf"]["lines"]
    rows = [" ".join(row.split()) for row in page.layout.splitlines()]
    wanted = [f"{each['description']} {each['quantity']} {each['unit']} {each['unit_price']}" for each in lines]
    assert [row for row in wanted if not any(found.startswith(row) for found in rows)] == []


@each_sample
def test_what_is_inside_a_sample_becomes_a_document_or_is_left_out(name: str, read: dict[str, Read]) -> None:
    inside = ENTRIES[name].get("inside", {})
    told = {each.name: each for each in read[name].told}
    assert [*told] == [*inside]
    for inner, entry in inside.items():
        assert told[inner].left_out.partition(":")[0] == entry.get("left_out", "")
        numbers = {name: 0, **{each.name: each.number for each in read[name].told}}  # 0 is the document itself
        assert told[inner].rendition_of == numbers.get(entry.get("rendition_of", ""))
