"""A proxy between the members of a trial and PostgreSQL: cuts connections, loses answers, and notes who wrote what.

An answer is lost exactly: the server has carried the statement out and says so, and the client never hears of it. A
request is late by more than a lease: what was right when it was sent is stale when it arrives. Every
client is known by the process at the other end of its socket, every session by the server's process that serves it; so
what the database records of a session can be laid beside the lease tokens that this session last sent.
"""

from __future__ import annotations

import bisect
import contextlib
import re
import shutil
import socket
import struct
import tempfile
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from sqlalchemy import URL

from pipeline.queue.statements import FOLDER
from pipeline.trials.wire import READY_FOR_QUERY, Messages, Request, Requests, backend_pid

Losable = Literal["commit", "claim", "fenced", "write"]

_SOCKET_NAME = ".s.PGSQL.5432"
_CHUNK_BYTES = 65536
_WRITES = re.compile(r"\b(UPDATE|INSERT INTO)\s+(tasks|attempts|pages|arrivals|documents|sweeper_state)\b")
_CLAIMS = re.compile(r"\blease_token = gen_random_uuid\(\)")


class Sessions:
    """Which client was served by which process of the server, and the lease tokens it had sent last, by time."""

    def __init__(self) -> None:
        self._entries: dict[int, list[tuple[float, int, frozenset[uuid.UUID]]]] = defaultdict(list)

    def note(self, backend: int, client: int, tokens: frozenset[uuid.UUID]) -> None:
        """From now on what this session writes, it writes under these tokens; none for a statement that names none."""
        self._entries[backend].append((time.time(), client, tokens))

    def clients(self) -> set[int]:
        """Every process that was ever heard."""
        return {client for entries in list(self._entries.values()) for _, client, _ in entries[:1]}

    def at(self, backend: int, moment: float) -> tuple[int, frozenset[uuid.UUID]] | None:
        """Client and tokens of a session at a moment in seconds since 1970; None for one that did not come this way."""
        entries = self._entries.get(backend, [])
        index = bisect.bisect_right(entries, moment, key=lambda entry: entry[0])
        return entries[index - 1][1:] if index else None


