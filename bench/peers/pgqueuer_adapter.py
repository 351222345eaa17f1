"""PgQueuer: an async entrypoint that hands the work to a thread; crashed workers' jobs come back by heartbeat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pgqueuer
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from bench.peers import adapter, body

_STATES = {"queued": adapter.WAITING, "picked": adapter.RUNNING}
_DURATIONS = ("heartbeat_timeout", "dequeue_timeout", "restart_delay")


class PgQueuerAdapter:
    """Settings: the options of `pgq run`; durations in seconds."""

    def __init__(self, place: adapter.Place) -> None:
        self._place = place

    def prepare(self) -> None:
        """Install the schema."""
        self._run(lambda queries: queries.install())

    def enqueue(self, orders: Sequence[str]) -> None:
        """Enqueue, one priority for all."""
        payloads: list[bytes | None] = [order.encode() for order in orders]
        count = len(payloads)
        self._run(lambda queries: queries.enqueue(["perform"] * count, payloads, [0] * count))

    def states(self) -> dict[str, str]:
        """By the row of the queue; a job that ended leaves it for the log, which has no payload."""
        rows = self._run(lambda queries: queries.driver.fetch("SELECT payload, status::text AS status FROM pgqueuer"))
        return {adapter.task_of(row["payload"]): _STATES.get(row["status"], adapter.ENDED_BADLY) for row in rows}

    def work(self, slots: int) -> None:
        """What `pgq run` does, with its options. Two tasks at a time are the fewest that it allows."""
        settings = self._place.settings
        seconds = {name: timedelta(seconds=value) for name, value in settings.items() if name in _DURATIONS}
        slots = max(slots, 2)
        counts = {"batch_size": slots // 2, "max_concurrent_tasks": slots}
        asyncio.run(pgqueuer.run(self._manager, **{**settings, **seconds, **counts}))

    @asynccontextmanager
    async def _manager(self) -> AsyncIterator[PgQueuer]:
        connection = await self._connect()
        manager = PgQueuer(AsyncpgDriver(connection))
        manager.entrypoint("perform")(_perform)
        try:
            yield manager
        finally:
            await connection.close()

    async def _connect(self) -> Any:
        place = self._place
        return await asyncpg.connect(host=place.host, database=place.database, user=place.user)

    def _run(self, call: Callable[[Queries], Awaitable[Any]]) -> Any:
        async def connected() -> Any:
            connection = await self._connect()
            try:
                return await call(Queries(AsyncpgDriver(connection)))
            finally:
                await connection.close()

        return asyncio.run(connected())


async def _perform(job: Job) -> None:
    assert job.payload is not None
    await asyncio.to_thread(body.perform, job.payload.decode())


if __name__ == "__main__":
    adapter.main(PgQueuerAdapter(adapter.Place()))
