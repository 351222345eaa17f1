"""The sample documents are what their README and expected.json say, and their script makes them again."""

from __future__ import annotations

import email.policy
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pypdf
import pypdfium2
import pytest
from PIL import Image

FOLDER = Path(__file__).parent.parent / "sample_docs"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
DOCUMENTS: dict[str, dict[str, Any]] = EXPECTED["documents"]
MAIL = "rechnung-per-mail.eml"
FACTURX = "facture-facturx.pdf"
INSIDE: dict[str, dict[str, Any]] = {
    name: entry for outer in DOCUMENTS.values() for name, entry in outer.get("inside", {}).items()
}
ENTRIES = DOCUMENTS | INSIDE
READABLE = sorted(name for name, entry in ENTRIES.items() if entry.get("reason") == "ok")
WITH_TEXT = [name for name in READABLE if ENTRIES[name].get("source") != "ocr"]
INVOICES = [name for name in READABLE if ENTRIES[name]["type"] == "invoice"]
NOT_DOCUMENTS = {"README.md", "expected.json", ".gitattributes"}


@pytest.fixture(scope="module")
def made_again(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two folders, each filled by a process of its own with another seed for hashes."""
    first, second = tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")
    for seed, folder in enumerate((first, second), 1):
        command = [sys.executable, str(FOLDER / "make_samples.py"), str(folder)]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": str(seed)})
    return first, second


def test_making_them_twice_gives_the_same_bytes(made_again: tuple[Path, Path]) -> None:
    first, second = map(_digests, made_again)
    assert first == second
    assert set(first) == {*DOCUMENTS, "expected.json"}


def test_the_committed_files_are_the_ones_that_the_script_makes(made_again: tuple[Path, Path]) -> None:
    if EXPECTED["made_with"] != _installed():
        pytest.skip("other versions of what draws them may write other bytes")
    assert _digests(made_again[0]) == {name: _digest(FOLDER / name) for name in (*DOCUMENTS, "expected.json")}


def test_the_committed_texts_are_the_ones_that_the_script_writes(made_again: tuple[Path, Path]) -> None:
    fresh = json.loads((made_again[0] / "expected.json").read_text(encoding="utf-8"))
    assert fresh["documents"] == DOCUMENTS
    fresh_pages = {name: _pages(name, _content(name, made_again[0])) for name in READABLE}
    assert fresh_pages == {name: _pages(name, _content(name)) for name in READABLE}


def test_every_file_is_in_the_readme_and_in_expected_json_and_the_other_way_round() -> None:
    files = {path.name for path in FOLDER.iterdir() if path.is_file() and path.suffix != ".py"} - NOT_DOCUMENTS
    assert files == set(DOCUMENTS)
    assert files == set(re.findall(r"^\| `([^`]+)` \| (?:\d+|-) \|", _readme(), re.MULTILINE))


@pytest.mark.parametrize("name", READABLE)
def test_the_readme_gives_the_same_answers_as_expected_json(name: str) -> None:
    entry = ENTRIES[name]
    row_of = entry.get("rendition_of", name)
    rows = [row for row in _readme().splitlines() if row.startswith(f"| `{row_of}` |")]
    assert name in INSIDE or f"| `{name}` | {entry['pages']} |" in rows[0]
    shown = {part.strip() for cell in rows[-1].split("|") for part in cell.split("; ")}
    left_out = {"title", "contract_number", "seller_vat_id", "iban"}
    wanted = {answer["value"] for key, found in entry["fields"].items() if key not in left_out for answer in found}
    assert wanted <= shown


@pytest.mark.parametrize("name", WITH_TEXT)
def test_every_expected_value_is_printed_in_the_file(name: str) -> None:
    entry = ENTRIES[name]
    pages = _pages(name, _content(name))
    text = " ".join(" ".join(pages).split())
    printed = [answer["printed"] for found in entry["fields"].values() for answer in found]
    printed += [line[key] for line in entry.get("lines", ()) for key in ("description", "printed_amount")]
    assert [value for value in printed if value not in text] == []
    assert len(pages) == entry["pages"]


@pytest.mark.parametrize("name", INVOICES)
def test_the_amounts_of_an_invoice_add_up(name: str) -> None:
    entry = ENTRIES[name]
    net, tax, gross = (Decimal(entry["fields"][key][0]["value"]) for key in ("total_net", "total_tax", "total_gross"))
    products = [Decimal(line["quantity"]) * Decimal(line["unit_price"]) for line in entry["lines"]]
    amounts = [Decimal(line["amount"]) for line in entry["lines"]]
    assert all(abs(product - amount) <= Decimal("0.005") for product, amount in zip(products, amounts, strict=True))
    assert sum(amounts) == net
    assert abs(net * Decimal(entry["tax_percent"]) / 100 - tax) <= Decimal("0.005")
    assert net + tax == gross


@pytest.mark.parametrize("name", [name for name in INVOICES if "iban" in ENTRIES[name]["fields"]])
def test_an_iban_has_the_right_check_digits(name: str) -> None:
    iban = ENTRIES[name]["fields"]["iban"][0]["value"]
    assert re.fullmatch(r"DE\d{20}|FR\d{25}", iban)
    assert int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 == 1


def test_the_long_contract_has_200_dense_pages_each_with_its_own_marker_only() -> None:
    pages = _pages("contract-200-pages.pdf", _content("contract-200-pages.pdf"))
    found = [re.findall(r"Page \d+ of 200", page) for page in pages]
    assert found == [[f"Page {number} of 200"] for number in range(1, 201)]
    articles = pages[3:198]
    assert min(len(page) for page in articles) > 2500
    assert len(set(articles)) == len(articles)
    assert (FOLDER / "contract-200-pages.pdf").stat().st_size < 700_000


def test_the_contents_of_the_long_contract_name_the_right_pages() -> None:
    pages = _pages("contract-200-pages.pdf", _content("contract-200-pages.pdf"))
    entries = re.findall(r"^(Article \d+\. .+?) \.+ (\d+)\s*$", pages[1], re.MULTILINE)
    assert len(entries) == 40
    assert [title for title, number in entries if title not in pages[int(number) - 1]] == []


def test_the_scan_is_one_picture_of_a_page_at_200_dpi_without_any_text() -> None:
    with pypdfium2.PdfDocument(FOLDER / "scanned-invoice.pdf") as document:
        (page,) = document
        (shown,) = page.get_objects()
        picture = shown.get_bitmap().to_pil()
        inches = [points / 72 for points in page.get_size()]
        assert page.get_textpage().count_chars() == 0
    assert [round(side / length) for side, length in zip(picture.size, inches, strict=True)] == [200, 200]
    assert len(picture.convert("L").getcolors()) > 100  # a scanner's, not a drawing program's


def test_the_mail_carries_an_inline_pdf_its_xml_and_a_small_logo() -> None:
    parts = {part.get_filename(): part for part in _parts(_content(MAIL)) if part.get_filename()}
    pdf, xml, logo = "Rechnung-2026-4417.pdf", "Rechnung-2026-4417.xml", "logo.png"
    assert [*parts] == [*DOCUMENTS[MAIL]["inside"]] == [logo, pdf, xml]
    assert INSIDE[xml]["rendition_of"] == pdf
    assert [parts[name].get_content_disposition() for name in (logo, pdf, xml)] == ["inline", "inline", "attachment"]
    assert _xml(_content(xml)).tag == "{urn:oasis:names:specification:ubl:schema:xsd:Invoice-2}Invoice"
    assert max(Image.open(io.BytesIO(_content(logo))).size) < 200
    assert not any(part.defects for part in _parts(_content(MAIL)))


def test_the_copy_is_the_same_file_twice() -> None:
    original = FOLDER / DOCUMENTS["invoice-copy.pdf"]["copy_of"]
    assert (FOLDER / "invoice-copy.pdf").read_bytes() == original.read_bytes()


def test_the_invoice_that_was_scanned_came_by_mail_too_with_the_same_claim_in_other_bytes() -> None:
    mailed, scanned = DOCUMENTS["invoice-glazing.pdf"], DOCUMENTS["scanned-invoice.pdf"]
    assert mailed["same_invoice_as"] == "scanned-invoice.pdf"
    assert mailed["fields"] == scanned["fields"]
    assert "source" not in mailed


def test_the_facturx_carries_its_xml_as_its_alternative_and_claims_more_in_it_than_it_prints() -> None:
    reader = pypdf.PdfReader(FOLDER / FACTURX)
    (named,) = (each.get_object() for each in _array(reader.root_object["/AF"]))
    assert (named["/AFRelationship"], named["/UF"]) == ("/Alternative", "factur-x.xml")
    assert _xml(_content("factur-x.xml")).tag.endswith("CrossIndustryInvoice")
    text = _pages(FACTURX, _content(FACTURX))[0]
    entry = DOCUMENTS[FACTURX]
    sums = ("total_net", "total_tax", "total_gross")
    assert entry["failed_checks"] == [f"xml_vs_print_{name}" for name in sums]
    for name in sums:
        (answer,) = entry["fields"][name]
        claimed = f"{Decimal(answer['value']):,.2f}".translate(str.maketrans(",.", " ,"))
        assert answer["printed"] in text
        assert claimed not in text


def test_the_damaged_file_is_the_beginning_of_a_good_one_and_no_parser_opens_it() -> None:
    content = (FOLDER / "damaged.pdf").read_bytes()
    whole = (FOLDER / DOCUMENTS["damaged.pdf"]["cut_from"]).read_bytes()
    assert whole.startswith(content)
    assert b"%%EOF" not in content
    with pytest.raises(pypdfium2.PdfiumError):
        pypdfium2.PdfDocument(content)


def test_the_encrypted_file_opens_with_its_password_only() -> None:
    entry = DOCUMENTS["encrypted.pdf"]
    path = FOLDER / "encrypted.pdf"
    with pytest.raises(pypdfium2.PdfiumError, match="password"):
        pypdfium2.PdfDocument(path)
    original = entry["encrypted_from"]
    assert _pages(path.name, path.read_bytes(), entry["password"]) == _pages(original, _content(original))
    encryption = pypdf.PdfReader(path).trailer["/Encrypt"].get_object()
    assert isinstance(encryption, pypdf.generic.DictionaryObject)
    assert [int(str(encryption[key])) for key in ("/V", "/R", "/Length")] == [5, 6, 256]


def test_the_folder_stays_small() -> None:
    sizes = [path.stat().st_size for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(sizes) < 1_500_000


def _readme() -> str:
    return (FOLDER / "README.md").read_text(encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: _digest(path) for path in folder.iterdir()}


def _installed() -> dict[str, str]:
    versions = {name: version(name) for name in ("reportlab", "pypdf", "pypdfium2", "pillow")}
    return versions | {"zlib": zlib.ZLIB_RUNTIME_VERSION}


def _content(name: str, folder: Path = FOLDER) -> bytes:
    """The bytes of a sample, or of a file in the mail or in the PDF with XML."""
    if name not in INSIDE:
        return (folder / name).read_bytes()
    if name in DOCUMENTS[FACTURX]["inside"]:
        return pypdf.PdfReader(folder / FACTURX).attachments[name][0]
    (part,) = (each for each in _parts((folder / MAIL).read_bytes()) if each.get_filename() == name)
    content: bytes = part.get_payload(decode=True)
    return content


def _array(found: Any) -> Any:
    return found.get_object()


def _xml(content: bytes) -> ET.Element:
    return ET.fromstring(content)  # noqa: S314 - it is our own


def _parts(mail: bytes) -> Iterator[Any]:
    return email.message_from_bytes(mail, policy=email.policy.default).walk()


def _pages(name: str, content: bytes, password: str | None = None) -> list[str]:
    """The text of each page; what has no pages is one."""
    match Path(name).suffix:
        case ".txt":
            return [content.decode()]
        case ".eml":
            message: Any = email.message_from_bytes(content, policy=email.policy.default)
            return [f"{message['subject']}\n{message.get_body(('plain',)).get_content()}"]
        case ".xml":
            return ["\n".join(_xml(content).itertext())]
        case ".docx":
            body = zipfile.ZipFile(io.BytesIO(content)).read("word/document.xml").decode()
            return [re.sub("<[^>]+>", "\n", page) for page in body.split('<w:br w:type="page"/>')]
    with pypdfium2.PdfDocument(content, password=password) as document:
        return [page.get_textpage().get_text_range() for page in document]
