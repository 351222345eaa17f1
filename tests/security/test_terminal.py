"""No name, title, text or error from outside acts on the terminal or the log of whoever looks at it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from pipeline.cli import main
from pipeline.cli.output import json_line, safe, table
from pipeline.documents.text import display_name
from tests.cli.test_work import run
from tests.security.hostile_words import WORDS, is_harmless

EVENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (INFO|WARNING|ERROR) pipeline\.")
INVOICE = "INVOICE\nInvoice number: {0}\nDate: 2026-03-03\nSupplier: {0}\nTotal: 12.50 EUR\n"


@pytest.fixture
def looked_at(home: Path, engine: Engine) -> Path:
    """A folder whose documents have hostile names and words, taken in and read; the log of the worker is beside it."""
    pile = home / "pile"
    pile.mkdir()
    for number, words in enumerate(WORDS):
        name = f"{number}{words.replace('/', '-')}.txt"
        (pile / name).write_text(INVOICE.format(words), encoding="utf-8")
        (pile / f"{number}{words.replace('/', '-')}.pdf").write_bytes(b"%PDF-1.7 " + words.encode())
    taken = run(home, "ingest", "-r", str(pile), "--batch", WORDS[0])
    worked = run(home, "-v", "work", "--drain")
    assert worked.returncode == 0, worked.stderr
    (home / "said").write_text(taken.stdout + taken.stderr, encoding="utf-8")
    (home / "log").write_text(worked.stderr, encoding="utf-8")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM documents")).scalar_one() == 2 * len(WORDS)
    return home


def _commands(engine: Engine) -> list[Sequence[str]]:
    with engine.connect() as connection:
        documents = connection.execute(text("SELECT document_id FROM documents")).scalars().all()
        tasks = connection.execute(text("SELECT task_id FROM tasks")).scalars().all()
    every = [["documents", verb, str(each)] for verb in ("show", "text") for each in documents]
    every += [["tasks", verb, str(each)] for verb in ("show", "explain") for each in tasks]
    lists = [["documents", "list"], ["tasks", "list"], ["search", "invoice"], ["status"]]
    lists += [[*words, "--format", "json"] for words in lists]
    errors = [["search", words] for words in WORDS] + [["documents", "list", "--batch", words] for words in WORDS]
    queries = [["sql", "SELECT name, raw_name FROM documents_v"], ["sql", 'SELECT 1 AS "\x1b[2J"']]
    return [*every, *lists, *errors, *queries, ["export", "invoices", "--format", "jsonl"]]


@pytest.mark.slow
def test_no_command_prints_what_acts_and_nobody_forges_an_event_of_the_log(looked_at: Path, engine: Engine) -> None:
    assert is_harmless((looked_at / "said").read_text("utf-8"))
    _require_events((looked_at / "log").read_text("utf-8").split("\n"))
    for arguments in _commands(engine):
        result = CliRunner().invoke(main, ["-C", str(looked_at), *arguments])
        assert result.exit_code in (0, 3, 4, 2), (arguments, result.output, result.exception)
        shown = result.output
        if arguments[:2] == ["documents", "text"]:
            shown = shown.replace("\t", "")
        assert is_harmless(shown), arguments


def _require_events(lines: Sequence[str]) -> None:
    assert any("forged" in line for line in lines)
    for line in filter(None, lines):
        assert is_harmless(line)
        assert EVENT.match(line) or re.match(r"worker \S+: \d+ slots", line), line


@pytest.mark.slow
def test_the_note_beside_a_failed_file_does_not_act(home: Path, engine: Engine) -> None:
    (home / "inbox").mkdir()
    names = [f"{words.replace('/', '-')}.pdf" for words in WORDS]
    for name in names:
        (home / "inbox" / name).write_bytes(b"%PDF-1.7 " + name.encode())
        os.utime(home / "inbox" / name, (1, 1))
    watched = run(home, "watch", "--once")
    assert watched.returncode == 0, watched.stderr
    notes = list((home / "failed").rglob("*.error.txt"))
    assert len(notes) == len(names)
    for note in notes:
        assert is_harmless(note.read_text("utf-8")), note.read_text("utf-8")
    assert is_harmless(watched.stderr)


@given(st.binary(max_size=60) | st.sampled_from([words.encode() for words in WORDS]))
def test_any_name_is_shown_without_acting(raw: bytes) -> None:
    name = display_name(raw)
    assert is_harmless(safe(name))
    assert "\n" not in safe(name)
    assert is_harmless(json_line({"name": name}))
    drawn = table([{"name": name}], ["name"], terminal=False)
    assert is_harmless(drawn)
    assert drawn.count("\n") == 3
