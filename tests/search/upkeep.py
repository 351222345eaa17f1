"""What the sweeper's jobs do: take back what has expired, and put in line what has waited long enough."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.queue.model import Outcome, SweepReport
from pipeline.queue.states import Status
from tests.search.actions import Judged
from tests.search.forecast import Forecast, destination, forecast
from tests.search.model import INTERVAL_SECONDS, Between, Model, Task, known
from tests.search.sessions import Call, Desk


@dataclass
class Promote(Judged):
    """Somebody puts what has waited long enough back in line. It passes over what others have locked."""

    may_wait = False
    before: Model
    ready: list[int] = field(default_factory=list)

    def run(self, desk: Desk) -> int:
        return desk.queue.promote()

    def check(self, model: Model, call: Call) -> None:
        self.ready = [
            task.task_id
            for task in self.before.tasks.values()
            if task.task_id not in model.locked
            and self._is_ready(task, call.began)
            and self._is_ready(model.tasks[task.task_id], call.began)
        ]
        assert call.answer == len(self.ready), "what has waited long enough, and nothing else, is back in line"

    def apply(self, model: Model, call: Call, at: float) -> None:
        for task_id in self.ready:
            model.tasks[task_id].promoted()

    def locks(self, call: Call) -> set[int]:
        return set(self.ready)

    @staticmethod
    def _is_ready(task: Task, now: float) -> bool:
        return task.status is Status.DELAYED and known(task.not_before) <= now


@dataclass
class Sweep(Judged):
    """Somebody takes back expired leases. It passes over what others have locked."""

    may_wait = False
    before: Model
    batch: int
    expected: Forecast | None = None

    def run(self, desk: Desk) -> SweepReport:
        return desk.queue.sweep(worker="sweeper", interval_seconds=INTERVAL_SECONDS, batch=self.batch)

    def check(self, model: Model, call: Call) -> None:
        report: SweepReport = call.answer
        self.expected = expected = forecast(self.before, model, now=call.began, batch=self.batch)
        assert (report.judged, report.braked) == (expected.judged, expected.braked), "one sweep judges, and may wait"
        assert report.graced == len(expected.graced), "after an outage what was valid gets one more lease"
        assert sorted(swept.task_id for swept in report.taken) == list(expected.taken), "what has expired is taken"
        for swept in report.taken:
            task = model.tasks[swept.task_id]
            expiries = sum(attempt.outcome is Outcome.EXPIRED for attempt in task.attempts)
            assert swept.charged or expiries < model.limits.max_crashes, "expiries are not free for ever"
            goes = destination(task, charged=swept.charged, max_crashes=model.limits.max_crashes)
            assert (swept.status, swept.attempt_no) == (goes, len(task.attempts)), "what is taken goes where it must"

    def apply(self, model: Model, call: Call, at: float) -> None:
        assert self.expected is not None
        if not self.expected.judged:
            return
        model.last_ok, model.braked_at = self.expected.last_ok, self.expected.braked_at
        for task_id in self.expected.graced:
            task = model.tasks[task_id]
            expires, deadline = known(task.expires), known(task.deadline)
            task.expires = max(expires, at + task.lease_seconds)
            task.deadline = Between(deadline, deadline + call.began)
        for swept in call.answer.taken:
            model.tasks[swept.task_id].swept(
                swept.status,
                charged=swept.charged,
                not_before=Between(call.began, at + 2 * model.limits.backoff_cap_seconds),
            )

    def locks(self, call: Call) -> set[int]:
        return {swept.task_id for swept in call.answer.taken} | set(self.expected.graced if self.expected else ())
