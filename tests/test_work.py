"""The recipe of one document: pages in order, gaps named, a handler's faults kept away from the text."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline import handling
from pipeline.config import LimitSettings
from pipeline.documents import formats
from pipeline.documents.contract import Attachment, Format, Means
from pipeline.documents.formats import plain
from pipeline.documents.text import Document, Page, Source
from pipeline.errors import DocumentError
from pipeline.handling import Extraction, Field, Handler
from pipeline.reading.memory.lessons import Remembered
from pipeline.reasons import Reason
from pipeline.work import Finished, Job, process
from tests.handlers.pages import ENGLISH_INVOICE
from tests.worker.saboteur_child import SaboteurFormat, handlers

FORMATS: tuple[Format, ...] = (plain.format, SaboteurFormat())


class _Handler:
    """A handler that does what it is given to do."""

    fields: tuple[str, ...] = ()

    def __init__(self, name: str, score: float, extract: Callable[[Document], Any] | None = None) -> None:
        self.name = name
        self._score = score
        self._extract = extract

    def score(self, document: Document) -> float:
        return self._score

    def extract(self, document: Document) -> Extraction:
        found: Extraction = self._extract(document) if self._extract else Extraction(self.name)
        return found


class _Run:
    """What came of a job, and what was told on the way."""

    def __init__(self, job: Job, those: Mapping[str, Handler]) -> None:
        self.opened: list[int] = []
        self.pages: list[Page] = []
        self.attachments: list[Attachment] = []
        self.finished: Finished = process(
            job,
            FORMATS,
            those,
            on_open=self.opened.append,
            on_page=self.pages.append,
            on_attachment=self.attachments.append,
        )


def _job(*sheets: str, **facts: Any) -> Job:
    return Job(io.BytesIO("\f".join(["SABOTEUR\n", *sheets]).encode()), "document.sab", **facts)


def _run(*sheets: str, those: Mapping[str, Handler] | None = None, **facts: Any) -> _Run:
    return _Run(_job(*sheets, **facts), those or handlers())


def test_pages_are_told_in_order_after_their_number() -> None:
    run = _run("one", "two", "three")
    assert (run.opened, [page.text for page in run.pages]) == ([3], ["one", "two", "three"])
    assert run.finished.reason is Reason.OK
    assert run.finished.result["page_count"] == 3


def test_stored_pages_are_not_read_again_but_handlers_see_them() -> None:
    stored = (Page(1, "from before", "from before", Source.NATIVE),)
    seen: list[str] = []

    def look(document: Document) -> Extraction:
        seen.append(document.text)
        return Extraction("spy")

    spy = _Handler("spy", 1.0, look)
    run = _run("!raise read again", "two", stored=stored, those={"spy": spy})
    assert [page.number for page in run.pages] == [2]
    assert seen == ["from before\ftwo"]


def test_a_page_to_skip_is_not_touched_and_named() -> None:
    run = _run("one", "!raise touched", skip={2: "it killed twice"})
    assert (run.pages[1].source, run.pages[1].error) == (Source.NONE, "it killed twice")
    assert (run.finished.reason, run.finished.result["gaps"]) == (Reason.OK_WITH_GAPS, [2])


def test_pages_are_not_skipped_when_nothing_would_be_left() -> None:
    with pytest.raises(RuntimeError, match="touched"):
        _run("!raise touched", skip={1: "it killed twice"})


def test_more_pages_than_allowed_are_refused_before_one_is_read() -> None:
    with pytest.raises(DocumentError) as refusal:
        _run("!raise read", "!raise read", means=Means(LimitSettings(max_pages=1)))
    assert refusal.value.reason is Reason.TOO_MANY_PAGES


def test_nothing_readable_is_corrupt_and_nothing_written_is_empty() -> None:
    with pytest.raises(DocumentError) as refusal:
        _run("!unreadable torn", "!unreadable torn")
    assert (refusal.value.reason, "torn" in str(refusal.value)) == (Reason.CORRUPT, True)
    assert _run(" ", "\n").finished.reason is Reason.EMPTY_TEXT


def test_a_handler_that_cannot_score_costs_nobody_else_anything() -> None:
    result = _run("text").finished.result
    assert (result["handler"], result["scores"]["unscorable"]) == ("general", 0.0)


@pytest.mark.parametrize(
    "extract",
    [
        lambda document: 1 / 0,
        lambda document: None,
        lambda document: Extraction("x", {"a": ["no field"]}),  # type: ignore[list-item]
        lambda document: Extraction("x", {"a": [Field({1, 2}, 1, "")]}),  # type: ignore[arg-type]
        lambda document: Extraction("x", {("a", "b"): [Field("1", 1, "")]}),  # type: ignore[dict-item]
        lambda document: Extraction("x", {}, 7),  # type: ignore[arg-type]
    ],
)
def test_whatever_a_handler_does_wrong_the_pages_are_delivered(
    tmp_path: Path, extract: Callable[[Document], Any]
) -> None:
    run = _run("one", "two", those={"wrong": _Handler("wrong", 1.0, extract)})
    assert [page.text for page in run.pages] == ["one", "two"]
    assert run.finished.reason is Reason.OK
    assert (run.finished.result["fields"], run.finished.result["checks"]) == ({}, {"handler_finished": False})
    assert run.finished.result["handler_error"]


def test_lack_of_memory_is_not_the_handlers_fault() -> None:
    def greedy(document: Document) -> Extraction:
        raise MemoryError

    with pytest.raises(MemoryError):
        _run("one", those={"greedy": _Handler("greedy", 1.0, greedy)})


def test_a_handler_that_this_worker_does_not_have_is_worth_another_try() -> None:
    with pytest.raises(DocumentError) as refusal:
        _run("one", handler="of_a_newer_version")
    assert refusal.value.reason is Reason.INTERNAL_ERROR
    assert "of_a_newer_version" in str(refusal.value)


def test_the_wanted_handler_wins_over_every_score() -> None:
    those = {"loud": _Handler("loud", 1.0), "quiet": _Handler("quiet", 0.0)}
    assert _run("one", those=those, handler="quiet").finished.result["handler"] == "quiet"
    assert _run("one", those=those).finished.result["handler"] == "loud"


def test_text_is_safe_to_store_and_says_how_long_it_took() -> None:
    began = time.monotonic()
    (page,) = _run("a\x00b\x07\n!spin 0.01").pages
    assert page.text.startswith("ab\n")
    assert 0.01 <= page.seconds <= time.monotonic() - began


def test_a_memory_that_fails_costs_no_field_and_is_told() -> None:
    def forgetful(keys: Sequence[str]) -> Sequence[Remembered]:
        raise ValueError(f"nothing under {keys[0][:2]}")

    finished = process(
        Job(io.BytesIO(ENGLISH_INVOICE.encode()), "invoice.txt"),
        formats.discover(),
        handling.discover(),
        on_open=lambda _: None,
        on_page=lambda _: None,
        on_attachment=lambda _: None,
        ask=forgetful,
    )
    assert finished.result["fields"]["total_gross"][0]["value"] == "180.00"
    assert finished.result["checks"]["memory_finished"] is False
    assert finished.result["messages"]["memory_finished"].startswith("ValueError: nothing under")
