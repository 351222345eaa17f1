"""A file cut anywhere before its end is never called complete where its kind can tell; a whole one always is."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.documents.completeness import HEAD_BYTES, TAIL_BYTES, is_complete
from tests.documents.endings import KINDS, Ended, archive, image, plain_pdf

SMALL = 2_500
LARGE = 8 * TAIL_BYTES
# In a large one, where the directory of a later frame or the allocation table is may be out of sight.
TOLD_WHEN_LARGE = sorted(set(KINDS) - {"tiff of three frames", "tiff", "tiff packed", "big tiff"})


@functools.cache
def _made(kind: str, size: int) -> Ended:
    return KINDS[kind](size)


def _judged(content: bytes) -> bool:
    return is_complete(content[:HEAD_BYTES], content[-TAIL_BYTES:], len(content))


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_file_is_cut_at_every_length_but_its_own(kind: str) -> None:
    made = _made(kind, SMALL)
    assert len(made.content) < HEAD_BYTES
    called_whole = {length for length in range(made.told_from, made.needed) if _judged(made.content[:length])}
    assert called_whole == made.whole_too
    assert _judged(made.content)


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_file_is_whole(kind: str) -> None:
    made = _made(kind, LARGE)
    assert len(made.content) > HEAD_BYTES + TAIL_BYTES
    assert _judged(made.content)


@given(st.data(), st.sampled_from(TOLD_WHEN_LARGE))
@settings(deadline=None, max_examples=400)
def test_a_large_file_is_cut_wherever_it_is_cut(data: st.DataObject, kind: str) -> None:
    made = _made(kind, LARGE)
    length = data.draw(st.integers(made.told_from, made.needed - 1))
    assert _judged(made.content[:length]) == (length in made.whole_too)


@given(st.binary(max_size=64), st.sampled_from(list(KINDS)), st.integers(0, 300), st.integers(0, 300))
@settings(deadline=None, max_examples=300)
def test_whatever_bytes_there_are_there_is_an_answer(junk: bytes, kind: str, keep: int, skip: int) -> None:
    content = _made(kind, SMALL).content
    for odd in (junk, content[:keep] + junk + content[keep + skip :], content[:keep] + junk * 50):
        _judged(odd)


@pytest.mark.parametrize(
    "content", [b"words", b"a;b;c\n", b"<john@example.org> wrote:", b"\x00" * 100, b"From a@b Thu"]
)
def test_what_has_no_end_that_can_be_told_is_complete(content: bytes) -> None:
    assert _judged(content)


@pytest.mark.parametrize("kind", ["pdf", "zip", "png", "jpeg", "gif", "webp", "heic", "7z", "old office"])
def test_what_is_padded_with_zeros_is_whole(kind: str) -> None:
    assert _judged(_made(kind, SMALL).content + bytes(1024))


def test_a_pdf_that_a_gateway_wrote_behind_is_whole() -> None:
    assert _judged(plain_pdf(SMALL).content + b"\n-- \nThis message was checked for viruses.\n")


def test_a_pdf_behind_junk_is_a_pdf() -> None:
    content = b"HTTP/1.1 200 OK\r\n\r\n" + plain_pdf(SMALL).content
    assert _judged(content)
    assert not _judged(content[:-100])


def test_a_photo_with_a_second_image_behind_it_has_both() -> None:
    photo = image("JPEG", 20).content
    assert _judged(photo + photo)
    assert not _judged(photo + photo[:-10])


def test_an_archive_that_says_nothing_right_is_waited_for() -> None:
    content = bytearray(archive(SMALL).content)
    content[-6:-2] = b"\x01\x00\x00\x00"  # where its directory begins
    assert not _judged(bytes(content))
