"""What taking documents in costs: `python -m bench.intake [--quick] [--json FILE]`

Rows: groups of 1,000 as `doclease ingest` writes them, beside one statement by hand that does the same for 1,000 with
unnest. Files: the store, beside a copy, a SHA-256 and an fsync of each in one process, and beside cp, sha256sum and
sync themselves. Then the whole of taking in small PDF files, with the child that inspects them. Ratios are medians over
rounds, each of its round; processor time is user and system, here and in the session of the server.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import itertools
import os
import shutil
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Engine, text

from bench import paper
from bench.figures import Figure, Table, add_json, tell
from bench.pages_touched import installed, server
from bench.peers.servers import Postgres
from bench.processes import children_seconds, own_seconds
from pipeline.app import open_app
from pipeline.config import LimitSettings
from pipeline.documents.archive import Archive, Stored
from pipeline.documents.contract import Inspection
from pipeline.documents.opening import opened
from pipeline.intake.arrivals import Identity
from pipeline.intake.grouping import COPIERS, GROUP_SECONDS
from pipeline.intake.ingesting import Wanted, take_all
from pipeline.intake.recipe import Intake, Order, Ready, Source
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from pipeline.registering import State, Triage
from pipeline.trials.home import trial

GROUP, ALONE = 1_000, 100
SMALL, LARGE = (20_000, 100), (5_000_000, 8)  # bytes, and how many files in a round
BY_HAND = """
WITH given AS (
    SELECT *
    FROM unnest(%(sha256)s::text[], %(name)s::text[], %(raw_name)s::bytea[], %(byte_count)s::bigint[],
                %(token)s::uuid[], %(raw_path)s::bytea[], %(device)s::bigint[], %(inode)s::bigint[],
                %(mtime_ns)s::bigint[])
        AS given (sha256, name, raw_name, byte_count, token, raw_path, device, inode, mtime_ns)
),
added AS (
    INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)
    SELECT sha256, name, raw_name, 'application/pdf', byte_count, 2 FROM given
    ON CONFLICT (sha256) DO NOTHING
    RETURNING document_id, sha256
),
lined AS (
    INSERT INTO tasks (document_id, handler, page_count, rank_ms, lease_seconds, deadline_seconds)
    SELECT document_id, 'auto', 2, extract(epoch FROM now()) * 1000, 15, 3600 FROM added
    RETURNING task_id, document_id
)
INSERT INTO arrivals (token, document_id, task_id, origin, name, raw_path, device, inode, byte_count, mtime_ns,
                      placed_at, placed_path)
SELECT token, document_id, task_id, 'command', name, raw_path, device, inode, byte_count, mtime_ns, now(), raw_path
FROM given JOIN added USING (sha256) JOIN lined USING (document_id)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of something: on the wall, of this process's processor time, and of another process's."""

    wall: float
    own: float
    other: float

    @property
    def cpu(self) -> float:
        """All told."""
        return self.own + self.other


def spent(act: Callable[[], object], others: Callable[[], float] = lambda: 0.0) -> Spent:
    """What an act took."""
    wall, own, other = time.perf_counter(), time.process_time(), others()
    act()
    return Spent(time.perf_counter() - wall, time.process_time() - own, others() - other)


# Rows


class Fresh:
    """Files that were never there, as if their bytes were in the store."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def __call__(self, count: int) -> list[Ready]:
        """So many more."""
        return [self._one(number) for number in itertools.islice(self._numbers, count)]

    def _one(self, number: int) -> Ready:
        path = Path(f"/srv/documents/incoming/invoice-{number}.pdf")
        stored = Stored(hashlib.sha256(b"%d" % number).hexdigest(), 20_000)
        order = Order("auto", 0, None, "command", uuid.uuid4())
        identity = Identity(64_768, 1_000_000 + number, 20_000, 1_700_000_000_000_000_000)
        return Ready(Source.at(path), order, stored, identity, Triage(Inspection("application/pdf", 2)))


def rows(postgres: Postgres, rounds: int) -> Table:
    """The rows of documents whose files are in the store."""
    found: dict[str, list[Spent]] = {"together": [], "by hand": [], "alone": []}
    fresh = Fresh()
    with installed(postgres, "rows") as engine, _by_hand(postgres, "rows") as connection:
        intake = _intake(engine, Path("/nowhere"))
        with engine.connect() as session:
            ours = int(session.execute(text("SELECT pg_backend_pid()")).scalar_one())
        theirs = connection.info.backend_pid
        acts: dict[str, tuple[int, int, Callable[[list[Ready]], object]]] = {
            "together": (GROUP, ours, intake.record_all),
            "by hand": (GROUP, theirs, functools.partial(_write_by_hand, connection)),
            "alone": (ALONE, ours, lambda many: [intake.record(each) for each in many]),
        }
        for _ in range(rounds + 1):  # the first fills the caches
            for name, (count, pid, act) in acts.items():
                many = fresh(count)
                found[name].append(spent(functools.partial(act, many), functools.partial(own_seconds, pid)))
        _require_complete(engine, (rounds + 1) * (2 * GROUP + ALONE))
    return Table("The rows of intake, in groups of 1,000", list(_rows_told({k: v[1:] for k, v in found.items()})))


