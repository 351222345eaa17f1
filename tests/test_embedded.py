"""The embedded server: shared by every command of a data folder, brought back after any death, gone after the last."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pipeline.embedded import EmbeddedServer
from pipeline.embedded_keeper import Postmaster, postmaster_of
from pipeline.errors import DatabaseUnavailable

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
NOBODY = pwd.getpwnam("nobody")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# A command of its own process: takes its share, says the URL, works until its standard input ends.
COMMAND = """
import sys
from pathlib import Path
from pipeline.embedded import EmbeddedServer
from pipeline.errors import DatabaseUnavailable
server = EmbeddedServer(Path(sys.argv[1]))
try:
    server.acquire()
except DatabaseUnavailable as error:
    sys.exit(f"unavailable: {error}")
print(server.libpq_url, flush=True)
sys.stdin.read()
server.release()
"""


class Command:
    """A process that uses the server, as `doclease work` does."""

    def __init__(self, data_dir: Path, *prefix: str, python: str = sys.executable, **options: Any) -> None:
        self.process = subprocess.Popen(
            [*prefix, python, "-c", COMMAND, data_dir],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self._url = ""

    @property
    def url(self) -> str:
        assert self.process.stdout
        assert self.process.stderr
        self._url = self._url or self.process.stdout.readline().strip()
        assert self._url, self.process.stderr.read()
        return self._url

    def query(self, sql: str) -> Any:
        return query(self.url, sql)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def finish(self) -> tuple[int, str]:
        _, errors = self.process.communicate()
        return self.process.returncode, errors


def query(url: str, sql: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def eventually(holds: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def running(server: EmbeddedServer) -> Postmaster:
    found = postmaster_of(server.cluster_dir)
    assert found
    return found


def keeper_pid(data_dir: Path) -> int:
    return int((data_dir / "postgres.keeper").read_text())


def let_keeper_look(data_dir: Path, times: int = 15) -> None:
    """Wait until the keeper looked that often whether it may stop the server; ten looks are enough to decide."""
    status = Path(f"/proc/{keeper_pid(data_dir)}/status")

    def looks() -> int:
        return int(status.read_text().partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    before = looks()
    eventually(lambda: looks() >= before + times)


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def owner_of(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {"user": found.st_uid, "group": found.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A folder that other users may pass through, which pytest's own tmp_path is not."""
    folder = Path(tempfile.mkdtemp(prefix="doclease test "))
    folder.chmod(0o755)
    yield folder
    for keeper in folder.rglob("postgres.keeper"):
        EmbeddedServer(keeper.parent).stop()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def pristine() -> Iterator[Path]:
    """A cluster at rest, to copy: four times as fast as a new one."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(Path(folder))
        server.acquire()
        server.stop()
        yield server.cluster_dir


@pytest.fixture(scope="module")
def shared(pristine: Path) -> Iterator[EmbeddedServer]:
    """A server that no test changes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        subprocess.run(["cp", "-a", pristine, folder], check=True)
        server = EmbeddedServer(Path(folder))
        server.acquire()
        yield server
        server.stop()


@pytest.fixture
def server(data_dir: Path, pristine: Path) -> EmbeddedServer:
    subprocess.run(["cp", "-a", pristine, data_dir], check=True)
    found = EmbeddedServer(data_dir)
    found.acquire()
    return found


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
    eventually(lambda: is_gone(new) or not server.is_running())


def test_stop_and_acquire_keep_the_rows_even_under_other_commands(server: EmbeddedServer, data_dir: Path) -> None:
    query(server.libpq_url, "CREATE TABLE kept AS SELECT 42 AS answer")
    other = Command(data_dir)
    assert other.url
    server.stop()
    assert not server.is_running()
    server.acquire()
    assert other.query("SELECT answer FROM kept") == 42
    other.finish()


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


def test_a_socket_that_a_cleaner_removed_comes_back(server: EmbeddedServer) -> None:
    running(server).socket.unlink()
    server.acquire()
    assert query(server.libpq_url, "SELECT 1") == 1


def test_the_number_of_a_dead_server_may_belong_to_another_process(server: EmbeddedServer, data_dir: Path) -> None:
    server.stop()
    (data_dir / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{data_dir}\n")
    server.acquire()
    assert query(server.libpq_url, "SELECT 1") == 1


def test_no_variable_of_the_command_reaches_the_server(data_dir: Path) -> None:
    hostile = {"PGPORT": "1", "PGDATA": "/nowhere", "PGOPTIONS": "-c fsync=off", "PGHOSTADDR": "127.0.0.1"}
    command = Command(data_dir, env={**os.environ, **hostile, "API_KEY": "secret"})
    assert command.query("SHOW fsync") == "on"
    environment = Path(f"/proc/{running(EmbeddedServer(data_dir)).pid}/environ").read_bytes()
    assert b"secret" not in environment
    assert b"PGDATA=/nowhere" not in environment
    command.finish()


def test_the_log_stays_bounded(server: EmbeddedServer, data_dir: Path) -> None:
    os.truncate(server.log_path, 9_000_000)
    eventually(lambda: server.log_path.stat().st_size < 1_000_000)
    assert (data_dir / "postgres.log.1").stat().st_size >= 9_000_000
    assert query(server.libpq_url, "SELECT 1") == 1


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


def test_a_server_that_cannot_start_says_why(server: EmbeddedServer) -> None:
    server.stop()
    with (server.cluster_dir / "postgresql.conf").open("a") as settings:
        settings.write("shared_buffers = 'plenty'\n")
    with pytest.raises(DatabaseUnavailable, match=r'(?s)shared_buffers.*"plenty".*run the command again'):
        server.acquire()


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


@pytest.fixture
def python_for_all() -> str:
    """An interpreter that the user `nobody` can run, of the version whose packages are installed here."""
    check = "import sys, psycopg; assert sys.version_info[:2] == tuple(map(int, sys.argv[1].split('.')))"
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            command = [candidate, "-c", check, f"{sys.version_info[0]}.{sys.version_info[1]}"]
            subprocess.run(command, check=True, env=environment_of_nobody(), stderr=subprocess.DEVNULL, **AS_NOBODY)
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    pytest.skip("no interpreter that the user nobody can run")


AS_NOBODY: dict[str, Any] = {"user": NOBODY.pw_uid, "group": NOBODY.pw_gid, "extra_groups": []}


def environment_of_nobody() -> dict[str, str]:
    packages = Path(psycopg.__file__).parents[1]
    return {"PATH": os.defpath, "PYTHONPATH": f"{ROOT}:{packages}", "PYTHONDONTWRITEBYTECODE": "1"}


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


@as_root
def test_the_first_process_of_a_container_leaves_after_a_clean_stop(data_dir: Path) -> None:
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "--pid", "--fork", "--mount-proc", "true"], check=False).returncode != 0:
        pytest.skip("no namespaces here")
    command = Command(data_dir, unshare, "--pid", "--fork", "--mount-proc")
    assert command.query("SELECT 1") == 1
    assert command.finish() == (0, "")
    assert EmbeddedServer(data_dir).log_path.read_text().rstrip().endswith("database system is shut down")
