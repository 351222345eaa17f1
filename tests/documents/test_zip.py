"""An archive gives every file that is in it and none that is not, and costs no more than its limits."""

from __future__ import annotations

import base64
import io
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.documents.archives.zip_directory import names_encoding
from pipeline.documents.formats import discover
from pipeline.documents.formats.zip_archive import format as zip_format
from pipeline.documents.identify import identify
from pipeline.documents.office.packages import listing
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents import trees
from tests.documents.samples import zip as sample
from tests.documents.trees import Unpacked, means, unpack
from tests.documents.zips import AES_128, AES_256, changed, forged_crc, locked_zip, zipped

PDF = trees.invoice_pdf("INV-1")


def _with_mode(name: str, mode: int, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, mode << 16
        archive.writestr(info, content)
        archive.writestr("a.pdf", PDF)
    return file.getvalue()


def _named(raw_name: bytes) -> bytes:
    """An archive that does not tell the encoding of its only name."""
    return zipped(("x" * len(raw_name), PDF)).replace(b"x" * len(raw_name), raw_name)


def _files(content: bytes, *passwords: str, **limits: float) -> list[Unpacked]:
    return unpack(zip_format, content, means(*passwords, **limits))[1]


def _refusal(content: bytes, *passwords: str, **limits: float) -> DocumentError:
    with pytest.raises(DocumentError) as refusal:
        _files(content, *passwords, **limits)
    return refusal.value


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_file_comes_out_byte_by_byte_under_its_path(method: int) -> None:
    large = trees.picture(700, 700)
    pages, found = unpack(
        zip_format, zipped(("a/invoice.pdf", PDF), ("b/invoice.pdf", large), ("c", b""), method=method)
    )
    assert [(each.name, each.content) for each in found] == [
        ("a/invoice.pdf", PDF),
        ("b/invoice.pdf", large),
        ("c", b""),
    ]
    assert pages[0].split("\n")[0] == f"a/invoice.pdf  {len(PDF):,} bytes  2026-03-02 09:00"


@pytest.mark.parametrize(
    "name",
    ["../evil.pdf", "a/../../evil.pdf", "/etc/passwd", "C:\\evil.pdf", "..\\evil.pdf", "\\\\host\\evil.pdf", "c:x"],
)
def test_a_name_that_leaves_its_folder_is_left_out(name: str) -> None:
    evil, good = _files(zipped((name, PDF), ("a.pdf", PDF)))
    assert (evil.left_out, evil.content) == ("unsafe path", None)
    assert good.content == PDF


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        (stat.S_IFLNK | 0o777, "a link"),
        (stat.S_IFCHR | 0o600, "a device"),
        (stat.S_IFBLK | 0o600, "a device"),
        (stat.S_IFIFO | 0o600, "a pipe"),
        (stat.S_IFDIR | 0o755, "a folder"),
    ],
)
def test_what_is_no_regular_file_is_left_out(mode: int, kind: str) -> None:
    odd, good = _files(_with_mode("odd", mode, b"/etc/passwd"))
    assert (odd.left_out, odd.content) == (kind, None)
    assert good.content == PDF


def test_litter_and_folders_are_left_out_and_do_not_count() -> None:
    names = ["empty/", "__MACOSX/._a.pdf", ".DS_Store", "b/Thumbs.db"]
    found = _files(zipped(*((name, b"") for name in names), ("a.pdf", PDF)), max_children=1)
    litter = "litter of the system that packed it"
    assert [each.left_out for each in found] == ["a folder", litter, litter, litter, ""]


