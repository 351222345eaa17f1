"""The state of an installation at a glance: each thing that was looked at, whether it is fine, and what to do if not.

Changes nothing. What a host does not grant to the sandbox is advice, not an error: documents are read all the same.
"""

from __future__ import annotations

import importlib.util
import shutil
import stat
from collections.abc import Iterator

from sqlalchemy import text

from pipeline.app import App
from pipeline.config import Settings
from pipeline.errors import ConfigurationError
from pipeline.passwords import known_passwords
from pipeline.reports import checks
from pipeline.reports.checks import Check
from pipeline.reports.durations import duration
from pipeline.worker.measures import measures, probe

MEGABYTE = 1_000_000
STALE_SCANS = 3  # a watcher that missed so many is not at work
_LIBRARIES = {"paddle": ("faster_paddle",), "rapidocr": ("rapidocr", "onnxruntime"), "tesseract": ("tesserocr",)}
_SCANS = text("""
    SELECT inbox, note, waiting_files, EXTRACT(EPOCH FROM queue_now() - scanned_at) AS age_seconds
    FROM inbox_scans
    ORDER BY inbox
""")


def examine(app: App) -> Iterator[Check]:
    """Everything there is to look at, in the order of how much hangs on it. Starts one throw-away process."""
    yield from checks.check(app.engine)
    yield from _store(app.settings)
    yield from _inboxes(app)
    yield _recognition(app.settings)
    yield from _passwords(app.settings)
    yield from _sandbox()


def _store(settings: Settings) -> Iterator[Check]:
    path = settings.store_path
    present = next(each for each in (path, *path.parents) if each.exists())
    free = shutil.disk_usage(present).free / MEGABYTE
    enough = free >= settings.inbox.min_free_megabytes
    yield Check("store", f"{path}, {free:,.0f} MB free", enough, "intake pauses: free some space there")


def _inboxes(app: App) -> Iterator[Check]:
    with app.engine.connect() as connection:
        scans = connection.execute(_SCANS).all()
    late = STALE_SCANS * app.settings.inbox.rescan_seconds
    for scan in scans:
        age = float(scan.age_seconds)
        found = f"scanned {duration(age)} ago, {scan.waiting_files} waiting" + (f"; {scan.note}" if scan.note else "")
        fine = age <= late and not scan.note
        yield Check(f"inbox {scan.inbox}", found, fine, "start doclease run or doclease watch, or see its log")


def _recognition(settings: Settings) -> Check:
    engine = settings.ocr.engine
    missing = [name for name in _LIBRARIES.get(engine, ()) if importlib.util.find_spec(name) is None]
    advice = f"install it with doclease: pip install 'doclease[{engine}]', or set ocr.engine"
    if engine == "none":
        return Check("recognition", "off (ocr.engine is none)", True)
    return Check("recognition", f"{engine}, without {', '.join(missing)}" if missing else engine, not missing, advice)


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
