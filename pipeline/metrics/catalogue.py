"""Every metric there is: its name, what it counts or measures, its label. The documentation's table is made from it."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.documents.text import Source
from pipeline.queue.model import Outcome
from pipeline.queue.states import Status
from pipeline.reasons import Reason


@dataclass(frozen=True, slots=True)
class Metric:
    """One name of the exposition. `known` values of its label are shown from the start, so that rates are right."""

    name: str
    help: str
    label: str = ""
    known: tuple[str, ...] = ()


PAGES = Metric(
    "doclease_pages_total",
    "Pages stored, by where their text came from.",
    "source",
    tuple(each.value for each in Source),
)
CLAIMS = Metric("doclease_claims_total", "Tasks claimed.")
ATTEMPTS = Metric(
    "doclease_attempts_total",
    "Attempts that ended, by outcome; an expired one is counted where it was swept.",
    "outcome",
    tuple(each.value for each in Outcome),
)
DOCUMENTS = Metric(
    "doclease_documents_total",
    "Documents that ended, by reason.",
    "reason",
    (Reason.OK.value, Reason.OK_WITH_GAPS.value),
)
RECOVERIES = Metric(
    "doclease_recoveries_total",
    "Tasks taken back, by cause: what a worker saw its parser die of, or lost_lease where a sweep found it.",
    "cause",
    tuple(
        each.value for each in (Reason.CRASH, Reason.OUT_OF_MEMORY, Reason.TIMEOUT, Reason.STALLED, Reason.LOST_LEASE)
    ),
)
FALSE_RECOVERIES = Metric(
    "doclease_false_recoveries_total", "Attempts whose lease was taken although their worker finished them."
)
SWEEPS = Metric(
    "doclease_sweeps_total", "Sweeps that judged all leases; one that another sweep forestalls is not counted."
)
LEASES_EXTENDED = Metric("doclease_leases_extended_total", "Leases extended once after an outage of the database.")
DATABASE_ERRORS = Metric(
    "doclease_database_errors_total",
    "Errors of the database, by SQLSTATE; none where there was no answer.",
    "sqlstate",
    ("none",),
)
CHILD_STARTS = Metric("doclease_child_starts_total", "Parser children started.")

INFO = Metric("doclease_info", "Always 1, with the version.", "version")
SLOTS = Metric("doclease_worker_slots", "Slots of this process.")
SLOTS_BUSY = Metric("doclease_worker_slots_busy", "Slots with a document in hand.")
CHILD_PEAK = Metric("doclease_child_peak_resident_bytes", "The most memory that any parser child alive has held.")
STORE_FREE = Metric("doclease_store_free_bytes", "Room on the disk of the store.")

DATABASE_UP = Metric(
    "doclease_database_up", "1 when the database answered, else 0; then the gauges after this one are absent."
)
TASKS = Metric(
    "doclease_queue_tasks",
    "Tasks that have not ended, by status.",
    "status",
    (Status.ENQUEUED.value, Status.DELAYED.value, Status.PROCESSING.value),
)
PAGES_LEFT = Metric("doclease_queue_pages_left", "Pages of tasks that have not ended.")
OLDEST_WAITING = Metric(
    "doclease_queue_oldest_waiting_seconds", "How long the oldest task in line has been known; 0 if none."
)
LEASE_OLDEST = Metric(
    "doclease_lease_oldest_seconds", "The longest time since a task in work made progress; 0 if none."
)
LEASE_OVERDUE = Metric(
    "doclease_lease_overdue_seconds", "How long ago the lease that is most overdue ran out; 0 if none has."
)
ENDED_BADLY = Metric(
    "doclease_queue_ended_badly_tasks",
    "Tasks that failed or were quarantined within the last 24 hours, by status.",
    "status",
    (Status.FAILED.value, Status.QUARANTINED.value),
)
SWEEP_AGE = Metric("doclease_sweep_age_seconds", "Time since leases were last judged, by anybody.")
SWEEP_BRAKED = Metric("doclease_sweep_braked", "1 while a sweep waits since too many leases ran out at once, else 0.")
SCAN_AGE = Metric("doclease_inbox_scan_age_seconds", "Time since the inbox was last looked through.", "inbox")
WAITING_FILES = Metric("doclease_inbox_waiting_files", "Files that wait to settle.", "inbox")
PAUSED = Metric("doclease_inbox_paused", "1 while intake pauses (disk, database, store), else 0.", "inbox")

COUNTERS = (
    PAGES, CLAIMS, ATTEMPTS, DOCUMENTS, RECOVERIES, FALSE_RECOVERIES, SWEEPS, LEASES_EXTENDED, DATABASE_ERRORS,
    CHILD_STARTS,
)  # fmt: skip
OWN_GAUGES = (INFO, SLOTS, SLOTS_BUSY, CHILD_PEAK, STORE_FREE)
SHARED_GAUGES = (
    DATABASE_UP, TASKS, PAGES_LEFT, OLDEST_WAITING, LEASE_OLDEST, LEASE_OVERDUE, ENDED_BADLY, SWEEP_AGE, SWEEP_BRAKED,
    SCAN_AGE, WAITING_FILES, PAUSED,
)  # fmt: skip
