"""The faults. Each is done to every queue in the same way and answers with measures, by name.

Times are seconds to two places, None where the thing did not happen while the cell waited.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence

from bench.peers.adapter import DONE, ENDED_BADLY, RUNNING, WAITING
from bench.peers.body import now
from bench.peers.stage import NotReady, Stage, is_alive, kill, signal_tree

Measures = dict[str, float | int | str | bool | None]
SETTLE_SECONDS = 5.0
CONFIRM_SECONDS = 2.0
OUTAGE_SECONDS = 2.0  # before the tasks in hand end, and again before the server is back


def killed_worker(stage: Stage, *, slots: int = 4) -> Measures:
    """kill -9 of one of two workers, just after they took as many tasks as one has slots: of that which has more."""
    workers = stage.start_workers(2, slots)
    tasks = [f"a{number}" for number in range(1, slots + 1)]
    stage.enqueue("gate", *tasks)
    stage.begun(*tasks)
    holders = {task: stage.holder(task, workers) for task in tasks}
    victim = max(workers, key=list(holders.values()).count)
    orphans = [task for task in tasks if holders[task] is victim]
    if not orphans:
        raise NotReady(f"{stage.row.name}: no worker had a task in hand any more")
    at = kill(victim)
    for task in tasks:
        stage.open_gate(task, 1, 2, 3)
    stage.settled(tasks, stage.row.patience)
    again = [stage.evidence.begun(task, at) for task in orphans]
    return {
        "begun_again": _worst(again),
        "begun_again_median": _median(again),
        "done": _worst([stage.evidence.ended(task, at) for task in orphans]),
        **_tally(stage, orphans),
    }


def killed_process(stage: Stage) -> Measures:
    """kill -9 of the one process that runs a task: a child of the worker where it has some; two workers of one slot."""
    stage.start_workers(2, 1)
    task = "g1"
    stage.enqueue("gate", task)
    stage.begun(task)
    at = now()
    os.kill(stage.evidence.begins(task)[-1].pid, signal.SIGKILL)
    stage.open_gate(task, 1, 2, 3)
    stage.settled([task], stage.row.patience)
    return {
        "begun_again": stage.evidence.begun(task, at),
        "done": stage.evidence.ended(task, at),
        **_tally(stage, [task]),
    }


def frozen_worker(stage: Stage) -> Measures:
    """SIGSTOP of a worker in the middle of a task; once another has begun it anew, SIGCONT and the task's end.

    The stale worker reports while the newer execution is still at work. Whoever takes that report for the newer one's
    shows it: the queue then thinks that the task has ended.
    """
    workers, task = stage.start_workers(2, 1), "b1"
    stage.enqueue("gate", task)
    stage.begun(task)
    frozen = stage.holder(task, workers)
    if frozen is None:
        raise NotReady(f"{stage.row.name}: {task} lost its process before anything was done to it")
    at = now()
    signal_tree(frozen.pid, signal.SIGSTOP)
    stage.wait(lambda: stage.evidence.begun(task, at), stage.row.patience)
    taken_over = stage.evidence.begun(task, at)
    stage.open_gate(task, 1)
    signal_tree(frozen.pid, signal.SIGCONT)
    told: Measures = {"taken_over": taken_over, "stale_accepted": None, "older_frozen": frozen is workers[0]}
    if taken_over is not None:
        stage.wait(lambda: stage.state(task) not in (RUNNING, WAITING), SETTLE_SECONDS)
        told["state_then"] = stage.state(task)
        told["stale_accepted"] = told["state_then"] not in (RUNNING, WAITING) and len(stage.evidence.begins(task)) == 2
    stage.open_gate(task, 2, 3)
    stage.wait(lambda: len(stage.evidence.ends(task)) > 1, SETTLE_SECONDS)
    stage.settled([task], SETTLE_SECONDS)
    return {**told, **_tally(stage, [task])}


def hung_task(stage: Stage) -> Measures:
    """A task that hangs for ever when it is first run, and ignores what is raised in it; two workers of one slot."""
    stage.start_workers(2, 1)
    task, others = "c1", ("c2", "c3", "c4")
    stage.enqueue("hang", task)
    stage.begun(task)
    first = stage.evidence.begins(task)[0]
    stage.enqueue("short", *others)

    def taken_away() -> bool:
        return not is_alive(first.pid) or len(stage.evidence.begins(task)) > 1

    taken_after = round(now() - first.at, 1) if stage.wait(taken_away, stage.row.patience) else None
    if taken_after is not None:
        stage.wait(lambda: stage.evidence.ends(task) or _has_ended(stage, task), stage.row.patience)
    stage.settled([task, *others], SETTLE_SECONDS)
    return {
        "taken_away": taken_after,
        "begun_again": stage.evidence.begun(task, first.at),
        "hung_one_ended": not is_alive(first.pid),
        "state": stage.state(task),
        "others_done": sum(bool(stage.evidence.ends(each)) for each in others),
        **_tally(stage, [task]),
    }


def slow_task(stage: Stage) -> Measures:
    """A healthy task that goes on, a step a second, for three quarters of what the cell waits; two workers."""
    stage.start_workers(2, 1)
    task, steps = "f1", int(stage.row.patience * 0.75)
    stage.enqueue("slow", task, steps=steps)
    stage.begun(task)
    first = stage.evidence.begins(task)[0]
    stage.settled([task], stage.row.patience * 1.25)
    return {
        "takes": steps,
        "begun_again": stage.evidence.begun(task, first.at),
        "done": stage.evidence.ended(task, first.at),
        "state": stage.state(task),
        **_tally(stage, [task]),
    }


def poison(stage: Stage) -> Measures:
    """A task that kills the process it runs in, every time, with four others behind it; dead workers are restarted."""
    workers = stage.start_workers(2, 1)
    task, others = "d1", ("d2", "d3", "d4", "d5")
    at = now()
    stage.enqueue("poison", task)
    stage.enqueue("short", *others)

    def over() -> bool:
        for place, worker in enumerate(workers):
            if worker.poll() is not None:
                workers[place] = stage.start_worker(1)
        seen = stage.evidence
        return bool(seen.begins(task)) and _all(seen.ends, others) and _has_ended(stage, task)

    over_in_time = stage.wait(over, stage.row.patience)
    seen = stage.evidence
    return {
        "executions": len(seen.begins(task)),
        "over_after": round(seen.begins(task)[-1].at - at, 2) if over_in_time else None,
        "state": stage.state(task),
        "others_done": sum(bool(seen.ends(each)) for each in others),
        "others_done_after": _worst([seen.ended(each, at) for each in others]),
    }


def restarted_server(stage: Stage) -> Measures:
    """The server crashes with two tasks in work and four in line; the two end while it is away; it comes back."""
    (worker,) = stage.start_workers(1, 2)
    tasks = ("e1", "e2", "e3", "e4", "e5", "e6")
    stage.enqueue("gate", *tasks[:2])
    stage.begun(*tasks[:2])
    stage.enqueue("short", *tasks[2:])
    stage.server.stop_hard()
    stage.wait(lambda: False, OUTAGE_SECONDS)
    for task in tasks[:2]:
        stage.open_gate(task, 1, 2, 3)
    stage.wait(lambda: False, OUTAGE_SECONDS)
    stage.server.start()
    at = now()
    stage.enqueue("short", "afterwards")
    came_back = _supervised(stage, worker)
    stage.settled(tasks, stage.row.patience)
    seen = stage.evidence
    return {
        "worker": came_back,
        "done": _worst([seen.ended(task, at) or (0.0 if seen.ends(task) else None) for task in tasks]),
        **_tally(stage, tasks),
    }


def _supervised(stage: Stage, worker: subprocess.Popen[bytes]) -> str:
    """Wait until a new task is done. A worker that ended is started again; one that is idle for too long, as well."""

    def shown() -> bool:
        return bool(stage.evidence.ends("afterwards"))

    if not stage.wait(lambda: worker.poll() is not None or shown(), stage.row.patience / 2):
        told = "stayed idle"
    elif shown():
        return "went on"
    else:
        told = "ended"
    kill(worker)
    stage.start_worker(2)
    return told


SCENARIOS: Mapping[str, Callable[[Stage], Measures]] = {
    "kill": killed_worker,
    "child": killed_process,
    "freeze": frozen_worker,
    "hang": hung_task,
    "slow": slow_task,
    "poison": poison,
    "restart": restarted_server,
}


def _tally(stage: Stage, tasks: Sequence[str]) -> Measures:
    """What is told of every scenario: executions, effects that took place twice, what was lost, what is stuck."""
    seen, states = stage.evidence, stage.states(tasks)
    undone = [task for task in tasks if not seen.ends(task)]
    return {
        "tasks": len(tasks),
        "executions_most": max(len(seen.begins(task)) for task in tasks),
        "done_twice": sum(len(seen.ends(task)) > 1 for task in tasks),
        "lost": sum(states[task] in ("gone", DONE) for task in undone),
        "stuck": sum(states[task] not in ("gone", DONE, ENDED_BADLY) for task in undone),
        "open": sum(states[task] in (RUNNING, WAITING) for task in tasks if seen.ends(task)),
    }


def _has_ended(stage: Stage, task: str) -> bool:
    """Whether the queue is through with a task. One that is just being put back in line is nowhere for a moment."""

    def lives() -> bool:
        return stage.state(task) in (RUNNING, WAITING)

    return not lives() and not stage.wait(lives, CONFIRM_SECONDS)


def _all(found: Callable[[str], Sequence[object]], tasks: Sequence[str]) -> bool:
    return all(found(task) for task in tasks)


def _worst(times: Sequence[float | None]) -> float | None:
    known = [each for each in times if each is not None]
    return max(known) if len(known) == len(times) else None


def _median(times: Sequence[float | None]) -> float | None:
    known = [each for each in times if each is not None]
    return round(statistics.median(known), 2) if len(known) == len(times) else None
