"""What each call of the queue asks of one PostgreSQL: processor time of its session, log, commits, pages, round trips.

Everything goes through the public methods of Queue, Results and Intake, so what is measured is what they do today.
"""

from __future__ import annotations

import itertools
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Connection, event, text

from bench.growing import COMPLETE_ALL, DELAY_ALL, READY, Growing
from bench.pages_touched import Bench
from bench.typical import Typical, a_contract, an_invoice
from pipeline.config import LimitSettings
from pipeline.documents.archive import Archive, Stored
from pipeline.documents.contract import Inspection
from pipeline.intake.arrivals import Identity
from pipeline.intake.recipe import Intake, Order, Ready, Source
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import Claim, Completion, Usage
from pipeline.queue.store import Queue
from pipeline.registering import Triage
from pipeline.results import Results

WORKER = "worker-1"
STEP_PAGES, MANY, WORKERS = 10, 10, 200
WARM = 12  # calls until both the driver and the server have prepared a statement for good
ATTEND = """
INSERT INTO workers (worker, host, session_pid, session_start, server_started_at, attended_at)
SELECT 'worker-' || pid, 'host', pid, backend_start, pg_postmaster_start_time(), now()
FROM pg_stat_activity
WHERE query LIKE 'LISTEN%'
"""
_LOG = "SELECT pg_current_wal_insert_lsn() - CAST('0/0' AS pg_lsn)"
_WRITERS = "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint)"


@dataclass(frozen=True, slots=True)
class Demand:
    """What one call asks for.

    `server_us` is processor time of the session, `client_us` that of the caller; `commits` are those that wait for the
    disk; `trips` are messages to the server that are waited for.
    """

    server_us: float
    client_us: float = 0.0
    log_bytes: float = 0.0
    commits: float = 0.0
    pages: float = 0.0
    trips: float = 1.0


class Meter:
    """Measures calls on the one session of a bench."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._pid = int(bench.ask("SELECT pg_backend_pid()"))
        self._trips = 0
        event.listen(bench.engine, "before_cursor_execute", self._on_statement)
        event.listen(bench.engine, "begin", self._on_begin)

    def of(self, act: Callable[[], object], times: int) -> Demand:
        """The mean over so many calls, after some that fill the caches of the session."""
        for _ in range(WARM):
            act()
        bench = self._bench
        log, writers, pages = bench.ask(_LOG), bench.ask(_WRITERS), bench.touched()
        server, client, self._trips = used_seconds(self._pid), time.thread_time(), 0
        for _ in range(times):
            act()
        trips, client = self._trips, time.thread_time() - client
        server = used_seconds(self._pid) - server
        return Demand(
            server / times * 1e6,
            client / times * 1e6,
            float(bench.ask(_LOG) - log) / times,
            (bench.ask(_WRITERS) - writers) / times,
            (bench.touched() - pages) / times,
            trips / times,
        )

    def _on_statement(self, *_: object) -> None:
        self._trips += 1

    def _on_begin(self, connection: Connection) -> None:
        # BEGIN and COMMIT are messages of their own; in autocommit there is neither.
        is_single = connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT"
        self._trips += 0 if is_single else 2


def used_seconds(pid: int) -> float:
    """Processor seconds of a process, to the nanosecond; 0.0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except OSError:
        return 0.0


def complete(queue: Queue, results: Results, claims: Sequence[Claim], typical: Typical | None) -> None:
    """As a worker does it at the end of documents: one transaction for all."""
    found = typical.found.result if typical else {}
    completions = [Completion(claim, "ok", 2, found, Usage()) for claim in claims]
    with queue.completing_all(completions) as (connection, accepted):
        if typical is not None:
            kept = [claim for claim in claims if claim.lease_token in accepted]
            results.write_all_pages(connection, [(claim, typical.pages) for claim in kept])
            results.write_all_found(connection, [(claim, typical.found) for claim in kept])


