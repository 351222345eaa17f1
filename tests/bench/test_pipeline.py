"""The pipeline's price is taken of what it should be: scans without text, and loops that read what they are given."""

from __future__ import annotations

import io
from pathlib import Path

from bench.bare import Pair
from bench.paper import invoice, scan
from pipeline.documents.contract import Means
from pipeline.documents.formats.pdf import format as pdf


def test_a_scan_to_measure_with_has_no_text_and_an_invoice_has() -> None:
    found = [pdf.inspect(io.BytesIO(content), Means()) for content in (scan(1), invoice(1))]
    assert [(each.page_count, each.ocr_page_count) for each in found] == [(1, 1), (2, 0)]


def test_a_bare_loop_tells_the_processor_time_of_the_files_it_read(tmp_path: Path) -> None:
    path = tmp_path / "invoice.pdf"
    path.write_bytes(invoice(1))
    with Pair("text") as pair:
        assert pair.seconds([path] * 20) > pair.seconds([])
