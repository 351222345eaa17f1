"""The state of an installation at a glance: each thing that was looked at, whether it is fine, and what to do if not.

Changes nothing. What a host does not grant to the sandbox is advice, not an error: documents are read all the same.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from pipeline.app import App
from pipeline.config import Settings
from pipeline.documents import ocr
from pipeline.errors import ConfigurationError
from pipeline.intake.outages import Room
from pipeline.passwords import known_passwords
from pipeline.reports import checks, monitor
from pipeline.reports.checks import Check
from pipeline.reports.durations import duration
from pipeline.worker.measures import measures, probe


def examine(app: App) -> Iterator[Check]:
    """Everything there is to look at, in the order of how much hangs on it. Starts one throw-away process."""
    yield from checks.check(app.engine)
    yield _store(app.settings)
    yield from _inboxes(app)
    yield _recognition(app.settings)
    yield from _passwords(app.settings)
    yield from _sandbox()


def _store(settings: Settings) -> Check:
    shortage = Room(settings.store_path, min_free_megabytes=settings.inbox.min_free_megabytes).shortage(0)
    return Check("store", shortage or str(settings.store_path), shortage is None, "intake pauses until there is room")


def _inboxes(app: App) -> Iterator[Check]:
    for scan in monitor.snapshot(app.engine).scans:
        age, note = duration(scan["scan_age_seconds"]), f"; {scan['note']}" if scan["note"] else ""
        fine = not note and monitor.is_watched(scan, app.settings.inbox.rescan_seconds)
        found = f"scanned {age} ago, {scan['waiting_files']} waiting{note}"
        yield Check(f"inbox {scan['inbox']}", found, fine, "start doclease run or doclease watch, or see its log")


def _recognition(settings: Settings) -> Check:
    engine, absent = settings.ocr.engine, ocr.missing(settings.ocr)
    advice = f"type pip install 'doclease[{engine}]', or set ocr.engine"
    return Check("recognition", f"{engine}, without {', '.join(absent)}" if absent else engine, not absent, advice)


def _passwords(settings: Settings) -> Iterator[Check]:
    try:
        known_passwords(settings.passwords_path)
        mode = settings.passwords_path.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ConfigurationError) as error:
        yield Check("passwords", str(error), False, "no password of it is tried until that is mended")
        return
    is_private = not mode & (stat.S_IRWXG | stat.S_IRWXO)
    advice = f"others can read it: chmod 600 {settings.passwords_path}"
    yield Check("passwords", stat.filemode(mode), is_private, advice)


def _sandbox() -> Iterator[Check]:
    in_force = probe()
    for measure in measures():
        is_in_force = measure.name in in_force
        found = "in force" if is_in_force else "not in force"
        yield Check(f"sandbox: {measure.name}", found, is_in_force, f"{measure.prevents} {measure.remedy}")
