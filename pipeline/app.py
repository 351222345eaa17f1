"""The composition root: settings become an engine, a queue, a store, handlers, workers. The only builder.

A command opens an App for as long as it runs; a process holds at most two database connections, the engine's and the
listener's.
"""

from __future__ import annotations

import functools
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Engine, event
from sqlalchemy.exc import OperationalError

from pipeline import database, handling
from pipeline.attachments import Attachments
from pipeline.config import MEGABYTE, LeaseSettings, LimitSettings, QueueSettings, Settings
from pipeline.documents import ocr
from pipeline.documents.archive import Archive
from pipeline.documents.contract import Inspection
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import ConfigurationError, DatabaseUnavailable, StoreUnavailable
from pipeline.intake.again import Again
from pipeline.intake.recipe import Intake
from pipeline.intake.watcher import Watcher
from pipeline.metrics.counting import CountingChild, CountingHands, CountingQueue, CountingResults, count_errors
from pipeline.metrics.counts import Counts
from pipeline.passwords import known_passwords
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.presence import Presence
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from pipeline.queue.sweeper import Rhythm, Sweeper
from pipeline.queue.wakeup import Bell, Listener, Notifier
from pipeline.registering import Registry
from pipeline.remembered import Memory
from pipeline.results import Results
from pipeline.worker.equipment import Equipment, Pace
from pipeline.worker.inspector import Inspector
from pipeline.worker.process import CHILD_MODULE, ChildProcess
from pipeline.worker.provision import Provision
from pipeline.worker.slot import Slot, SlotSettings, Until
from pipeline.worker.supervisor import Supervisor

ABANDONED_AFTER_SECONDS = 3600
RATES_SECONDS = 10.0
LOOKS_A_POLL = 20

logger = logging.getLogger(__name__)


