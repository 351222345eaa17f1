"""The sample documents are what their README and expected.json say, and their script makes them again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pypdf
import pypdfium2
import pytest

FOLDER = Path(__file__).parent.parent / "sample_docs"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
DOCUMENTS: dict[str, dict[str, Any]] = EXPECTED["documents"]
READABLE = sorted(name for name, entry in DOCUMENTS.items() if entry["reason"] == "ok")
INVOICES = sorted(name for name in READABLE if DOCUMENTS[name]["type"] == "invoice")
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
        pytest.skip("other versions of reportlab, pypdf or zlib may write other bytes")
    assert _digests(made_again[0]) == {name: _digest(FOLDER / name) for name in (*DOCUMENTS, "expected.json")}


def test_the_committed_texts_are_the_ones_that_the_script_writes(made_again: tuple[Path, Path]) -> None:
    fresh = json.loads((made_again[0] / "expected.json").read_text(encoding="utf-8"))
    assert fresh["documents"] == DOCUMENTS
    assert {name: _pages(made_again[0] / name) for name in READABLE} == {
        name: _pages(FOLDER / name) for name in READABLE
    }


def test_every_file_is_in_the_readme_and_in_expected_json_and_the_other_way_round() -> None:
    files = {path.name for path in FOLDER.iterdir() if path.is_file() and path.suffix != ".py"} - NOT_DOCUMENTS
    assert files == set(DOCUMENTS)
    assert files == set(re.findall(r"^\| `([^`]+)` \| [\d-]+ \|", _readme(), re.MULTILINE))


@pytest.mark.parametrize("name", READABLE)
def test_the_readme_gives_the_same_answers_as_expected_json(name: str) -> None:
    entry = DOCUMENTS[name]
    rows = [row for row in _readme().splitlines() if row.startswith(f"| `{name}` |")]
    assert f"| `{name}` | {entry['pages']} |" in rows[0]
    shown = {part.strip() for cell in rows[-1].split("|") for part in cell.split("; ")}
    left_out = {"title", "contract_number", "seller_vat_id", "iban"}
    wanted = {answer["value"] for key, found in entry["fields"].items() if key not in left_out for answer in found}
    assert wanted <= shown


@pytest.mark.parametrize("name", READABLE)
def test_every_expected_value_is_printed_in_the_file(name: str) -> None:
    entry = DOCUMENTS[name]
    pages = _pages(FOLDER / name)
    text = " ".join(" ".join(pages).split())
    printed = [answer["printed"] for found in entry["fields"].values() for answer in found]
    printed += [line[key] for line in entry.get("lines", ()) for key in ("description", "printed_amount")]
    assert [value for value in printed if value not in text] == []
    assert len(pages) == entry["pages"]


@pytest.mark.parametrize("name", INVOICES)
def test_the_amounts_of_an_invoice_add_up(name: str) -> None:
    entry = DOCUMENTS[name]
    net, tax, gross = (Decimal(entry["fields"][key][0]["value"]) for key in ("total_net", "total_tax", "total_gross"))
    products = [Decimal(line["quantity"]) * Decimal(line["unit_price"]) for line in entry["lines"]]
    amounts = [Decimal(line["amount"]) for line in entry["lines"]]
    assert all(abs(product - amount) <= Decimal("0.005") for product, amount in zip(products, amounts, strict=True))
    assert sum(amounts) == net
    assert abs(net * Decimal(entry["tax_percent"]) / 100 - tax) <= Decimal("0.005")
    assert net + tax == gross


@pytest.mark.parametrize("name", [name for name in INVOICES if "iban" in DOCUMENTS[name]["fields"]])
def test_an_iban_has_the_right_check_digits(name: str) -> None:
    iban = DOCUMENTS[name]["fields"]["iban"][0]["value"]
    assert re.fullmatch(r"DE\d{20}", iban)
    assert int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 == 1


def test_the_long_contract_has_200_dense_pages_each_with_its_own_marker_only() -> None:
    pages = _pages(FOLDER / "contract-200-pages.pdf")
    found = [re.findall(r"Page \d+ of 200", page) for page in pages]
    assert found == [[f"Page {number} of 200"] for number in range(1, 201)]
    articles = pages[3:198]
    assert min(len(page) for page in articles) > 2500
    assert len(set(articles)) == len(articles)
    assert (FOLDER / "contract-200-pages.pdf").stat().st_size < 700_000


def test_the_contents_of_the_long_contract_name_the_right_pages() -> None:
    pages = _pages(FOLDER / "contract-200-pages.pdf")
    entries = re.findall(r"^(Article \d+\. .+?) \.+ (\d+)\s*$", pages[1], re.MULTILINE)
    assert len(entries) == 40
    assert [title for title, number in entries if title not in pages[int(number) - 1]] == []


def test_the_copy_is_the_same_file_twice() -> None:
    original = FOLDER / DOCUMENTS["invoice-copy.pdf"]["copy_of"]
    assert (FOLDER / "invoice-copy.pdf").read_bytes() == original.read_bytes()


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
    assert _pages(path, password=entry["password"]) == _pages(FOLDER / entry["encrypted_from"])
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
    return {"reportlab": version("reportlab"), "pypdf": version("pypdf"), "zlib": zlib.ZLIB_RUNTIME_VERSION}


def _pages(path: Path, password: str | None = None) -> list[str]:
    """The text of each page; a text file is one page."""
    if path.suffix == ".txt":
        return [path.read_text(encoding="utf-8")]
    with pypdfium2.PdfDocument(path, password=password) as document:
        return [page.get_textpage().get_text_range() for page in document]
