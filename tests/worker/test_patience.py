"""Patience with the database ends before the lease does: pauses grow, but never past what they wait for."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import OperationalError

from pipeline.queue.model import Claim
from pipeline.worker import patience
from pipeline.worker.patience import Patience
from pipeline.worker.stopping import Stopping


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
