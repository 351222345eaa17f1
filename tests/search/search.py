"""A search through what sessions may do to the queue, in any order, with some of them stopped halfway.

A step is one thing that some session does. After each the rows are looked at from outside: as the model says, and with
no promise broken. A run ends without faults: everything goes on, and within two leases every task must have ended.

Workers share two names, as processes in two containers do, and keep every claim they ever got, stale ones too: so a
write is repeated after a lost answer, and comes from a worker whose lease is long gone, as often as it comes in time.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from sqlalchemy import Engine

from pipeline.queue.settle import Fault, Limits
from pipeline.queue.states import FINAL, Status
from pipeline.queue.store import Queue
from tests.search import actions, upkeep, writes
from tests.search.actions import Judged
from tests.search.model import INTERVAL_SECONDS, Model, Task, compare
from tests.search.sessions import Call, How, Sessions
from tests.search.steps import WORKERS, Step, Whose
from tests.search.world import World
from tests.search.writes import Hand

# A wait is over after any step of the clock and never before, whatever the jitter: a run can be repeated.
LIMITS = Limits(max_failures=3, max_crashes=3, max_releases=4, backoff_seconds=1, backoff_cap_seconds=1)
MAX_TASKS = 16
MAX_OPEN = 2
MAX_WAITING = 3
LONGEST_LEASE = 20


class Search:
    """One run: sessions of one queue, the claims that workers got, and the model of it all."""

    def __init__(self, world: World, build: Callable[[Engine], Queue]) -> None:
        self.world = world
        self.model = Model(LIMITS)
        self.hands: list[Hand] = []
        world.empty()
        self.sessions = Sessions(world.engine, build)
        self.queue = build(world.engine)

    # What sessions do

    def take(self, step: Step) -> None:
        """Do what comes next, and look what came of it."""
        getattr(self, step.name)(**step.given)
        self.look()

    def begin(self, count: int, lease: float, deadline: float) -> None:
        """A few documents, so that sessions meet at one, or enough of them for the brake; and workers at work."""
        for _ in range(count):
            self._act(actions.Enqueue(2, lease, deadline, 0), How.AT_ONCE)
        for worker in WORKERS:
            self._act(actions.Take(worker, (count + 1) // 2, True), How.AT_ONCE)

    def enqueue(self, known: bool, which: int, lease: float, deadline: float, how: How) -> None:
        """A document comes in, with a priority by its number, or one that is known comes in anew."""
        if len(self.model.tasks) >= MAX_TASKS:
            return
        task = self._task(which) if known else None
        priority = len(self.model.tasks) % 2
        document_id = task.document_id if task else None
        self._act(actions.Enqueue(2, lease, deadline, priority, document_id), how, task)

    def claim(self, worker: str, batch: int, suspects: bool, how: How) -> None:
        """A worker takes what is first in line."""
        self._act(actions.Take(worker, batch, suspects), how)

    def checkpoint(self, whose: Whose, which: int, more: int, lease: float, how: How) -> None:
        """A worker stores pages and renews its lease, with whatever claim it has."""
        self._write(writes.Checkpoint(self._hand(whose, which), more, lease), how)

    def complete(self, whose: Whose, which: int, how: How) -> None:
        """A worker hands in its result, with whatever claim it has."""
        self._write(writes.Complete(self._hand(whose, which)), how)

    def fail(self, whose: Whose, which: int, fault: Fault, came_on: bool, how: How) -> None:
        """A worker gives up, with whatever claim it has."""
        self._write(writes.Fail(self._hand(whose, which), fault, came_on), how)

    def operate(self, cancel: bool, which: int, how: How) -> None:
        """Somebody asks that a task ends, or puts one in line again."""
        task = self._task(which)
        self._act((actions.Cancel if cancel else actions.Retry)(task.task_id), how, task)

    def take_over(self, worker: str, batch: int) -> None:
        """Leases run out and are taken back, and a worker goes on with what is in line."""
        self.advance(LONGEST_LEASE + 1)
        self.sweep(500, How.AT_ONCE)
        self.look()
        self.promote(How.AT_ONCE)
        self.claim(worker, batch, True, How.AT_ONCE)

    def sweep(self, batch: int, how: How) -> None:
        """Somebody takes back expired leases."""
        self._act(upkeep.Sweep(deepcopy(self.model), batch), how)

    def promote(self, how: How) -> None:
        """Somebody puts what has waited long enough back in line."""
        self._act(upkeep.Promote(deepcopy(self.model)), how)

    def advance(self, seconds: int) -> None:
        """Time passes."""
        self.world.advance(seconds)
        self.model.now += seconds

    def end(self, which: int, commit: bool) -> None:
        """A session that stood inside its transaction commits, or is gone."""
        if self.sessions.open:
            self._end(self.sessions.open[which % len(self.sessions.open)], commit=commit)

    def go_on(self) -> None:
        """A statement that stood between its snapshot and its locks goes on."""
        self.sessions.open_gate()
        self.sessions.stand_still()
        self._judge()

    def ask(self, whose: Whose, which: int, worker: str) -> None:
        """A worker that lost an answer, or its lease, finds out how it stands; then it leaves its mark."""
        hand = self._hand(whose, which)
        attempt = self.model.attempt_of(hand.claim)
        assert self.queue.outcome(hand.claim) == (attempt and attempt.outcome)
        held = [task.task_id for task in self.model.tasks.values() if task.holder and task.holder.worker == worker]
        assert [each.task_id for each in self.queue.held(worker)] == sorted(held)
        self._write(writes.FinishLate(hand), How.AT_ONCE)

    def wake(self, which: int, worker: str, act: str) -> None:
        """A worker whose task another one has by now wakes up and writes."""
        self.take_over(worker, 8)
        self.look()
        hand = self._hand(Whose.STALE, which)
        self._touch(self.model.tasks.get(hand.claim.task_id) or self._task(which), act, How.AT_ONCE, hand)

    def crowd(self) -> None:
        """Two workers want what is in line: one stands inside its transaction, the other passes by."""
        self._make_room()
        self.advance(LONGEST_LEASE + 1)
        self.sweep(500, How.AT_ONCE)
        self.look()
        for worker, how in zip(WORKERS, (How.HELD, How.AT_ONCE), strict=True):
            self.claim(worker, 1, True, how)

    def meet(self, which: int, first: str, second: str, commit: bool) -> None:
        """Two sessions write to a task in work: one stands inside its transaction, the other waits for it."""
        self._make_room()
        task, before = self._task(which, Status.PROCESSING), list(self.sessions.open)
        self._touch(task, first, How.HELD)
        self._touch(task, second, How.AT_ONCE)
        self.look()
        for call in [call for call in self.sessions.open if call not in before]:
            self._end(call, commit=commit)

    def meanwhile(self, which: int, act: str) -> None:
        """Somebody writes to a task that is about to be taken back while the sweep has read it and not locked it."""
        self.go_on()
        self.advance(LONGEST_LEASE + 1)
        self.sweep(500, How.PAUSED)
        self._touch(self._task(which, Status.PROCESSING), act, How.AT_ONCE)
        self.look()
        self.go_on()

    def cut_in(self, which: int, act: str) -> None:
        """Somebody writes to a task whose wait is over while it is about to be promoted."""
        self.go_on()
        self._touch(self._task(which, Status.PROCESSING), "fail", How.AT_ONCE)
        self.advance(2)
        self.look()
        self.promote(How.PAUSED)
        self._touch(self._task(which, Status.DELAYED), act, How.AT_ONCE)
        self.look()
        self.go_on()

    # What must hold

    def look(self) -> None:
        """Every row is as the model says, and no promise is broken."""
        broken = self.world.broken(self.sessions.monitor)
        assert not broken, broken
        compare(self.model, self.world.look(self.sessions.monitor))

    def settle(self) -> None:
        """Everything goes on and nothing fails any more: all that is left must end."""
        self.go_on()
        self.look()
        while self.sessions.open:
            self._end(self.sessions.open[0], commit=True)
            self.look()
        # Grace may add a lease, the brake an interval.
        for seconds in (INTERVAL_SECONDS, LONGEST_LEASE + 1, INTERVAL_SECONDS, 2):
            self.advance(int(seconds))
            self.sweep(500, How.AT_ONCE)
            self.look()
            self.promote(How.AT_ONCE)
            self.look()
        assert not any(task.holder for task in self.model.tasks.values()), "a lease is never over"
        self._finish_all()
        stuck = [task.task_id for task in self.model.tasks.values() if task.status not in FINAL]
        assert not stuck, f"tasks never end: {stuck}"

    def close(self) -> None:
        """Roll back what is open, and end every session."""
        self.sessions.close()

    # How

    def _finish_all(self) -> None:
        seen = len(self.hands)
        self.claim(WORKERS[0], len(self.model.tasks), True, How.AT_ONCE)
        for hand in self.hands[seen:]:
            self._write(writes.Complete(hand), How.AT_ONCE)
        self.look()

    def _make_room(self) -> None:
        if len(self.sessions.open) >= MAX_OPEN:
            self._end(self.sessions.open[0], commit=True)
            self.look()

    def _touch(self, task: Task, act: str, how: How, hand: Hand | None = None) -> None:
        """Cancel a task or put it in line, or write to it with a claim of it, the newest if none is given."""
        if hand is None:
            hand = next((each for each in reversed(self.hands) if each.claim.task_id == task.task_id), self.hands[-1])
        action: Judged
        match act:
            case "cancel":
                action = actions.Cancel(task.task_id)
            case "retry":
                action = actions.Retry(task.task_id)
            case "checkpoint":
                action = writes.Checkpoint(hand, 1, LONGEST_LEASE)
            case "complete":
                action = writes.Complete(hand)
            case _:
                action = writes.Fail(hand, Fault.TRANSIENT, False)
        self._act(action, how, task)

    def _write(self, action: writes.Write | writes.FinishLate, how: How) -> None:
        self._act(action, how, self.model.tasks.get(action.hand.claim.task_id))

    def _act(self, action: Judged, how: How, about: Task | None = None) -> None:
        """Do it, unless sessions of this kind have reached their number or one waits for the same document."""
        waiting = [call for call in self.sessions.running if call.how is not How.PAUSED]
        full = {
            How.AT_ONCE: False,
            How.HELD: len(self.sessions.open) >= MAX_OPEN,
            How.PAUSED: self.sessions.pausing,
        }
        if full[how] or (about and (len(waiting) >= MAX_WAITING or self._is_waited_for(about))):
            return
        self.sessions.start(Call(action, how, self.model.now, about.document_id if about else None))
        self._judge()

    def _is_waited_for(self, about: Task) -> bool:
        return any(call.document_id == about.document_id for call in self.sessions.running)

    def _judge(self) -> None:
        for call in self.sessions.running:
            assert call.action.may_wait or not call.waited, f"{call.action} waits for a session that stands still"
        for call in self.sessions.answered():
            self._lock([each for each in self.sessions.open if each is not call])
            call.action.judge(self.model, call)
            call.answered_at = self.model.now
            if call.refusal is None and not call.is_open:
                self._commit(call)

    def _end(self, call: Call, *, commit: bool) -> None:
        self.sessions.finish(call, commit=commit)
        if commit:
            self._commit(call)
        else:
            # Also of claims that never were: whoever has one has a token that is in no row.
            self._hand_out(call)
        self.sessions.stand_still()
        self._judge()

    def _commit(self, call: Call) -> None:
        call.action.apply(self.model, call, call.answered_at)
        self._hand_out(call)

    def _hand_out(self, call: Call) -> None:
        if isinstance(call.action, actions.Take):
            self.hands += [Hand(claim, claim.pages_done) for claim in call.answer]

    def _lock(self, calls: list[Call]) -> None:
        self.model.locked = frozenset(task for call in calls for task in call.action.locks(call))
        self.model.sweeper_locked = any(isinstance(call.action, upkeep.Sweep) and call.answer.judged for call in calls)

    def _task(self, which: int, wanted: Status | None = None) -> Task:
        """One of the newest tasks, of a status if there are any."""
        everything = list(self.model.tasks.values())
        tasks = [task for task in everything if task.status is wanted] or everything
        return tasks[-1 - which % len(tasks)]

    def _hand(self, whose: Whose, which: int) -> Hand:
        fitting = [hand for hand in self.hands if self._is_of(hand, whose)] or self.hands
        return fitting[-1 - which % len(fitting)]

    def _is_of(self, hand: Hand, whose: Whose) -> bool:
        task = self.model.tasks.get(hand.claim.task_id)
        if whose is Whose.ANY or task is None or task.holder is None:
            return whose is Whose.ANY
        return (task.holder.token == hand.claim.lease_token) == (whose is Whose.HOLDER)