@pytest.mark.parametrize(
    ("raw_name", "name"),
    [
        ("M\u00e4rz.pdf".encode(), "M\u00e4rz.pdf"),
        ("M\u00e4rz.pdf".encode("cp437"), "M\u00e4rz.pdf"),
        ("Gr\u00fc\u00dfe f\u00fcr M\u00e4rz.pdf".encode("cp1252"), "Gr\u00fc\u00dfe f\u00fcr M\u00e4rz.pdf"),
        ("\u8acb\u6c42\u66f8\u306e\u4ef6.pdf".encode("cp932"), "\u8acb\u6c42\u66f8\u306e\u4ef6.pdf"),
        (
            "\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442.pdf".encode("cp866"),
            "\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442.pdf",
        ),
        (b"a\x1b[2Jb.pdf", "a\ufffd[2Jb.pdf"),
        (b"y" * 5_000 + b".pdf", "y" * 195 + "\u2026.pdf"),
    ],
)
def test_names_are_shown_as_they_were_meant(raw_name: bytes, name: str) -> None:
    (found,) = _files(_named(raw_name))
    assert (found.name, found.content) == (name, PDF)


@given(st.binary(max_size=200))
def test_any_names_have_an_encoding(names: bytes) -> None:
    names.decode(names_encoding(names), "replace")


def test_a_locked_file_opens_with_any_password_that_is_known() -> None:
    locked = locked_zip(PDF, b"secret")
    with zipfile.ZipFile(io.BytesIO(locked)) as archive:
        assert archive.read("a.pdf", b"secret") == PDF
    assert _files(locked, "wrong", "secret")[0].content == PDF
    for archive_of in (AES_128, AES_256):
        (found,) = _files(base64.b64decode(archive_of), "wrong", "Schl\u00fcssel")
        assert found.content == b"forty two chairs " * 40


def test_an_archive_of_which_every_file_is_locked_needs_a_password() -> None:
    for locked in (locked_zip(PDF, b"secret"), base64.b64decode(AES_256)):
        assert _refusal(locked, "wrong").reason is Reason.NEEDS_PASSWORD


def test_a_locked_file_among_others_is_left_out_alone() -> None:
    content = zipped(("a.pdf", PDF), ("b.pdf", PDF))
    first, second = _files(changed(content, 8, b"\x01"))
    assert first.content == PDF
    assert (second.left_out, second.content) == ("needs a password", None)


def test_a_changed_byte_behind_the_lock_is_noticed() -> None:
    content = bytearray(base64.b64decode(AES_256))
    content[content.index(b"PK\x01\x02") - 1] ^= 1
    (found,) = _files(bytes(content), "Schl\u00fcssel")
    assert found.fault.startswith("damaged")


def test_more_than_the_inflated_bytes_allowed_is_a_bomb_before_anything_is_inflated() -> None:
    content = changed(zipped(("a.pdf", PDF)), 24, struct.pack("<I", 3_000_000_000))
    refusal = _refusal(content)
    assert refusal.reason is Reason.BOMB
    assert "3,000 MB; limits.max_inflated_megabytes allows 1000" in str(refusal)
    assert "allows 0.001" in str(_refusal(zipped(("a.pdf", PDF)), max_inflated_megabytes=0.001))


def test_more_files_than_allowed_is_a_bomb() -> None:
    refusal = _refusal(sample.build(["one", "two"]), max_children=99)
    assert refusal.reason is Reason.BOMB
    assert "limits.max_children allows 99" in str(refusal)


def test_a_bomb_among_files_is_left_out_and_the_others_are_read() -> None:
    bomb, good = _files(zipped(("zero.bin", bytes(25_000_000)), ("a.pdf", PDF)))
    assert bomb.left_out.startswith("bomb: it unpacks ")
    assert "25 MB" in bomb.left_out
    assert good.content == PDF


