"""What a sweep must do, told from the model: whom it takes, whom it spares, and whether it holds back."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.queue.states import Status
from tests.search.model import INTERVAL_SECONDS, Model, Task, known

GRACE_INTERVALS = 3
BRAKE_TASKS = 10


@dataclass(frozen=True, slots=True)
class Forecast:
    """The sweep in short. `last_ok` and `braked_at` are what it leaves in the state of the sweeper."""

    judged: bool
    braked: bool = False
    taken: tuple[int, ...] = ()
    graced: tuple[int, ...] = ()
    last_ok: float = 0
    braked_at: float | None = None


def forecast(before: Model, model: Model, *, now: float, batch: int) -> Forecast:
    """What a sweep does that read the rows of `before`, and locked those of `model`; `now` is when it began."""
    if model.sweeper_locked:
        return Forecast(judged=False)
    outage = now - model.last_ok > GRACE_INTERVALS * INTERVAL_SECONDS
    judged_at = model.last_ok if outage else now
    too_many = _too_many([task for task in before.tasks.values() if task.holder], judged_at)
    has_waited = model.braked_at is not None and now - model.braked_at >= INTERVAL_SECONDS
    expired, spared = _in_reach(before, model, judged_at)
    taken = tuple(sorted(expired)[:batch]) if has_waited or not too_many else ()
    goes_on_braking = too_many and (not has_waited or len(taken) >= batch)
    return Forecast(
        judged=True,
        braked=too_many and not has_waited,
        taken=taken,
        graced=tuple(spared) if outage else (),
        last_ok=max(model.last_ok, now),
        braked_at=(now if model.braked_at is None else model.braked_at) if goes_on_braking else None,
    )


def destination(task: Task, *, charged: bool, max_crashes: int) -> Status:
    """Where a task goes that a sweep took."""
    if task.cancel_requested:
        return Status.CANCELLED
    if charged and task.crashes + 1 >= max_crashes:
        return Status.QUARANTINED
    return Status.DELAYED if charged and task.crashes else Status.ENQUEUED


def _too_many(running: list[Task], judged_at: float) -> bool:
    expired = sum(task.expired(judged_at) for task in running)
    holders = {task.holder.worker for task in running if task.holder}
    return expired * 2 > len(running) >= BRAKE_TASKS and len(holders) > 1


def _in_reach(before: Model, model: Model, judged_at: float) -> tuple[list[int], list[int]]:
    """The expired and the valid leases that a sweep can lock: as they were read, and still so when locked."""
    expired, valid = [], []
    for task in before.tasks.values():
        now = model.tasks[task.task_id]
        if not task.holder or not now.holder or task.task_id in model.locked:
            continue
        was, still = task.expired(judged_at), now.expired(judged_at)
        if was and still:
            expired.append(task.task_id)
        elif not was and known(now.expires) >= judged_at:
            valid.append(task.task_id)
    return expired, valid
