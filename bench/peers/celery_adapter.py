"""Celery with Redis: the prefork pool; when a message is acknowledged and for how long it is hidden are settings."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from typing import Any

import redis
from celery import Celery

from bench.peers import adapter, body


class CeleryAdapter:
    """Settings are Celery's own, by its names."""

    def __init__(self, place: adapter.Place) -> None:
        self._redis = redis.Redis.from_url(place.host)
        self._app = Celery("bench", broker=place.host)
        self._app.conf.update(place.settings)
        self._perform = self._app.task(name="perform")(body.perform)

    def prepare(self) -> None:
        """Nothing: an empty broker is ready."""

    def enqueue(self, orders: Sequence[str]) -> None:
        """Publish."""
        for order in orders:
            self._perform.apply_async((order,))

    def states(self) -> dict[str, str]:
        """By the broker's own keys: what is in the list waits, what was delivered and not acknowledged is in work."""
        line, unacknowledged = self._redis.pipeline().lrange("celery", 0, -1).hvals("unacked").execute()
        waiting = [json.loads(each) for each in line]
        delivered = [json.loads(each)[0] for each in unacknowledged]
        found = {_task(message): adapter.RUNNING for message in delivered}
        return found | {_task(message): adapter.WAITING for message in waiting}

    def work(self, slots: int) -> None:
        """What `celery worker` does."""
        name = f"worker{os.getpid()}@%h"
        self._app.worker_main(["worker", f"--concurrency={slots}", "--loglevel=INFO", f"--hostname={name}"])


def _task(message: dict[str, Any]) -> str:
    (order,), *_ = json.loads(base64.b64decode(message["body"]))
    return adapter.task_of(order)


if __name__ == "__main__":
    adapter.main(CeleryAdapter(adapter.Place()))
