"""What a worker does in the model of the lease protocol: claim, read, checkpoint, complete, give up, die.

Follows pipeline/worker: whatever the database accepted may have lost its answer, and is then sent again; a write that
is refused ends the attempt and writes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.queue.settle import Fault
from pipeline.queue.states import FINAL, Status
from tests.model.exploring import Step
from tests.model.lease import (
    AGAIN,
    CHARGED,
    CHOOSING,
    CLOSING,
    DOUBT,
    GAP,
    HALF_DONE,
    IDLE,
    LEFT,
    NOBODY,
    READING,
    REPEATING,
    STALE,
    TAKEN,
    At,
    Fence,
    Order,
    Rules,
    Task,
    World,
)

Steps = Iterator[Step[World]]

STOPS = (Fault.RELEASE.value, Fault.PAUSE.value)
KEEPS_NOTHING = (Fault.PERMANENT.value, Fault.HOSTILE.value)  # the pages of such a document are not worth storing


def steps(rules: Rules, world: World) -> Steps:
    """What any worker may do next."""
    places = {
        DOUBT: _settle,
        READING: _read_on,
        CLOSING: _close,
        REPEATING: _complete,
        HALF_DONE: _do_the_other_half,
        CHOOSING: _claim_chosen,
    }
    for at in dict.fromkeys(world.workers):
        if at.place == IDLE:
            yield from _claim(rules, world) if rules.design.claims_at_once else _choose(world)
            continue
        yield from places[at.place](rules, world, at)
        if rules.setting.workers_die:
            is_poison = at.task < rules.setting.poison
            yield Step(f"the worker of {_who(at)} dies", world.standing(at, NOBODY), "", is_poison)


def _who(at: At) -> str:
    return f"#{at.claim} of T{at.task + 1}"


def _claim(rules: Rules, world: World) -> Steps:
    """claim.sql: finds a task in line, locks it and takes it."""
    for number, task in enumerate(world.tasks):
        if task.status is Status.ENQUEUED:
            yield from _claiming(rules, world, number, NOBODY)


def _choose(world: World) -> Steps:
    """A claim that finds a task, and takes it in a second statement."""
    for number, task in enumerate(world.tasks):
        if task.status is Status.ENQUEUED:
            yield Step(f"a worker finds T{number + 1} in line", world.standing(NOBODY, At(CHOOSING, number)))


def _claim_chosen(rules: Rules, world: World, at: At) -> Steps:
    yield from _claiming(rules, world, at.task, at)


def _claiming(rules: Rules, world: World, number: int, before: At) -> Steps:
    """A claim, and one whose answer is lost: then the database says of the worker what it does not know."""
    task = world.tasks[number]
    taken = task._replace(
        status=Status.PROCESSING,
        claim=world.fresh(),
        number=task.number + rules.design.counts_attempts,
        lease=rules.granted(0),
    )
    broken = TAKEN if task.status is Status.PROCESSING and task.lease else rules.moved(task, taken, "claim")
    start = task.pages if rules.design.resumes else 0
    at = At(READING, number, taken.claim, taken.number, start, start)
    after, label = world.put(number, taken), f"T{number + 1} is claimed: {_who(at)}"
    yield Step(label, after.standing(before, at), broken)
    if rules.setting.answers_are_lost:
        unknown = At(DOUBT, number, taken.claim, taken.number)
        yield Step(f"{label}, but the answer is lost", after.standing(before, unknown), broken, False)


def _settle(rules: Rules, world: World, at: At) -> Steps:
    """Before its next claim a worker gives back what the database says it holds and it does not know (held.sql)."""
    task = world.tasks[at.task]
    is_held = task.status is Status.PROCESSING and task.claim == at.claim
    then = at._replace(place=CLOSING, fault=Fault.RELEASE.value) if is_held else NOBODY
    yield Step(f"the worker of {_who(at)} asks what it holds", world.standing(at, then))
    if rules.setting.one_name:
        for number, other in enumerate(world.tasks):
            if other.status is Status.PROCESSING and other.claim != at.claim:
                yield Step(
                    f"the worker of {_who(at)} gives back what its namesake holds of T{number + 1}", world, TAKEN
                )


def _read_on(rules: Rules, world: World, at: At) -> Steps:
    is_poison = at.task < rules.setting.poison
    has_news = at.done > at.stored
    if not is_poison and at.done < rules.setting.pages:
        yield _read_a_page(world, at)
    if has_news or _may_extend(rules, at):
        yield from _checkpoint(rules, world, at)
    if not is_poison and at.done == rules.setting.pages:
        yield from _complete(rules, world, at)
    if is_poison:
        yield from _close(rules, world, at._replace(fault=Fault.CRASH.value), standing=at)
    yield from _end(rules, world, at)
    if not rules.design.stopping_gives_back:
        yield _leave(world, at)


def _end(rules: Rules, world: World, at: At) -> Steps:
    """Every way in which the attempt may end without success. What is finished is stored first."""
    if rules.setting.ends and not _accepts(rules, rules.design.fail, world.tasks[at.task], at):
        yield _refused(world, at, "ends")
        return
    for fault in rules.setting.ends:
        if (at.done == at.stored or fault.value in KEEPS_NOTHING) and (fault is not Fault.PAUSE or at.came_on):
            yield from _close(rules, world, at._replace(fault=fault.value), standing=at, is_own=False)


def _read_a_page(world: World, at: At) -> Step[World]:
    task = world.tasks[at.task]
    is_again = task.claim == at.claim and task.kept > at.done
    then = at._replace(done=at.done + 1, came_on=True)
    return Step(f"{_who(at)} reads page {then.done}", world.standing(at, then), AGAIN if is_again else "")


def _may_extend(rules: Rules, at: At) -> bool:
    if not rules.design.renewal_needs_progress:
        return True
    return at.extensions < rules.setting.extensions


def _leave(world: World, at: At) -> Step[World]:
    task = world.tasks[at.task]
    is_left = task.status is Status.PROCESSING and task.claim == at.claim
    return Step(f"{_who(at)} is stopped and gives nothing back", world.standing(at, NOBODY), LEFT if is_left else "")


# Writes: each is one transaction that begins with a fence


def _accepts(rules: Rules, fence: Fence, task: Task, at: At) -> bool:
    match fence:
        case Fence.ID:
            return True
        case Fence.TOKEN:
            is_theirs = task.claim == at.claim
        case Fence.NUMBER:
            is_theirs = task.number == at.number
        case Fence.NAME:
            is_theirs = rules.setting.one_name or task.claim == at.claim
        case Fence.STATUS:
            is_theirs = True
    return is_theirs and task.status is Status.PROCESSING


def _stale(task: Task, at: At) -> str:
    return "" if task.status is Status.PROCESSING and task.claim == at.claim else STALE


def _gap(task: Task, at: At) -> str:
    """Pages that a worker believes to be stored, and are not."""
    return GAP if task.kept < at.stored else ""


def _refused(world: World, at: At, what: str) -> Step[World]:
    return Step(f"{_who(at)} {what} and is refused", world.standing(at, NOBODY))


def _checkpoint(rules: Rules, world: World, at: At) -> Steps:
    """checkpoint.sql: the pages and the renewal. An answer that is lost leaves the worker as it was."""
    design, task = rules.design, world.tasks[at.task]
    if design.pages is Order.BEFORE and task.kept < at.done and not _stale(task, at):
        after = world.put(at.task, task._replace(kept=at.done))
        yield Step(f"{_who(at)} stores its pages", after)
        return
    if not _accepts(rules, design.checkpoint, task, at) or _is_ahead(rules, task, at):
        yield _refused(world, at, "checkpoints")
        return
    has_news = at.done > at.stored
    renewed = task._replace(
        lease=rules.granted(task.age),
        still=0 if has_news else task.still,
        absent=0,
        pages=max(task.pages, at.done),
        kept=max(task.kept, at.done) if task.kept >= at.stored else task.kept,
    )
    after, broken = world.put(at.task, renewed), _stale(task, at)
    then = at._replace(stored=at.done, extensions=0 if has_news else min(at.extensions + 1, rules.setting.extensions))
    if task.cancel:
        then = then._replace(place=CLOSING, fault=Fault.CANCEL.value)
    label = f"{_who(at)} checkpoints page {at.done}" if has_news else f"{_who(at)} renews without a page"
    yield Step(label, after.standing(at, then), broken)
    if rules.setting.answers_are_lost and has_news:  # without news, the holder's own watch on its lease ends this soon
        yield Step(f"{label}, but the answer is lost", after, broken, False)


def _is_ahead(rules: Rules, task: Task, at: At) -> bool:
    return rules.design.progress_is_fenced and task.kept < at.stored


def _complete(rules: Rules, world: World, at: At) -> Steps:
    """complete.sql: the end of task and attempt, the last pages and the result."""
    design, task = rules.design, world.tasks[at.task]
    if design.result is Order.BEFORE:
        after = world.put(at.task, task._replace(results=min(task.results + 1, 2)))
        yield Step(f"{_who(at)} stores its result", after.standing(at, at._replace(place=HALF_DONE)))
        return
    results = task.results if design.result is Order.AFTER else min(task.results + 1, 2)
    then = at._replace(place=HALF_DONE) if design.result is Order.AFTER else NOBODY
    yield from _completing(rules, world, at, task._replace(results=results), then)


def _completing(rules: Rules, world: World, at: At, task: Task, then: At) -> Steps:
    if not _accepts(rules, rules.design.complete, world.tasks[at.task], at) or _is_ahead(rules, task, at):
        yield _refused(world, at, "completes")
        return
    ended = rules.ended(task._replace(status=Status.SUCCEEDED, pages=at.done), world)
    broken = _stale(task, at) or _gap(task, at) or rules.moved(task, ended, "complete")
    after = world.put(at.task, ended)
    yield Step(f"{_who(at)} completes", after.standing(at, then), broken)
    if rules.setting.answers_are_lost and then == NOBODY:
        doubtful = at._replace(place=REPEATING)
        yield Step(f"{_who(at)} completes, but the answer is lost", after.standing(at, doubtful), broken, False)


def _do_the_other_half(rules: Rules, world: World, at: At) -> Steps:
    """Of a completion in two transactions."""
    task = world.tasks[at.task]
    if rules.design.result is Order.BEFORE:
        yield from _completing(rules, world, at, task, NOBODY)
    else:
        after = world.put(at.task, task._replace(results=min(task.results + 1, 2)))
        yield Step(f"{_who(at)} stores its result", after.standing(at, NOBODY))


def _close(rules: Rules, world: World, at: At, *, standing: At | None = None, is_own: bool = True) -> Steps:
    """fail.sql: an attempt that did not succeed goes where settle.decide says, unless a cancellation was asked for."""
    before, task = standing or at, world.tasks[at.task]
    what = f"ends ({at.fault})"
    if not _accepts(rules, rules.design.fail, task, at):
        yield _refused(world, before, what)
        return
    closed = _closed(rules, task, at)
    charges = closed.failures > task.failures or closed.crashes > task.crashes
    ended = rules.ended(closed, world)
    by = "release" if at.fault in STOPS and closed.status is Status.ENQUEUED else "fail"
    is_crash = at.fault == Fault.CRASH.value
    unfair = CHARGED if at.fault in STOPS and charges else rules.blamed(at.task, closed) if is_crash else ""
    broken = _stale(task, at) or unfair or rules.moved(task, ended, by)
    after = world.put(at.task, ended)
    yield Step(f"{_who(at)} {what}", after.standing(before, NOBODY), broken, is_own)
    if rules.setting.answers_are_lost:
        doubtful = at._replace(place=CLOSING)
        yield Step(f"{_who(at)} {what}, but the answer is lost", after.standing(before, doubtful), broken, False)


def _closed(rules: Rules, task: Task, at: At) -> Task:
    design = rules.design
    decision = rules.decided(at.fault, task, at.came_on)
    crashes = decision.crashes
    if at.fault == Fault.CRASH.value and not design.crashes_are_charged:
        crashes, decision = 0, rules.decided(Fault.PAUSE.value, task, at.came_on)
    if at.fault == Fault.RELEASE.value and not design.releases_are_free:
        crashes = 1
    back = decision.status not in FINAL
    is_wreck = at.fault == Fault.CRASH.value and at.task < rules.setting.poison
    return task._replace(
        status=Status.CANCELLED if back and task.cancel else decision.status,
        number=task.number - (design.release_refunds_the_number and at.fault in STOPS),
        failures=task.failures + decision.failures,
        crashes=task.crashes + crashes,
        releases=task.releases + decision.releases,
        wrecks=min(task.wrecks + is_wreck, rules.most_wrecks + 1),
    )