def demands(bench: Growing, times: int, in_work: int) -> dict[str, Demand]:
    """Every call, on tables that have some thousand rows already. `in_work`: tasks when sweeps are measured."""
    meter = Meter(bench)
    found = dict(of_documents(bench, meter, times))
    found |= _of_the_idle(bench, meter, times)
    found |= _of_a_crowd(bench, meter, times)
    found |= _of_sweeps(bench, meter, max(times // 5, 10), in_work)
    return found


def of_documents(bench: Growing, meter: Meter, times: int) -> Iterator[tuple[str, Demand]]:
    """What each document asks for, from its arrival to its result."""
    few = max(times // 4, 5)
    intake = _taking_in(bench)
    yield "intake", meter.of(lambda: intake.record(_a_file()), times)
    yield "intake of 100", meter.of(lambda: intake.record_all([_a_file() for _ in range(100)]), 5)
    bench.fill(2 * times + 2 * MANY * few + (3 * MANY + 3) * WARM, READY)
    results, claims = Results(bench.engine), list[Claim]()
    yield "claim", meter.of(lambda: claims.extend(bench.queue.claim(WORKER)), times)
    yield "claims", meter.of(lambda: claims.extend(bench.queue.claim(WORKER, batch=MANY)), few)
    claims.extend(bench.claimed(times + MANY * few + (2 * MANY + 3) * WARM))
    told, in_hand = itertools.cycle(claims[:times]), iter(claims)
    yield "material", meter.of(lambda: results.material(next(told)), times)
    yield "materials", meter.of(lambda: results.materials([next(told) for _ in range(MANY)]), few)
    yield "renewal", meter.of(lambda: _checkpoint(bench, results, next(told), 0), times)
    yield "checkpoint", meter.of(lambda: _checkpoint(bench, results, next(told), STEP_PAGES), few)
    for name, typical, many, number in (
        ("complete empty", None, 1, times),
        ("complete invoice", an_invoice(), 1, times),
        ("complete invoices", an_invoice(), MANY, few),
        ("complete contract", a_contract(), 1, few),
    ):

        def end(typical: Typical | None = typical, many: int = many) -> None:
            complete(bench.queue, results, list(itertools.islice(in_hand, many)), typical)

        yield name, meter.of(end, number)


def _taking_in(bench: Growing) -> Intake:
    policy = LeasePolicy()
    return Intake(
        engine=bench.engine,
        queue=bench.queue,
        archive=Archive(Path(tempfile.gettempdir()) / "never-made"),
        inspect=lambda _path, _name: Inspection("application/pdf", 2),
        policy=lambda _: policy,
        limits=LimitSettings(),
        notify=lambda: None,
    )


def _a_file() -> Ready:
    """As intake has it once its bytes are in the store."""
    token = uuid.uuid4()
    order, triage = Order("auto", 0, None, "command", token), Triage(Inspection("application/pdf", 2))
    source = Source.at(Path("/inbox/invoice.pdf"))
    return Ready(source, order, Stored(token.hex * 2, 1000), Identity(1, 1, 1000, 1), triage)


def _checkpoint(bench: Growing, results: Results, claim: Claim, pages: int) -> None:
    with bench.queue.checkpointing(claim, pages_done=pages, lease_seconds=600) as (connection, _):
        if pages:
            results.write_pages(connection, claim, a_contract().pages[:pages])


def _of_the_idle(bench: Growing, meter: Meter, times: int) -> Iterator[tuple[str, Demand]]:
    while bench.queue.claim(WORKER, batch=500):
        pass
    bench.run(COMPLETE_ALL)
    bench.vacuum()
    yield "poll", meter.of(lambda: bench.queue.claim(WORKER), times)
    yield "look", meter.of(bench.queue.look, times)
    bench.fill(times + WARM, READY)
    bench.claimed(times + WARM)
    bench.run(DELAY_ALL)
    yield "promote", meter.of(lambda: bench.queue.promote(batch=1), times)


def _of_a_crowd(bench: Growing, meter: Meter, times: int) -> Iterator[tuple[str, Demand]]:
    """What grows with the number of workers: the look at who attends, and those who hear a notification."""
    alone = bench.engine.execution_options(isolation_level="AUTOCOMMIT")

    def ring() -> None:
        with alone.connect() as connection:
            connection.execute(text("NOTIFY doclease_work"))

    with ExitStack() as stack:
        listeners = [stack.enter_context(psycopg.connect(**_where(bench), autocommit=True)) for _ in range(WORKERS)]
        for each in listeners:
            each.execute("LISTEN doclease_work")
        bench.run(ATTEND)
        yield "look among workers", meter.of(bench.queue.look, times)
        before = sum(used_seconds(each.info.backend_pid) for each in listeners)
        yield "notify", meter.of(ring, times)
        bench.ask("SELECT pg_sleep(0.2)")
        heard = sum(used_seconds(each.info.backend_pid) for each in listeners) - before
        yield "heard", Demand(heard / (times + WARM) / WORKERS * 1e6)
        bench.run("DELETE FROM workers")


def _of_sweeps(bench: Growing, meter: Meter, times: int, in_work: int) -> Iterator[tuple[str, Demand]]:
    bench.run("DELETE FROM tasks WHERE status = 'enqueued'")
    bench.sweep()
    yield "sweep", meter.of(bench.sweep, times)
    with psycopg.connect(**_where(bench)) as other:
        other.execute("SELECT FROM sweeper_state FOR NO KEY UPDATE")
        yield "sweep elsewhere", meter.of(bench.sweep, times)
    bench.fill(in_work, READY)
    bench.claimed(in_work)
    bench.vacuum()
    yield "sweep of tasks", meter.of(bench.sweep, times)


def _where(bench: Growing) -> dict[str, Any]:
    url = bench.engine.url
    return {"host": url.query["host"], "user": url.username, "dbname": url.database}
