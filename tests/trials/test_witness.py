"""The proxy loses exactly the answer it was asked to, and the witness sees a stale write that a statement let in."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import URL, Engine, create_engine, event, text
from sqlalchemy.exc import OperationalError

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim, Usage
from pipeline.queue.settle import Counts, Fault, Limits, decide
from pipeline.queue.store import Queue
from pipeline.trials import audit
from pipeline.trials.audit import Findings
from pipeline.trials.proxy import Proxy, proxy_before
from pipeline.trials.wire import Messages, Requests
from tests import postgres
from tests.stories import checkpoint, page
from tests.tasks import add_task

ME = f"vm/{os.getpid()}/aa"
Told = list[tuple[str, str]]


class Bench:
    """A queue behind the proxy, on a database whose every write is witnessed."""

    def __init__(self, direct: Engine, through: Engine, proxy: Proxy, told: Told) -> None:
        self.direct, self.through, self.proxy, self.told = direct, through, proxy, told
        self.queue = Queue(through, limits=Limits(), aging_ms=600_000)

    def findings(self) -> Findings:
        """What the witness says."""
        with self.direct.connect() as connection:
            return audit.examine(audit.entries(connection), self.proxy.sessions)

    def claim(self, worker: str = ME) -> Claim:
        """A task of its own, claimed."""
        add_task(self.through, self.queue)
        (claim,) = self.queue.claim(worker)
        return claim

    def expire(self) -> None:
        """Let every lease have run out."""
        with self.direct.begin() as connection:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            connection.execute(text("UPDATE tasks SET lease_expires_at = now() - INTERVAL '1 second'"))
            connection.execute(text("UPDATE sweeper_state SET last_ok_at = now()"))


@pytest.fixture(scope="module")
def witnessed(server: URL) -> str:
    """The name of a database that is copied for each test: triggers and rows go with the copy."""
    url = postgres.create_database(server, f"witnessed_{os.getpid()}")
    engine = database.open_engine(url, DatabaseSettings(), name="tests")
    database.upgrade(engine)
    audit.install(engine)
    engine.dispose()
    return str(url.database)


@pytest.fixture
def bench(server: URL, witnessed: str) -> Iterator[Bench]:
    """On a database of its own."""
    name = f"witness_{os.getpid()}"
    with create_engine(server, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
        connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{witnessed}"'))
        connection.detach()
    url = server.set(database=name)
    direct = database.open_engine(url, DatabaseSettings(), name="tests")
    told: Told = []

    def tell(pid: int, kind: str, what: str, seconds: float) -> None:
        assert pid == os.getpid()
        told.append((kind, what))

    socket = Path(str(url.query["host"])) / f".s.PGSQL.{url.query.get('port', '5432')}"
    with proxy_before(url, lambda: socket, tell) as (through_url, proxy):
        through = database.open_engine(through_url, DatabaseSettings(), name="tests", connections=2)
        yield Bench(direct, through, proxy, told)
        through.dispose()
    direct.dispose()


def complete(bench: Bench, claim: Claim) -> None:
    with bench.queue.completing(claim, reason="ok", pages_done=2, result={}, usage=Usage()):
        pass


def release(bench: Bench, claim: Claim) -> None:
    decision = decide(Fault.RELEASE, Counts(), Limits(), jitter=0)
    bench.queue.fail(claim, decision, reason="released")


def test_the_life_of_a_task_leaves_nothing_to_find(bench: Bench) -> None:
    claim = bench.claim()
    checkpoint(bench.through, bench.queue, claim, [page(1, "one")])
    release(bench, claim)
    (again,) = bench.queue.claim(ME)
    bench.expire()
    assert len(bench.queue.sweep(worker=ME, interval_seconds=1).taken) == 1
    bench.queue.late_finish(again)
    with pytest.raises(LeaseLost):
        complete(bench, again)
    (last,) = bench.queue.claim(ME)
    complete(bench, last)
    found = bench.findings()
    assert (found.stale, found.early) == ([], [])
    assert found.claims == 3
    assert found.accepted == {claim.task_id: 1}


@contextmanager
def rewritten(engine: Engine, pattern: str, instead: str) -> Iterator[None]:
    """Every statement of the engine is sent with something else in it: a queue whose SQL is broken."""
    hits = 0

    def rewrite(_c: object, _u: object, words: str, values: object, _x: object, _m: bool) -> tuple[str, object]:
        nonlocal hits
        words, found = re.subn(pattern, instead, words)
        hits += found
        return words, values

    event.listen(engine, "before_cursor_execute", rewrite, retval=True)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", rewrite)
    assert hits, "the statement has changed: change the pattern"


@pytest.mark.parametrize("write", ["complete", "checkpoint"])
def test_a_statement_that_does_not_look_at_the_token_is_found_out(bench: Bench, write: str) -> None:
    stale = bench.claim()
    bench.expire()
    bench.queue.sweep(worker=ME, interval_seconds=1)
    (held,) = bench.queue.claim(ME)
    with rewritten(
        bench.through, r"(?:tasks\.)?lease_token = (%\(lease_token\)s\S*|brought.lease_token)\b", r"\1 IS NOT NULL"
    ):
        if write == "complete":
            complete(bench, stale)
        else:
            checkpoint(bench.through, bench.queue, stale, [page(1, "one")])
    assert held.attempt_no == 2
    lines = bench.findings().stale
    assert f"task {stale.task_id}, attempt 2" in lines[0]
    assert "under another lease" in lines[0]
    assert [line for line in lines[1:] if "wrote a page without the lease of its attempt" not in line] == []
    assert len(lines) == (1 if write == "complete" else 2)


def test_a_write_by_another_process_than_the_holder_is_found_out(bench: Bench) -> None:
    complete(bench, bench.claim("vm/1/aa"))
    lines = bench.findings().stale
    assert any("claimed it in the name of vm/1/aa" in line for line in lines)
    assert any("succeeded under another lease" in line for line in lines)


def test_a_write_past_the_proxy_is_found_out(bench: Bench) -> None:
    claim = bench.claim()
    with bench.direct.begin() as connection:
        connection.execute(text("UPDATE tasks SET progressed_at = clock_timestamp()"))
        connection.execute(text("DELETE FROM attempts"))
    found = bench.findings()
    assert len(found.stale) == 2
    assert all(f"task {claim.task_id}" in line for line in found.stale)


def test_a_sweep_that_takes_what_has_not_run_out_is_found_out(bench: Bench) -> None:
    bench.claim()
    pattern, instead = r"lease_expires_at < \(SELECT judged_at", "lease_expires_at IS DISTINCT FROM (SELECT judged_at"
    with rewritten(bench.through, pattern, instead):
        assert len(bench.queue.sweep(worker=ME, interval_seconds=1).taken) == 1
    (line,) = bench.findings().early
    assert "before it ran out" in line


def test_a_lost_answer_to_a_claim_leaves_the_task_claimed(bench: Bench) -> None:
    add_task(bench.through, bench.queue)
    bench.proxy.lose("claim")
    with pytest.raises(OperationalError):
        bench.queue.claim(ME)
    assert bench.told == [("lose", "claim")]
    assert len(bench.queue.held(ME)) == 1
    assert bench.findings().stale == []


def test_a_lost_answer_to_a_commit_leaves_it_committed(bench: Bench) -> None:
    claim = bench.claim()
    bench.proxy.lose("commit")
    with pytest.raises(OperationalError):
        complete(bench, claim)
    assert bench.told == [("lose", "complete")]
    assert bench.queue.outcome(claim) == "succeeded"
    assert bench.findings().stale == []


def test_a_lost_answer_to_a_fenced_statement_leaves_it_carried_out(bench: Bench) -> None:
    claim = bench.claim()
    bench.proxy.lose("fenced")
    bench.queue.promote()  # is not meant
    with pytest.raises(OperationalError):
        release(bench, claim)
    assert bench.told == [("lose", "fail")]
    assert bench.queue.outcome(claim) == "released"
    bench.queue.promote()


def test_a_lost_answer_to_a_sweep_leaves_the_task_in_line(bench: Bench) -> None:
    claim = bench.claim()
    bench.expire()
    bench.proxy.lose("write")
    with pytest.raises(OperationalError):
        bench.queue.sweep(worker=ME, interval_seconds=1)
    assert bench.told == [("lose", "sweep")]
    assert bench.queue.outcome(claim) == "expired"
    bench.proxy.lose("write")
    bench.proxy.forgive()
    bench.queue.promote()


def test_an_answer_in_many_parts_is_lost_to_its_end_and_not_before(bench: Bench) -> None:
    add_task(bench.through, bench.queue)
    bench.proxy.lose("write")
    long = text("UPDATE documents SET name = 'changed' RETURNING repeat('x', 10000000)")
    with (
        pytest.raises(OperationalError),
        bench.through.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
    ):
        connection.execute(long)
    with bench.direct.connect() as connection:
        assert connection.execute(text("SELECT name FROM documents")).scalar_one() == "changed"


def test_a_cut_connection_takes_its_transaction_with_it(bench: Bench) -> None:
    claim = bench.claim()

    def cut_after_the_fence() -> None:
        with bench.queue.completing(claim, reason="ok", pages_done=2, result={}, usage=Usage()) as connection:
            while bench.proxy.cut(0.5) is not None:
                pass
            connection.execute(text("SELECT 1"))

    with pytest.raises(OperationalError):
        cut_after_the_fence()
    assert bench.queue.outcome(claim) is None
    assert bench.proxy.cut(0.5) == os.getpid()


def test_a_late_request_arrives_when_its_time_is_up(bench: Bench) -> None:
    claim = bench.claim()
    with bench.through.connect() as connection:
        before = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    release(bench, claim)  # a session that has sent a token is a worker's
    (again,) = bench.queue.claim(ME)
    bench.proxy.hold(0.3)
    complete(bench, again)
    assert bench.told == [("late", "request")]
    with bench.direct.connect() as connection:
        finished = connection.execute(text("SELECT finished_at FROM tasks")).scalar_one()
    assert (finished - before).total_seconds() >= 0.3


def test_a_server_that_is_down_is_down_behind_the_proxy_too(server: URL) -> None:
    with proxy_before(server, lambda: None, lambda *_: None) as (url, _):
        engine = database.open_engine(url, DatabaseSettings(), name="tests")
        with pytest.raises(OperationalError):
            engine.connect()
        engine.dispose()


PARSE = b"P\x00\x00\x00\x16s1\x00UPDATE tasks\x00\x00\x00"
TOKEN = uuid.UUID("12345678-1234-5678-1234-567812345678")
BAIT = json.dumps({"lease_token": str(uuid.UUID(int=1))})


def bind(name: bytes, value: bytes, *, binary: bool) -> bytes:
    """A Bind with one value."""
    body = b"\x00" + name + b"\x00" + b"\x00\x01" + (b"\x00\x01" if binary else b"\x00\x00")
    body += b"\x00\x01" + len(value).to_bytes(4, "big") + value + b"\x00\x00"
    return b"B" + (len(body) + 4).to_bytes(4, "big") + body


# As it is bound alone, and among the rows of a completion, whose results may say what they like.
VALUES = (TOKEN.bytes, str(TOKEN).encode(), json.dumps([{"lease_token": str(TOKEN), "result": BAIT}]).encode())


@given(cuts=st.lists(st.integers(0, 200)), value=st.sampled_from(VALUES))
def test_a_statement_and_its_token_are_read_however_the_stream_is_cut(cuts: list[int], value: bytes) -> None:
    stream = b"\x00\x00\x00\x08\x00\x03\x00\x00" + PARSE + bind(b"s1", value, binary=value == TOKEN.bytes)
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    requests = Requests()
    found = [r for start, end in pairwise(edges) for r in requests.feed(stream[start:end])]
    assert [(each.text, each.tokens) for each in found] == [("UPDATE tasks", frozenset([TOKEN]))]


def test_messages_of_a_server_have_types_from_the_first() -> None:
    assert list(Messages(typed=True).feed(b"K\x00\x00\x00\x0c\x00\x00\x00\x05abcdZ")) == [
        (b"K", b"\x00\x00\x00\x05abcd")
    ]
