"""Every move of tasks.status is in this table; nothing else may move it.

The trigger tasks_guard holds the same table in the database, and a test compares the two move by move. The names on the
right are the statements of pipeline/queue/sql that make the move.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Mapping


class Status(enum.StrEnum):
    """Where a task stands."""

    ENQUEUED = "enqueued"
    DELAYED = "delayed"  # waits for not_before
    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # the document's own fault, or its retries are used up
    QUARANTINED = "quarantined"  # took its worker down too often
    CANCELLED = "cancelled"


# A task that stands here has ended; only an operator's retry moves it again, and never a succeeded one.
FINAL = frozenset({Status.SUCCEEDED, Status.FAILED, Status.QUARANTINED, Status.CANCELLED})

TRANSITIONS: Mapping[tuple[Status, Status], str] = types.MappingProxyType(
    {
        (Status.ENQUEUED, Status.PROCESSING): "claim",
        (Status.ENQUEUED, Status.CANCELLED): "cancel",
        (Status.DELAYED, Status.ENQUEUED): "promote, retry",
        (Status.DELAYED, Status.CANCELLED): "cancel",
        (Status.PROCESSING, Status.SUCCEEDED): "complete",
        (Status.PROCESSING, Status.FAILED): "fail",
        (Status.PROCESSING, Status.QUARANTINED): "fail, sweep",
        (Status.PROCESSING, Status.CANCELLED): "fail, sweep",
        (Status.PROCESSING, Status.DELAYED): "fail, sweep",
        (Status.PROCESSING, Status.ENQUEUED): "release, fail, sweep",
        (Status.FAILED, Status.ENQUEUED): "retry",
        (Status.QUARANTINED, Status.ENQUEUED): "retry",
        (Status.CANCELLED, Status.ENQUEUED): "retry",
    }
)
