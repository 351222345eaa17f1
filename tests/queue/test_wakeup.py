"""Notifications are a hint: they wake at once when they come, and nothing is lost when they do not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest
from sqlalchemy import URL, Engine, text

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue import wakeup
from pipeline.queue.wakeup import CHANNEL, Bell, Listener, Notifier
from tests.queue import rows

LISTENERS = "application_name = 'doclease listener' AND datname = current_database()"


@pytest.fixture
def bell() -> Bell:
    """What idle slots wait on."""
    return Bell()


@pytest.fixture
def listener(database_url: URL, engine: Engine, bell: Bell) -> Iterator[Listener]:
    """A listener that hears."""

    def connect() -> psycopg.Connection[tuple[object, ...]]:
        return database.listening_connection(database_url, DatabaseSettings())

    listener = Listener(connect, bell)
    listener.start()
    rows.until(lambda: _listening(engine))
    yield listener
    listener.stop()
    rows.terminate(engine, LISTENERS)  # it would end by itself, within ten seconds
    listener.join(rows.GIVE_UP_SECONDS)
    assert not listener.is_alive()


def _listening(engine: Engine) -> bool:
    query = text(f"SELECT count(*) FROM pg_stat_activity WHERE {LISTENERS} AND query LIKE 'LISTEN%' AND state = 'idle'")
    with engine.connect() as connection:
        return bool(connection.execute(query).scalar_one())


def _rings(bell: Bell, act: Callable[[], object]) -> bool:
    seen = bell.rings
    act()
    bell.wait(seen, rows.GIVE_UP_SECONDS)
    return bell.rings > seen


@pytest.mark.usefixtures("listener")
def test_a_notification_rings_the_bell(engine: Engine, bell: Bell) -> None:
    assert _rings(bell, Notifier(engine).notify)
    assert _rings(bell, Notifier(engine).notify), "again and again"


@pytest.mark.usefixtures("listener")
def test_a_listener_whose_session_was_ended_listens_again(engine: Engine, bell: Bell) -> None:
    for _ in range(2):
        assert _rings(bell, lambda: rows.terminate(engine, LISTENERS)), "something may have been missed: look for work"
        rows.until(lambda: _listening(engine))
        assert _rings(bell, Notifier(engine).notify)


def test_a_listener_that_cannot_connect_goes_on_trying(bell: Bell) -> None:
    tried = threading.Semaphore(0)

    def refuse() -> psycopg.Connection[tuple[object, ...]]:
        tried.release()
        raise psycopg.OperationalError("the database is away")

    listener = Listener(refuse, bell)
    listener.start()
    assert tried.acquire(timeout=rows.GIVE_UP_SECONDS)
    assert tried.acquire(timeout=rows.GIVE_UP_SECONDS)
    listener.stop()
    listener.join(rows.GIVE_UP_SECONDS)
    assert not listener.is_alive()


def test_many_notifications_at_once_are_one(engine: Engine, database_url: URL) -> None:
    heard = []
    with database.listening_connection(database_url, DatabaseSettings()) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        notifier = Notifier(engine)
        with engine.connect():  # a warm pool: the burst below is one of microseconds
            pass
        for _ in range(200):
            notifier.notify()
        notifier.close()
        # Whatever was sent before this is delivered before it.
        Notifier(engine).notify()
        with engine.begin() as last:
            last.execute(text(f"SELECT pg_notify('{CHANNEL}', 'the end')"))
        for notification in connection.notifies(timeout=rows.GIVE_UP_SECONDS):
            if notification.payload == "the end":
                break
            heard.append(notification)
    assert 2 <= len(heard) < 100


def test_what_is_told_just_after_a_notification_is_sent_a_moment_later(engine: Engine, database_url: URL) -> None:
    with database.listening_connection(database_url, DatabaseSettings()) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        notifier = Notifier(engine)
        notifier.notify()
        notifier.notify()
        assert len(list(connection.notifies(timeout=rows.GIVE_UP_SECONDS, stop_after=2))) == 2
        notifier.close()


def test_what_is_to_be_sent_later_is_sent_before_the_process_ends(
    engine: Engine, database_url: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeup, "NOTIFY_PAUSE_SECONDS", 3600)
    with database.listening_connection(database_url, DatabaseSettings()) as connection:
        connection.execute(f"LISTEN {CHANNEL}")
        notifier = Notifier(engine)
        for _ in range(3):
            notifier.notify()
        notifier.close()
        notifier.close()
        with engine.begin() as last:
            last.execute(text(f"SELECT pg_notify('{CHANNEL}', 'the end')"))
        heard = list(connection.notifies(timeout=rows.GIVE_UP_SECONDS, stop_after=3))
        assert [each.payload for each in heard] == ["", "", "the end"]


def test_a_notification_to_a_database_that_is_away_costs_nothing(database_url: URL) -> None:
    nowhere = database.open_engine(database_url.set(query={"host": "/nowhere"}), DatabaseSettings(), name="tests")
    Notifier(nowhere).notify()
    nowhere.dispose()


def test_a_ring_between_looking_and_waiting_is_not_missed(bell: Bell) -> None:
    seen = bell.rings
    bell.ring()
    bell.wait(seen, rows.GIVE_UP_SECONDS * 100)
    assert bell.rings == seen + 1


def test_a_ring_wakes_one_and_the_last_one_everybody(bell: Bell) -> None:
    woken = threading.Semaphore(0)

    def wait() -> None:
        bell.wait(0, rows.GIVE_UP_SECONDS * 100)
        woken.release()

    waiting = [threading.Thread(target=wait, daemon=True) for _ in range(3)]
    for thread in waiting:
        thread.start()
    sleepers = bell._condition._waiters  # type: ignore[attr-defined]
    rows.until(lambda: len(sleepers) == 3)
    bell.ring()
    assert woken.acquire(timeout=rows.GIVE_UP_SECONDS)
    assert len(sleepers) == 2
    bell.ring_all()
    for thread in waiting:
        thread.join(rows.GIVE_UP_SECONDS)
    assert not any(thread.is_alive() for thread in waiting)


def test_a_wait_ends_when_its_time_is_up(bell: Bell) -> None:
    bell.wait(bell.rings, 0.001)
    assert bell.rings == 0
