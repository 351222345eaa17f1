"""Everything that can be configured, with its default: frozen values, no files.

The file config.yaml of the project shows every key with the same default; a test compares them. How files, environment
and flags become these values is in pipeline/config_reading.py.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import ConfigurationError

CONFIG_NAME = "config.yaml"
PRIORITIES: Mapping[str, int] = types.MappingProxyType({"low": -5, "normal": 0, "high": 5, "urgent": 10})
MEGABYTE = 1_000_000  # bytes; a worker's memory alone counts in MiB
# Every engine, and the libraries it needs beside doclease's own.
OCR_ENGINES: Mapping[str, tuple[str, ...]] = types.MappingProxyType(
    {
        "paddle": ("faster_paddle",),
        "rapidocr": ("rapidocr", "onnxruntime"),
        "tesseract": ("tesserocr",),
        "none": (),
    }
)
UNLIMITED_STEP = 10**9
STRICT_AGING_MS = 10**15  # one level outweighs any waiting, and ten levels still fit a bigint


@dataclass(frozen=True, slots=True)
class Rule:
    """What a sub-folder of the inbox sets for the files in it."""

    priority: int = 0
    type: str = "auto"


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """How PostgreSQL is spoken to."""

    schema: str = "public"
    pooler: str = "none"
    statement_timeout_seconds: float = 30
    connect_timeout_seconds: int = 10


@dataclass(frozen=True, slots=True)
class InboxSettings:
    """Where files arrive and when one is taken."""

    folder: Path = Path("inbox")
    processed: Path = Path("processed")
    failed: Path = Path("failed")
    quiet_for_seconds: float = 2
    rescan_seconds: float = 5
    empty_grace_seconds: float = 900
    min_free_megabytes: float = 200
    follow_symlinks: bool = False
    rules: Mapping[str, Rule] = field(
        default_factory=lambda: {
            "urgent": Rule(priority=10),
            "invoices": Rule(type="invoice"),
            "contracts": Rule(type="contract"),
        }
    )


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """What a document may not exceed; checked before work. A megabyte is 1,000,000 bytes, a megapixel as many dots."""

    max_megabytes: float = 500
    max_pages: int = 20_000
    max_page_megapixels: float = 40
    max_decoded_megabytes: float = 280
    max_text_megabytes: float = 50
    max_inflated_megabytes: float = 1000
    max_children: int = 500
    max_nesting: int = 5


@dataclass(frozen=True, slots=True)
class OcrSettings:
    """How pages without usable text are recognised."""

    engine: str = "paddle"
    languages: str = "eng"
    dpi: int = 200
    second_look_below: float = 0.95


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Order, retries and waiting."""

    aging_minutes: float | None = 10
    max_failures: int = 5
    max_crashes: int = 3
    max_releases: int = 20
    backoff_seconds: float = 5
    backoff_cap_seconds: float = 600
    poll_seconds: float = 1.5

    @property
    def aging_ms(self) -> int:
        """Milliseconds of waiting that one level of priority is worth."""
        return STRICT_AGING_MS if self.aging_minutes is None else round(self.aging_minutes * 60_000)


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """How long a lease is; see pipeline/queue/lease.py for the formula."""

    base_seconds: float = 10
    per_page_seconds: float = 0.5
    ocr_per_page_seconds: float = 20
    min_seconds: float = 15
    max_seconds: float = 35
    step_pages: int = 50
    checkpoint_seconds: float = 5
    slack: float = 4
    busy_extensions: int = 2
    learn: bool = True
    learn_margin: float = 2


@dataclass(frozen=True, slots=True)
class SweepSettings:
    """How often expired leases are looked for, and whether the end of a worker's session shortens its leases."""

    interval_seconds: float = 5
    batch: int = 500
    presence: bool = True


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker runs and what its children may use."""

    slots: int = 2
    claim_ahead_seconds: float = 0.2
    drain_seconds: float = 30
    page_seconds: float = 60
    open_seconds: float = 60
    max_memory_megabytes: int = 1536
    recycle_memory_megabytes: int = 800
    max_documents_per_child: int = 200
    skip_page_after_crashes: int = 2
    max_skipped_pages: int = 20


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """What a person should look at."""

    accept_at: float = 0.9


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where a process shows its metrics to Prometheus; port 0 is nowhere."""

    host: str = "127.0.0.1"
    port: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured. `home` is the folder that relative paths count from."""

    home: Path
    database_url: str = ""
    database_url_file: str = ""
    data_dir: Path = Path("data")
    passwords: Path = Path("passwords")
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    inbox: InboxSettings = field(default_factory=InboxSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    lease: LeaseSettings = field(default_factory=LeaseSettings)
    sweep: SweepSettings = field(default_factory=SweepSettings)
    ocr: OcrSettings = field(default_factory=OcrSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    review: ReviewSettings = field(default_factory=ReviewSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)

    @property
    def passwords_path(self) -> Path:
        """The file of passwords to try, one a line, absolute."""
        return self.home / self.passwords

    @property
    def data_path(self) -> Path:
        """The folder of the embedded database and the store, absolute."""
        return self.home / self.data_dir

    @property
    def store_path(self) -> Path:
        """The content-addressed store, absolute."""
        return self.data_path / "store"

    @property
    def inbox_path(self) -> Path:
        """The inbox, absolute."""
        return self.home / self.inbox.folder

    @property
    def processed_path(self) -> Path:
        """Where files of succeeded documents go, absolute."""
        return self.home / self.inbox.processed

    @property
    def failed_path(self) -> Path:
        """Where files of failed documents go, absolute."""
        return self.home / self.inbox.failed


def parse_priority(value: object) -> int:
    """A priority from -10 to 10 or one of low, normal, high, urgent. Raises ConfigurationError."""
    if isinstance(value, str) and value in PRIORITIES:
        return PRIORITIES[value]
    try:
        number = int(str(value))
    except ValueError:
        number = 99
    if not -10 <= number <= 10:
        names = ", ".join(PRIORITIES)
        raise ConfigurationError(f"priority is {value!r}; it must be one of {names} or a number from -10 to 10")
    return number
