"""The witness of a trial: what the database recorded of every write, laid beside who had the right to make it.

Triggers that only a trial installs (audit.sql) record each change of tasks, attempts and pages with the session that
made it; the proxy knows which process was behind a session and which lease tokens it had sent last. Nothing here asks
the statements that are on trial: if one of them let a stale writer in, its change is on record under another token
than that of the row it changed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, text

from pipeline.trials.proxy import Sessions

_ENTRIES = text("SELECT * FROM trial_audit ORDER BY entry")


@dataclass(frozen=True, slots=True)
class Entry:
    """One change. `began_at` is when its transaction began, both times in seconds since 1970."""

    relation: str
    task_id: int
    attempt_no: int
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    written_at: float
    began_at: float
    transaction: str
    backend: int


@dataclass(slots=True)
class Findings:
    """What the record came to. `stale` and `early` name each wrong write in a line; both must be empty."""

    stale: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    claims: int = 0
    accepted: dict[int, int] = field(default_factory=dict)
    graces: list[float] = field(default_factory=list)


def install(engine: Engine) -> None:
    """Begin to record. Raises sqlalchemy's DBAPIError, also when it is installed already."""
    statements = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    with engine.begin() as connection:
        # The driver's own cursor: a script of many statements, in which % and : are plain characters.
        connection.connection.cursor().execute(statements)


def entries(connection: Connection) -> list[Entry]:
    """Everything on record, in the order in which it was done."""
    names = Entry.__dataclass_fields__
    return [Entry(**{name: row._mapping[name] for name in names}) for row in connection.execute(_ENTRIES)]


def examine(record: Iterable[Entry], sessions: Sessions) -> Findings:
    """Judge every write."""
    witness = _Witness(sessions)
    for entry in record:
        witness.hear(entry)
    return witness.findings


class _Witness:
    def __init__(self, sessions: Sessions) -> None:
        self.findings = Findings()
        self._sessions = sessions
        # The attempt that a transaction showed to be its own, by task: what it may write pages for.
        self._rights: dict[tuple[str, int], int] = {}
        self._opened: set[tuple[str, int, int]] = set()

    def hear(self, entry: Entry) -> None:
        match entry.relation:
            case "tasks":
                self._task(entry)
            case "attempts":
                self._attempt(entry)
            case "pages":
                self._page(entry)
            case "grace":
                self.findings.graces.append(entry.written_at)

    def _task(self, entry: Entry) -> None:
        before, after = entry.before, entry.after
        if before is None:
            return
        if after is None:
            self._stale(entry, "deleted the task")
        elif before["status"] == "processing":
            self._end_or_renewal(entry, before, after)
        elif after["status"] == "processing":
            self.findings.claims += 1
            self._opened.add((entry.transaction, entry.task_id, after["attempt_no"]))
            if _pid(after["holder"]) != self._client(entry):
                self._stale(entry, f"claimed it in the name of {after['holder']}")

    def _end_or_renewal(self, entry: Entry, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        renewed = after["status"] == "processing"
        if renewed and after["progressed_at"] == before["progressed_at"]:
            return  # grace after an outage, or a cancellation that was asked for
        if not self._tokens(entry) and after["status"] not in ("processing", "succeeded", "failed"):
            if not before["expires_at"] < entry.began_at:
                self.findings.early.append(_line(entry, "its lease was taken before it ran out"))
            return
        if after["status"] == "succeeded":
            self.findings.accepted[entry.task_id] = self.findings.accepted.get(entry.task_id, 0) + 1
        if self._may_write(entry, before):
            self._rights[(entry.transaction, entry.task_id)] = before["attempt_no"]
        else:
            self._stale(entry, f"{'renewed' if renewed else after['status']} under another lease than that of the row")

    def _may_write(self, entry: Entry, before: Mapping[str, Any]) -> bool:
        tokens = self._tokens(entry)
        is_token_right = not tokens or uuid.UUID(before["token"]) in tokens
        return is_token_right and self._client(entry) == _pid(before["holder"])

    def _attempt(self, entry: Entry) -> None:
        before, after = entry.before, entry.after
        if before is None:
            if (entry.transaction, entry.task_id, entry.attempt_no) not in self._opened:
                self._stale(entry, "opened the attempt without a claim")
        elif after is None or (before["outcome"] is not None and before["digest"] != after["digest"]):
            self._stale(entry, "changed an attempt that was closed")

    def _page(self, entry: Entry) -> None:
        right = self._rights.get((entry.transaction, entry.task_id))
        if entry.after is None or right is None or right != entry.attempt_no:
            self._stale(entry, "wrote a page without the lease of its attempt")

    def _stale(self, entry: Entry, what: str) -> None:
        self.findings.stale.append(_line(entry, f"process {self._client(entry)} {what}"))

    def _client(self, entry: Entry) -> int | None:
        found = self._sessions.at(entry.backend, entry.written_at)
        return None if found is None else found[0]

    def _tokens(self, entry: Entry) -> frozenset[uuid.UUID]:
        found = self._sessions.at(entry.backend, entry.written_at)
        return frozenset() if found is None else found[1]


def _pid(holder: str) -> int:
    """The process id is the second part of a worker's name."""
    return int(holder.split("/")[-2])


def _line(entry: Entry, what: str) -> str:
    return f"task {entry.task_id}, attempt {entry.attempt_no}, entry of transaction {entry.transaction}: {what}"
