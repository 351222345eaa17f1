"""The state of an installation at a glance: each thing that was looked at, whether it is fine, and what to do if not.

Changes nothing. What a host does not grant to the sandbox is advice, not broken: documents are read all the same.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator, Mapping

from sqlalchemy import Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError

from pipeline.app import App
from pipeline.config import CONFIG_NAME, Settings
from pipeline.documents import ocr
from pipeline.errors import ConfigurationError
from pipeline.intake.outages import Room
from pipeline.passwords import known_passwords
from pipeline.reports import checks, flow, monitor, rights, server, storage, upkeep
from pipeline.reports.checks import Check, State, judged
from pipeline.reports.durations import duration
from pipeline.worker.measures import measures, probe

REFUSED = "42501"  # SQLSTATE: insufficient privilege


def examine(app: App) -> Iterator[Check]:
    """Everything there is to look at, in the order of how much hangs on it. Starts one throw-away process."""
    yield from _database(app, is_quick=False)
    yield from _store(app.settings)
    yield _recognition(app.settings)
    yield from _passwords(app.settings)
    yield from _address(app.settings)
    yield from _sandbox()


def glance(app: App) -> Iterator[Check]:
    """What a probe may ask every few seconds: the database, the store, whether documents move. Starts no process."""
    yield from _database(app, is_quick=True)
    yield from _store(app.settings)


def _database(app: App, *, is_quick: bool) -> Iterator[Check]:
    found = checks.check(app.engine, with_plans=False)
    yield from found
    if any(each.name == "schema" and not each.fine for each in found):
        return  # what follows asks tables that may not be there
    for name, look in _parts(app.settings, is_quick=is_quick).items():
        yield from _looked(app.engine, name, look)
    if not is_quick:
        yield storage.sampled(app.engine, app.archive)


def _parts(settings: Settings, *, is_quick: bool) -> Mapping[str, Callable[[Connection], Iterable[Check]]]:
    """What to look at, each in a transaction of its own."""
    expected = flow.Expected(settings.sweep.interval_seconds, behind_pooler=settings.database.pooler == "transaction")
    lease_seconds, rescan_seconds = settings.lease.min_seconds, settings.inbox.rescan_seconds
    quick: dict[str, Callable[[Connection], Iterable[Check]]] = {
        "queue": lambda connection: flow.flow(connection, expected),
        "arrivals": flow.arrivals,
        "inboxes": lambda connection: [_inbox(scan, rescan_seconds) for scan in monitor.scans(connection)],
    }
    if is_quick:
        return quick
    return quick | {
        "plans": checks.plans,
        "settings": lambda connection: server.settings(connection, lease_seconds=lease_seconds),
        "clocks": lambda connection: [server.clocks(connection)],
        "upkeep": upkeep.upkeep,
        "rights": lambda connection: [rights.rights(connection)],
    }


def _looked(engine: Engine, name: str, look: Callable[[Connection], Iterable[Check]]) -> list[Check]:
    """What was found; a role that may not look is told so, and the rest is looked at all the same."""
    try:
        with engine.connect() as connection:
            return list(look(connection))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) != REFUSED:
            raise
        refused = str(error.orig).splitlines()[0]
        return [Check(name, f"not seen: {refused}", State.ADVICE, "look with a role that may read everything")]


def _store(settings: Settings) -> Iterator[Check]:
    shortage = Room(settings.store_path, min_free_megabytes=settings.inbox.min_free_megabytes).shortage(0)
    yield judged("store", shortage or str(settings.store_path), shortage is None, "intake pauses until there is room")
    yield storage.writable(settings.store_path)


def _inbox(scan: monitor.Row, rescan_seconds: float) -> Check:
    age, note = duration(scan["scan_age_seconds"]), f"; {scan['note']}" if scan["note"] else ""
    fine = not note and monitor.is_watched(scan, rescan_seconds)
    found = f"scanned {age} ago, {scan['waiting_files']} waiting{note}"
    return judged(f"inbox {scan['inbox']}", found, fine, "start doclease run or doclease watch, or see its log")


def _recognition(settings: Settings) -> Check:
    engine, absent = settings.ocr.engine, ocr.missing(settings.ocr)
    advice = f"type pip install 'doclease[{engine}]', or set ocr.engine"
    return judged("recognition", f"{engine}, without {', '.join(absent)}" if absent else engine, not absent, advice)


def _passwords(settings: Settings) -> Iterator[Check]:
    try:
        known_passwords(settings.passwords_path)
        mode = settings.passwords_path.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ConfigurationError) as error:
        yield Check("passwords", str(error), State.BROKEN, "no password of it is tried until that is mended")
        return
    is_private = not mode & (stat.S_IRWXG | stat.S_IRWXO)
    advice = f"others can read it: chmod 600 {settings.passwords_path}"
    yield judged("passwords", stat.filemode(mode), is_private, advice)


def _address(settings: Settings) -> Iterator[Check]:
    """The file that holds the database's password: group may read it, as secrets of containers are mounted."""
    password = make_url(settings.database_url).password if settings.database_url else None
    path = settings.home / (settings.database_url_file or CONFIG_NAME)
    try:
        if password and (settings.database_url_file or str(password) in path.read_text("utf-8")):
            mode = path.stat().st_mode
            is_private = not mode & stat.S_IRWXO
            advice = f"everybody can read the database's password in it: chmod o= {path}"
            yield judged("database address", stat.filemode(mode), is_private, advice, otherwise=State.ADVICE)
    except FileNotFoundError:
        return  # the environment has it


def _sandbox() -> Iterator[Check]:
    in_force = probe()
    for measure in measures():
        is_in_force = measure.name in in_force
        yield judged(
            f"sandbox: {measure.name}",
            "in force" if is_in_force else "not in force",
            is_in_force,
            f"{measure.prevents} {measure.remedy}",
            otherwise=State.ADVICE,
        )
