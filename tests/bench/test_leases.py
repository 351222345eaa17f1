"""The simulation of leases learns what calibrate.sql learns, and takes no short cut that shows."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from bench.leases import compared
from bench.leases_attempts import Course, Kind, Stepped, _at_once, _Steps
from bench.leases_fleet import Fleet
from bench.leases_learning import Logged, learned
from bench.leases_measured import Measured, Timed
from bench.leases_world import Host, Paper, Weather, made
from pipeline.config import LeaseSettings, WorkerSettings
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.store import Queue
from tests.tasks import add_task

TIMED = Measured(
    [Timed(0.001, (0.004, 0.003), 0.04)],
    Timed(0.004, (0.002,) * 200, 0.4),
    Timed(0.007, (2.1, 1.8, 0.6), 0.02),
    Timed(0.007, (10,), 0.02),
)
CALM = Weather(hours=0.15, hang_share=0, crash_share=0, eviction_seconds=1e9, between_spells_seconds=1e9)
POLICY = LeasePolicy()
QUIET = Host(CALM, random.Random(1))  # noqa: S311 - a simulation
OUTCOMES = ("succeeded", "crashed", "expired", "released", "failed", "cancelled")
_LOGGED = text("""
    WITH task AS (
        INSERT INTO tasks (document_id, page_count, ocr_page_count, status, reason, finished_at, rank_ms, lease_seconds,
                           deadline_seconds)
        SELECT document_id, 1, :ocr_page_count, 'cancelled', 'cancelled', queue_now(), 0, 15, 60 FROM documents
        RETURNING task_id
    ),
    zero AS (SELECT timestamptz '2026-01-01 00:00Z' AS at)
    INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, ended_at,
                          outcome, pages_done, pages_reused, cpu_seconds, late_finish_at)
    SELECT
        task_id, 1, gen_random_uuid(), 'w', 15, at + make_interval(secs => :started_at),
        at + make_interval(secs => :progressed_at), at + make_interval(secs => :ended_at), :outcome, 7 + :pages, 7,
        :cpu_seconds, at + make_interval(secs => :late_finish_at)
    FROM task, zero
""")


def test_the_simulation_learns_what_the_statement_learns(engine: Engine, queue: Queue) -> None:
    add_task(engine, queue)  # for its document
    chance = random.Random(7)  # noqa: S311 - a simulation
    log = [_logged(chance) for _ in range(400)]
    with engine.begin() as connection:
        for each in log:
            values = {name: getattr(each, name) for name in Logged.__slots__}
            connection.execute(_LOGGED, values)
    queue.calibrate()
    found = queue.rates("auto")
    assert set(found) == {"text", "ocr"}
    assert found == pytest.approx(learned(log), rel=1e-6)


def _logged(chance: random.Random) -> Logged:
    started, lasted = chance.uniform(0, 1e4), chance.choice((chance.uniform(0, 2), chance.uniform(0, 90)))
    outcome = chance.choice(OUTCOMES)
    return Logged(
        outcome,
        started,
        started + lasted,
        started + lasted * chance.random(),
        chance.choice((0, 1, 2, 40)),
        chance.choice((0, 0, 1, 5)),
        chance.choice((None, lasted * chance.random())),
        started + lasted + 3 if outcome == "expired" and chance.random() < 0.5 else None,
    )


@given(
    st.lists(st.floats(0.001, 0.5), min_size=1, max_size=30),
    st.integers(1, 60),
    st.integers(0, 29),
    st.booleans(),
)
def test_an_attempt_at_once_ends_as_it_does_step_by_step(
    pages: list[float], step: int, done: int, is_suspect: bool
) -> None:
    paper = Paper(1, "contract", 0, (0.01, *pages, 0.02), 0)
    stepped = Stepped(replace(POLICY, step_pages=step))
    lease, deadline = stepped.promised(paper)
    course = Course(
        paper,
        QUIET,
        5,
        done=min(done, len(pages)),
        lease_seconds=lease,
        deadline_seconds=deadline,
        is_suspect=is_suspect,
    )
    short, long = _at_once(course, stepped), _Steps(course, stepped).run()
    if short is not None:
        assert (short.kind, short.renewals, short.pages_done) == (long.kind, long.renewals, long.pages_done)
        assert math.isclose(short.at, long.at)


@pytest.mark.parametrize(("spins", "after"), [(False, POLICY.min_seconds - 1), (True, POLICY.min_seconds * 7 / 3 - 1)])
def test_a_document_that_hangs_is_noticed_when_its_leases_are_used_up(spins: bool, after: float) -> None:
    paper = Paper(1, "invoice", 0, (0, 0, 0, 0), 0, hangs_on=1, spins=spins)
    ended = Stepped(POLICY).run(Course(paper, QUIET, 0, lease_seconds=POLICY.min_seconds, deadline_seconds=3600))
    assert (ended.kind, ended.hung_at, ended.page) == (Kind.GIVEN_UP, 0, 1)
    assert math.isclose(ended.at, min(after, WorkerSettings().page_seconds))


def test_pages_that_come_are_renewed_for_by_the_clock() -> None:
    """A scan of 7 seconds a page: a checkpoint follows each, 5 seconds after the last."""
    paper = Paper(1, "scan", 0, (0, *[7.0] * 10, 0), 10)
    lease, deadline = Stepped(POLICY).promised(paper)
    ended = Stepped(POLICY).run(Course(paper, QUIET, 0, lease_seconds=lease, deadline_seconds=deadline))
    assert (ended.kind, ended.at, ended.renewals) == (Kind.FINISHED, 70, 9)
    assert LeaseSettings().checkpoint_seconds < 7


def test_without_faults_every_policy_but_the_fixed_one_finishes_everything() -> None:
    found = {each.name: each for each in compared([made(TIMED, CALM, 3)])}
    assert {name for name, each in found.items() if each.unfinished != [0]} == {"fixed, 5 minutes"}
    assert [found[name].false for name in ("timer, 30 s", "by progress", "learned")] == [[0], [0], [0]]


def test_a_run_is_the_same_every_time_and_a_killed_worker_costs_no_more_than_lease_and_sweep() -> None:
    world = made(TIMED, replace(CALM, eviction_seconds=300), 5)
    runs = [Fleet(world, Stepped(POLICY)).run() for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].after_evictions
    assert max(runs[0].after_evictions) <= POLICY.max_seconds + 5
