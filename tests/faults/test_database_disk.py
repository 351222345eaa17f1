"""The disk under PostgreSQL fills up: nothing acknowledged is lost, and work goes on by itself once there is room."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import DatabaseUnavailable
from tests.faults.servers import asked, public_folder
from tests.mounting import mounted
from tests.worker.shop import Shop, open_shop, until

pytestmark = pytest.mark.slow

MEGABYTES = 160
SUCCEEDED = "SELECT array_agg(task_id) FROM attempts WHERE outcome = 'succeeded'"
CHARGED = "SELECT count(*) FROM tasks WHERE failure_count + crash_count > 0"
PAGES = "SELECT count(*) FROM pages"


def _fill(folder: Path) -> Path:
    """Take all the room that is left."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):  # noqa: PT012 - in the end
        while True:
            file.write(bytes(65536))
    return ballast


def _said(shop: Shop) -> str:
    return (shop.home / "worker.log").read_text("utf-8")


def _server_said(shop: Shop) -> str:
    return (shop.home / "data" / "postgres.log").read_text("utf-8")


def _acknowledged(shop: Shop) -> set[int]:
    """The tasks whose worker was told that their results are stored."""
    return {int(found) for found in re.findall(r"task (\d+): read ", _said(shop))}


def _succeeded(server: EmbeddedServer) -> set[int]:
    """The tasks with a result, none while the server is down."""
    try:
        return set(asked(database.parse_url(server.acquire()), SUCCEEDED) or ())
    except (DatabaseUnavailable, OperationalError):
        return set()


@contextmanager
def _shop_on(disk: Path, home: Path) -> Iterator[tuple[Shop, EmbeddedServer]]:
    """A shop whose embedded server has its cluster on `disk`, and all else elsewhere."""
    (home / "data").mkdir(parents=True)
    first = EmbeddedServer(disk / "data")
    first.acquire()
    first.stop()
    (home / "data" / "postgres").symlink_to(first.cluster_dir)
    server = EmbeddedServer(home / "data")
    eye = database.open_engine(database.parse_url(server.acquire()), DatabaseSettings(), name="eye")
    database.upgrade(eye)
    try:
        with open_shop(home, None, eye, lease={"base_seconds": 60}) as shop:
            yield shop, server
    finally:
        eye.dispose()
        server.stop()


@pytest.mark.parametrize("where", ["the tables", "the log"])
def test_a_database_whose_disk_was_full_has_everything_and_goes_on_when_there_is_room(where: str) -> None:
    """With no room for its tables a server refuses statements; with none for its log it stops, and does not start."""
    with (
        public_folder() as folder,
        mounted(folder / "disk", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=755", "doclease") as disk,
        _shop_on(disk, folder / "home") as (shop, server),
    ):
        # Text that does not compress: the tables must grow.
        tasks = [shop.take([f"{number} {os.urandom(4_000).hex()}" for number in range(4)]) for _ in range(24)]
        worker = shop.start_worker(slots=2)
        until(lambda: len(_acknowledged(shop)) >= 4, "some results")
        ballast = _fill(disk)
        if where == "the log":
            with contextlib.suppress(OperationalError):
                asked(database.parse_url(server.url), "SELECT pg_switch_wal()")
            until(lambda: "startup process failure" in _server_said(shop), "a server that does not start")
        else:
            until(lambda: "No space left" in _said(shop), "a statement that is refused")
        told = _acknowledged(shop)
        assert told < set(tasks)
        ballast.unlink()
        until(lambda: _succeeded(server) == set(tasks), "the end of all documents")
        assert asked(database.parse_url(server.acquire()), CHARGED) == 0
        assert asked(database.parse_url(server.acquire()), PAGES) == 4 * len(tasks)
        assert worker.poll() is None
