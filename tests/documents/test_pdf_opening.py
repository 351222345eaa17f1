"""PDFs that are locked, that lie about their pages, that swell, or that are too large to hold."""

from __future__ import annotations

import io
import math
import re
import subprocess
import sys
import unicodedata
import zlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from pipeline.config import LimitSettings
from pipeline.documents.contract import Means
from pipeline.documents.formats.pdf import format as pdf
from pipeline.documents.passwords import candidates
from pipeline.documents.pdf.by_pdfium import PdfiumReader
from pipeline.documents.pdf.by_pypdf import PypdfReader
from pipeline.documents.pdf.render import plan
from pipeline.documents.pdf.sampling import estimate, spread
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents.samples.pdf import build

ALGORITHMS = ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"]
PASSWORDS = ["secret", "    ", "M\u00fcller & S\u00f6hne", "p\u00e4ssw\u00f6rd" * 3]
TEXT = "Invoice INV-2026-0042 for a hundred chairs"


def _encrypted(password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(build([TEXT]))))
    writer.encrypt(password, "the owner", algorithm=algorithm)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _texts(content: bytes, means: Means | None = None) -> list[str]:
    with pdf.open(io.BytesIO(content), means or Means()) as document:
        return [document.read_page(number).text for number in range(1, document.page_count + 1)]


def _refusal(content: bytes, means: Means | None = None) -> DocumentError:
    with pytest.raises(DocumentError) as refusal:
        pdf.inspect(io.BytesIO(content), means or Means())
    return refusal.value


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("password", PASSWORDS)
def test_a_known_password_opens_whatever_it_is_made_of(password: str, algorithm: str) -> None:
    content = _encrypted(password, algorithm)
    means = Means(passwords=("wrong", password, "also wrong"))
    assert _texts(content, means) == [TEXT]
    assert pdf.inspect(io.BytesIO(content), means).restricted


@pytest.mark.parametrize("kind", [PdfiumReader, PypdfReader])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_parser_opens_with_a_password_by_itself(
    kind: type[PdfiumReader] | type[PypdfReader], algorithm: str
) -> None:
    reader = kind(io.BytesIO(_encrypted("secret", algorithm)), ("wrong", "secret"))
    assert reader.page_count == 1


def test_a_password_typed_on_another_system_opens_too() -> None:
    typed = unicodedata.normalize("NFD", "M\u00fcller")
    assert _texts(_encrypted("M\u00fcller", "AES-256"), Means(passwords=(typed,))) == [TEXT]


def test_a_refusal_never_tells_a_password() -> None:
    error = _refusal(_encrypted("the right one", "AES-256"), Means(passwords=("hunter2", "swordfish")))
    assert error.reason == Reason.NEEDS_PASSWORD
    assert "2 known" in str(error)
    told = f"{error} {error.__cause__} {error.__context__}"
    assert not any(word in told for word in ("hunter2", "swordfish", "right one"))


@given(st.lists(st.text(max_size=8), max_size=5))
def test_the_empty_password_comes_first_and_none_is_forgotten(passwords: list[str]) -> None:
    tried = list(candidates(passwords))
    assert tried[0] == ""
    assert set(passwords) <= set(tried)
    assert len(set(tried)) == len(tried)


@pytest.mark.parametrize("claimed", [1, 2, 0, -5])
def test_pages_that_the_file_does_not_count_are_read_all_the_same(claimed: int) -> None:
    pages = [f"{TEXT} on page {number}" for number in range(1, 8)]
    content = build(pages).replace(b"/Count 7", b"/Count %d" % claimed)
    assert _texts(content) == pages
    assert pdf.inspect(io.BytesIO(content), Means()).page_count == 7


