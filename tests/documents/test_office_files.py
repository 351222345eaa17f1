"""What is in an office document besides its text, and what it is in: embedded files, pictures, locks."""

from __future__ import annotations

import io
import random
import struct

from msoffcrypto.format.ooxml import OOXMLFile  # type: ignore[import-untyped]
from PIL import Image

from pipeline.documents.contract import Means
from pipeline.reasons import Reason
from tests.documents.packing import compound
from tests.documents.reading import files, refusal, texts
from tests.documents.samples import xlsx
from tests.documents.samples.docx import body, document, paragraph

NOISE = random.Random(1).randbytes(6000)  # noqa: S311 - the library that locks needs more than 4 KiB to do it well


def _locked(content: bytes, password: str) -> bytes:
    file = io.BytesIO()
    OOXMLFile(io.BytesIO(content)).encrypt(password, file)
    return file.getvalue()


def test_a_locked_document_opens_with_a_known_password_and_names_its_lack() -> None:
    locked = _locked(document(paragraph("confidential"), {"noise": NOISE}), "key")
    assert texts(locked, "a.docx", Means(passwords=("wrong", "key"))) == ["confidential"]
    reason, sentence = refusal(locked, "a.docx", Means(passwords=("wrong",)))
    assert reason is Reason.NEEDS_PASSWORD
    assert "none of 1 known passwords" in sentence


def test_a_lock_that_asks_for_too_much_work_is_refused_before_it() -> None:
    description = struct.pack("<HHI", 4, 4, 0x40) + b'<encryption><encryptedKey spinCount="10000000"/></encryption>'
    content = compound({"EncryptionInfo": description, "EncryptedPackage": b"x"})
    assert refusal(content, "a.docx", Means(passwords=("a",)))[0] is Reason.BOMB


def test_a_workbook_under_a_word_name_is_read_as_a_workbook_and_a_locked_one_says_so() -> None:
    assert texts(xlsx.build(["cells"]), "a.docx") == ["cells"]
    reason, sentence = refusal(
        _locked(xlsx.workbook({}, parts={"noise": NOISE}), "key"), "a.docx", Means(passwords=("key",))
    )
    assert reason is Reason.UNSUPPORTED
    assert "an Excel workbook" in sentence


def _image(width: int, height: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (width, height)).save(file, "PNG")
    return file.getvalue()


def _native(name: bytes, content: bytes) -> bytes:
    inside = b"\x02\x00" + name + b"\x00C:\\temp\\" + name + b"\x00" + bytes(4)
    inside += struct.pack("<I", 4) + b"C:\\\x00" + struct.pack("<I", len(content)) + content
    return struct.pack("<I", len(inside)) + inside


def test_embedded_files_are_taken_out_of_their_wrappings() -> None:
    pdf = b"%PDF-1.4 " + b"x" * 5000
    parts: dict[str, str | bytes] = {
        "embeddings/Offer.xlsx": b"PK-something",
        "embeddings/oleObject1.bin": compound({"\x01Ole10Native": _native(b"offer.pdf", pdf)}),
        "embeddings/oleObject2.bin": compound({"CONTENTS": pdf}),
        "embeddings/oleObject3.bin": compound({"Equation Native": b"x"}),
        "embeddings/oleObject4.bin": b"damaged",
    }
    found = files(document(paragraph("with files"), parts))
    assert found[0] == ("Offer.xlsx", "", b"PK-something")
    assert found[1] == ("offer.pdf", "", pdf)
    assert found[2][2] == pdf
    assert found[3][1:] == ("an embedded object of an unknown kind", None)
    assert found[4][1].startswith("corrupt: ")


def test_pictures_are_decoration_beside_text_and_scans_without_it() -> None:
    parts: dict[str, str | bytes] = {
        "media/scan.png": _image(700, 1000),
        "media/logo.png": _image(80, 30),
        "media/drawing.emf": b"x",
    }
    scanned = files(document(paragraph("see below"), parts))
    assert [(name, left_out) for name, left_out, _ in scanned] == [
        ("scan.png", ""),
        ("logo.png", "decoration: an image of 80 x 30 pixels"),
        ("drawing.emf", "decoration: a drawing"),
    ]
    assert scanned[0][2] == parts["media/scan.png"]
    written = files(document(paragraph("A letter with a photograph in it. " * 20), parts))
    assert written[0][1] == "decoration: an image of 700 x 1000 pixels"


def test_one_flat_xml_file_is_a_word_document_with_its_files() -> None:
    package = "http://schemas.microsoft.com/office/2006/xmlPackage"
    content = (
        f'<?xml version="1.0"?><?mso-application progid="Word.Document"?><pkg:package xmlns:pkg="{package}">'
        '<pkg:part pkg:name="/word/document.xml"><pkg:xmlData>'
        + body(paragraph("flat")).partition("?>")[2]
        + "</pkg:xmlData>"
        '</pkg:part><pkg:part pkg:name="/word/embeddings/a.pdf"><pkg:binaryData>JVBERg==</pkg:binaryData></pkg:part>'
        "</pkg:package>"
    ).encode()
    assert texts(content) == ["flat"]
    assert files(content) == [("a.pdf", "", b"%PDF")]