@dataclass
class App:
    """The parts of one running doclease process, each built when it is first asked for."""

    settings: Settings
    url: URL
    name: str
    server: EmbeddedServer | None = None
    child_module: str = CHILD_MODULE
    counts: Counts = field(default_factory=Counts, repr=False)
    _learned: dict[str, tuple[float, dict[str, float]]] = field(default_factory=dict, init=False, repr=False)
    worker_id: str = field(default_factory=lambda: f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}")

    @functools.cached_property
    def engine(self) -> Engine:
        """One connection, made when first needed; an embedded server that went away is started again with it."""
        engine = database.open_engine(self.url, self.settings.database, name=self.name)
        if self.server is not None:
            event.listen(engine, "do_connect", self._revive)
        count_errors(engine, self.counts)
        return engine

    @functools.cached_property
    def queue(self) -> Queue:
        """The queue on this process's engine."""
        settings = self.settings.queue
        return CountingQueue(self.counts, self.engine, limits=limits(settings), aging_ms=settings.aging_ms)

    @functools.cached_property
    def archive(self) -> Archive:
        """The content-addressed store."""
        return Archive(self.settings.store_path)

    @functools.cached_property
    def notifier(self) -> Notifier:
        """Wakes idle workers, here and elsewhere."""
        return Notifier(self.engine)

    @functools.cached_property
    def results(self) -> Results:
        """Pages and results, written under a lease."""
        return CountingResults(self.engine)

    @property
    def libpq_url(self) -> str:
        """The database for psql and other clients."""
        return database.address(self.url.set(drivername="postgresql"), self.settings.database)

    def policy(self, handler: str = handling.AUTO) -> LeasePolicy:
        """The lease policy in force for a handler: the configured one, with what was learned of it."""
        policy = lease_policy(self.settings.lease, self.settings.limits)
        if not self.settings.lease.learn:
            return policy
        margin = self.settings.lease.learn_margin
        learned = {source: rate * margin for source, rate in self._rates(handler).items()}
        return policy.with_rates(text=learned.get("text"), ocr=learned.get("ocr"))

    def _rates(self, handler: str) -> dict[str, float]:
        """What was learned of a handler: asked for again after some seconds, since it changes by the minute."""
        known = self._learned.get(handler)
        if known is None or time.monotonic() - known[0] > RATES_SECONDS:
            known = self._learned[handler] = (time.monotonic(), self.queue.rates(handler))
        return known[1]

    def provision(self) -> Provision:
        """What a parser child may use now; the file of passwords is read each time."""
        try:
            passwords = known_passwords(self.settings.passwords_path)
        except ConfigurationError as error:
            # Documents that need none must not suffer, and those that do say so themselves.
            logger.warning("%s", error)
            passwords = ()
        return Provision(self.settings.limits, self.settings.ocr, passwords)

    def child(self) -> ChildProcess:
        """A parser child, started when it is first needed."""
        max_file_bytes = int(self.settings.limits.max_megabytes * MEGABYTE)
        return CountingChild(self.counts, self.settings.worker, self.child_module, max_file_bytes=max_file_bytes)

    @contextmanager
    def intake(self) -> Iterator[Intake]:
        """What takes files in. Holds a parser child of its own until the block ends."""
        self._remove_abandoned_copies()
        with Inspector(self.settings.worker, self.child(), self.provision) as inspector:
            yield Intake(
                engine=self.engine,
                queue=self.queue,
                archive=self.archive,
                inspect=inspector.inspect,
                policy=self.policy,
                limits=self.settings.limits,
                notify=self.notifier.notify,
            )

    @contextmanager
    def again(self) -> Iterator[Again]:
        """What puts documents on record in line again. Holds a parser child of its own until the block ends."""
        child = self.child()
        secrets: list[str] = []

        def provision() -> Provision:
            usual = self.provision()
            return replace(usual, passwords=tuple(secrets) or usual.passwords)

        with Inspector(self.settings.worker, child, provision) as inspector:

            def open_with(path: Path, name: str, password: str) -> Inspection:
                secrets[:] = [password] if password else []
                return inspector.inspect(path, name)

            yield Again(
                engine=self.engine,
                registry=Registry(self.queue),
                archive=self.archive,
                policy=self.policy,
                limits=self.settings.limits,
                open_with=open_with,
                notify=self.notifier.notify,
            )

    def watcher(self, intake: Intake) -> Watcher:
        """What watches the inbox; `intake` must be its alone."""
        return Watcher(intake=intake, settings=self.settings)

    def sweeper(self, bell: Bell | None = None) -> Sweeper:
        """The background jobs of this process."""
        rhythm = Rhythm(
            self.settings.sweep.interval_seconds,
            self.settings.queue.poll_seconds,
            self.settings.sweep.batch,
            self.settings.lease.learn,
        )
        if bell is None:
            return Sweeper(self.queue, worker=self.worker_id, rhythm=rhythm, on_work=self.notifier.notify)
        return Sweeper(self.queue, worker=self.worker_id, rhythm=rhythm, on_work=bell.ring, on_ready=bell.ring)

    def supervisor(
        self,
        slots: int,
        *,
        until: Until = Until.STOPPED,
        companions: Sequence[Callable[[threading.Event], None]] = (),
    ) -> Supervisor:
        """A worker of so many slots, with its sweeper, its listener and what runs beside them."""
        self._require_recognition()
        bell = Bell()
        sweeper = self.sweeper(bell)
        suspect_lane = threading.Lock()
        hands = CountingHands(self.counts)
        equipment = self._equipment()
        poll_seconds = self.settings.queue.poll_seconds
        if until is Until.STOPPED:  # looks wake the slots; that one of them polls is the net under it
            poll_seconds *= LOOKS_A_POLL * slots
        slot_settings = SlotSettings(poll_seconds=poll_seconds, until=until)
        return Supervisor(
            slots=[
                Slot(
                    equipment=equipment,
                    sweeper=sweeper,
                    bell=bell,
                    worker_id=self.worker_id,
                    settings=slot_settings,
                    suspect_lane=suspect_lane,
                    hands=hands,
                    child=self.child(),
                )
                for _ in range(slots)
            ],
            sweeper=sweeper,
            listener=self._listener(bell, sweeper),
            bell=bell,
            drain_seconds=self.settings.worker.drain_seconds,
            companions=companions,
        )

    def close(self) -> None:
        """Tell workers what they were to be told later, and give up the connections."""
        if "notifier" in vars(self):
            self.notifier.close()
        self.engine.dispose()

    def _require_recognition(self) -> None:
        """Before the first scan pays for it. Raises ConfigurationError."""
        engine = self.settings.ocr.engine
        absent = ocr.missing(self.settings.ocr)
        if absent:
            raise ConfigurationError(
                f"ocr.engine is {engine}, and {' and '.join(absent)} is not installed."
                f" Type: pip install 'doclease[{engine}]', or set ocr.engine"
            )

    def _equipment(self) -> Equipment:
        return Equipment(
            queue=self.queue,
            results=self.results,
            memory=Memory(self.engine),
            attachments=Attachments(self.queue),
            archive=self.archive,
            policy=self.policy,
            provision=self.provision,
            notify=self.notifier.notify,
            settings=self.settings.worker,
            pace=Pace(self.settings.lease.checkpoint_seconds, self.settings.lease.busy_extensions),
        )

    def _remove_abandoned_copies(self) -> None:
        try:
            self.archive.sweep_temporaries(older_than_seconds=ABANDONED_AFTER_SECONDS)
        except StoreUnavailable as error:
            # Intake finds out for itself, waits for the store and says so; a clean-up is no reason to end.
            logger.debug("abandoned copies not removed: %s", error)

    def _listener(self, bell: Bell, sweeper: Sweeper) -> Listener | None:
        if self.settings.database.pooler == "transaction":
            return None
        presence = Presence(self.worker_id) if self.settings.sweep.presence else None
        return Listener(self._connect_listener, bell, presence=presence, on_lost=sweeper.look_soon)

    def _connect_listener(self) -> psycopg.Connection[tuple[object, ...]]:
        return database.listening_connection(self.url, self.settings.database)

    def _revive(self, _dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]) -> None:
        """Before a connection is made: have a server, and take its address, which may have changed with a restart."""
        assert self.server is not None
        try:
            self.url = database.parse_url(self.server.acquire())
        except DatabaseUnavailable as error:
            # Whoever waits for a database that is away waits for one that does not start, too.
            raise psycopg.OperationalError(str(error)) from error
        parameters["host"] = self.url.query["host"]


