"""Lengths of time read as people say them, in at most two units."""

from __future__ import annotations

import datetime as dt

import pytest

from pipeline.reports.durations import duration, moment


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.04, "0 s"),
        (0.44, "0.4 s"),
        (8, "8 s"),
        (9.96, "10 s"),
        (59.7, "1 min"),
        (200, "3 min 20 s"),
        (7200, "2 h"),
        (7260, "2 h 1 min"),
        (3601, "1 h"),
        (273_600, "3 d 4 h"),
        (-8, "-8 s"),
    ],
)
def test_a_duration_is_said_in_at_most_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_moment_of_today_needs_no_date() -> None:
    now = dt.datetime(2026, 8, 1, 12, 0, 0, tzinfo=dt.UTC)
    assert moment(now.replace(second=5), now) == "12:00:05"
    assert moment(now - dt.timedelta(days=1), now) == "2026-07-31 12:00:00"
    assert moment(dt.datetime(2026, 8, 1, 14, 0, tzinfo=dt.timezone(dt.timedelta(hours=2))), now) == "12:00:00"
