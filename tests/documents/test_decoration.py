"""The dress of a mail is told from its matter by figures, and a larger picture is never more of a dress."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.mail.decoration import Picture, decoration, is_shown, pixels, shown_in
from tests.documents import trees

SIDES = st.integers(1, 5_000)


@pytest.mark.parametrize(
    ("picture", "reason"),
    [
        (Picture(1, 1, 43), "decoration: an image of 1 x 1 pixels"),
        (Picture(80, 30, 5_000), "decoration: an image of 80 x 30 pixels"),
        (Picture(3_000, 40, 50_000), "decoration: an image of 3000 x 40 pixels"),
        (Picture(800, 800, 900), "decoration: an image of 900 bytes"),
        (Picture(1_200, 400, 80_000, shown=True), "decoration: an image of 1200 x 400 pixels in the text"),
        (Picture(2_400, 800, 80_000, shown=True), "decoration: an image of 2400 x 800 pixels in the text"),
        (Picture(600, 300, 80_000, times=4), "decoration: the same image 4 times"),
        (Picture(0, 0, 9_000, shown=True), "decoration: a drawing in the text"),
    ],
)
def test_dress_is_named_with_its_figure(picture: Picture, reason: str) -> None:
    assert decoration(picture) == reason


@pytest.mark.parametrize(
    "picture",
    [
        Picture(1_654, 2_339, 200_000, shown=True),
        Picture(640, 900, 60_000, shown=True, times=2),
        Picture(1_280, 720, 60_000, shown=True),
        Picture(320, 1_100, 30_000),
        Picture(600, 300, 80_000),
        Picture(0, 0, 9_000),
        Picture(0, 0, 900_000, shown=True),
    ],
)
def test_what_may_be_a_document_is_read(picture: Picture) -> None:
    assert decoration(picture) == ""


@given(SIDES, SIDES, st.integers(0, 10**7), st.booleans(), st.integers(1, 9))
def test_a_picture_twice_as_large_is_never_more_of_a_dress(
    width: int, height: int, byte_count: int, shown: bool, times: int
) -> None:
    small = Picture(width, height, byte_count, shown, times)
    large = Picture(2 * width, 2 * height, 2 * byte_count, shown, times)
    assert decoration(small) or not decoration(large)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP"])
def test_the_size_is_read_from_the_header_alone(kind: str) -> None:
    assert pixels(trees.picture(300, 200, kind)[:2_000]) == (300, 200)


@pytest.mark.parametrize("kind", ["WEBP", "TIFF"])
def test_the_size_of_a_whole_image_is_known(kind: str) -> None:
    assert pixels(trees.picture(300, 200, kind)) == (300, 200)


def test_a_bomb_of_pixels_is_not_decoded_and_is_no_dress() -> None:
    header = b"IHDR\x00\x00\xff\xff\x00\x00\xff\xff\x08\x00\x00\x00\x00"
    chunks = b"\x00\x00\x00\r" + header + zlib.crc32(header).to_bytes(4, "big") + b"\x00\x00\x00\x00IDAT"
    width, height = pixels(b"\x89PNG\r\n\x1a\n" + chunks)
    assert width
    assert decoration(Picture(width, height, 60_000, shown=True)) == ""


@given(
    st.binary(max_size=400), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"II*\x00", b"BM"])
)
def test_hostile_headers_have_no_size_and_raise_nothing(junk: bytes, signature: bytes) -> None:
    assert len(pixels(signature + junk)) == 2


def test_what_the_text_shows_is_known_by_its_identifier() -> None:
    shown = shown_in("<img src='cid:Logo%40x'><td background=\"cid:two\">")
    assert is_shown("a.png", "LOGO@x", shown)
    assert is_shown("a.png", "two", shown)
    assert not is_shown("a.png", "three", shown)
    assert not is_shown("a.png", "", shown)
    assert is_shown("image001.png", "any", frozenset())
