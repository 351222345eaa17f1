"""Hosts of a test's own: two network namespaces on a cable that can be pulled. Only root may make them.

One is the host of the database: a process in it passes connections on to the server's socket. Workers run in the other.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest
from sqlalchemy import URL

SERVER, WORKER = "192.0.2.1", "192.0.2.2"  # RFC 5737: addresses that no real host has
PORT = 5432


@dataclass(frozen=True, slots=True)
class Cable:
    """What joins the two hosts, and how a worker reaches the database over it."""

    server_host: str
    worker_host: str
    url: URL

    @property
    def prefix(self) -> Sequence[str]:
        """Makes a command run on the host of the workers."""
        return ("ip", "netns", "exec", self.worker_host)

    def pull(self) -> None:
        """From now on nothing gets through, and nobody is told."""
        _ip("-n", self.server_host, "link", "set", "cable", "down")

    def plug(self) -> None:
        """Everything gets through again."""
        _ip("-n", self.server_host, "link", "set", "cable", "up")


@contextmanager
def cable(server: URL) -> Iterator[Cable]:
    """Two hosts, and a cable between them, in front of `server` (a URL with a socket folder)."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the program ip (Debian: iproute2)")
    name = secrets.token_hex(3)
    joined = Cable(f"db-{name}", f"work-{name}", server.set(host=SERVER, port=PORT, query={}))
    try:
        _lay(joined)
        with forwarded(server, SERVER, PORT, "ip", "netns", "exec", joined.server_host):
            yield joined
    finally:
        for host in (joined.server_host, joined.worker_host):
            subprocess.run(["ip", "netns", "delete", host], check=False, capture_output=True)


@contextmanager
def forwarded(server: URL, address: str, port: int, *prefix: str) -> Iterator[URL]:
    """A process that passes connections to an address on to a server, and the URL that leads there. Port 0: any."""
    path = f"{server.query['host']}/.s.PGSQL.{server.query.get('port', '5432')}"
    command = [*prefix, sys.executable, __file__, address, str(port), path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield server.set(host=address, port=int(process.stdout.readline()), query={})
        finally:
            process.kill()


def _lay(joined: Cable) -> None:
    for host in (joined.server_host, joined.worker_host):
        if subprocess.run(["ip", "netns", "add", host], check=False, capture_output=True).returncode:
            pytest.skip("network namespaces are not allowed here")
    ends = (joined.server_host, SERVER), (joined.worker_host, WORKER)
    _ip("-n", joined.server_host, "link", "add", "cable", "type", "veth", "peer", "cable", "netns", joined.worker_host)
    for host, address in ends:
        _ip("-n", host, "address", "add", f"{address}/30", "dev", "cable")
        _ip("-n", host, "link", "set", "cable", "up")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _serve(listener: socket.socket, path: str) -> None:
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(path)
        for ends in ((client, server), (server, client)):
            threading.Thread(target=_pass_on, args=ends, daemon=True).start()


if __name__ == "__main__":
    with socket.create_server((sys.argv[1], int(sys.argv[2]))) as opened:
        sys.stdout.write(f"{opened.getsockname()[1]}\n")
        sys.stdout.flush()
        _serve(opened, sys.argv[3])