@contextmanager
def open_app(settings: Settings, *, name: str, check_schema: bool = True) -> Iterator[App]:
    """An App whose database answers and has the right schema. Starts the embedded server if no database is configured.

    A fresh embedded database gets its schema here; any other one is left alone, and an old schema is an error that says
    what to type. Raises DatabaseUnavailable, SchemaOutdated or ConfigurationError.
    """
    server = None if settings.database_url else EmbeddedServer(_made(settings))
    try:
        url = database.parse_url(settings.database_url if server is None else server.acquire())
        app = App(settings, url, name, server)
        try:
            if check_schema:
                _prepare_schema(app)
            yield app
        except OperationalError as error:
            raise database.unavailable(error) from error
        finally:
            app.close()
    finally:
        if server is not None:
            server.release()


def limits(settings: QueueSettings) -> Limits:
    """The queue's limits as configured."""
    return Limits(
        max_failures=settings.max_failures,
        max_crashes=settings.max_crashes,
        max_releases=settings.max_releases,
        backoff_seconds=settings.backoff_seconds,
        backoff_cap_seconds=settings.backoff_cap_seconds,
    )


def lease_policy(settings: LeaseSettings, limit: LimitSettings) -> LeasePolicy:
    """The lease policy as configured, before anything was learned."""
    return LeasePolicy(
        base_seconds=settings.base_seconds,
        per_page_seconds=settings.per_page_seconds,
        ocr_per_page_seconds=settings.ocr_per_page_seconds,
        min_seconds=settings.min_seconds,
        max_seconds=settings.max_seconds,
        step_pages=settings.step_pages,
        slack=settings.slack,
        max_pages=limit.max_pages,
    )


def _made(settings: Settings) -> Path:
    # Whatever the umask, nobody else may put another store or another database server in the place of this one.
    settings.data_path.mkdir(0o755, parents=True, exist_ok=True)
    return settings.data_path


def _prepare_schema(app: App) -> None:
    if app.server is not None and database.current_revision(app.engine) is None:
        database.upgrade(app.engine)
    database.require_schema(app.engine)
