"""The comparison of readers knows what it draws, says what it cannot measure, and takes ratios over the same files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench.extraction import Cell, tables
from bench.extraction_papers import Paper, Pile, drawn, found
from bench.extraction_readers import (
    INSTALLED,
    KREUZBERG,
    OWN_IMAGE,
    PEERS,
    TESSERACTS,
    TEXT,
    Answer,
    Peer,
    chosen,
    running,
)
from bench.ocr_figures import Means
from bench.ocr_figures import tables as ocr_tables
from bench.peers.venvs import PINS

ONE, TWO = Paper(Path("one.pdf"), 2, Counter("abc")), Paper(Path("two.pdf"), 2, Counter("abc"))
PILE = Pile("2-page invoices", Path(), (ONE, TWO))


def _answer(cpu_seconds: float, text: str = "a b c") -> Answer:
    return Answer(text, None, cpu_seconds, cpu_seconds, 1_000_000)


def test_every_word_that_was_drawn_is_asked_for_and_a_reader_in_its_own_process_finds_it(tmp_path: Path) -> None:
    pile = next(drawn(tmp_path / "papers", invoices=1, contracts=0, scans=0))
    paper = pile.papers[0]
    with running(TEXT) as reading:
        answer = reading.ask(paper.path)
        with pytest.raises(RuntimeError, match=r"absent\.pdf: FileNotFoundError"):
            reading.ask(tmp_path / "absent.pdf")
    assert paper.recall(answer.text) == 1.0
    assert paper.recall(answer.text.partition("Oak panel")[0]) != 1.0
    assert "Brackenfold" in answer.text
    assert paper.words is not None
    assert paper.words["Brackenfold"] == 1
    assert answer.cpu_seconds > 0


def test_the_files_of_a_folder_are_found_wherever_a_reader_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next(drawn(tmp_path / "papers", invoices=2, contracts=0, scans=0))
    monkeypatch.chdir(tmp_path)
    papers = found(Path("papers"), 1).papers
    assert papers == [Paper(tmp_path / "papers" / "invoices" / "paper-01.pdf", 2)]
    assert papers[0].recall("anything") is None


def test_a_reader_that_ends_says_why() -> None:
    absent = Peer("absent", "bench.peers.readers", "markitdown")
    with pytest.raises(RuntimeError, match=r"it ended: .*markitdown"), running(absent):
        pass


def test_what_is_not_installed_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PINS, "nowhere", ("nothing==1",))
    monkeypatch.setenv("PATH", "")
    peers = (Peer("one", "m", "r", "nowhere"), Peer("other", "m", "s", None, ("pdftotext",)), TEXT)
    here, missing = chosen(None, peers)
    assert here == [TEXT]
    assert missing["one"] == "not measured: run python -m bench.peers.venvs nowhere"
    assert "apt-get install poppler-utils" in missing["other"]


def test_readers_are_chosen_by_name_or_environment_and_every_environment_has_pins() -> None:
    here, missing = chosen(["text", "kreuzberg"], PEERS)
    assert {peer.name for peer in here} | set(missing) == {TEXT.name, KREUZBERG.name}
    assert {peer.venv for peer in PEERS} - {None} <= PINS.keys()


def test_a_ratio_is_taken_over_the_files_that_both_read_in_a_round() -> None:
    slow, fast = Cell(KREUZBERG, PILE), Cell(TEXT, PILE)
    slow.rounds = [{ONE: _answer(6.0)}, {ONE: _answer(9.0)}, {ONE: _answer(8.0)}]
    fast.rounds = [{ONE: _answer(1.0), TWO: _answer(90.0)} for _ in range(3)]
    assert slow.times(fast) == 8.0
    assert slow.cpu_ms == 4000.0


def test_a_reader_of_folders_is_compared_over_the_whole_pile() -> None:
    whole, each = Cell(INSTALLED, PILE), Cell(KREUZBERG, PILE)
    whole.rounds, each.rounds = [{None: _answer(4.0)}], [{ONE: _answer(1.0), TWO: _answer(7.0)}]
    assert each.times(whole) == 2.0
    assert whole.cpu_ms == 1000.0


def test_the_table_has_a_verdict_and_says_what_was_not_measured() -> None:
    cells = {}
    for peer, seconds in ((KREUZBERG, 1.0), (TEXT, 0.5)):
        cells[peer.name, PILE.name] = Cell(peer, PILE, [{ONE: _answer(seconds, "a b")}])
    goals, figures = tables(cells, [PILE], {"docling": "its models are not here"})
    assert [(each.value, each.verdict) for each in goals.figures] == [(2.0, "pass"), (2.0, "")]
    assert goals.figures[-1].note == "docling: its models are not here"
    assert "recall 0.667" in figures.figures[0].note


def test_recognition_is_held_to_errors_as_well_as_to_speed() -> None:
    means = {OWN_IMAGE: Means(2.0, 0.02, 0.9, 300), TESSERACTS[0]: Means(1.0, 0.01, 0.8, 100)}
    goals, _ = ocr_tables({"clean": means}, {})
    assert [each.verdict for each in goals.figures] == ["pass", "", "falls short", "pass", ""]
    assert goals.figures[1].value == 3.0
