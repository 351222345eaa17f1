"""Every format keeps the contract, also one that is added tomorrow: the tests find it and its sample by name."""

from __future__ import annotations

import errno
import importlib
import io
import random
from collections import Counter
from typing import BinaryIO, cast

import pytest

from pipeline.documents import formats
from pipeline.documents.contract import Format, Means, OpenDocument
from pipeline.documents.identify import identify, inspect
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason
from tests.documents.seeing import Seeing

FORMATS = formats.discover()
MEANS = Means(ocr=Seeing())
MARKERS = [f"Marker {number:03d} of this invoice ends here" for number in range(1, 8)]
every_format = pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)


def _sample(each: Format, texts: list[str] = MARKERS) -> bytes:
    sample: bytes = importlib.import_module(f"tests.documents.samples.{each.name}").build(texts)
    return sample


def _markers(each: Format) -> list[str]:
    """The texts of a sample's pages; a picture has but one."""
    module = importlib.import_module(f"tests.documents.samples.{each.name}")
    return MARKERS[: getattr(module, "MOST_PAGES", None)]


class _Broken(io.RawIOBase):
    """A file on a disk that fails."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        raise OSError(errno.EIO, "Input/output error")

    def readinto(self, buffer: object) -> int:
        raise OSError(errno.EIO, "Input/output error")


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
def test_its_sample_is_recognised_by_content_whatever_the_name(each: Format) -> None:
    file = io.BytesIO(_sample(each))
    for name in ("a.txt", "a", "a.exe", "", *(["a.pdf"] if each.name != "html" else [])):  # see identify.py
        found, media_type = identify(file, name, FORMATS)
        assert found is each
        assert media_type in each.media_types


@every_format
def test_every_marker_stands_on_its_page_and_only_there(each: Format) -> None:
    with each.open(io.BytesIO(_sample(each)), MEANS) as document:
        assert isinstance(document, OpenDocument)
        assert document.page_count == len(_markers(each))
        for number in range(1, document.page_count + 1):
            page = document.read_page(number)
            assert page.number == number
            assert page.engine
            assert [marker for marker in MARKERS if marker in page.text] == [MARKERS[number - 1]]
            assert [marker for marker in MARKERS if marker in page.layout] == [MARKERS[number - 1]]


@every_format
def test_pages_are_the_same_in_any_order_and_again(each: Format) -> None:
    file = io.BytesIO(_sample(each))
    forwards = list(range(1, len(_markers(each)) + 1))
    shuffled = random.Random(7).sample(forwards, len(forwards))  # noqa: S311 - an order, not a secret
    with each.open(file, MEANS) as document:
        expected = _texts(document, forwards)
        assert _texts(document, shuffled) == expected
        assert _texts(document, forwards) == expected


@every_format
def test_reading_resumes_at_every_page_in_a_fresh_process_state(each: Format) -> None:
    file = io.BytesIO(_sample(each))
    for start in range(1, len(_markers(each)) + 1):
        with each.open(file, MEANS) as document:
            resumed = _texts(document, list(range(start, document.page_count + 1)))
        assert [number for number, text in resumed.items() if MARKERS[number - 1] not in text] == []


@every_format
def test_inspecting_counts_the_pages_that_opening_finds(each: Format) -> None:
    file = io.BytesIO(_sample(each))
    inspection = inspect(file, "document", FORMATS, MEANS)
    with each.open(file, MEANS) as document:
        assert inspection.page_count == document.page_count
    assert inspection.media_type in each.media_types
    assert 0 <= inspection.ocr_page_count <= inspection.page_count
    assert inspection.restricted is False


@every_format
@pytest.mark.parametrize("number", [0, -1, len(MARKERS) + 1, 10**6])
def test_a_page_that_is_not_there_is_unreadable(each: Format, number: int) -> None:
    with each.open(io.BytesIO(_sample(each)), MEANS) as document, pytest.raises(UnreadablePage):
        document.read_page(number)


@every_format
def test_an_empty_file_is_refused_as_empty(each: Format) -> None:
    file = io.BytesIO(b"")
    with pytest.raises(DocumentError) as refusal:
        each.inspect(file, MEANS)
    assert refusal.value.reason is Reason.EMPTY_FILE
    with pytest.raises(DocumentError), each.open(file, MEANS):
        pass


@every_format
def test_garbage_is_refused(each: Format) -> None:
    for seed in range(20):
        file = io.BytesIO(random.Random(seed).randbytes(seed * 997 + 40))  # noqa: S311
        with pytest.raises(DocumentError):
            each.inspect(file, MEANS)
        with pytest.raises(DocumentError), each.open(file, MEANS):
            pass


@every_format
def test_a_file_that_cannot_be_read_is_the_disks_fault(each: Format) -> None:
    with pytest.raises(DocumentError) as refusal:
        each.inspect(cast("BinaryIO", io.BufferedReader(_Broken())), MEANS)
    assert refusal.value.reason is Reason.IO_ERROR


@every_format
def test_a_cut_or_damaged_file_yields_pages_or_a_named_refusal_and_nothing_else(each: Format) -> None:
    whole = _sample(each)
    chance = random.Random(11)  # noqa: S311
    for step in range(120):
        broken = bytearray(whole[: chance.randrange(1, len(whole))] if step % 2 else whole)
        for _ in range(step % 7):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        outcomes = _read_or_be_refused(each, io.BytesIO(bytes(broken)))
        assert outcomes
        assert all(Reason(outcome) for outcome in outcomes)


def _read_or_be_refused(each: Format, file: BinaryIO) -> list[str]:
    """How the document or each of its first pages ended; any other exception escapes and fails the test."""
    outcomes: list[str] = []
    try:
        with each.open(file, MEANS) as document:
            for number in range(1, min(document.page_count, 20) + 1):
                try:
                    document.read_page(number)
                    outcomes.append(Reason.OK)
                except UnreadablePage as gap:
                    outcomes.append(gap.reason)
    except DocumentError as refusal:
        outcomes.append(refusal.reason)
    return outcomes
