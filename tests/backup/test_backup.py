"""A backup taken at any moment comes back whole somewhere else, and what was in work then is finished there."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from sqlalchemy import URL, Engine, Row, text

from pipeline import database
from pipeline.backup import manifest, programs
from pipeline.backup.programs import Program, ProgramFailed
from pipeline.backup.restoring import restore
from pipeline.backup.taking import take
from pipeline.cli import main
from pipeline.config import DatabaseSettings
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import ConfigurationError
from tests import postgres
from tests.tasks import add_task
from tests.worker.shop import Shop, open_shop, pages

Elsewhere = Callable[..., Shop]
SHORT = {"base_seconds": 1, "min_seconds": 0.5}


@pytest.fixture
def elsewhere(tmp_path: Path, server: URL) -> Iterator[Elsewhere]:
    """Opens a shop on an empty database and in a folder of its own."""
    with ExitStack() as stack:

        def build(name: str = "elsewhere", **config: Any) -> Shop:
            url = postgres.create_database(server, f"tests_{name}")
            engine = database.open_engine(url, DatabaseSettings(), name="tests", connections=4)
            stack.callback(engine.dispose)
            home = tmp_path / name
            home.mkdir()
            return stack.enter_context(open_shop(home, url, engine, **config))

        yield build


def _typed(home: Path, *arguments: str | Path, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["-C", str(home), *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == exit_code, result.output
    return result


def _results(shop: Shop) -> list[Row[Any]]:
    return shop.rows("SELECT document_id, document_type, result, reason FROM accepted_results ORDER BY document_id")


def _texts(shop: Shop) -> list[Row[Any]]:
    return shop.rows("SELECT document_id, page_no, text FROM pages_v ORDER BY document_id, page_no")


@pytest.mark.slow
def test_work_half_done_comes_back_elsewhere_and_is_finished_with_equal_results(
    open_for_business: Callable[..., Shop], elsewhere: Elsewhere, tmp_path: Path
) -> None:
    shop = open_for_business(lease=SHORT)
    gate = shop.gate()
    done = shop.take(pages(2))
    shop.work()
    held, waiting = shop.take(pages(12, p8=f"gate {gate}"), priority=5), shop.take(pages(3))
    shop.start_worker()
    shop.reached(gate)
    taken = take(shop.app, tmp_path / "backup", store="copy")
    gate.touch()
    for task_id in (done, held, waiting):
        shop.ended(task_id)
    assert (taken.label.documents, taken.lost) == (3, [])

    other = elsewhere(lease=SHORT)
    assert restore(other.app, tmp_path / "backup").lost == []
    assert other.statuses() == {"succeeded": 1, "processing": 1, "enqueued": 1}
    assert other.task(held).pages_done == 5
    other.work()
    assert other.statuses() == {"succeeded": 3}
    assert [outcome for outcome, _ in other.outcomes(held)] == ["expired", "succeeded"]
    assert other.attempts(held)[1].pages_reused == 5
    assert _texts(other) == _texts(shop)
    assert _results(other) == _results(shop)


def test_the_list_of_files_is_of_the_same_moment_as_the_dump(
    open_for_business: Callable[..., Shop], elsewhere: Elsewhere, tmp_path: Path
) -> None:
    """Documents come all the time, before, between and after the two."""
    shop = open_for_business()
    enough = threading.Event()

    def bring() -> None:
        while not enough.is_set():
            add_task(shop.engine, shop.app.queue)

    bringing = threading.Thread(target=bring)
    bringing.start()
    try:
        taken = take(shop.app, tmp_path / "backup")
    finally:
        enough.set()
        bringing.join()
    listed = [entry.document_id for entry in manifest.read_entries(tmp_path / "backup")]
    assert len(listed) == len(taken.lost) == taken.label.documents  # nobody stored their bytes
    other = elsewhere()
    restore(other.app, tmp_path / "backup")
    assert [row.document_id for row in other.rows("SELECT document_id FROM documents ORDER BY 1")] == listed
    assert len(listed) < len(shop.rows("SELECT FROM documents"))


def _letters(shop: Shop, count: int) -> list[Path]:
    for number in range(count):
        path = shop.home / f"{number}.txt"
        path.write_text(f"letter {number}", encoding="utf-8")
        shop.take_file(path)
    return [
        shop.app.archive.path_of(row.sha256) for row in shop.rows("SELECT sha256 FROM documents ORDER BY document_id")
    ]


@pytest.mark.parametrize("way", ["copy", "link"])
def test_lost_files_are_named_when_backing_up_and_when_restoring(
    shop: Shop, elsewhere: Elsewhere, tmp_path: Path, way: str
) -> None:
    whole, damaged, missing = _letters(shop, 3)
    damaged.chmod(0o600)
    damaged.write_bytes(b"something")
    missing.unlink()
    backup = tmp_path / "backup"
    told = _typed(shop.home, "db", "backup", backup, "--with-store", way, exit_code=3).stdout
    assert "backed up 3 documents" in told
    assert (damaged.name in told, missing.name in told, whole.name in told) == (True, True, False)
    kept = [path for path in (backup / "store").rglob("*") if path.is_file()]
    assert [path.name for path in kept] == [whole.name]
    assert (kept[0].stat().st_ino == whole.stat().st_ino) == (way == "link")
    other = elsewhere()
    told = _typed(other.home, "db", "restore", backup, exit_code=3).stdout
    assert "restored 3 documents" in told
    assert told.count("missing") == 2
    assert other.app.archive.verify(whole.name)
    _typed(other.home, "documents", "verify", exit_code=3)


def test_files_that_stay_in_the_store_are_checked_when_the_database_comes_back(
    shop: Shop, elsewhere: Elsewhere, tmp_path: Path
) -> None:
    """A store that was copied by other means: there, but for one file whose size is right and whose bytes are not."""
    first, second = _letters(shop, 2)
    assert "stay in the store" in _typed(shop.home, "db", "backup", tmp_path / "backup").stdout
    assert not (tmp_path / "backup/store").exists()
    other = elsewhere()
    for path in (first, second):
        with path.open("rb") as file:
            other.app.archive.keep(file)
    copy = other.app.archive.path_of(second.name)
    copy.write_bytes(b"x" * copy.stat().st_size)
    told = _typed(other.home, "db", "restore", tmp_path / "backup", exit_code=3).stdout
    assert (second.name in told, "damaged" in told, first.name in told) == (True, True, False)


def test_nothing_is_overwritten_and_half_a_backup_is_none(shop: Shop, elsewhere: Elsewhere, tmp_path: Path) -> None:
    _letters(shop, 1)
    backup = tmp_path / "backup"
    _typed(shop.home, "db", "backup", backup)
    assert not (backup / manifest.DUMP).stat().st_mode & 0o007
    assert "is not empty" in _typed(shop.home, "db", "backup", backup, exit_code=2).stderr
    assert "has an installation already" in _typed(shop.home, "db", "restore", backup, exit_code=2).stderr
    assert shop.statuses() == {"enqueued": 1}
    other = elsewhere()
    label = (backup / manifest.LABEL).read_text(encoding="utf-8")
    (backup / manifest.LABEL).unlink()
    assert "interrupted" in _typed(other.home, "db", "restore", backup, exit_code=2).stderr
    (backup / manifest.LABEL).write_text(json.dumps({**json.loads(label), "revision": "9999"}), encoding="utf-8")
    assert "Upgrade doclease" in _typed(other.home, "db", "restore", backup, exit_code=8).stderr
    (backup / manifest.LABEL).write_text(label, encoding="utf-8")
    (backup / manifest.DUMP).write_bytes((backup / manifest.DUMP).read_bytes()[:-200])
    assert _typed(other.home, "db", "restore", backup, exit_code=8).stderr.count("\n") == 1
    assert database.current_revision(other.engine) is None  # all or nothing


def test_one_installation_of_several_in_a_database_is_backed_up_alone(server: URL, tmp_path: Path) -> None:
    source, target = (postgres.create_database(server, f"tests_schemas_{name}") for name in ("from", "to"))

    def home(name: str, url: URL, schema: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        address = url.render_as_string(hide_password=False)
        folder.joinpath("config.yaml").write_text(
            yaml.safe_dump({"database_url": address, "database": {"schema": schema}}), encoding="utf-8"
        )
        return folder

    first, second, restored = home("a", source, "alpha"), home("b", source, "beta"), home("c", target, "alpha")
    for each in (first, second):
        _typed(each, "db", "upgrade")
    _typed(first, "db", "backup", tmp_path / "backup")
    assert (
        "set it to alpha" in _typed(home("d", target, "beta"), "db", "restore", tmp_path / "backup", exit_code=8).stderr
    )
    _typed(restored, "db", "restore", tmp_path / "backup")
    _typed(restored, "db", "check")
    engine = database.open_engine(target, DatabaseSettings(), name="tests")
    with engine.connect() as connection:
        query = text("SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'tasks'")
        assert connection.execute(query).scalars().all() == ["alpha"]
    engine.dispose()


def test_no_password_is_on_a_command_line(tmp_path: Path) -> None:
    program = tmp_path / "pg_dump"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\necho "$PGPASSWORD" > {tmp_path}/secret\n')
    program.chmod(0o755)
    url = database.parse_url("postgresql://me:open%20sesame@db/x?options=-csearch_path%3Da")
    programs.finish(programs.run(Program(str(program), 18), ["--format=custom"], url))
    assert (tmp_path / "secret").read_text() == "open sesame\n"
    assert (tmp_path / "arguments").read_text().startswith("--format=custom --dbname=postgresql://me@db/x?options=")


@pytest.mark.parametrize(("exit_code", "tables"), [(0, 1), (1, 0)])
def test_a_script_that_breaks_off_leaves_nothing_in_an_older_server(
    engine: Engine, tmp_path: Path, exit_code: int, tables: int
) -> None:
    (tmp_path / "psql").symlink_to(EmbeddedServer(Path()).bin_dir / "psql")
    script = f"#!/bin/sh\necho 'SET transaction_timeout = 0;'\necho 'CREATE TABLE half ();'\nexit {exit_code}\n"
    (tmp_path / "pg_restore").write_text(script)
    (tmp_path / "pg_restore").chmod(0o755)
    program = Program(str(tmp_path / "pg_restore"), 18)
    with ExitStack() as stack:
        if exit_code:
            stack.enter_context(pytest.raises(ProgramFailed, match="nothing was restored"))
        programs.load(program, [], tmp_path / "dump", engine.url, server_major=15)
    with engine.begin() as connection:
        found = connection.execute(text("SELECT count(*) FROM pg_tables WHERE tablename = 'half'")).scalar_one()
        connection.execute(text("DROP TABLE IF EXISTS half"))
    assert found == tables


def test_a_program_that_is_too_old_is_told_with_what_to_install(engine: Engine) -> None:
    with engine.connect() as connection:
        number = connection.execute(text("SHOW server_version_num")).scalar_one()
    assert programs.fitting("pg_dump", at_least=int(number) // 10_000).major >= int(number) // 10_000
    with pytest.raises(ConfigurationError, match="no pg_dump of PostgreSQL 99 or later; found: "):
        programs.fitting("pg_dump", at_least=99)


@pytest.mark.other_major
def test_a_server_that_is_older_than_the_programs_is_backed_up_and_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the programs of the embedded server alone, as on a host that has no others; and all or nothing here too."""
    bin_dir = postgres.other_major()
    if bin_dir is None:
        pytest.skip("no other major version of PostgreSQL; Debian: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="doclease-tests-") as folder, ExitStack() as stack:
        Path(folder).chmod(0o755)
        server = stack.enter_context(postgres.installed(bin_dir, Path(folder)))
        stack.callback(monkeypatch.undo)  # stopping the server needs the path
        shops = [_shop_on(stack, server, tmp_path, name) for name in ("old", "new")]
        monkeypatch.setenv("PATH", "/nowhere")
        database.upgrade(shops[0].engine)
        _letters(shops[0], 3)
        shops[0].work()
        backup = tmp_path / "backup"
        _typed(shops[0].home, "db", "backup", backup, "--with-store")
        dump = (backup / manifest.DUMP).read_bytes()
        (backup / manifest.DUMP).write_bytes(dump[:-200])
        _typed(shops[1].home, "db", "restore", backup, exit_code=8)
        assert database.current_revision(shops[1].engine) is None
        (backup / manifest.DUMP).write_bytes(dump)
        _typed(shops[1].home, "db", "restore", backup)
        assert _texts(shops[1]) == _texts(shops[0]) != []


def _shop_on(stack: ExitStack, server: URL, folder: Path, name: str) -> Shop:
    url = postgres.create_database(server, name)
    engine = database.open_engine(url, DatabaseSettings(), name="tests", connections=4)
    stack.callback(engine.dispose)
    (folder / name).mkdir()
    return stack.enter_context(open_shop(folder / name, url, engine))
