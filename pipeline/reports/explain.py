"""A task's story in words: where it stands, what each attempt came to, why its lease is so long, what happens next.

Pure: rows as pipeline.reports.queries reads them, the lease policy and the limits in force go in, sentences come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.queue.lease import LeasePolicy
from pipeline.queue.settle import Limits
from pipeline.reasons import Reason, Retry
from pipeline.reports.durations import duration, moment
from pipeline.reports.lengths import count, figure, lease_sum
from pipeline.reports.queries import TaskStory

Row = Mapping[str, Any]


def explain(story: TaskStory, policy: LeasePolicy, limits: Limits, *, sweep_seconds: float) -> list[str]:
    """The lines of `doclease tasks explain`. `policy` is that of the task's handler."""
    return [
        _headline(story),
        "",
        *_attempts(story),
        lease_arithmetic(story.task, policy),
        f"Counted so far: {_counters(story.task, limits)}.",
        "",
        *_next(story, limits, sweep_seconds),
        *_meaning(story.task),
        "(All times are UTC.)",
    ]


def lease_arithmetic(task: Row, policy: LeasePolicy) -> str:
    """The task's lease as a sum, and how the sum comes out today if that is something else."""
    pages, ocr_pages = task["page_count"], task["ocr_page_count"]
    stored, today = task["lease_seconds"], policy.lease_seconds(pages, ocr_pages)
    total = policy.deadline_seconds(pages, ocr_pages)
    whole = f"The whole attempt may take {duration(task['deadline_seconds'])}."
    if abs(stored - today) < 0.05:
        return f"Its lease is {figure(stored)} s = {lease_sum(policy, pages, ocr_pages)}. {whole}"
    return (
        f"Its lease is {figure(stored)} s, fixed when it was taken in. With today's settings and rates it would be"
        f" {figure(today)} s = {lease_sum(policy, pages, ocr_pages)}, and the attempt {duration(total)}. {whole}"
    )


def _headline(story: TaskStory) -> str:
    task = story.task
    reason = f" ({task['reason']})" if task["finished_at"] and task["reason"] != task["status"] else ""
    done = f"{min(task['pages_done'], task['page_count'])} of {count(task['page_count'], 'page')} done"
    as_type = "type by content" if task["handler"] == "auto" else f"as {task['handler']}"
    return (
        f"Task {task['task_id']}: {task['name']} (document {task['document_id']}), {as_type},"
        f" is {task['status']}{reason}; {done}."
    )


def _attempts(story: TaskStory) -> Iterator[str]:
    now = story.task["read_at"]
    yield f"Taken in {moment(story.task['enqueued_at'], now)}."
    for row in story.attempts:
        yield f"Attempt {row['attempt_no']}: {_started(row, now)} {_ended(row, now)}"
        if row["late_finish_at"]:
            yield (
                f"    It finished after all at {moment(row['late_finish_at'], now)}, when its lease was gone: nothing"
                " of that was accepted."
            )
    yield ""


def _started(row: Row, now: Any) -> str:
    at = f"at page {row['pages_reused'] + 1}"
    reused = f", {count(row['pages_reused'], 'page')} of earlier attempts reused" if row["pages_reused"] else ""
    return f"worker {row['worker']} began {at} at {moment(row['started_at'], now)}{reused};"


def _ended(row: Row, now: Any) -> str:
    done = f"{count(row['pages_done'] - row['pages_reused'], 'page')} done, renewed {_times(row['renewals'])}"
    if row["ended_at"] is None:
        since = duration((now - row["progressed_at"]).total_seconds())
        return f"in work, {done}, last progress {since} ago."
    took = duration((row["ended_at"] - row["started_at"]).total_seconds())
    if row["outcome"] == "succeeded":
        return f"succeeded after {took}, {done}."
    if row["outcome"] == "expired":
        silent = duration((row["ended_at"] - row["progressed_at"]).total_seconds())
        return (
            f"lost at page {row['pages_done'] + 1}, {done}: {row['error']}. Taken back at"
            f" {moment(row['ended_at'], now)}, {silent} after its last progress."
        )
    words = {"crashed": "crashed", "failed": "failed", "released": "given back", "cancelled": "cancelled"}
    where = f" on page {row['page_no']}" if row["page_no"] else ""
    cause = " ".join(filter(None, (row["reason"], f"({row['error']})" if row["error"] else None)))
    return f"{words[row['outcome']]}{where} after {took}, {done}: {cause}."


