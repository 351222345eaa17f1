"""Patience with the database ends before the lease does: pauses grow, but never past what they wait for."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from pipeline.queue.model import Claim
from pipeline.worker import patience
from pipeline.worker.patience import Patience
from pipeline.worker.stopping import Stopping
from tests.worker.shop import until


class _Watched(Stopping):
    """Notes the pauses and makes none."""

    def __init__(self) -> None:
        super().__init__(drain_seconds=1)
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


def _claim(lease_seconds: float) -> Claim:
    return Claim(1, 1, 1, uuid.uuid4(), "auto", 1, 0, 0, lease_seconds, 2 * lease_seconds, 0, 0, 0)


def _pauses(lease_seconds: float, outages: int) -> list[float]:
    watched, left = _Watched(), iter(range(outages))

    def write() -> str:
        for _ in left:
            raise OperationalError("SELECT 1", {}, Exception("server closed the connection"))
        return "answered"

    assert Patience(_claim(lease_seconds), watched).insist(write) == "answered"
    return watched.pauses


@given(st.floats(0.5, 900), st.integers(1, 30))
def test_no_pause_takes_more_than_a_tenth_of_the_lease(lease_seconds: float, outages: int) -> None:
    pauses = _pauses(lease_seconds, outages)
    assert len(pauses) == outages
    assert pauses == sorted(pauses)
    assert pauses[-1] <= patience.PAUSE_SHARE * lease_seconds


def test_a_database_that_stays_away_is_asked_less_and_less_often() -> None:
    assert _pauses(900, 7) == pytest.approx([0.5, 1, 2, 4, 8, 10, 10])


def test_a_session_that_was_ended_for_standing_idle_is_asked_again_and_charges_nobody(engine: Engine) -> None:
    """A worker that froze inside a transaction finds its session closed when it thaws: an outage, no fault of the task.

    The server tells it by an error that is neither operational nor of the interface.
    """
    watched, sessions = _Watched(), list[int]()

    def is_gone() -> bool:
        with engine.connect() as connection:
            alive = connection.execute(
                text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid"), {"pid": sessions[0]}
            )
            return bool(alive.scalar_one() == 0)

    def write() -> int:
        with engine.begin() as connection:
            sessions.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
            if len(sessions) == 1:
                connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = '10ms'"))
                until(is_gone, "the end of the session")
            return int(connection.execute(text("SELECT 7")).scalar_one())

    attempt = Patience(_claim(15), watched)
    assert attempt.insist(write) == 7
    assert len(watched.pauses) == 1
    assert len(set(sessions)) == 2
    sessions.clear()
    assert not attempt.attempt(write)
    assert attempt.is_away
