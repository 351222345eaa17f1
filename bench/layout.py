"""Whether rows of invoices survive the layout, and what it costs: `PYTHONPATH=. python bench/layout.py CORPUS`

Rows are intact when their cells stand on one line in order, separable when splitting that line at two or more spaces
gives just these cells. Measured on pages drawn here, as six kinds of producers write them, with and without running
text above; and on the lines in the labels (`lines` in *.gold.json) of CORPUS/invoices_pdf, where a cell is the
description as printed and each other value is a number that must be printed on the line, in any notation.

Costs are CPU milliseconds a page, the best of five rounds over the same pages: pdfium's text (load, text page, text),
the layout by itself, and both; on CORPUS/invoices_pdf and on CORPUS/contracts, forty pages a document at most.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pypdfium2

from pipeline.documents.pdf.layout import page_layout
from tests.documents.drawn_invoices import STYLES, invoice, rows

_ROUNDS = 5
_PAGES = 40  # of a document
_INVOICES = 30  # of a style


def _text_pages(document: Any) -> Iterator[Any]:
    for number in range(min(len(document), _PAGES)):
        page = document[number]
        text_page = page.get_textpage()
        yield text_page
        text_page.close()
        page.close()


def _layouts(document: Any) -> str:
    return "\n".join(page_layout(page, page.get_text_range()).text for page in _text_pages(document))


def _cells(line: str) -> list[str]:
    return re.split(" {2,}", line.strip())


def _drawn() -> None:
    for style in STYLES:
        intact = separable = total = 0
        for seed in range(_INVOICES):
            random_ = random.Random(f"{style} {seed}")  # noqa: S311
            items = rows(random_, random_.randint(3, 25))
            size = random_.choice((8, 9, 10, 10.5)) if style != "line" else 9
            content = invoice(style, items, terms=seed % 2 == 1, size=size)
            lines = [_cells(line) for line in _layouts(pypdfium2.PdfDocument(content)).split("\n")]
            words = {" ".join(line) for line in lines}
            total += len(items)
            intact += sum(" ".join(item) in words for item in items)
            separable += sum(list(item) in lines for item in items)
        print(f"drawn, a {style:8s} {total:4d} rows: intact {intact / total:.3f}, separable {separable / total:.3f}")


def _labelled(folder: Path) -> None:
    intact = separable = total = 0
    for gold in sorted(folder.glob("*.gold.json")):
        items = json.loads(gold.read_text(encoding="utf-8")).get("lines") or []
        source = gold.with_name(gold.name.removesuffix(".gold.json"))
        if not items or source.suffix != ".pdf":
            continue
        lines = _layouts(pypdfium2.PdfDocument(source)).split("\n")
        total += len(items)
        intact += sum(any(_is_printed(item, [line]) for line in lines) for item in items)
        separable += sum(any(_is_printed(item, _cells(line)) for line in lines) for item in items)
    print(f"labelled invoices: {total} rows: intact {intact}, separable {separable}")


def _is_printed(item: dict[str, str], cells: Sequence[str]) -> bool:
    """Whether a row's description stands in a cell and its numbers in cells behind it, or all in the only one."""
    description, *numbers = (item[key] for key in ("description", "quantity", "unit_price", "amount") if item.get(key))
    start = next((at for at, cell in enumerate(cells) if description in " ".join(cell.split())), None)
    if start is None:
        return False
    if len(cells) == 1:
        return all(_plain(number) in map(_plain, re.findall(r"[\d.,]*\d", cells[0])) for number in numbers)
    printed = [_plain(found) for cell in cells[start + 1 :] for found in re.findall(r"[\d.,]*\d", cell)[:1]]
    return all(_plain(number) in printed for number in numbers)


def _plain(number: str) -> str:
    return re.sub(r"\D", "", number).rstrip("0").lstrip("0")


def _cost(name: str, paths: Sequence[Path]) -> None:
    count = sum(min(len(pypdfium2.PdfDocument(path)), _PAGES) for path in paths)

    def text(page: Any) -> None:
        page.get_text_range()

    def both(page: Any) -> None:
        page_layout(page, page.get_text_range())

    plain, whole = (_milliseconds(paths, work) / count for work in (text, both))
    share = 1 + (whole - plain) / plain
    print(
        f"{name}: {count} pages: text {plain:.2f}, layout {whole - plain:.2f}, both {whole:.2f} ms, {share:.2f} x text"
    )


def _milliseconds(paths: Sequence[Path], work: Callable[[Any], None]) -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        started = time.process_time()
        for path in paths:
            document = pypdfium2.PdfDocument(path)
            for page in _text_pages(document):
                work(page)
            document.close()
        best = min(best, time.process_time() - started)
    return best * 1000


def main(corpus: Path) -> None:
    """Print all figures."""
    _drawn()
    _labelled(corpus / "invoices_pdf")
    _cost("invoices", sorted((corpus / "invoices_pdf").glob("*.pdf")))
    _cost("contracts", sorted((corpus / "contracts").rglob("*.pdf")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