def _counters(task: Row, limits: Limits) -> str:
    return (
        f"failures {task['failure_count']} of {limits.max_failures}, crashes {task['crash_count']} of"
        f" {limits.max_crashes}, given back {task['release_count']} of {limits.max_releases}"
    )


def _next(story: TaskStory, limits: Limits, sweep_seconds: float) -> Iterator[str]:
    task = story.task
    match task["status"]:
        case "enqueued":
            yield from _next_in_line(story, sweep_seconds)
        case "delayed":
            wait = (task["not_before"] - task["read_at"]).total_seconds()
            yield (
                f"Next: it waits until {moment(task['not_before'], task['read_at'])} ({_in(wait)}; reason:"
                f" {task['reason']}), then it is back in line. {_resumes(task)}"
            )
        case "processing":
            yield from _next_in_work(story, limits, sweep_seconds)
        case "succeeded":
            took = duration((task["finished_at"] - task["enqueued_at"]).total_seconds())
            yield f"Done, {took} after it was taken in. See: doclease documents show {task['document_id']}"
        case _:
            error = f": {task['error'].rstrip('.')}" if task["error"] else ""
            yield f"It ended at {moment(task['finished_at'], task['read_at'])}{error}."
            yield from _may_retry(task)


def _next_in_line(story: TaskStory, sweep_seconds: float) -> Iterator[str]:
    task, line = story.task, story.line
    ahead = line["tasks_ahead"]
    before = f"; {count(ahead, 'task')} of {count(line['pages_ahead'], 'page')} before it" if ahead else ""
    yield f"Next: it is number {ahead + 1} in line{before}. A worker takes it when a slot is free. {_resumes(task)}"
    if task["crash_count"]:
        yield "It took a worker down before, so it will run in small steps, a page at a time."
    age = float(line["sweep_age_seconds"])
    if not line["in_work"] and age > 3 * sweep_seconds:
        yield f"Nothing is in work and no worker has swept for {duration(age)}: is one running? Type: doclease work"


def _next_in_work(story: TaskStory, limits: Limits, sweep_seconds: float) -> Iterator[str]:
    task = story.task
    now, expires = task["read_at"], task["lease_expires_at"]
    left = (expires - now).total_seconds()
    if left > 0:
        yield (
            f"Next: if no page is finished by {moment(expires, now)} ({_in(left)}) the sweeper takes it back;"
            f" the next attempt starts at page {task['pages_done'] + 1}."
        )
    else:
        age = duration(float(story.line["sweep_age_seconds"]))
        yield (
            f"Next: its lease ran out {duration(-left)} ago. The next sweep takes it back (one runs every"
            f" {duration(sweep_seconds)}, the last was {age} ago), unless its worker reports first; the next attempt"
            f" starts at page {task['pages_done'] + 1}."
        )
    hard = (task["deadline_at"] - now).total_seconds()
    yield f"However well it goes on, the attempt has to end by {moment(task['deadline_at'], now)} ({_in(hard)})."
    if task["cancel_requested"]:
        yield "Somebody asked to cancel it: it stops at its next checkpoint."
    if task["crash_count"] + 1 >= limits.max_crashes:
        yield "One more crash and it is quarantined."


def _may_retry(task: Row) -> Iterator[str]:
    reason = _reason(task["reason"])
    again = f"`doclease tasks retry {task['task_id']}` puts it in line again. {_resumes(task)}"
    if reason is not None and reason.retry is Retry.NEVER and reason is not Reason.CANCELLED:
        yield f"Trying again ends the same way unless something changes; then {again}"
    else:
        yield f"Next: nothing, until somebody asks. {again}"


def _meaning(task: Row) -> Iterator[str]:
    reason = _reason(task["reason"])
    if reason is not None:
        yield f"{reason.value}: {reason.help}"


def _reason(word: str | None) -> Reason | None:
    return Reason(word) if word in {reason.value for reason in Reason} else None


def _resumes(task: Row) -> str:
    done = task["pages_done"]
    if not done:
        return "It starts at page 1."
    if done >= task["page_count"]:
        return "All its pages are kept; only the result is missing."
    return f"It goes on at page {done + 1}; {count(done, 'page')} are kept."


def _in(seconds: float) -> str:
    return f"in {duration(seconds)}" if seconds > 0 else f"{duration(-seconds)} ago"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
