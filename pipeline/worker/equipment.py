"""What every attempt of a worker works with: one object, made once, shared by its slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.attachments import Attachments
from pipeline.config import WorkerSettings
from pipeline.documents.archive import Archive
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.store import Queue
from pipeline.remembered import Memory
from pipeline.results import Results
from pipeline.worker.provision import Provisioner


@dataclass(frozen=True, slots=True)
class Pace:
    """How an attempt is driven: seconds between checkpoints, and extra leases for one page."""

    checkpoint_seconds: float
    busy_extensions: int


@dataclass(frozen=True, slots=True)
class Equipment:
    """`policy` gives the lease policy of a handler, `provision` what a child may use for its next document.

    `notify` is called once a commit has put tasks in line.
    """

    queue: Queue
    results: Results
    memory: Memory
    attachments: Attachments
    archive: Archive
    policy: Callable[[str], LeasePolicy]
    provision: Provisioner
    notify: Callable[[], None]
    settings: WorkerSettings
    pace: Pace
