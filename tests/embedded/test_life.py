"""The embedded server is shared by its commands, comes back after any death, and is gone after the last command."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg
import pytest

from pipeline.embedded.keeper import postmaster_of
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import DatabaseUnavailable
from tests.embedded.commands import (
    Command,
    eventually,
    is_gone,
    keeper_pid,
    let_keeper_look,
    owner_of,
    query,
    running,
)

pytestmark = pytest.mark.slow
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def test_two_commands_at_once_on_a_fresh_folder_share_one_server(data_dir: Path) -> None:
    first, second = Command(data_dir), Command(data_dir)
    try:
        assert first.url == second.url
        started = "SELECT pg_postmaster_start_time()"
        assert first.query(started) == second.query(started)
    finally:
        assert first.finish() == second.finish() == (0, "")


def test_killing_the_command_that_started_the_server_leaves_the_others_working(data_dir: Path) -> None:
    starter = Command(data_dir)
    assert starter.url
    other = Command(data_dir)
    assert other.url
    server = running(EmbeddedServer(data_dir))
    starter.kill()
    let_keeper_look(data_dir)
    assert running(EmbeddedServer(data_dir)) == server
    assert other.query("SELECT 1") == 1
    other.finish()


def test_no_server_is_left_after_the_last_command_was_killed(data_dir: Path) -> None:
    command = Command(data_dir)
    assert command.url
    server, keeper = running(EmbeddedServer(data_dir)), keeper_pid(data_dir)
    command.kill()
    eventually(lambda: is_gone(server.pid) and is_gone(keeper))
    assert not EmbeddedServer(data_dir).is_running()
    assert "database system is shut down" in EmbeddedServer(data_dir).log_path.read_text()


def test_a_keeper_killed_while_it_makes_the_cluster_leaves_no_half_one(data_dir: Path) -> None:
    command = Command(data_dir)
    eventually(lambda: list(data_dir.glob("postgres.new-*/PG_VERSION")))
    os.kill(keeper_pid(data_dir), signal.SIGKILL)
    assert command.query("SELECT current_database()") == "doclease"
    assert command.finish() == (0, "")


def test_a_row_of_commands_shares_one_server(data_dir: Path) -> None:
    pids = set()
    for _ in range(3):
        command = Command(data_dir)
        assert command.url
        pids.add(running(EmbeddedServer(data_dir)).pid)
        command.finish()
    assert len(pids) == 1


def test_a_connected_client_keeps_the_server_when_no_command_is_left(server: EmbeddedServer, data_dir: Path) -> None:
    pid = running(server).pid
    with psycopg.connect(server.libpq_url) as connection:
        server.release()
        let_keeper_look(data_dir)
        assert connection.execute("SELECT 1").fetchone()
    eventually(lambda: is_gone(pid))


def test_acquire_brings_back_the_server_of_a_killed_keeper_with_its_rows(
    server: EmbeddedServer, data_dir: Path
) -> None:
    query(server.libpq_url, "CREATE TABLE kept AS SELECT 42 AS answer")
    old = running(server).pid
    os.kill(keeper_pid(data_dir), signal.SIGKILL)
    eventually(lambda: is_gone(old))
    server.acquire()
    assert query(server.libpq_url, "SELECT answer FROM kept") == 42


def test_a_killed_server_comes_back_by_itself_with_its_rows(server: EmbeddedServer) -> None:
    query(server.libpq_url, "CREATE TABLE kept AS SELECT 42 AS answer")
    old = running(server).pid
    os.kill(old, signal.SIGKILL)
    eventually(lambda: server.is_running() and running(server).pid != old)
    assert query(server.libpq_url, "SELECT answer FROM kept") == 42


def test_no_second_server_begins_while_a_process_of_the_last_one_lives(server: EmbeddedServer) -> None:
    connection = psycopg.connect(server.libpq_url)
    backend, old = connection.info.backend_pid, running(server).pid
    os.kill(backend, signal.SIGSTOP)
    os.kill(old, signal.SIGKILL)
    eventually(lambda: "Waiting for the processes of the last server" in server.log_path.read_text())
    assert postmaster_of(server.cluster_dir) is None
    os.kill(backend, signal.SIGCONT)
    eventually(server.is_running)
    connection.close()


def test_a_server_that_pg_ctl_restarted_is_kept_and_still_stopped_after_its_last_user(server: EmbeddedServer) -> None:
    query(server.libpq_url, "CREATE TABLE kept AS SELECT 42 AS answer")
    old = running(server).pid
    restart = ["restart", "-m", "immediate", "-D", str(server.cluster_dir), "-l", "/dev/null"]
    subprocess.run(
        [server.bin_dir / "pg_ctl", *restart],
        check=True,
        cwd="/",
        stdout=subprocess.DEVNULL,
        **owner_of(server.cluster_dir),
    )
    new = running(server).pid
    assert new != old
    assert query(server.libpq_url, "SELECT answer FROM kept") == 42
    server.acquire()
    assert running(server).pid == new
    server.release()
    eventually(lambda: postmaster_of(server.cluster_dir) is None)


def test_stop_and_acquire_keep_the_rows_even_under_other_commands(server: EmbeddedServer, data_dir: Path) -> None:
    query(server.libpq_url, "CREATE TABLE kept AS SELECT 42 AS answer")
    other = Command(data_dir)
    assert other.url
    server.stop()
    assert not server.is_running()
    server.acquire()
    assert other.query("SELECT answer FROM kept") == 42
    other.finish()


def test_a_socket_that_a_cleaner_removed_comes_back(server: EmbeddedServer) -> None:
    running(server).socket.unlink()
    server.acquire()
    assert query(server.libpq_url, "SELECT 1") == 1


def test_the_number_of_a_dead_server_may_belong_to_another_process(server: EmbeddedServer, data_dir: Path) -> None:
    server.stop()
    other = subprocess.Popen(["sleep", "600"], cwd="/", **owner_of(server.cluster_dir))
    try:
        (data_dir / "postgres" / "postmaster.pid").write_text(f"{other.pid}\n{data_dir}\n")
        server.acquire()
        assert query(server.libpq_url, "SELECT 1") == 1
        server.stop()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_the_log_stays_bounded(server: EmbeddedServer, data_dir: Path) -> None:
    os.truncate(server.log_path, 9_000_000)
    eventually(lambda: server.log_path.stat().st_size < 1_000_000)
    assert (data_dir / "postgres.log.1").stat().st_size >= 9_000_000
    assert query(server.libpq_url, "SELECT 1") == 1


def test_a_server_that_cannot_start_says_why(server: EmbeddedServer) -> None:
    server.stop()
    with (server.cluster_dir / "postgresql.conf").open("a") as settings:
        settings.write("shared_buffers = 'plenty'\n")
    with pytest.raises(DatabaseUnavailable, match=r'(?s)shared_buffers.*"plenty".*run the command again'):
        server.acquire()


@as_root
def test_the_first_process_of_a_container_leaves_after_a_clean_stop(data_dir: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "--pid", "--fork", "--mount-proc", "true"], check=False).returncode != 0:
        pytest.skip("no namespaces here")
    command = Command(data_dir, unshare, "--pid", "--fork", "--mount-proc")
    assert command.query("SELECT 1") == 1
    assert command.finish() == (0, "")
    assert EmbeddedServer(data_dir).log_path.read_text().rstrip().endswith("database system is shut down")


@pytest.mark.parametrize("lines", [1, 3, 4])
def test_a_server_that_does_not_say_yet_where_it_listens_has_no_address(server: EmbeddedServer, lines: int) -> None:
    told = server.cluster_dir / "postmaster.pid"
    whole = told.read_bytes()
    told.write_bytes(b"".join(whole.splitlines(keepends=True)[:lines]))
    try:
        with pytest.raises(DatabaseUnavailable, match="No server runs"):
            _ = server.url
        assert not server.is_running()
    finally:
        told.write_bytes(whole)
    assert server.is_running()