def _rows_told(found: dict[str, list[Spent]]) -> Iterator[Figure]:
    pairs = list(zip(found["together"], found["by hand"], strict=True))
    faster, cheaper = (statistics.median(getattr(b, n) / getattr(a, n) for a, b in pairs) for n in ("wall", "cpu"))
    yield Figure("to one statement by hand (unnest), documents a second", faster, "times", least=0.6)
    yield Figure("to one statement by hand (unnest), documents a CPU second", cheaper, "times", least=0.6)
    for name, said in {"together": "doclease", "by hand": "by hand", "alone": "doclease, one by one"}.items():
        count = ALONE if name == "alone" else GROUP
        all_of = found[name]
        wall, own, other = (statistics.median(getattr(each, n) for each in all_of) for n in ("wall", "own", "other"))
        note = f"{own / count * 1e6:,.0f} here, {other / count * 1e6:,.0f} of the server; {count / wall:,.0f} a second"
        yield Figure(said, (own + other) / count * 1e6, "CPU us a document", note=note)


def _by_hand(postgres: Postgres, database: str) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(host=postgres.host, user=postgres.user, dbname=database, autocommit=True)


def _write_by_hand(connection: psycopg.Connection[tuple[Any, ...]], many: Sequence[Ready]) -> None:
    columns = {
        "sha256": [each.stored.sha256 for each in many],
        "name": [each.source.name for each in many],
        "raw_name": [each.source.raw_name for each in many],
        "byte_count": [each.stored.byte_count for each in many],
        "token": [each.order.token for each in many],
        "raw_path": [each.source.raw_path for each in many],
        "device": [each.identity.device for each in many],
        "inode": [each.identity.inode for each in many],
        "mtime_ns": [each.identity.mtime_ns for each in many],
    }
    connection.execute(BY_HAND, columns)


def _require_complete(engine: Engine, count: int) -> None:
    with engine.connect() as connection:
        for table in ("documents", "tasks", "arrivals"):
            there = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
            if there != count:
                raise SystemExit(f"{table} should have {count} rows and has {there}")


def _intake(engine: Engine, store: Path) -> Intake:
    return Intake(
        engine=engine,
        queue=Queue(engine, limits=Limits(), aging_ms=600_000),
        archive=Archive(store),
        inspect=lambda _path, _name: Inspection("application/pdf", 2),
        policy=lambda _: LeasePolicy(),
        limits=LimitSettings(),
        notify=lambda: None,
    )


# Files


def files(folder: Path, size: int, count: int, rounds: int) -> Table:
    """The store beside what anybody would do."""
    archive, numbers = Archive(folder / "store"), itertools.count()
    found: dict[str, list[Spent]] = {}
    with ThreadPoolExecutor(COPIERS) as pool:
        ways: dict[str, Callable[[list[Path]], object]] = {
            "together": functools.partial(_kept_together, archive, pool),
            "copied": functools.partial(_copied, _made(folder / "copied")),
            "alone": lambda paths: [_put(archive.keep, path) for path in paths],
            "programs": functools.partial(_by_programs, _made(folder / "programs")),
        }
        for _ in range(rounds + 1):  # the first makes the folders of the store
            for name, way in ways.items():
                paths = _written(folder, size, count, numbers)
                found.setdefault(name, []).append(spent(functools.partial(way, paths), _ended_children))
    kind = f"{size / 1e6:g} MB" if size >= 1e6 else f"{size / 1e3:g} kB"
    return Table(f"The files of intake, {kind} each", list(_files_told(found, count)))


def _files_told(found: dict[str, list[Spent]], count: int) -> Iterator[Figure]:
    measured = {name: all_of[1:] for name, all_of in found.items()}
    said = {"together": "doclease, in groups", "alone": "doclease, one by one"}
    than = {"copied": "copy, SHA-256 and fsync in one process", "programs": "cp, sha256sum and sync"}
    for name, other in (("together", "copied"), ("together", "programs"), ("alone", "copied")):
        pairs = list(zip(measured[name], measured[other], strict=True))
        most = 1.3 if name == "together" else None
        for what, unit in (("cpu", "CPU time"), ("wall", "time")):
            ratio = statistics.median(getattr(ours, what) / getattr(theirs, what) for ours, theirs in pairs)
            yield Figure(f"{said[name]}, to {than[other]}: {unit}", ratio, "times", most)
    for name, words in (said | than).items():
        cpu, wall = (statistics.median(getattr(each, n) for each in measured[name]) / count for n in ("cpu", "wall"))
        yield Figure(words, cpu * 1e6, "CPU us a file", note=f"{wall * 1e3:,.2f} ms")


