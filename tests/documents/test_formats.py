"""Every format keeps the contract, also one that is added tomorrow: the tests find it and its sample by name."""

from __future__ import annotations

import importlib
import random
from collections import Counter
from pathlib import Path

import pytest

from pipeline.documents import formats
from pipeline.documents.formats import Format, OpenDocument
from pipeline.documents.identify import identify, inspect
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason

FORMATS = formats.discover()
MARKERS = [f"Marker {number:03d} of this invoice ends here" for number in range(1, 8)]
every_format = pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)


def _sample(each: Format, texts: list[str] = MARKERS) -> bytes:
    sample: bytes = importlib.import_module(f"tests.documents.samples.{each.name}").build(texts)
    return sample


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "document"
    path.write_bytes(content)
    return path


def _texts(document: OpenDocument, numbers: list[int]) -> dict[int, str]:
    return {number: document.read_page(number).text for number in numbers}


def test_names_and_media_types_belong_to_one_format_each() -> None:
    names = Counter(each.name for each in FORMATS)
    media_types = Counter(media_type for each in FORMATS for media_type in each.media_types)
    assert len(FORMATS) >= 2
    assert max(names.values()) == 1
    assert max(media_types.values()) == 1


@every_format
def test_it_has_what_the_protocol_asks_for(each: Format) -> None:
    assert isinstance(each, Format)
    assert each.media_types


@every_format
def test_its_sample_is_recognised_by_content_whatever_the_name(each: Format, tmp_path: Path) -> None:
    path = _file(tmp_path, _sample(each))
    for name in ("a.pdf", "a.txt", "a", "a.exe", ""):
        found, media_type = identify(path, name, FORMATS)
        assert found is each
        assert media_type in each.media_types


@every_format
def test_every_marker_stands_on_its_page_and_only_there(each: Format, tmp_path: Path) -> None:
    with each.open(_file(tmp_path, _sample(each))) as document:
        assert isinstance(document, OpenDocument)
        assert document.page_count == len(MARKERS)
        for number in range(1, document.page_count + 1):
            page = document.read_page(number)
            assert page.number == number
            assert page.engine
            assert [marker for marker in MARKERS if marker in page.text] == [MARKERS[number - 1]]
            assert [marker for marker in MARKERS if marker in page.layout] == [MARKERS[number - 1]]


@every_format
def test_pages_are_the_same_in_any_order_and_again(each: Format, tmp_path: Path) -> None:
    path = _file(tmp_path, _sample(each))
    forwards = list(range(1, len(MARKERS) + 1))
    shuffled = random.Random(7).sample(forwards, len(forwards))  # noqa: S311 - an order, not a secret
    with each.open(path) as document:
        expected = _texts(document, forwards)
        assert _texts(document, shuffled) == expected
        assert _texts(document, forwards) == expected


@every_format
def test_reading_resumes_at_every_page_in_a_fresh_process_state(each: Format, tmp_path: Path) -> None:
    path = _file(tmp_path, _sample(each))
    for start in range(1, len(MARKERS) + 1):
        with each.open(path) as document:
            resumed = _texts(document, list(range(start, document.page_count + 1)))
        assert [number for number, text in resumed.items() if MARKERS[number - 1] not in text] == []


@every_format
def test_inspecting_counts_the_pages_that_opening_finds(each: Format, tmp_path: Path) -> None:
    path = _file(tmp_path, _sample(each))
    inspection = inspect(path, "document", FORMATS)
    with each.open(path) as document:
        assert inspection.page_count == document.page_count
    assert inspection.media_type in each.media_types
    assert 0 <= inspection.ocr_page_count <= inspection.page_count
    assert inspection.restricted is False


@every_format
@pytest.mark.parametrize("number", [0, -1, len(MARKERS) + 1, 10**6])
def test_a_page_that_is_not_there_is_unreadable(each: Format, number: int, tmp_path: Path) -> None:
    with each.open(_file(tmp_path, _sample(each))) as document, pytest.raises(UnreadablePage):
        document.read_page(number)


@every_format
def test_an_empty_file_is_refused_as_empty(each: Format, tmp_path: Path) -> None:
    path = _file(tmp_path, b"")
    with pytest.raises(DocumentError) as refusal:
        each.inspect(path)
    assert refusal.value.reason is Reason.EMPTY_FILE
    with pytest.raises(DocumentError), each.open(path):
        pass


@every_format
def test_garbage_is_refused(each: Format, tmp_path: Path) -> None:
    for seed in range(20):
        path = _file(tmp_path, random.Random(seed).randbytes(seed * 997 + 40))  # noqa: S311
        with pytest.raises(DocumentError):
            each.inspect(path)
        with pytest.raises(DocumentError), each.open(path):
            pass


@every_format
def test_a_file_that_is_gone_is_the_disks_fault(each: Format, tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as refusal:
        each.inspect(tmp_path / "gone")
    assert refusal.value.reason is Reason.IO_ERROR


@every_format
def test_a_cut_or_damaged_file_yields_pages_or_a_named_refusal_and_nothing_else(each: Format, tmp_path: Path) -> None:
    whole = _sample(each)
    chance = random.Random(11)  # noqa: S311
    for step in range(120):
        broken = bytearray(whole[: chance.randrange(1, len(whole))] if step % 2 else whole)
        for _ in range(step % 7):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        outcomes = _read_or_be_refused(each, _file(tmp_path, bytes(broken)))
        assert outcomes
        assert all(Reason(outcome) for outcome in outcomes)


def _read_or_be_refused(each: Format, path: Path) -> list[str]:
    """How the document or each of its first pages ended; any other exception escapes and fails the test."""
    outcomes: list[str] = []
    try:
        with each.open(path) as document:
            for number in range(1, min(document.page_count, 20) + 1):
                try:
                    document.read_page(number)
                    outcomes.append(Reason.OK)
                except UnreadablePage as gap:
                    outcomes.append(gap.reason)
    except DocumentError as refusal:
        outcomes.append(refusal.reason)
    return outcomes
