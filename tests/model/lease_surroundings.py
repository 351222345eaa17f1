"""What goes on around the workers in the model of the lease protocol: sweeps, promotions, operators, outages, time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from pipeline.queue.states import FINAL, Status
from tests.model.exploring import Found, Step, explore
from tests.model.lease import (
    BLAMED,
    IDLE,
    ROBBED,
    TAKEN,
    UNDONE,
    Design,
    Recheck,
    Rules,
    Setting,
    Task,
    World,
)
from tests.model.lease_workers import steps as steps_of_workers

Steps = Iterator[Step[World]]

# The statuses from which an operator's statement moves a task; a test compares them with the statements.
CANCELLED_AT_ONCE = frozenset({Status.ENQUEUED, Status.DELAYED})
RETRIED = (FINAL - {Status.SUCCEEDED}) | {Status.DELAYED}


def explored(design: Design, setting: Setting, *, wanted: str | None = None) -> tuple[Found, Rules]:
    """Everything that a design does in a setting; with `wanted`, until that fault is found."""
    rules = Rules(design, setting)
    found = explore(
        rules.first(), lambda world: following(rules, world), rules.faults, is_end=rules.is_end, wanted=wanted
    )
    return found, rules


def following(rules: Rules, world: World) -> Steps:
    """Every step that may come next."""
    yield from _time(rules, world)
    if world.is_away:
        yield Step("the database comes back", world._replace(is_away=False))
        return
    yield from _sweeps(rules, world)
    yield from steps_of_workers(rules, world)
    yield from _promote(rules, world)
    yield from _operator(rules, world)
    yield from _outage(world)


def _time(rules: Rules, world: World) -> Steps:
    """A tick of one task's lease: leases are of different length, so each may run out alone."""
    deadline = rules.setting.deadline
    for number, task in enumerate(world.tasks):
        ages = deadline is not None and task.age < deadline
        if task.status is not Status.PROCESSING or not (task.lease or ages):
            continue
        older = task._replace(
            lease=max(task.lease - 1, 0),
            age=task.age + ages,
            still=task.still + (deadline is not None and task.lease > 0),
            absent=task.absent + world.is_away,
        )
        tasks = (*world.tasks[:number], older, *world.tasks[number + 1 :])
        label = f"time passes for T{number + 1}" + ("" if older.lease else ": its lease is over")
        yield Step(label, world._replace(tasks=tasks))


# Sweeps


def _sweeps(rules: Rules, world: World) -> Steps:
    """By sweepers, in two steps, since a statement finds rows before it locks them; or by a worker before a claim."""
    expired = tuple(number for number, task in enumerate(world.tasks) if _is_expired(task))
    for sweeper, found in enumerate(world.sweepers):
        if sweeper and found == world.sweepers[sweeper - 1]:
            continue
        if not found and world.was_away and rules.design.has_grace:
            yield _grace(rules, world)
        elif not found and expired:
            yield Step("a sweep finds " + _named(expired), _sweeping(world, found, expired))
        elif found:
            yield Step("a sweeper dies", _sweeping(world, found, ()), "", False)
            yield from _take(rules, _sweeping(world, found, ()), found)
    if not world.sweepers and rules.design.workers_sweep and any(at.place == IDLE for at in world.workers):
        yield from _take(rules, world, expired)


def _is_expired(task: Task) -> bool:
    return task.status is Status.PROCESSING and not task.lease


def _named(tasks: tuple[int, ...]) -> str:
    return " and ".join(f"T{number + 1}" for number in tasks) + " expired"


def _sweeping(world: World, before: tuple[int, ...], after: tuple[int, ...]) -> World:
    sweepers = [*world.sweepers]
    sweepers.remove(before)
    return world._replace(sweepers=tuple(sorted([*sweepers, after])))


def _take(rules: Rules, world: World, found: tuple[int, ...]) -> Steps:
    """sweep.sql, for each outcome of the evidence about who is to blame."""
    taken = [number for number in found if _is_taken(rules, world.tasks[number])]
    outcomes = [(True, False) if _may_be_innocent(rules, world.tasks[number]) else (True,) for number in taken]
    for charges in itertools.product(*outcomes):
        after, broken = world, ""
        for number, is_charged in zip(taken, charges, strict=True):
            task = world.tasks[number]
            swept = _swept(rules, task, is_charged, is_poison=number < rules.setting.poison)
            back = rules.ended(swept, world)
            broken = broken or _wrongly(task) or rules.blamed(number, swept) or rules.moved(task, back, "sweep")
            after = after.put(number, back)
        if taken:
            yield Step("a sweep takes back " + ", ".join(f"T{number + 1}" for number in taken), after, broken)
    if found and not taken:
        yield Step("a sweep finds nothing expired any more", world)