def test_an_encrypted_file_that_counts_too_few_pages_is_read_whole() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(build([TEXT, "a second page of it"]))))
    writer.encrypt("secret", "the owner", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    content = file.getvalue().replace(b"/Count 2", b"/Count 1")
    assert _texts(content, Means(passwords=("secret",))) == [TEXT, "a second page of it"]


def test_pages_that_are_not_there_are_not_counted() -> None:
    content = build([TEXT]).replace(b"/Count 1 ", b"/Count 900000 ")
    assert pdf.inspect(io.BytesIO(content), Means()).page_count == 1
    assert _texts(content) == [TEXT]


def test_a_tree_that_holds_the_same_pages_again_and_again_is_counted_without_walking_it() -> None:
    levels = "".join(
        f"{number} 0 obj <</Type/Pages/Count {2 ** (33 - number)}/Kids[{number + 1} 0 R {number + 1} 0 R]>> endobj\n"
        for number in range(2, 33)
    )
    leaf = "33 0 obj <</Type/Page/MediaBox[0 0 9 9]>> endobj\n"
    catalog, end = "1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n", "trailer <</Root 1 0 R>>\nstartxref\n0\n%%EOF\n"
    content = f"%PDF-1.4\n{catalog}{levels}{leaf}{end}"
    for each in (content, content.replace(f"/Count {2**31}", "/Count 3")):
        assert pdf.inspect(io.BytesIO(each.encode()), Means()).page_count == 2**31


def test_a_tree_that_is_its_own_child_ends() -> None:
    content = build([TEXT])
    root = re.search(rb"/Pages (\d+ 0 R)", content)
    assert root
    looped = content.replace(b"/Count 1 /Kids [", b"/Count 5 /Kids [ " + root[1] + b" " + root[1])
    assert pdf.inspect(io.BytesIO(looped), Means()).page_count <= 5


def _swollen(megabytes: int, *, twice: bool = False) -> bytes:
    packed = zlib.compress(b"q Q " * (megabytes * 250_000), 9)
    filters = "/FlateDecode"
    if twice:
        packed, filters = zlib.compress(packed, 9), "[/FlateDecode /FlateDecode]"
    stream = f"5 0 obj <</Length {len(packed)}/Filter {filters}>> stream\n".encode() + packed + b"\nendstream endobj\n"
    page = b"3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 5 0 R>> endobj\n"
    return (
        b"%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Count 1/Kids[3 0 R]>> endobj\n"
        + page
        + stream
        + b"trailer <</Root 1 0 R>>\n%%EOF\n"
    )


@pytest.mark.parametrize("twice", [False, True])
def test_instructions_that_inflate_beyond_measure_are_refused_before_any_parser_unpacks_them(twice: bool) -> None:
    error = _refusal(_swollen(60, twice=twice), Means(LimitSettings(max_inflated_megabytes=500)))
    assert error.reason == Reason.BOMB
    assert "limits.max_inflated_megabytes is 500" in str(error)
    assert "50,000,000" in str(error)


def test_instructions_within_the_limit_are_read_however_well_they_are_packed() -> None:
    assert pdf.inspect(io.BytesIO(_swollen(5)), Means(LimitSettings(max_inflated_megabytes=500))).page_count == 1


_PEAK = """
import sys
from pipeline.documents.contract import Means
from pipeline.documents.formats.pdf import format as pdf
with open(sys.argv[1], "rb") as file, pdf.open(file, Means()) as document:
    for number in range(1, document.page_count + 1):
        document.read_page(number)
# Not getrusage: its peak may be that of the process which started this one.
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def _peak(path: Path) -> int:
    """Kilobytes that a fresh process held at most while it read the file."""
    command = [sys.executable, "-c", _PEAK, str(path)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_memory_does_not_grow_with_pages_nor_with_the_size_of_a_large_file(tmp_path: Path) -> None:
    page = "\n".join("a line of text that fills the page" for _ in range(40))
    paths = {count: tmp_path / str(count) for count in (40, 400)}
    for count, path in paths.items():
        path.write_bytes(build([f"{number}\n{page}" for number in range(count)]))
    laden = tmp_path / "laden"
    ballast = b"".join(
        b"%d 0 obj <</Length 1000000>> stream\n%s\nendstream endobj\n" % (n, bytes(10**6)) for n in range(900, 980)
    )
    whole = paths[40].read_bytes()
    laden.write_bytes(whole[: whole.rindex(b"xref\n")] + ballast + whole[whole.rindex(b"trailer") :])
    few, many, large = _peak(paths[40]), _peak(paths[400]), _peak(laden)
    assert many < 1.3 * few
    assert large < few + 40_000


box = st.floats(allow_nan=True, allow_infinity=True) | st.floats(0.001, 10**7)


@given(box, box, st.floats(1, 1200), st.floats(0.1, 400))
@example(9.65e155, 9.65e155, 200.0, 40.0)
@example(7419.0, 7419.0, 195.0, 399.99999999999994)
def test_no_page_box_makes_an_image_larger_than_the_limit(
    width: float, height: float, dpi: float, megapixels: float
) -> None:
    found = plan(width, height, dpi, megapixels)
    assert 1 <= found.width * found.height <= max(math.ceil(megapixels * 1_000_000), 30_000)
    assert found.dpi > 0


@given(st.floats(200, 2000), st.floats(200, 2000))
def test_an_ordinary_page_is_rendered_as_asked(width: float, height: float) -> None:
    found = plan(width, height, 200, 40)
    assert (found.note, found.dpi >= 200) == ("", True)


@given(st.integers(1, 10**6), st.integers(2, 20))
def test_a_sample_has_the_first_and_the_last_page_and_no_page_twice(count: int, wanted: int) -> None:
    pages = spread(count, wanted)
    assert pages == sorted(set(pages))
    assert (pages[0], pages[-1]) == (1, count)
    assert len(pages) == min(count, wanted)


@given(st.integers(1, 10**6), st.booleans())
def test_pages_that_are_all_alike_are_estimated_exactly_by_few(count: int, alike: bool) -> None:
    asked: list[int] = []

    def is_needed(number: int) -> bool:
        asked.append(number)
        return alike

    assert estimate(count, is_needed, lambda _: False) == (count if alike else 0)
    assert len(asked) <= 4


@given(st.integers(2, 10**6))
def test_after_a_page_that_is_read_as_it_is_others_that_show_text_are_not_read_at_all(count: int) -> None:
    asked: list[int] = []

    def is_needed(number: int) -> bool:
        asked.append(number)
        return False

    assert estimate(count, is_needed, lambda _: True) == 0
    assert asked == [1]


@given(st.integers(5, 10**6))
def test_a_scan_is_found_behind_a_page_of_text(count: int) -> None:
    assert estimate(count, lambda number: number > 1, lambda number: number == 1) > count / 2


@pytest.mark.parametrize("pages", [1, 4])
def test_every_page_of_a_short_document_is_looked_at_unless_it_shows_text(pages: int) -> None:
    asked: list[int] = []

    def is_needed(number: int) -> bool:
        asked.append(number)
        return False

    estimate(pages, is_needed, lambda number: number == 3)
    assert asked == [number for number in range(1, pages + 1) if number != 3]
