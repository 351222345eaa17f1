"""Hosts that are cut off the network: what they hold is finished elsewhere, and they go on when they are back."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from sqlalchemy import URL

from pipeline import database
from pipeline.config import DatabaseSettings
from tests.faults.hosts import Cable, cable, forwarded
from tests.worker.shop import Shop, kill_hard, pages, until

pytestmark = pytest.mark.slow

Business = Callable[..., Shop]


@pytest.fixture
def joined(database_url: URL) -> Iterator[Cable]:
    """A host of its own for workers, on a cable to the database."""
    with cable(database_url) as laid:
        yield laid


@contextmanager
def pulled(joined: Cable) -> Iterator[None]:
    """The cable is out while the context is open."""
    joined.pull()
    try:
        yield
    finally:
        joined.plug()


def _start_far_away(shop: Shop, joined: Cable) -> None:
    url = joined.url.render_as_string(hide_password=False)
    shop.start_worker(prefix=joined.prefix, environment={"DOCLEASE_DATABASE_URL": url})


def test_a_host_cut_off_past_its_lease_loses_its_document_and_goes_on_with_the_next(
    open_for_business: Business, joined: Cable
) -> None:
    shop = open_for_business(lease={"base_seconds": 2})
    gate = shop.gate()
    task_id = shop.take(pages(5, p3=f"gate {gate}"))
    _start_far_away(shop, joined)
    shop.reached(gate)
    until(lambda: len(shop.pages(task_id)) == 2, "the second page")
    with pulled(joined):
        other = shop.start_worker()
        until(lambda: len(shop.attempts(task_id)) == 2, "the second attempt")
        gate.touch()
        shop.ended(task_id)
        log = shop.home / "worker.log"
        until(lambda: "the database is away" in log.read_text("utf-8"), "word that nobody answers")
        kill_hard(other)
    after = shop.take(pages(2))
    shop.ended(after)
    lost, finished = shop.attempts(task_id)
    assert shop.outcomes(task_id) == [("expired", "lost_lease"), ("succeeded", "ok")]
    assert [page.attempt_no for page in shop.pages(task_id)] == [1, 1, 2, 2, 2]
    assert (shop.attempts(after)[0].worker, shop.attempts(after)[0].outcome) == (lost.worker, "succeeded")
    assert finished.worker != lost.worker


def test_a_host_cut_off_for_less_than_its_lease_loses_nothing(open_for_business: Business, joined: Cable) -> None:
    shop = open_for_business(lease={"base_seconds": 60})
    gate = shop.gate()
    task_id = shop.take(pages(5, p3=f"gate {gate}"))
    _start_far_away(shop, joined)
    shop.reached(gate)
    shop.start_worker()
    with pulled(joined):
        gate.touch()  # it reads on, and cannot tell
        was_away = "SELECT FROM tasks WHERE task_id = :id AND now() - progressed_at > INTERVAL '3 s'"
        until(lambda: shop.rows(was_away, id=task_id), "three seconds without a sign of it")
    shop.ended(task_id)
    assert shop.outcomes(task_id) == [("succeeded", "ok")]
    assert shop.rows("SELECT FROM recoveries") == []


def test_a_session_over_the_network_gives_up_on_a_host_that_vanished(database_url: URL) -> None:
    settings = DatabaseSettings()
    with forwarded(database_url, "127.0.0.1", 0) as url, closing(database.listening_connection(url, settings)) as heard:
        engine = database.open_engine(url, settings, name="tests")
        with engine.connect() as connection:
            for session in (connection.connection.driver_connection, heard):
                assert session is not None
                with socket.socket(fileno=os.dup(session.fileno())) as line:
                    assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                    assert 0 < line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 15_000
        engine.dispose()
