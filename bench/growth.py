"""Whether the queue stays fast: `python -m bench.growth [--quick | --full] [--json FILE]`

Pages that each verb touches while finished and ready tasks grow, with an old snapshot held, in a sweep of many expired
leases; whether renewals are heap-only; how tables and indexes grow over a simulated day. --full goes to 5 million
finished and 1 million ready tasks; --quick takes fewer samples.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator

from sqlalchemy import Engine, text

from bench.figures import Figure, Table, add_json, tell
from bench.growing import COMPLETE_ALL, DELAY_ALL, EXPIRE_ALL, FINISHED, READY, RENEW_ALL, THEIR_ATTEMPTS, Growing
from bench.pages_touched import Cost, engine_on, installed, server
from pipeline.queue.front import LOOK_SECONDS
from pipeline.queue.model import Claim

CHURNED, CHURN_BATCH = 20_000, 250
EXPIRED = 10_000
RENEWALS = 1_000
HOUR_TASKS = 2_000
_LIVE_INDEXES = ("tasks_ready", "tasks_processing", "tasks_delayed")


def verbs(bench: Growing, samples: int) -> dict[str, Cost]:
    """What each verb costs as the tables are now."""
    found = {"enqueue": bench.cost(bench.enqueuing(samples + 1), samples)}
    bench.vacuum()
    claims: list[Claim] = []
    found["claim"] = bench.cost(lambda: claims.extend(bench.queue.claim("worker-1")), samples)
    in_hand = iter(claims)
    found["complete"] = bench.cost(lambda: bench.complete(next(in_hand)), samples)
    bench.claimed(50)
    bench.sweep()
    found["sweep of 50 valid leases"] = bench.cost(bench.sweep, max(samples // 5, 5))
    bench.run(COMPLETE_ALL)
    bench.claimed(samples + 1)
    bench.run(DELAY_ALL)
    bench.vacuum()
    found["promote one"] = bench.cost(lambda: bench.queue.promote(batch=1), samples)
    return found


def by_size(bench: Growing, sizes: list[tuple[int, int]], samples: int) -> Iterator[Table]:
    """The verbs at so many finished and ready tasks."""
    first: dict[str, Cost] = {}
    finished = ready = 0
    for more_finished, more_ready in sizes:
        bench.fill(more_finished - finished, FINISHED, THEIR_ATTEMPTS)
        bench.fill(more_ready - ready, READY)
        finished, ready = more_finished, more_ready
        by_plan = statistics.median(bench.plan_pages(lambda: bench.queue.claim("worker-1")) for _ in range(samples))
        p50, p99 = bench.server_ms(lambda: bench.queue.claim("worker-1"), samples)
        found = verbs(bench, samples)
        first = first or found
        claim = [
            Figure("claim, its statement", by_plan, "pages", most=20, note="median; the attempt's row not counted"),
            Figure("claim, its statement, p50", p50, "ms", note="in the server, without the commit"),
            Figure("claim, its statement, p99", p99, "ms", most=1, note="in the server, without the commit"),
        ]
        yield Table(f"{finished:,} finished, {ready:,} ready tasks", [*claim, *_at_size(found, first)])


def _at_size(found: dict[str, Cost], first: dict[str, Cost]) -> Iterator[Figure]:
    for verb, cost in found.items():
        yield Figure(f"{verb}, all told", cost.pages, "pages")
        if first is not found:
            most = 1.3 if verb == "claim" else None
            yield Figure(f"{verb}, to the smallest size", cost.pages / first[verb].pages, "times", most=most)
    for verb, cost in found.items():
        yield Figure(f"{verb}, p50", cost.p50_ms, "ms")
        yield Figure(f"{verb}, p99", cost.p99_ms, "ms", note="as the caller sees it, with its commit")


def with_an_old_snapshot(bench: Growing, other: Engine) -> Table:
    """One session stands in an old snapshot while tasks go through."""
    bench.fill(CHURNED + 1000, READY)
    bench.plan_pages(lambda: bench.queue.claim("worker-1"))
    plain = bench.plan_pages(lambda: bench.queue.claim("worker-1"))
    found: list[tuple[int, int]] = []
    with other.connect() as report:
        report.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        report.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        report.exec_driver_sql("SELECT count(*) FROM tasks")
        for done in range(CHURN_BATCH, CHURNED + 1, CHURN_BATCH):
            bench.queue.claim("worker-1", batch=CHURN_BATCH)
            bench.run(COMPLETE_ALL)
            if done % 5000 == 0:
                found.append((done, bench.plan_pages(lambda: bench.queue.claim("worker-1"))))
        bench.watch.seconds += LOOK_SECONDS + 0.1
        whole = bench.plan_pages(lambda: bench.queue.claim("worker-1"))
        report.rollback()
    bench.run(COMPLETE_ALL)
    bench.vacuum()
    return Table("Claims while a snapshot is held", list(_held(plain, found, whole)))


def _held(plain: int, found: list[tuple[int, int]], whole: int) -> Iterator[Figure]:
    for done, pages in found:
        yield Figure(f"a claim after {done:,} tasks, to before", pages / plain, "times", most=2)
    yield Figure("a claim before", plain, "pages")
    yield Figure("the one look a second at the whole line", whole, "pages")


def of_leases(bench: Growing) -> Table:
    """A sweep of many expired leases, and renewals."""
    bench.fill(EXPIRED, READY)
    claims = bench.claimed(EXPIRED)
    updates = text("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'tasks'")
    bench.vacuum()
    bench.touched()
    with bench.engine.connect() as connection:
        before = connection.execute(updates).one()
    for claim in claims[:RENEWALS]:
        with bench.queue.checkpointing(claim, pages_done=1, lease_seconds=600):
            pass
    bench.touched()
    with bench.engine.connect() as connection:
        after = connection.execute(updates).one()
    hot = (after.n_tup_hot_upd - before.n_tup_hot_upd) / (after.n_tup_upd - before.n_tup_upd)
    bench.run(EXPIRE_ALL)
    bench.vacuum()
    pages = bench.touched()
    while bench.sweep():
        pass
    swept = (bench.touched() - pages) / EXPIRED
    return Table(
        "Leases",
        [
            Figure("renewals that leave every index alone", hot * 100, "%", least=100),
            Figure(f"sweep of {EXPIRED:,} expired leases", swept, "pages a task", most=20, note="all told"),
        ],
    )


def over_a_day(bench: Growing, hours: int) -> Table:
    """Tasks come, are renewed and end, so many an hour; dead rows are vacuumed as often as autovacuum would."""
    sizes = []
    for _ in range(hours):
        bench.fill(HOUR_TASKS, READY)
        for _ in range(HOUR_TASKS // CHURN_BATCH):
            bench.queue.claim("worker-1", batch=CHURN_BATCH)
            for _ in range(3):
                bench.run(RENEW_ALL)
            bench.run(COMPLETE_ALL)
        bench.vacuum()
        sizes.append((_bytes(bench, _LIVE_INDEXES), _bytes(bench, ("tasks", "attempts"))))
    after_two, last = sizes[1], sizes[-1]
    a_task = (last[1] - after_two[1]) / (hours - 2) / HOUR_TASKS
    return Table(
        f"{hours} hours of {HOUR_TASKS:,} tasks, three renewals each",
        [
            Figure("indexes of what waits or is in work, to hour 2", last[0] / after_two[0], "times", most=1.3),
            Figure("indexes of what waits or is in work", last[0] / 1024, "kB"),
            Figure("table rows a finished task", a_task, "bytes", most=1000, note="tasks and attempts, no index"),
        ],
    )


def _bytes(bench: Growing, names: tuple[str, ...]) -> int:
    return sum(int(bench.ask("SELECT pg_relation_size(CAST(:name AS regclass))", name=name)) for name in names)


def measured(sizes: list[tuple[int, int]], samples: int, hours: int) -> Iterator[Table]:
    """Every table, on a server of its own."""
    with server() as postgres:
        with installed(postgres, "growth") as engine:
            yield from by_size(Growing(engine), sizes, samples)
        with installed(postgres, "churn") as engine, engine_on(postgres, "churn") as other:
            bench = Growing(engine)
            yield with_an_old_snapshot(bench, other)
            yield of_leases(bench)
        with installed(postgres, "day") as engine:
            yield over_a_day(Growing(engine), hours)


def main() -> None:
    """Measure, print, write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer samples")
    options.add_argument("--full", action="store_true", help="to 5 million finished and 1 million ready tasks")
    add_json(options)
    chosen = options.parse_args()
    most = (5_000_000, 1_000_000) if chosen.full else (1_000_000, 100_000)
    sizes = [(10_000, 2_000), (100_000, 10_000), most]
    tell(list(measured(sizes, 100 if chosen.quick else 500, 12 if chosen.quick else 24)), chosen.json)


if __name__ == "__main__":
    main()
