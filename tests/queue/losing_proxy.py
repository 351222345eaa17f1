"""A proxy before PostgreSQL that loses the answer to a COMMIT: the server has it, the client never hears of it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL

SOCKET_NAME = ".s.PGSQL.5432"


class LosingProxy:
    """Passes everything on until `lose_the_next_commit`; cuts the client off when the server answered that commit."""

    def __init__(self, server: str, folder: Path) -> None:
        self._server = server
        self._losing = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / SOCKET_NAME))
        self._listener.listen()

    def lose_the_next_commit(self) -> None:
        """From now on the first COMMIT is carried out and its answer dropped."""
        self._losing = True

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def serve(self) -> None:
        """Take connections, each served in threads of its own."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                threading.Thread(target=self._requests, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        threading.Thread(target=_pass_on, args=(server, client), daemon=True).start()
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                if self._losing and b"COMMIT\0" in data:
                    self._losing = False
                    client.shutdown(socket.SHUT_WR)  # the client reads the end of its connection instead of an answer
                server.sendall(data)
        server.close()


@contextmanager
def losing_proxy(server: URL, folder: Path) -> Iterator[tuple[URL, LosingProxy]]:
    """A proxy before `server` (a URL with a socket folder), and the URL that leads through it."""
    port = server.query.get("port", "5432")
    proxy = LosingProxy(f"{server.query['host']}/.s.PGSQL.{port}", folder)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield server.set(query={"host": str(folder), "port": "5432"}), proxy
    finally:
        proxy.close()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    target.close()
