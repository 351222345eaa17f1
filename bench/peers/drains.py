"""A task that does nothing, through each queue at its documented settings: `python -m bench.peers.drains PEER ACTION N`

ACTION is fill (make the schema and put N tasks in line) or work (N at a time or a claim, until killed). Runs in the
peer's own virtual environment, so every peer is imported where it is used. A task appends one byte to a file that
whoever measures looks at.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

HOST, USER, DATABASE, TALLY = (
    os.environ.get(name, "") for name in ("BENCH_HOST", "BENCH_USER", "BENCH_DATABASE", "BENCH_TALLY")
)
CONNINFO = f"host={HOST} dbname={DATABASE} user={USER}"
URL = f"postgres://{USER}@localhost/{DATABASE}?host={quote(HOST, safe='')}"


class Tally:
    """Where tasks count themselves."""

    def __init__(self) -> None:
        self._file = os.open(TALLY, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def add(self, count: int = 1) -> None:
        """So many tasks were done."""
        os.write(self._file, b"." * count)


def pgqueuer(action: str, number: int) -> None:
    """An async entrypoint; tasks are claimed and logged in batches."""
    import asyncpg  # noqa: PLC0415
    from pgqueuer import PgQueuer  # noqa: PLC0415
    from pgqueuer.db import AsyncpgDriver  # noqa: PLC0415
    from pgqueuer.queries import Queries  # noqa: PLC0415

    async def fill(connection: Any) -> None:
        queries = Queries(AsyncpgDriver(connection))
        await queries.install()
        for _ in range(number // 1000):
            await queries.enqueue(["nothing"] * 1000, [b"{}"] * 1000, [0] * 1000)

    async def work(connection: Any) -> None:
        manager, tally = PgQueuer(AsyncpgDriver(connection)), Tally()

        @manager.entrypoint("nothing")  # type: ignore[untyped-decorator]
        async def nothing(_job: Any) -> None:
            tally.add()

        await manager.run(batch_size=number)

    async def connected(act: Callable[[Any], Awaitable[None]]) -> None:
        await act(await asyncpg.connect(host=HOST, database=DATABASE, user=USER))

    asyncio.run(connected(fill if action == "fill" else work))


def procrastinate(action: str, number: int) -> None:
    """An async task."""
    from procrastinate import App, PsycopgConnector  # noqa: PLC0415

    app, tally = App(connector=PsycopgConnector(conninfo=CONNINFO)), Tally()

    @app.task(name="nothing")  # type: ignore[untyped-decorator]
    async def nothing() -> None:
        tally.add()

    async def run() -> None:
        async with app.open_async():
            if action == "work":
                await app.run_worker_async(concurrency=number)
                return
            await app.schema_manager.apply_schema_async()
            await nothing.batch_defer_async(*[{}] * number)

    asyncio.run(run())


@dataclass
class Nothing:
    """The arguments of a job of Awa."""

    number: int


def awa(action: str, number: int) -> None:
    """An async handler on its storage for queues."""
    from awa import AsyncClient  # noqa: PLC0415

    async def run() -> None:
        client, tally = AsyncClient(URL), Tally()
        if action == "fill":
            await client.migrate()
            await client.install_queue_storage()
            await client.enqueue_many_copy([Nothing(0)] * number, queue="bench")
            await client.close()
            return

        @client.task(Nothing, queue="bench")  # type: ignore[untyped-decorator]
        async def nothing(_job: Any) -> None:
            tally.add()

        await client.start([("bench", number)])
        await asyncio.Event().wait()

    asyncio.run(run())


def celery(action: str, number: int) -> None:
    """The prefork pool on Redis, acknowledged early, as it comes."""
    from celery import Celery  # noqa: PLC0415

    app, tally = Celery("bench", broker=HOST), Tally()
    app.conf.task_ignore_result = True

    @app.task(name="nothing")  # type: ignore[untyped-decorator]
    def nothing() -> None:
        tally.add()

    if action == "work":
        app.worker_main(["worker", f"--concurrency={number}", "--loglevel=WARNING"])
        return
    for _ in range(number):
        nothing.delay()


def main() -> None:
    """Do what is asked on the command line."""
    peer, action, number = sys.argv[1:]
    PEERS[peer](action, int(number))


PEERS: dict[str, Callable[[str, int], None]] = {
    "pgqueuer": pgqueuer,
    "procrastinate": procrastinate,
    "awa": awa,
    "celery": celery,
}

if __name__ == "__main__":
    main()
