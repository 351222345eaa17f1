"""A package is counted, measured and inflated within limits, whatever it says of itself; formats are told by parts."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from pipeline.config import LimitSettings
from pipeline.documents.office.packages import MAX_ENTRIES, Package, listing
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents.packing import compound, packed
from tests.documents.reading import refusal, texts
from tests.documents.samples import docx, odt, pptx, rtf, xls, xlsx


def _open(content: bytes, megabytes: float = 100) -> Package:
    return Package(io.BytesIO(content), LimitSettings(max_inflated_megabytes=megabytes))


def _reason(content: bytes, megabytes: float = 100, part: str = "a") -> tuple[Reason, str]:
    with pytest.raises(DocumentError) as refused:
        list(_open(content, megabytes).pieces(part))
    return Reason(refused.value.reason), str(refused.value)


def test_parts_are_found_in_any_case_and_with_either_slash() -> None:
    package = _open(packed({"Word\\Document.XML": "text"}))
    assert package.names == ("word/document.xml",)
    assert b"".join(package.pieces("WORD/document.xml")) == b"text"
    assert list(package.pieces("missing")) == []


def test_a_name_that_climbs_is_no_part() -> None:
    assert _open(packed({"../evil": "x", "a/../../evil": "x", "/etc/passwd": "x", "a": "x"})).names == (
        "etc/passwd",
        "a",
    )


def test_declared_sizes_beyond_the_limit_are_refused_before_anything_is_inflated() -> None:
    with pytest.raises(DocumentError, match=r"limits\.max_inflated_megabytes allows 2") as refused:
        _open(packed({"a": bytes(3_000_000)}), megabytes=2)
    assert refused.value.reason is Reason.BOMB


def test_reading_a_part_again_and_again_counts_each_time() -> None:
    package = _open(packed({"a": bytes(900_000)}), megabytes=2)
    assert len(b"".join(package.pieces("a"))) == 900_000
    assert len(b"".join(package.pieces("a"))) == 900_000
    with pytest.raises(DocumentError, match="max_inflated_megabytes"):
        list(package.pieces("a"))


def test_a_part_that_is_larger_than_it_says_is_damaged_and_never_inflated_further() -> None:
    raw = bytearray(packed({"a": bytes(5_000_000)}))
    struct.pack_into("<I", raw, raw.rfind(b"PK\x01\x02") + 24, 100)
    assert _reason(bytes(raw), megabytes=1)[0] is Reason.CORRUPT


def test_a_part_that_inflates_out_of_proportion_is_a_bomb_and_the_ratio_is_named() -> None:
    reason, sentence = _reason(packed({"a": bytes(60_000_000)}))
    assert reason is Reason.BOMB
    assert "to 60 MB" in sentence
    assert "300-fold" in sentence


def test_too_many_parts_are_refused_by_the_count_without_reading_them() -> None:
    reason, sentence = _reason(packed(dict.fromkeys(map(str, range(MAX_ENTRIES + 1)), "")))
    assert reason is Reason.BOMB
    assert "20,001 parts" in sentence


def test_a_count_that_lies_does_not_let_more_parts_in() -> None:
    raw = bytearray(packed(dict.fromkeys(map(str, range(MAX_ENTRIES + 1)), "")))
    struct.pack_into("<HH", raw, raw.rfind(b"PK\x05\x06") + 8, 1, 1)
    assert _reason(bytes(raw))[0] is Reason.BOMB


def test_parts_that_overlap_are_refused() -> None:
    raw = packed({"a": "x" * 100, "b": "y" * 100}, compression=zipfile.ZIP_STORED)
    at = raw.rfind(b"PK\x01\x02")
    assert _reason(raw[: at + 42] + struct.pack("<I", 10) + raw[at + 46 :])[0] is Reason.BOMB


def test_encrypted_parts_need_a_password() -> None:
    raw = bytearray(packed({"a": "secret"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.rfind(signature) + offset] |= 1
    assert _reason(bytes(raw))[0] is Reason.NEEDS_PASSWORD


def test_other_compression_than_that_of_office_programs_is_not_inflated() -> None:
    reason, sentence = _reason(packed({"a": bytes(1000)}, compression=zipfile.ZIP_BZIP2))
    assert reason is Reason.UNSUPPORTED
    assert "method 12" in sentence


@pytest.mark.parametrize("kept", [0.3, 0.7])
def test_a_package_without_its_end_is_truncated_and_named_by_its_kind(kept: float) -> None:
    whole = docx.document(docx.paragraph("x" * 5000))
    assert refusal(whole[: int(len(whole) * kept)], "contract.docx")[0] is Reason.TRUNCATED


def test_the_listing_of_a_container_names_what_is_in_it() -> None:
    assert listing(io.BytesIO(packed({"Word\\a.xml": "", "b": ""}))) == b"\x00word/a.xml\x00b\x00"
    names = listing(io.BytesIO(compound({"Workbook": b"", "EncryptedPackage": b""})))
    assert sorted(names.split(b"\x00")) == [b"", b"", b"encryptedpackage", b"workbook"]
    assert listing(io.BytesIO(b"plain text")) == b""
    assert listing(io.BytesIO(b"PK\x03\x04 and no more")) == b""


def test_the_listing_is_found_behind_a_long_comment() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("xl/workbook.xml", "")
        package.comment = b"c" * 60_000
    assert listing(file) == b"\x00xl/workbook.xml\x00"


@pytest.mark.parametrize("build", [docx.build, xlsx.build, pptx.build, odt.build], ids=["docx", "xlsx", "pptx", "odt"])
def test_a_package_is_read_by_its_parts_even_when_its_name_says_zip(build: object) -> None:
    assert callable(build)
    assert texts(build(["one", "two"]), "archive.zip") == ["one", "two"]


def test_a_document_with_a_pdf_stored_first_is_still_that_document() -> None:
    content = packed(
        {"word/embeddings/a.pdf": b"%PDF-1.4", "[Content_Types].xml": "", "word/document.xml": docx.body("")},
        compression=zipfile.ZIP_STORED,
    )
    assert texts(content, "a.pdf") == [""]


@pytest.mark.parametrize(
    ("stream", "words"),
    [("WordDocument", "an old Word document .save it as DOCX or PDF"), ("PowerPoint Document", "an old PowerPoint")],
)
def test_an_old_office_document_is_refused_with_what_to_do(stream: str, words: str) -> None:
    with pytest.raises(DocumentError, match=words) as refused:
        texts(compound({stream: b"x"}), "letter.doc")
    assert refused.value.reason is Reason.UNSUPPORTED


def test_every_sample_is_told_from_every_other() -> None:
    for build in (docx.build, xlsx.build, pptx.build, odt.build, xls.build, rtf.build):
        assert texts(build(["only page"])) == ["only page"]
