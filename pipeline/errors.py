"""The errors of doclease: one tree, each says what to do next and with which exit code a command ends.

    DocleaseError                     1   a bug or an unnamed fault
    ├── UsageProblem                  2   the command line asks for something that cannot be
    ├── NothingMatched                4   no row answers the question
    ├── Unavailable                   7   database or store cannot be reached; transient
    │   ├── DatabaseUnavailable
    │   └── StoreUnavailable
    ├── ConfigurationError            8   config.yaml, the environment or a flag is wrong
    │   └── SchemaOutdated            8   the database wants `doclease db upgrade`
    ├── QueueError                    1
    │   ├── LeaseLost                     the lease went to somebody else: drop what you hold, write nothing
    │   └── IllegalMove                   the task is not in a state from which it can move there
    └── DocumentError                     a document cannot be read; carries its Reason's value
        └── UnreadablePage                one page cannot be read; the others may

An error that a person can meet on the command line is a sentence that ends in what to type or change.
"""

from __future__ import annotations


class DocleaseError(Exception):
    """Base of every error that doclease raises on purpose."""

    exit_code = 1


class UsageProblem(DocleaseError):
    """The request itself cannot be carried out, whatever the state of the system."""

    exit_code = 2


class NothingMatched(DocleaseError):
    """The question was understood and no row answers it."""

    exit_code = 4


class Unavailable(DocleaseError):
    """Something that doclease needs is not there now; trying again later may work."""

    exit_code = 7


class DatabaseUnavailable(Unavailable):
    """PostgreSQL cannot be reached or started."""


class StoreUnavailable(Unavailable):
    """The content-addressed store cannot be read or written (disk full, not mounted, not shared)."""


class ConfigurationError(DocleaseError):
    """A key, a value or the environment is wrong. The message names the key and the value."""

    exit_code = 8


class SchemaOutdated(ConfigurationError):
    """The database's schema is older or newer than this doclease."""


class QueueError(DocleaseError):
    """Base of what the queue refuses."""


class LeaseLost(QueueError):
    """The lease of an attempt is over: the task was taken back, cancelled or given to somebody else.

    Whoever holds this error holds nothing else: no page, result, renewal or failure of the attempt may be
    written any more. It is a normal outcome, not a fault.
    """

    def __init__(self, task_id: int, attempt_no: int) -> None:
        self.task_id = task_id
        self.attempt_no = attempt_no
        super().__init__(f"attempt {attempt_no} of task {task_id} no longer holds the lease")


class IllegalMove(QueueError):
    """A task cannot make this move from where it is."""


class DocumentError(DocleaseError):
    """A document cannot be read. `reason` is a value of pipeline.reasons.Reason."""

    exit_code = 3

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class UnreadablePage(DocumentError):
    """One page cannot be read by any engine; the document's other pages are not affected."""
