"""P5: what was read of a page survives with it, also where its words stand: nobody sees that an attempt was resumed."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from reportlab.pdfgen.canvas import Canvas
from sqlalchemy import Engine

from handlers import invoice
from pipeline.documents.formats import pdf
from pipeline.documents.text import Page
from pipeline.queue.store import Queue
from pipeline.results import Results
from pipeline.work import Job, process
from pipeline.worker.frames import MAX_FRAME_BYTES, encode, page_fields, page_of, stored_frames
from tests.conftest import Clock
from tests.queue import rows
from tests.stories import checkpoint, claim
from tests.tasks import add_task

SHEETS = (
    ("Kestrel Papermill Ltd.", "Invoice no.: KP-2026-0815", "Invoice date: 03.11.2026", "Paper, white   200.00"),
    ("Net amount   200.00", "VAT 19%   38.00", "Total amount   238.00", "Payable by 17.11.2026"),
)


def _document() -> io.BytesIO:
    content = io.BytesIO()
    canvas = Canvas(content)
    for lines in SHEETS:
        for number, line in enumerate(lines):
            label, _, amount = line.partition("   ")
            canvas.drawString(60, 780 - 20 * number, label)
            canvas.drawRightString(500, 780 - 20 * number, amount)
        canvas.showPage()
    canvas.save()
    return content


def _read(stored: Sequence[Page] = (), whole: int = 0) -> tuple[list[Page], Mapping[str, Any]]:
    """The pages that were read, as their parent has them, and the fields."""
    told: list[Page] = []
    job = Job(_document(), "invoice.pdf", stored=tuple(stored), whole=whole)
    finished = process(
        job,
        (pdf.format,),
        {"invoice": invoice.handler},
        on_open=lambda count: None,
        on_page=lambda page: told.append(_travelled(page_fields(page))),
        on_attachment=lambda attachment: None,
    )
    return told, finished.result["fields"]


def _travelled(fields: Mapping[str, Any]) -> Page:
    return page_of(json.loads(encode(fields)[4:]))


def test_a_resumed_attempt_puts_the_same_boxes_around_the_same_fields(
    engine: Engine, queue: Queue, clock: Clock
) -> None:
    unbroken, fields = _read()
    task_id = add_task(engine, queue, pages=2)
    checkpoint(engine, queue, claim(queue, task_id), unbroken[:1])
    clock.advance(minutes=1)
    rows.sweep(queue)
    material = Results(engine).material(claim(queue, task_id, worker="other"))
    assert list(material.stored) == unbroken[:1]
    stored = itertools.chain.from_iterable(frame["pages"] for frame in stored_frames(material.stored))
    read, again = _read(list(map(_travelled, stored)), material.whole)
    assert [page.number for page in read] == [2]
    assert again == fields
    placed = {each["page"]: each["box"] for several in again.values() for each in several if each["box"]}
    assert set(placed) == {1, 2}


def test_places_that_a_child_makes_up_cost_it_no_page_and_reach_no_database(engine: Engine, queue: Queue) -> None:
    (page, _), _ = _read()
    honest = page_fields(page)
    task_id = add_task(engine, queue, pages=2)
    held = claim(queue, task_id)
    for made_up in (None, 7, ["places"], "no base64 \x00", "é" * 8, "A" * 1_000_000, "AAAA" * len(page.layout)):
        dropped = page_of({**honest, "places": made_up})
        assert (dropped.text, dropped.places) == (page.text, b"")
    garbage = page_of({**honest, "places": "AAAA"})
    checkpoint(engine, queue, held, [garbage])
    _, fields = _read([garbage], 1)
    assert [each["box"] for each in fields["invoice_number"]] == [None]
    assert [each["printed"] for each in fields["invoice_number"]] == ["KP-2026-0815"]


def test_pages_with_places_go_into_frames_of_bounded_size() -> None:
    many = [Page(number, "x" * 33_000, places=bytes(65_536)) for number in range(1, 140)]
    frames = list(stored_frames(many))
    assert len(frames) > 1
    assert max(len(encode(frame)) for frame in frames) < MAX_FRAME_BYTES / 40
    assert [page_of(fields) for frame in frames for fields in frame["pages"]] == [
        page_of(page_fields(page)) for page in many
    ]
