"""Sessions that act at once, stop inside their transaction or inside their statement, or wait for one that did.

Nothing here sleeps until something has probably happened: a call is looked at again when its session has answered, or
when the server says that it is blocked by another one.
"""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast

from sqlalchemy import Connection, Engine, RootTransaction, text
from sqlalchemy.exc import IntegrityError

from pipeline.errors import IllegalMove, LeaseLost
from pipeline.queue.store import Queue
from tests.search.model import Model
from tests.search.world import GATE

GIVE_UP_SECONDS = 30.0
GLANCE_SECONDS = 0.002
REFUSALS = (LeaseLost, IllegalMove, IntegrityError)

# The sessions of this database that stand still until another one goes on.
_BLOCKED = text(
    """
    SELECT count(*)
    FROM pg_stat_activity
    WHERE datname = current_database()
        AND backend_type = 'client backend'
        AND cardinality(pg_blocking_pids(pid)) > 0
    """
)


class How(enum.Enum):
    """How a call runs."""

    AT_ONCE = "at once"
    HELD = "held"  # its transaction stays open after the statement, until it is committed or rolled back
    PAUSED = "paused"  # its statement stands still between its snapshot and its locks, until the gate opens


@dataclass(frozen=True, slots=True)
class Desk:
    """What a session works with: an engine, and the queue on it."""

    engine: Engine
    queue: Queue


class Action(Protocol):
    """Something that a session does to the queue."""

    @property
    def may_wait(self) -> bool:
        """Whether it may stand still behind a session that stopped inside its transaction."""

    def run(self, desk: Desk) -> Any:
        """Do it; returns the answer of the queue."""

    def judge(self, model: Model, call: Call) -> None:
        """Fail when the answer is not what it must be, by what is committed."""

    def apply(self, model: Model, call: Call, at: float) -> None:
        """Change the model as the commit changes the rows. `at` is when the answer came, in seconds."""

    def locks(self, call: Call) -> set[int]:
        """The tasks that its open transaction keeps from others."""


class Borrowed:
    """What a queue takes for an engine: one connection, whose transaction somebody else ends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execution_options(self, **_: object) -> Borrowed:
        """The transaction is somebody else's, and so is its isolation."""
        return self

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """The connection as it is."""
        yield self._connection

    begin = connect


class Call:
    """One action in one session: running, waiting, or answered and perhaps still inside its transaction."""

    def __init__(self, action: Action, how: How, began: float, document_id: int | None = None) -> None:
        self.action = action
        self.how = how
        self.began = began
        self.document_id = document_id
        self.answered_at = began
        self.answer: Any = None
        self.refusal: Exception | None = None
        self.fault: Exception | None = None
        self.done = threading.Event()
        self.keep = how is How.HELD
        self.waited = False
        self._open: tuple[Connection, RootTransaction] | None = None

    @property
    def is_open(self) -> bool:
        """Whether its transaction still is."""
        return self._open is not None

    def run(self, desk: Desk) -> None:
        """Act, and note what came of it."""
        try:
            self.answer = self.action.run(desk)
        except REFUSALS as error:
            self.refusal = error
        except Exception as error:  # noqa: BLE001 - raised where the call is looked at
            self.fault = error

    def run_inside(self, engine: Engine, build: Callable[[Engine], Queue]) -> None:
        """Act in a transaction of its own, which stays open if it is to be kept and there is something to keep."""
        connection = engine.connect()
        transaction = connection.begin()
        if self.how is How.PAUSED:
            connection.exec_driver_sql(
                f"SET LOCAL search_path = paused, public; SET LOCAL search.began = '{self.began}'"
            )
        borrowed = cast(Engine, Borrowed(connection))
        self.run(Desk(borrowed, build(borrowed)))
        self._open = (connection, transaction)
        failed = self.refusal is not None or self.fault is not None
        if failed or not self.keep:
            self.end(commit=not failed)

    def end(self, *, commit: bool) -> None:
        """End its transaction."""
        assert self._open is not None
        connection, transaction = self._open
        self._open = None
        try:
            transaction.commit() if commit else transaction.rollback()
        finally:
            connection.close()


class Sessions:
    """The sessions of one run: who stands inside a transaction, who waits, and the gate before paused statements."""

    def __init__(self, engine: Engine, build: Callable[[Engine], Queue]) -> None:
        self.open: list[Call] = []
        self.running: list[Call] = []
        self._engine = engine
        self._build = build
        self._desk = Desk(engine, build(engine))
        self._outside = engine.execution_options(isolation_level="AUTOCOMMIT")
        self.monitor = self._outside.connect()
        self._gate = self._outside.connect()
        self._gate_is_shut = False

    @property
    def pausing(self) -> bool:
        """Whether some statement stands before the gate, or has not ended since it passed."""
        return any(call.how is How.PAUSED for call in self.running)

    def start(self, call: Call) -> None:
        """Let a session act, until it has answered or stands still."""
        if call.how is How.AT_ONCE and not self.open and not self.running:
            call.run(self._desk)
            call.done.set()
            self.running.append(call)
            return
        if call.how is How.PAUSED and not self._gate_is_shut:
            self._gate.execute(text(f"SELECT pg_advisory_lock({GATE})"))
            self._gate_is_shut = True
        self.running.append(call)
        threading.Thread(target=self._work, args=(call,), daemon=True).start()
        call.done.wait(GLANCE_SECONDS)
        self.stand_still()

    def finish(self, call: Call, *, commit: bool) -> None:
        """End an open transaction, and let those that waited for it go on."""
        self.open.remove(call)
        call.end(commit=commit)

    def open_gate(self) -> None:
        """Let paused statements go on."""
        if self._gate_is_shut:
            self._gate.execute(text(f"SELECT pg_advisory_unlock({GATE})"))
            self._gate_is_shut = False

    def stand_still(self) -> None:
        """Wait until every session has answered or is blocked. What was blocked once commits as soon as it may."""
        give_up = time.monotonic() + GIVE_UP_SECONDS
        while True:
            alive = [call for call in self.running if not call.done.is_set()]
            if not alive or int(self.monitor.execute(_BLOCKED).scalar_one()) == len(alive):
                break
            assert time.monotonic() < give_up, "a session neither answers nor waits"
            alive[0].done.wait(GLANCE_SECONDS)
        for call in alive:
            call.keep = False
            call.waited = call.how is not How.PAUSED or not self._gate_is_shut

    def answered(self) -> list[Call]:
        """The calls that have ended since they were asked for last, in the order in which they began."""
        ended = [call for call in self.running if call.done.is_set()]
        self.running = [call for call in self.running if call not in ended]
        self.open += [call for call in ended if call.is_open]
        for call in ended:
            if call.fault:
                raise call.fault
        return ended

    def close(self) -> None:
        """Roll everything back and let every thread end."""
        self.open_gate()
        while self.open or self.running:
            for call in list(self.open):
                self.finish(call, commit=False)
            self.stand_still()
            with_fault = [call for call in self.running if call.fault]
            self.running = [call for call in self.running if call not in with_fault]
            self.answered()
        self.monitor.close()
        self._gate.close()

    def _work(self, call: Call) -> None:
        try:
            if call.how is How.AT_ONCE:
                call.run(self._desk)
            else:
                call.run_inside(self._engine, self._build)
        except Exception as error:  # noqa: BLE001 - raised where the call is looked at
            call.fault = error
        finally:
            call.done.set()
