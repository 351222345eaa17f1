"""What to do with an attempt that did not succeed: a pure decision, acted on by Queue.fail.

A document's failures, its crashes and the times it was given back are counted apart, so that no deploy ever uses up a
document's retries and no crash loop hides behind a refund.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from pipeline.queue.backoff import backoff_seconds
from pipeline.queue.model import Outcome
from pipeline.queue.states import Status


class Fault(enum.Enum):
    """What kind of end an attempt came to."""

    PERMANENT = "permanent"  # another attempt cannot end differently
    HOSTILE = "hostile"  # the same, and nobody should try by accident
    TRANSIENT = "transient"  # another attempt may
    CRASH = "crash"  # it took its child down
    RELEASE = "release"  # the worker was stopped
    PAUSE = "pause"  # its time was up, but it came on; or nobody began it
    CANCEL = "cancel"  # somebody asked


@dataclass(frozen=True, slots=True)
class Limits:
    """How often a task may fail, crash or be given back, and how long it waits between."""

    max_failures: int = 5
    max_crashes: int = 3
    max_releases: int = 20
    backoff_seconds: float = 5
    backoff_cap_seconds: float = 600


@dataclass(frozen=True, slots=True)
class Counts:
    """How often the task failed, crashed and was given back before this attempt."""

    failures: int = 0
    crashes: int = 0
    releases: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """Where the task goes, how its attempt is closed and which counter rises.

    `delay_seconds` is above 0 only for DELAYED. `crashes` is below 0 when they are counted anew.
    """

    status: Status
    outcome: Outcome
    delay_seconds: float = 0
    failures: int = 0
    crashes: int = 0
    releases: int = 0


def decide(fault: Fault, counts: Counts, limits: Limits, *, jitter: float, came_on: bool = False) -> Decision:
    """Retry at once, retry later, or end. `jitter` in [0, 1) is drawn by the caller.

    The first crash goes back at once, into the suspect lane; from the second on the task waits, so that a document
    which takes workers down never sits at the head of the queue. A crash of an attempt that `came_on`, that is finished
    a page before, is the first one at another place: crashes are counted anew. Pages are finite.
    """
    match fault:
        case Fault.CANCEL:
            return Decision(Status.CANCELLED, Outcome.CANCELLED)
        case Fault.PERMANENT | Fault.HOSTILE:
            status = Status.FAILED if fault is Fault.PERMANENT else Status.QUARANTINED
            return Decision(status, Outcome.FAILED, failures=1)
        case Fault.TRANSIENT:
            return _after_failure(counts.failures + 1, limits, jitter)
        case Fault.CRASH:
            return _after_crash(0 if came_on else counts.crashes, counts.crashes, limits, jitter)
        case Fault.RELEASE:
            return _after_release(counts.releases + 1, limits)
        case Fault.PAUSE:
            # No bound: every such attempt finished a page, and pages are finite, or made way for another that did.
            return Decision(Status.ENQUEUED, Outcome.RELEASED)


def _after_failure(failures: int, limits: Limits, jitter: float) -> Decision:
    if failures >= limits.max_failures:
        return Decision(Status.FAILED, Outcome.FAILED, failures=1)
    return Decision(Status.DELAYED, Outcome.FAILED, _wait(failures, limits, jitter), failures=1)


def _after_crash(here: int, counted: int, limits: Limits, jitter: float) -> Decision:
    """`here` crashes came before at the same place, `counted` is what the counter stands at."""
    crashes = here + 1
    rise = crashes - counted
    if crashes >= limits.max_crashes:
        return Decision(Status.QUARANTINED, Outcome.CRASHED, crashes=rise)
    if crashes == 1:
        return Decision(Status.ENQUEUED, Outcome.CRASHED, crashes=rise)
    return Decision(Status.DELAYED, Outcome.CRASHED, _wait(crashes - 1, limits, jitter), crashes=rise)


def _after_release(releases: int, limits: Limits) -> Decision:
    # Given back this often, the document outlasts every drain: it is not being stopped, it is too long for its worker.
    if releases >= limits.max_releases:
        return Decision(Status.QUARANTINED, Outcome.RELEASED, releases=1)
    return Decision(Status.ENQUEUED, Outcome.RELEASED, releases=1)


def _wait(times: int, limits: Limits, jitter: float) -> float:
    return backoff_seconds(
        times, base_seconds=limits.backoff_seconds, cap_seconds=limits.backoff_cap_seconds, jitter=jitter
    )
