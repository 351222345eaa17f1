"""The log: one event a line, whatever is in it, and no password."""

from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.logging import RichHandler

from pipeline.cli.logs import PLAIN, Events
from pipeline.redaction import without_passwords
from tests.security.hostile_words import WORDS, is_harmless

PASSWORD = "c4nary p@ss/w:rd".replace(" ", "")


def _written(message: str, *arguments: object, error: BaseException | None = None) -> list[str]:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("pipeline.x", logging.ERROR, __file__, 1, message, arguments, info)
    return Events(PLAIN).format(record).split("\n")


def _raised(words: str) -> ValueError:
    try:
        raise ValueError(words)
    except ValueError as error:
        return error


@given(st.text() | st.sampled_from(WORDS))
def test_an_event_is_one_line_that_does_not_act(words: str) -> None:
    (line,) = _written("gone before it was taken: %s", words)
    assert is_harmless(line)
    assert "\t" not in line


@given(st.text() | st.sampled_from(WORDS))
def test_a_traceback_stands_indented_below_its_event(words: str) -> None:
    event, *below = _written("a fault", error=_raised(words))
    assert event.endswith("pipeline.x: a fault")
    assert len(below) >= 3
    assert all(line.startswith("    ") and is_harmless(line) for line in below)


@pytest.mark.parametrize("words", WORDS)
def test_on_a_terminal_it_does_not_act_either(words: str) -> None:
    file = io.StringIO()
    handler = RichHandler(console=Console(file=file, force_terminal=False, width=500), show_path=False)
    handler.setFormatter(Events("%(message)s"))
    handler.handle(logging.LogRecord("x", logging.ERROR, __file__, 1, "%s", (words,), None))
    assert is_harmless(file.getvalue())
    assert file.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    "message",
    [
        f"postgresql://me:{PASSWORD}@db.example/docs is not a configuration key",
        f"database must be keys and values, got 'postgresql+psycopg://me:{PASSWORD}@db/docs'",
        f'connection to "host=db password={PASSWORD} user=me" failed',
        f"postgresql://db/docs?password={PASSWORD}&sslmode=require",
        f"PGPASSWORD={PASSWORD}",
    ],
)
def test_a_password_in_an_address_is_not_shown(message: str) -> None:
    assert PASSWORD not in without_passwords(message)
    assert "***" in without_passwords(message)
    assert PASSWORD not in "".join(_written(message))
    assert PASSWORD not in "".join(_written("a fault", error=_raised(message)))


@pytest.mark.parametrize(
    "message",
    ["it opens only with a password", "mail me@example.org: http://db.example/x", "password = ", "http://[::1]:8080/a"],
)
def test_what_is_no_password_is_left_as_it_is(message: str) -> None:
    assert without_passwords(message) == message