def _is_taken(rules: Rules, task: Task) -> bool:
    match rules.design.sweep:
        case Recheck.EXPIRED:
            return _is_expired(task)
        case Recheck.STATUS:
            return task.status is Status.PROCESSING
        case Recheck.NOTHING:
            return True


def _wrongly(task: Task) -> str:
    if task.status in FINAL:
        return UNDONE
    if task.status is not Status.PROCESSING:
        return BLAMED
    if task.lease:
        return TAKEN
    return ROBBED if task.absent else ""


def _may_be_innocent(rules: Rules, task: Task) -> bool:
    return rules.setting.in_company and task.expiries < rules.setting.limits.max_crashes


def _swept(rules: Rules, task: Task, is_charged: bool, *, is_poison: bool) -> Task:
    limit = rules.setting.limits.max_crashes
    crashes = task.crashes + (rules.design.charge_of_an_expiry if is_charged else 0)
    if task.cancel:
        status = Status.CANCELLED
    elif crashes >= limit and crashes > task.crashes:
        status = Status.QUARANTINED
    else:
        status = Status.DELAYED if crashes > task.crashes >= 1 else Status.ENQUEUED
    return task._replace(
        status=status,
        crashes=crashes,
        expiries=min(task.expiries + rules.setting.in_company, limit),
        wrecks=min(task.wrecks + is_poison, rules.most_wrecks + 1),
    )


# Promotions, operators


def _promote(rules: Rules, world: World) -> Steps:
    """promote.sql, by whoever sweeps."""
    sweepers = world.sweepers or (rules.design.workers_sweep and any(at.place == IDLE for at in world.workers))
    if not sweepers or not rules.design.anybody_promotes:
        return
    for number, task in enumerate(world.tasks):
        if task.status is Status.DELAYED:
            back = task._replace(status=Status.ENQUEUED)
            broken = rules.moved(task, back, "promote")
            yield Step(f"T{number + 1} has waited long enough", world.put(number, back), broken)


def _operator(rules: Rules, world: World) -> Steps:
    if not world.operator:
        return
    fewer = world._replace(operator=world.operator - 1)
    for number, task in enumerate(world.tasks):
        if task.status in CANCELLED_AT_ONCE:
            ended = rules.ended(task._replace(status=Status.CANCELLED), fewer)
            broken = rules.moved(task, ended, "cancel")
            yield Step(f"an operator cancels T{number + 1}", fewer.put(number, ended), broken, False)
        elif task.status is Status.PROCESSING and not task.cancel:
            asked = fewer.put(number, task._replace(cancel=True))
            yield Step(f"an operator asks for the end of T{number + 1}", asked, "", False)
        if task.status in RETRIED or (task.status is Status.PROCESSING and not rules.design.retry_spares_live_tasks):
            again = _again(rules, task)
            is_taken = task.status is Status.PROCESSING and task.lease
            broken = (TAKEN if is_taken else "") or rules.moved(task, again, "retry")
            yield Step(f"an operator retries T{number + 1}", fewer.put(number, again), broken, False)


def _again(rules: Rules, task: Task) -> Task:
    """retry.sql: the counters at zero, the finished pages kept. The attempts that expired stay on record."""
    return Task(
        number=0 if rules.design.retry_resets_the_number else task.number,
        pages=task.pages,
        kept=task.kept,
        expiries=task.expiries,
    )


# The database goes away, comes back, is replaced


def _outage(world: World) -> Steps:
    if world.outages:
        away = world._replace(
            outages=world.outages - 1, is_away=True, was_away=True, sweepers=((),) * len(world.sweepers)
        )
        yield Step("the database goes away", away, "", False)
    if world.failovers and world.earlier and world.earlier != world.tasks:
        replica = world._replace(failovers=world.failovers - 1, tasks=world.earlier, earlier=())
        yield Step("a replica takes over that lacks the last commit", replica, "", False)


def _grace(rules: Rules, world: World) -> Step[World]:
    """The first sweep after an outage takes nothing: whatever was valid at the last one gets one more lease."""
    tasks = tuple(
        task._replace(lease=rules.setting.lease, absent=0) if task.status is Status.PROCESSING else task
        for task in world.tasks
    )
    return Step("the first sweep after the outage gives one more lease", world._replace(tasks=tasks, was_away=False))