def _kept_together(archive: Archive, pool: ThreadPoolExecutor, paths: Sequence[Path]) -> None:
    archive.sync(list(pool.map(functools.partial(_put, archive.put), paths)), run=pool.map)


def _put(keep: Callable[[Any], Stored], path: Path) -> Stored:
    with opened(path) as (file, _):
        return keep(file)


def _copied(folder: Path, paths: Sequence[Path]) -> None:
    for path in paths:
        copy = folder / path.name
        shutil.copyfile(path, copy)
        with copy.open("rb") as file:
            hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())


def _by_programs(folder: Path, paths: Sequence[Path]) -> None:
    copies = [str(folder / path.name) for path in paths]
    subprocess.run(["cp", "-t", str(folder), *map(str, paths)], check=True)  # noqa: S607
    subprocess.run(["sha256sum", *copies], check=True, stdout=subprocess.DEVNULL)  # noqa: S607
    subprocess.run(["sync", *copies], check=True)  # noqa: S607


def _written(folder: Path, size: int, count: int, numbers: Iterator[int]) -> list[Path]:
    """Files of random bytes that nobody is still writing to the disk."""
    paths = [_made(folder / "given") / f"{number}.bin" for number in itertools.islice(numbers, count)]
    for path in paths:
        path.write_bytes(os.urandom(size))
    os.sync()
    return paths


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _ended_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


# All of it


def whole(count: int) -> Table:
    """`doclease ingest` of so many small PDF files, and where the time goes."""
    with (
        tempfile.TemporaryDirectory(prefix="doclease-bench-") as name,
        trial(Path(name, "home"), {}) as place,
        open_app(place.settings, name="bench") as app,
        app.intake() as intake,
    ):
        assert app.server is not None
        postmaster = int((app.server.cluster_dir / "postmaster.pid").read_text().split()[0])
        paths = _papers(_made(Path(name, "pile")), count)
        list(take_all(intake, paths[:1], Wanted("auto", 0, None)))  # starts the child
        clock = Clock(intake)
        before = own_seconds(postmaster) + children_seconds(postmaster), children_seconds(os.getpid())
        taken: list[Any] = []
        took = spent(lambda: taken.extend(itertools.chain(*take_all(intake, paths[1:], Wanted("auto", 0, None)))))
        after = own_seconds(postmaster) + children_seconds(postmaster), children_seconds(os.getpid())
    if any(each.arrived is None or each.arrived.state is not State.ENQUEUED for each in taken):
        raise SystemExit("not every document was taken in")
    server_us, child_us = ((b - a) / len(taken) * 1e6 for a, b in zip(before, after, strict=True))
    return Table(f"Taking in {count:,} PDF files of two pages", list(_whole_told(took, clock, child_us, server_us)))


def _whole_told(took: Spent, clock: Clock, child_us: float, server_us: float) -> Iterator[Figure]:
    count = clock.calls["triage"]
    yield Figure("documents a second", count / took.wall, "", note=f"groups of at most {GROUP_SECONDS:g} s")
    yield Figure("the command", took.own / count * 1e6, "CPU us a document")
    yield Figure("its parser child", child_us, "CPU us a document")
    yield Figure("the server", server_us, "CPU us a document")
    shares = {"triage": "inspecting", "sync": "bringing names to disk", "record_all": "writing rows"}
    for name, words in shares.items():
        note = f"{clock.calls[name]:,} times"
        yield Figure(f"{words}, of the time", clock.seconds[name] / took.wall * 100, "%", note=note)


class Clock:
    """Times the steps of an intake from now on."""

    def __init__(self, intake: Intake) -> None:
        self.seconds = dict.fromkeys(("triage", "sync", "record_all"), 0.0)
        self.calls = dict.fromkeys(self.seconds, 0)
        for name in self.seconds:
            setattr(intake, name, functools.partial(self._timed, name, getattr(intake, name)))

    def _timed(self, name: str, step: Callable[..., Any], *arguments: Any) -> Any:
        started = time.perf_counter()
        try:
            return step(*arguments)
        finally:
            self.seconds[name] += time.perf_counter() - started
            self.calls[name] += 1


def _papers(folder: Path, count: int) -> list[Path]:
    """Invoices of which no two are the same; a comment behind the end of a file makes a new one of it."""
    drawn = paper.invoice(1)
    paths = [folder / f"{number}.pdf" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(drawn + b"\n%% %d\n" % number)
    return paths


def main() -> None:
    """Measure, print, write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer rounds and files")
    add_json(options)
    chosen = options.parse_args()
    rounds = 4 if chosen.quick else 15
    with server() as postgres:
        tables = [rows(postgres, rounds)]
    for size, count in (SMALL, LARGE):
        with tempfile.TemporaryDirectory(prefix="doclease-bench-") as name:
            tables.append(files(Path(name), size, count, rounds))
    tables.append(whole(200 if chosen.quick else 1_000))
    tell(tables, chosen.json)


if __name__ == "__main__":
    main()
