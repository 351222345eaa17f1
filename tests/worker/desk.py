"""What a slot works with, on the queue of a test: claims in hand, and documents that were read."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine

from pipeline.attachments import Attachments, Parent
from pipeline.config import WorkerSettings
from pipeline.documents.archive import Archive
from pipeline.documents.text import Page, Source
from pipeline.found import Found
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import Claim, Usage
from pipeline.queue.store import Queue
from pipeline.reasons import Reason
from pipeline.remembered import Memory
from pipeline.results import Results
from pipeline.worker.busyness import Busyness
from pipeline.worker.delivery import Delivery
from pipeline.worker.equipment import Equipment, Pace
from pipeline.worker.held import HeldLease, boottime
from pipeline.worker.process import ChildProcess
from pipeline.worker.progress import Progress
from pipeline.worker.provision import Provision
from pipeline.worker.stopping import Stopping


def page(number: int, text: str = "Invoice 7") -> Page:
    """A page that was read."""
    return Page(number, text, text, Source.NATIVE, engine="plain")


class Desk:
    """Equipment without a child. `stopping` is the worker's."""

    def __init__(self, engine: Engine, queue: Queue, folder: Path) -> None:
        self.stopping = Stopping(drain_seconds=30)
        self.equipment = Equipment(
            queue=queue,
            results=Results(engine),
            memory=Memory(engine),
            attachments=Attachments(queue),
            archive=Archive(folder / "store"),
            policy=lambda _: LeasePolicy(),
            provision=Provision,
            notify=lambda: None,
            settings=WorkerSettings(),
            pace=Pace(5, 2),
        )

    def read(self, claim: Claim, *pages: Page) -> Delivery:
        """The claimed document, read at once: a page and a line."""
        lease = HeldLease(boottime(), claim.lease_seconds)
        busyness = Busyness(ChildProcess(self.equipment.settings))
        progress = Progress(claim, lease, equipment=self.equipment, busyness=busyness, stopping=self.stopping)
        progress.unsaved = list(pages or [page(1)])
        line = {"name": "lines", "number": 1, "cells": {"description": {"value": "a nail"}}}
        place = {"page": 1, "starts_at": 0, "end_page": 1, "ends_at": 9}
        clause = {"clause_no": 1, "number": "1", "level": 1, "heading": "Term", **place, "tags": ["term"]}
        return Delivery(
            equipment=self.equipment,
            progress=progress,
            name=f"document {claim.task_id}",
            parent=Parent(claim.document_id, None, 0, None, 0),
            reason=Reason.OK,
            found=Found({"document_type": "invoice", "task": claim.task_id}, [line], [clause]),
            usage=Usage(0.01, 1_000_000),
            seconds=0.01,
        )