def test_a_size_that_lies_stops_the_inflating() -> None:
    content = changed(zipped(("zero.bin", bytes(90_000_000))), 24, struct.pack("<I", 1_000))
    tracemalloc.start()
    (found,) = _files(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.fault == "damaged: it inflates to more than the 1,000 bytes it declares"
    assert peak < 2_000_000


def test_entries_that_share_bytes_are_a_bomb() -> None:
    content = zipped(("a.pdf", PDF), ("b.pdf", PDF))
    assert _refusal(changed(content, 42, struct.pack("<I", 10))).reason is Reason.BOMB


@pytest.mark.parametrize(
    ("field", "value"), [(16, b"\x00\x00\x00\x01"), (24, b"\x01\x00\x00\x00"), (42, b"\xff\xff\x00\x00")]
)
def test_a_damaged_file_says_so_and_harms_no_other(field: int, value: bytes) -> None:
    first, second = _files(changed(zipped(("a.pdf", PDF), ("b.pdf", PDF)), field, value))
    assert first.content == PDF
    assert second.fault.startswith("damaged: ")


def test_a_method_that_nobody_unpacks_is_named() -> None:
    (found,) = _files(changed(zipped(("a.pdf", PDF)), 10, b"\x09"))
    assert "method 9" in found.fault


def test_an_archive_that_holds_itself_says_so() -> None:
    whole = zipped(("a.zip", b"x"))
    own = struct.pack("<I", len(whole))
    (found,) = _files(forged_crc(changed(whole, 24, own)))
    assert found.left_out == "the archive itself"


def test_an_archive_without_its_end_is_truncated() -> None:
    assert _refusal(zipped(("a.pdf", PDF))[:-200]).reason is Reason.TRUNCATED


def test_a_part_of_a_split_archive_is_named() -> None:
    whole = zipped(("a.pdf", PDF))
    at = whole.rindex(b"PK\x05\x06") + 4
    refusal = _refusal(whole[:at] + b"\x02\x00" + whole[at + 2 :])
    assert refusal.reason is Reason.UNSUPPORTED
    assert "join its parts" in str(refusal)


def test_an_empty_archive_has_no_files_and_an_empty_page() -> None:
    assert unpack(zip_format, zipped()) == ([""], [])


def test_an_archive_of_large_sizes_is_read() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("a.pdf", "w", force_zip64=True) as entry:
        entry.write(PDF)
    assert _files(file.getvalue())[0].content == PDF


@pytest.mark.parametrize(
    "names",
    [("[Content_Types].xml", "word/document.xml"), ("mimetype", "content.xml"), ("META-INF/MANIFEST.MF", "A.class")],
)
def test_a_package_of_one_document_is_no_archive_of_documents(names: tuple[str, ...]) -> None:
    content = zipped(*((name, b"application/x") for name in names))
    assert zip_format.recognises(content, content + listing(io.BytesIO(content)), "a.zip") is None
    cut = content[: content.index(b"PK\x01\x02")]
    assert zip_format.recognises(cut, cut, "a.zip") is None


def test_an_archive_of_packages_is_an_archive() -> None:
    in_a_folder = zipped(("word/a.pdf", PDF))
    assert identify(io.BytesIO(in_a_folder), "a.zip", discover())[0] is zip_format
    word = zipped(("[Content_Types].xml", b"<x/>"), ("word/document.xml", b"<x/>"))
    content = zipped(("letter.docx", word), method=zipfile.ZIP_STORED)
    assert identify(io.BytesIO(content), "a.zip", discover())[0] is zip_format


def test_a_pdf_and_its_xml_in_one_archive_are_one_invoice() -> None:
    files = ("INV-1.pdf", PDF), ("INV-1.xml", trees.invoice_xml("INV-1")), ("INV-2.pdf", trees.invoice_pdf("INV-2"))
    assert [each.rendition_of for each in _files(zipped(*files))] == [None, 1, None]


_SEEDS: list[Callable[[], bytes]] = [
    lambda: zipped(("a.pdf", PDF), ("b/c.txt", b"words " * 500)),
    lambda: zipped(("a", PDF), method=zipfile.ZIP_LZMA),
    lambda: locked_zip(PDF, b"secret"),
    lambda: base64.b64decode(AES_256),
]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(_SEEDS),
    st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 255)), max_size=6),
    st.integers(0, 90),
)
def test_whatever_is_in_an_archive_nothing_but_named_refusals_leave(
    seed: Callable[[], bytes], changes: list[tuple[int, int]], dropped: int
) -> None:
    content = bytearray(seed())
    for at, value in changes:
        content[-1 - at % len(content)] = value
    with suppress(DocumentError):
        _files(bytes(content[: len(content) - dropped]), "secret", "Schl\u00fcssel")
