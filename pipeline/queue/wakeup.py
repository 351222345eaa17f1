"""Being woken when work arrives: LISTEN/NOTIFY is the hint, polling is the truth.

A lost notification costs a poll, nothing else. Behind a transaction-pooling proxy LISTEN hears nothing; then only
polling is left, and everything still works. The channel bears the name of the session's schema: channels
belong to the whole database, and a notification is for one installation.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import psycopg
from psycopg.sql import SQL, Identifier
from sqlalchemy import Engine, text

from pipeline.queue.presence import Presence

CHANNEL = "doclease_work"  # in schema public; elsewhere the schema's name follows
_CHANNEL = f"'{CHANNEL}' || COALESCE('_' || NULLIF(current_schema(), 'public'), '')"
NOTIFY_PAUSE_SECONDS = 0.05
LISTEN_SECONDS = 10.0
# Between two tries to connect: the first after a lost session comes at once, since that session stood for its worker.
FIRST_PAUSE_SECONDS, RECONNECT_SECONDS = 0.05, 2.0

logger = logging.getLogger(__name__)


class Notifier:
    """Tells idle workers that there is work, at most once per 50 ms: NOTIFY takes a lock that all commits share.

    What is told within the pause is sent when the pause is over, so that no document waits for a poll. Call it after
    the commit, never inside the transaction, from any thread.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._last = -NOTIFY_PAUSE_SECONDS
        self._later: threading.Timer | None = None

    def notify(self) -> None:
        """Wake whoever listens, soon. Never raises for a database that is away: polling finds the work."""
        with self._lock:
            if self._later is not None:
                return
            left = self._last + NOTIFY_PAUSE_SECONDS - time.monotonic()
            if left > 0:
                self._later = threading.Timer(left, self._send_what_is_due)
                self._later.daemon = True
                self._later.start()
                return
            self._last = time.monotonic()
        self._send()

    def close(self) -> None:
        """Send at once what would be sent later. Call it before the engine's connections are closed."""
        self._send_what_is_due()

    def _send_what_is_due(self) -> None:
        with self._sending:
            with self._lock:
                later, self._later = self._later, None
                if later is None:
                    return
                self._last = time.monotonic()
            later.cancel()
            self._send()

    def _send(self) -> None:
        try:
            with self._engine.connect() as connection:
                connection.execute(text(f"SELECT pg_notify({_CHANNEL}, '')"))
        except Exception as error:  # noqa: BLE001 - a hint that fails costs one poll interval
            logger.debug("notification not sent: %s", error)


class Bell:
    """What idle slots wait on. Rung by the listener, by a slot that gives a task back, or at shutdown.

    A ring wakes one slot: most notifications bring one document, and every slot that looks costs the server a claim.
    One that finds work rings on, so that many documents wake many slots.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._rings = 0

    def ring(self) -> None:
        """Wake one of those who wait, and let nobody begin to wait who looked before."""
        with self._condition:
            self._rings += 1
            self._condition.notify()

    def ring_all(self) -> None:
        """Wake everybody."""
        with self._condition:
            self._rings += 1
            self._condition.notify_all()

    @property
    def rings(self) -> int:
        """How often it has rung; read it before looking for work, so that no ring is missed."""
        return self._rings

    def wait(self, seen: int, timeout_seconds: float) -> None:
        """Until it rings for this one after `seen` rings, or the time is up."""
        with self._condition:
            self._condition.wait_for(lambda: self._rings != seen, timeout_seconds)


class Listener(threading.Thread):
    """Rings the bell at every notification, on a connection of its own that reconnects by itself.

    That session also stands for the worker, where it is given its `presence`. `on_lost` is called when it was lost.
    """

    def __init__(
        self,
        connect: Callable[[], psycopg.Connection[tuple[object, ...]]],
        bell: Bell,
        *,
        presence: Presence | None = None,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(name="listener", daemon=True)
        self._connect = connect
        self._bell = bell
        self._presence = presence
        self._on_lost = on_lost
        self._pause_seconds = FIRST_PAUSE_SECONDS
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Ask the thread to end; it does within LISTEN_SECONDS and holds nothing that matters."""
        self._stopping.set()

    def run(self) -> None:
        """Listen until stopped. After a lost connection the bell rings once: a notification may have been missed."""
        while not self._stopping.is_set():
            try:
                self._listen()
            except psycopg.Error as error:
                logger.debug("listening interrupted: %s", error)
                self._on_lost()
                self._stopping.wait(self._pause_seconds)
                self._pause_seconds = min(2 * self._pause_seconds, RECONNECT_SECONDS)
            self._bell.ring()

    def _listen(self) -> None:
        with self._connect() as connection:
            (channel,) = connection.execute(f"SELECT {_CHANNEL}").fetchall()[0]
            connection.execute(SQL("LISTEN {}").format(Identifier(str(channel))))
            if self._presence is not None and not self._stopping.is_set():
                self._presence.attend(connection)
            self._pause_seconds = FIRST_PAUSE_SECONDS
            while not self._stopping.is_set():
                for _ in connection.notifies(timeout=LISTEN_SECONDS, stop_after=1):
                    self._bell.ring()