class Proxy:
    """Passes everything on, until told otherwise. `server` says where the server's socket is, None while it is down.

    `tell` hears of what was done to which process: ("lose", name of the statement, 0) or ("late", "request", seconds).
    """

    def __init__(
        self, folder: Path, server: Callable[[], Path | None], tell: Callable[[int, str, str, float], None]
    ) -> None:
        self.sessions = Sessions()
        self._server = server
        self._tell = tell
        self._to_hold: list[float] = []
        self._released = threading.Event()
        self._to_lose: Counter[Losable] = Counter()
        self._mutex = threading.Lock()
        self._lines: list[_Line] = []
        self._names = _names()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _SOCKET_NAME))
        self._listener.listen(64)

    def lose(self, what: Losable) -> None:
        """From now on the next such statement is carried out and its answer dropped.

        A COMMIT of something written, or, outside of transactions, a claim, a write under a token, or any other write.
        """
        with self._mutex:
            self._to_lose[what] += 1

    def hold(self, seconds: float) -> None:
        """From now on the next transaction of a session that has sent a lease token begins so much later."""
        with self._mutex:
            self._to_hold.append(seconds)

    def forgive(self) -> None:
        """Lose no more answers, and let go on what is held."""
        with self._mutex:
            self._to_lose.clear()
            self._to_hold.clear()
        self._released.set()

    def cut(self, pick: float) -> int | None:
        """Cut one connection off; `pick` from 0 to 1 says which. The client's process, None if there is none."""
        with self._mutex:
            lines = sorted(self._lines, key=lambda line: (line.client_pid, line.backend))
        if not lines:
            return None
        line = lines[int(pick * len(lines))]
        line.close()
        return line.client_pid

    def serve(self) -> None:
        """Take connections until `close`, each served in threads of its own."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and end those there are."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._mutex:
            lines = list(self._lines)
        for line in lines:
            line.close()

    def is_unlucky(self, kind: Losable | None) -> bool:
        """Whether the answer to a statement of this kind is to be lost; says so once for each that was asked for."""
        with self._mutex:
            if kind is None or not self._to_lose[kind]:
                return False
            self._to_lose[kind] -= 1
            return True

    def hold_if_asked(self, client: int) -> None:
        """Back when the request may go on to the server."""
        with self._mutex:
            seconds = self._to_hold.pop() if self._to_hold else 0.0
        if seconds:
            self._tell(client, "late", "request", seconds)
            self._released.wait(seconds)

    def lost(self, client: int, text: str) -> None:
        """Note an answer that is being lost."""
        known = max((start for start in self._names if text.startswith(start)), key=len, default=None)
        self._tell(client, "lose", "intake" if known is None else self._names[known], 0.0)

    def _connect(self, client: socket.socket) -> None:
        path, server = self._server(), socket.socket(socket.AF_UNIX)
        try:
            if path is None:
                raise ConnectionRefusedError
            server.connect(str(path))
        except OSError:
            client.close()
            server.close()
            return
        line = _Line(self, client, server)
        with self._mutex:
            self._lines.append(line)
        threading.Thread(target=line.answers, daemon=True).start()
        line.requests()
        with self._mutex:
            self._lines.remove(line)


class _Line:
    """One client's connection."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        self.client_pid = int(struct.unpack("3i", credentials)[0])
        self.backend = 0
        self._requests = Requests()
        self._in_transaction = False
        self._written = ""  # the first statement of the transaction that writes
        self._is_losing = False
        self._is_workers = False

    def requests(self) -> None:
        """Pass on what the client asks, to the end of the connection."""
        with contextlib.suppress(OSError):
            while data := self._client.recv(_CHUNK_BYTES):
                for request in self._requests.feed(data):
                    self._follow(request)
                self._server.sendall(data)
        self.close()
        self._client.close()
        self._server.close()

    def answers(self) -> None:
        """Pass on what the server says, but for the answer that is to be lost."""
        messages: Messages | None = Messages(typed=True)
        tail = b""
        with contextlib.suppress(OSError):
            while data := self._server.recv(_CHUNK_BYTES):
                if messages is not None and self._learn(messages, data):
                    messages = None
                tail = (tail + data)[-6:]
                if not self._is_losing:
                    self._client.sendall(data)
                elif tail[:-1] == READY_FOR_QUERY:
                    break
        self.close()

    def close(self) -> None:
        """Cut it off in both directions. Safe to call again."""
        for each in (self._client, self._server):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _learn(self, messages: Messages, data: bytes) -> bool:
        for kind, body in messages.feed(data):
            self.backend = backend_pid(kind, body) or self.backend
        return self.backend > 0

    def _follow(self, request: Request) -> None:
        """Note what is being asked before the server hears of it."""
        verb = request.text[:8].upper()
        self._is_workers |= bool(request.tokens) and "lease_token" in request.text
        if verb.startswith("BEGIN") and self._is_workers:
            self._proxy.hold_if_asked(self.client_pid)
        if not self._in_transaction or request.tokens:
            self._proxy.sessions.note(self.backend, self.client_pid, request.tokens)
        if self._proxy.is_unlucky(self._kind(request)):
            self._is_losing = True
            self._proxy.lost(self.client_pid, self._written or request.text)
        if verb.startswith(("BEGIN", "COMMIT", "ROLLBACK")):
            self._in_transaction, self._written = verb.startswith("BEGIN"), ""
        elif self._in_transaction and not self._written and _WRITES.search(request.text):
            self._written = request.text

    def _kind(self, request: Request) -> Losable | None:
        if self._in_transaction:
            return "commit" if self._written and request.text.startswith("COMMIT") else None
        if not _WRITES.search(request.text):
            return None
        if _CLAIMS.search(request.text):
            return "claim"
        return "fenced" if request.tokens else "write"


@contextmanager
def proxy_before(
    server: URL, where: Callable[[], Path | None], tell: Callable[[int, str, str, float], None]
) -> Iterator[tuple[URL, Proxy]]:
    """A proxy before the server of a URL with a socket folder, and the URL that leads through it."""
    folder = Path(tempfile.mkdtemp(prefix="doclease-proxy-"))  # private, and short enough for the name of a socket
    proxy = Proxy(folder, where, tell)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield server.set(query={"host": str(folder), "port": "5432"}), proxy
    finally:
        proxy.close()
        shutil.rmtree(folder, ignore_errors=True)


def _names() -> dict[str, str]:
    """The queue's statements by how they begin, as far as no value is bound there."""
    return {path.read_text(encoding="utf-8").splitlines()[0].split(" :")[0]: path.stem for path in FOLDER.glob("*.sql")}
