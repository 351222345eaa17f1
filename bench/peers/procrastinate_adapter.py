"""procrastinate: sync tasks on the worker's threads; stalled jobs are retried by a periodic task where one is set."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.job_context import JobContext

from bench.peers import adapter, body

_STATES = {"todo": adapter.WAITING, "doing": adapter.RUNNING, "succeeded": adapter.DONE}


class Procrastinate:
    """Settings: `worker` (arguments of run_worker), `retry_stalled` (cron), `seconds_since_heartbeat`."""

    def __init__(self, place: adapter.Place) -> None:
        self._settings = place.settings
        connector = PsycopgConnector(conninfo=f"host={place.host} dbname={place.database} user={place.user}")
        self._app = App(connector=connector)
        self._perform = self._app.task(name="perform")(body.perform)
        if "retry_stalled" in self._settings:
            retry = self._app.task(name="retry_stalled", queueing_lock="retry_stalled", pass_context=True)(self._retry)
            self._app.periodic(cron=self._settings["retry_stalled"])(retry)

    def prepare(self) -> None:
        """Apply the schema."""
        self._run(self._app.schema_manager.apply_schema_async)

    def enqueue(self, orders: Sequence[str]) -> None:
        """Defer."""

        async def defer() -> None:
            for order in orders:
                await self._perform.defer_async(text=order)

        self._run(defer)

    def states(self) -> dict[str, str]:
        """By the job's status."""
        jobs = self._run(lambda: self._app.job_manager.list_jobs_async(task="perform"))
        return {adapter.task_of(job.task_kwargs["text"]): _STATES.get(job.status, adapter.ENDED_BADLY) for job in jobs}

    def work(self, slots: int) -> None:
        """Run a worker."""
        self._run(lambda: self._app.run_worker_async(concurrency=slots, **self._settings.get("worker", {})))

    async def _retry(self, context: JobContext, timestamp: int) -> None:
        manager = context.app.job_manager
        seconds = self._settings["seconds_since_heartbeat"]
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=seconds):
            await manager.retry_job(job)

    def _run(self, call: Callable[[], Awaitable[Any]]) -> Any:
        async def opened() -> Any:
            async with self._app.open_async():
                return await call()

        return asyncio.run(opened())


if __name__ == "__main__":
    adapter.main(Procrastinate(adapter.Place()))
