"""How the reading of electronic invoices does on a folder of them with labels: `python -m bench.einvoices FOLDER`.

A label file NAME.gold.json beside NAME holds {"fields": {...}}; a labelled `iban` is the payee's account or the one
that is debited. PDFs are compared with their print, too. Where the extra `validate` is
installed, the rules that each invoice breaks are held against those of the official schematron.
"""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from pypdf import PdfReader

from pipeline.documents import formats
from pipeline.documents.contract import Means
from pipeline.documents.identify import identify
from pipeline.documents.text import Document
from pipeline.einvoices import against_print, checks, fields, official, reading
from pipeline.einvoices.choosing import choose
from pipeline.einvoices.model import Invoice
from pipeline.errors import DocumentError

_CORE = (
    *("invoice_number", "issue_date", "type_code", "currency", "due_date", "seller_name", "buyer_name"),
    *("seller_vat_id", "iban", "total_net", "total_tax", "total_gross", "amount_due", "line_count"),
)


def main(folder: Path) -> None:
    """Print what was read, what equals its label, and how long it took."""
    scores: Counter[tuple[str, str]] = Counter()
    validator = official.Validator() if official.installed() else None
    spent: list[float] = []
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in (".xml", ".pdf"):
            continue
        started = time.perf_counter()
        read = list(_invoices(path, scores))
        invoices = [invoice for _, invoice in read]
        spent.append(time.perf_counter() - started)
        scores["files", "read" if invoices else "not read"] += 1
        label = path.with_name(path.name + ".gold.json")
        if invoices and label.exists():
            _score(path.name, invoices, json.loads(label.read_text("utf-8"))["fields"], scores)
        _check(path.name, invoices, scores)
        if validator:
            _verdicts(path.name, read, validator, scores)
        if path.suffix.lower() == ".pdf" and invoices:
            _compare(path, choose(invoices), scores)
        if not invoices:
            print(f"not read: {path.name}")
    for (kind, what), count in sorted(scores.items()):
        print(f"{kind:16} {what:10} {count:5}")
    print(f"ms a file: mean {1000 * sum(spent) / len(spent):.1f}, most {1000 * max(spent):.1f}")


def _invoices(path: Path, scores: Counter[tuple[str, str]]) -> Iterator[tuple[bytes, Invoice]]:
    content = path.read_bytes()
    for xml in _attached(content) if path.suffix.lower() == ".pdf" else [content]:
        try:
            yield from ((xml, invoice) for invoice in reading.read(xml))
        except DocumentError as error:
            scores["refused", str(error.reason)] += 1


def _attached(content: bytes) -> Iterator[bytes]:
    for attachment in PdfReader(io.BytesIO(content)).attachment_list:
        if b"<" in attachment.content[:200]:
            yield attachment.content


def _check(name: str, invoices: list[Invoice], scores: Counter[tuple[str, str]]) -> None:
    for invoice in invoices:
        started = time.perf_counter()
        found = checks.check(invoice)
        scores["check", "us"] += round(1_000_000 * (time.perf_counter() - started))
        broken = [each.rule for each in found if not each.passed and each.severity == "fatal"]
        scores["check", "passed"] += sum(each.passed for each in found)
        scores["check", "broken"] += len(broken)
        if broken:
            print(f"{name}: {invoice.profile}: {' '.join(broken)}")


def _verdicts(
    name: str, read: list[tuple[bytes, Invoice]], validator: official.Validator, scores: Counter[tuple[str, str]]
) -> None:
    for content, invoice in read:
        broken = {each.rule for each in checks.check(invoice) if not each.passed and each.severity == "fatal"}
        ours, theirs = {rule for rule in broken if rule.startswith("BR-")}, validator.broken(content, invoice)
        scores["verdicts", "equal" if ours == theirs else "other"] += 1
        if ours != theirs:
            print(f"{name}: ours alone {sorted(ours - theirs)}, theirs alone {sorted(theirs - ours)}")


def _compare(path: Path, invoice: Invoice, scores: Counter[tuple[str, str]]) -> None:
    """With the text of the pages; scans have none here."""
    with path.open("rb") as file:
        kind, media_type = identify(file, path.name, formats.discover())
        with kind.open(file, Means()) as opened:
            pages = tuple(opened.read_page(number).storable() for number in range(1, opened.page_count + 1))
    for each in against_print.compare(invoice, Document(path.name, media_type, pages)):
        scores["print", each.verdict.value] += 1
        if each.verdict is against_print.Verdict.DIFFERS:
            print(f"{path.name}: {each.name} {each.stated!r}, page {each.page} prints {each.printed!r}")


def _score(name: str, invoices: list[Invoice], gold: dict[str, object], scores: Counter[tuple[str, str]]) -> None:
    for field in _CORE:
        if field not in gold:
            continue
        found = _values(choose(invoices), field)
        right = any(_same(each, gold[field]) for each in found)
        scores[field, "equal" if right else "other"] += 1
        if not right:
            print(f"{name}: {field} {found!r} labelled {gold[field]!r}")


def _values(invoice: Invoice, name: str) -> list[str | None]:
    """What may be meant by a label: labels do not say whose account an `iban` is."""
    if name == "line_count":
        return [str(len(invoice.lines))]
    found = {field.name: field.value for field in fields.flat(invoice)}
    return [found.get(each) for each in ((name, "debited_iban") if name == "iban" else (name,))]


def _same(found: str | None, labelled: object) -> bool:
    if found is None or labelled is None:
        return found is None and labelled is None
    if re.fullmatch(r"-?[\d.]+", found) and re.fullmatch(r"-?[\d.]+", str(labelled)) and found.count(".") < 2:
        return Decimal(found) == Decimal(str(labelled))
    return re.sub(r"\s", "", found) == re.sub(r"\s", "", str(labelled))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
