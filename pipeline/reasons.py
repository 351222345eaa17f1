"""Every way a document can end, in one enum: database, command line, folder names and docs use these words.

Each reason says whether trying again can help (`Retry`), whose turn it is (`Owner`) and, in a sentence, what to do.
"""

from __future__ import annotations

import enum


class Retry(enum.Enum):
    """Whether another attempt can end differently."""

    NEVER = "never"
    TRANSIENT = "transient"
    SUSPECT = "suspect"  # another attempt runs alone, in small steps


class Owner(enum.Enum):
    """Who can change the outcome."""

    NOBODY = "nobody"
    USER = "user"
    OPERATOR = "operator"
    BUG = "bug"


class Reason(enum.StrEnum):
    """Why a document ended, or why an attempt did."""

    OK = "ok"
    OK_WITH_GAPS = "ok_with_gaps"
    EMPTY_TEXT = "empty_text"
    DUPLICATE = "duplicate"
    NEEDS_PASSWORD = "needs_password"  # noqa: S105 - a reason, not a secret
    UNSUPPORTED = "unsupported"
    EMPTY_FILE = "empty_file"
    TRUNCATED = "truncated"
    CORRUPT = "corrupt"
    BOMB = "bomb"
    TOO_LARGE = "too_large"
    TOO_MANY_PAGES = "too_many_pages"
    TIMEOUT = "timeout"
    STALLED = "stalled"
    CRASH = "crash"
    OUT_OF_MEMORY = "out_of_memory"
    LOST_LEASE = "lost_lease"
    RELEASED = "released"
    IO_ERROR = "io_error"
    DISK_FULL = "disk_full"
    DATABASE_ERROR = "database_error"
    INTERNAL_ERROR = "internal_error"
    CANCELLED = "cancelled"

    @property
    def retry(self) -> Retry:
        """Whether another attempt can end differently."""
        return _FACTS[self][0]

    @property
    def owner(self) -> Owner:
        """Who can change the outcome."""
        return _FACTS[self][1]

    @property
    def help(self) -> str:
        """What it means and what to do about it, in a sentence or two."""
        return _FACTS[self][2]


_FACTS: dict[Reason, tuple[Retry, Owner, str]] = {
    Reason.OK: (Retry.NEVER, Owner.NOBODY, "Read completely."),
    Reason.OK_WITH_GAPS: (
        Retry.NEVER,
        Owner.USER,
        "Read, but some pages could not be; pages_v names each gap and its error.",
    ),
    Reason.EMPTY_TEXT: (
        Retry.NEVER,
        Owner.USER,
        "No page carries text: blank paper, a picture without words, or a scan while ocr.engine is none.",
    ),
    Reason.DUPLICATE: (
        Retry.NEVER,
        Owner.NOBODY,
        "The same bytes are already here; the first document stands for both.",
    ),
    Reason.NEEDS_PASSWORD: (
        Retry.NEVER,
        Owner.USER,
        "Encrypted, and no password that is known opens it. `doclease documents unlock ID` asks for one.",
    ),
    Reason.UNSUPPORTED: (
        Retry.NEVER,
        Owner.USER,
        "No format reads this kind of file. Save it as PDF, DOCX or text and drop that.",
    ),
    Reason.EMPTY_FILE: (Retry.NEVER, Owner.USER, "The file has 0 bytes. Send it again from where it came."),
    Reason.TRUNCATED: (
        Retry.NEVER,
        Owner.USER,
        "The end of the file is missing: the transfer was cut. Send it again from where it came.",
    ),
    Reason.CORRUPT: (
        Retry.NEVER,
        Owner.USER,
        "No parser can open it. Open it in a viewer; if that works, print it to a new PDF and drop that.",
    ),
    Reason.BOMB: (
        Retry.NEVER,
        Owner.OPERATOR,
        "It unpacks beyond the limits. If you trust it, raise the limit that the error names, then retry.",
    ),
    Reason.TOO_LARGE: (
        Retry.NEVER,
        Owner.OPERATOR,
        "Larger than the limit that the error names. Raise the key, then send the file again.",
    ),
    Reason.TOO_MANY_PAGES: (
        Retry.NEVER,
        Owner.OPERATOR,
        "More pages than limits.max_pages. Raise the key, then retry.",
    ),
    Reason.TIMEOUT: (
        Retry.SUSPECT,
        Owner.OPERATOR,
        "A page or the document took longer than it may. Raise worker.page_seconds to allow more, then retry.",
    ),
    Reason.STALLED: (
        Retry.SUSPECT,
        Owner.BUG,
        "The parser stopped without using the processor. A bug in a parser: please report it.",
    ),
    Reason.CRASH: (
        Retry.SUSPECT,
        Owner.BUG,
        "The parser died on this document. The other documents are not affected; please report it.",
    ),
    Reason.OUT_OF_MEMORY: (
        Retry.SUSPECT,
        Owner.OPERATOR,
        "The parser reached worker.max_memory_megabytes. Raise the key to allow more, then retry.",
    ),
    Reason.LOST_LEASE: (
        Retry.TRANSIENT,
        Owner.OPERATOR,
        "The worker was gone or made no progress within its lease.",
    ),
    Reason.RELEASED: (
        Retry.TRANSIENT,
        Owner.NOBODY,
        "The worker was stopped and gave the document back; nothing is charged.",
    ),
    Reason.IO_ERROR: (
        Retry.TRANSIENT,
        Owner.OPERATOR,
        "Reading or writing a file failed. Check the disk and the mount.",
    ),
    Reason.DISK_FULL: (
        Retry.TRANSIENT,
        Owner.OPERATOR,
        "No space is left. Free some; work goes on by itself.",
    ),
    Reason.DATABASE_ERROR: (
        Retry.TRANSIENT,
        Owner.OPERATOR,
        "The database refused the result. See the attempt's error.",
    ),
    Reason.INTERNAL_ERROR: (
        Retry.TRANSIENT,
        Owner.BUG,
        "A fault in doclease or a handler: please report the error.",
    ),
    Reason.CANCELLED: (
        Retry.NEVER,
        Owner.OPERATOR,
        "Cancelled on request. `doclease tasks retry` brings it back.",
    ),
}
