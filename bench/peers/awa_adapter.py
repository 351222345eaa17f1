"""Awa: an async handler that hands the work to a thread; heartbeats and deadlines are kept by its Rust runtime."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from awa import AsyncClient

from bench.peers import adapter, body

QUEUE = "bench"
_STATES = {
    "available": adapter.WAITING,
    "scheduled": adapter.WAITING,
    "retryable": adapter.WAITING,
    "running": adapter.RUNNING,
    "completed": adapter.DONE,
}


@dataclass
class Perform:
    """The arguments of a job."""

    order: str


class Awa:
    """Settings: `start` (arguments of client.start), `queue` (keys of its queue), `max_attempts`."""

    def __init__(self, place: adapter.Place) -> None:
        self._settings = place.settings
        self._url = f"postgres://{place.user}@localhost/{place.database}?host={quote(place.host, safe='')}"

    def prepare(self) -> None:
        """Migrate."""
        self._run(lambda client: client.migrate())

    def enqueue(self, orders: Sequence[str]) -> None:
        """Insert one by one, so that their order is certain."""
        limit = {name: self._settings[name] for name in ("max_attempts",) if name in self._settings}

        async def insert(client: AsyncClient) -> None:
            for order in orders:
                await client.insert(Perform(order), queue=QUEUE, **limit)

        self._run(insert)

    def states(self) -> dict[str, str]:
        """By the job's state."""
        jobs = self._run(lambda client: client.list_jobs(queue=QUEUE, limit=1000))
        return {adapter.task_of(_order(job)): _STATES.get(str(job.state), adapter.ENDED_BADLY) for job in jobs}

    def work(self, slots: int) -> None:
        """Run a worker."""
        asyncio.run(self._work(slots))

    async def _work(self, slots: int) -> None:
        client = AsyncClient(self._url)
        client.task(Perform, queue=QUEUE)(_perform)
        more = self._settings.get("queue", {})
        queue = {"name": QUEUE, "max_workers": slots, **more} if more else (QUEUE, slots)
        await client.start([queue], **self._settings.get("start", {}))
        await asyncio.Event().wait()

    def _run(self, call: Callable[[AsyncClient], Awaitable[Any]]) -> Any:
        async def connected() -> Any:
            client = AsyncClient(self._url, max_connections=2)
            try:
                return await call(client)
            finally:
                await client.close()

        return asyncio.run(connected())


def _order(job: Any) -> str:
    return str(job.args["order"] if isinstance(job.args, dict) else job.args.order)


async def _perform(job: Any) -> None:
    await asyncio.to_thread(body.perform, _order(job))


if __name__ == "__main__":
    adapter.main(Awa(adapter.Place()))
