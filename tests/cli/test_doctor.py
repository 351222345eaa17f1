"""`doclease doctor` says what is not fine and what to do about it, and a probe fails only for what is broken."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import yaml
from sqlalchemy import URL, Engine, create_engine, text

from pipeline.queue.settle import Counts, Fault, decide
from pipeline.queue.store import Queue
from pipeline.worker.measures import measures
from tests import postgres
from tests.cli.conftest import Doclease, rows_of
from tests.stories import claim, finish
from tests.tasks import add_task

Found = dict[str, dict[str, str]]


def _checks(doclease: Doclease, *options: str, exit_code: int = 0) -> Found:
    """By name. Broken and nothing else makes the exit code 9; what is fine needs no advice, what is not has a line."""
    found: Found = {
        row["check"]: row for row in rows_of(doclease("doctor", *options, "--format", "json", exit_code=exit_code))
    }
    assert any(row["state"] == "broken" for row in found.values()) == (exit_code == 9)
    for row in found.values():
        assert bool(row["advice"]) == (row["state"] != "fine"), row
        assert "\n" not in row["advice"]
    return found


def _configure(home: Path, **sections: object) -> None:
    path = home / "config.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), **sections}), encoding="utf-8")


def test_a_fresh_installation_is_fine_and_its_sandbox_is_told_measure_by_measure(doclease: Doclease) -> None:
    found = _checks(doclease)
    names = (
        "PostgreSQL",
        "schema",
        "fsync",
        "store",
        "store takes files",
        "store has its files",
        "recognition",
        "sweep",
    )
    for name in (*names, "workers", "stuck tasks", "idle transactions", "clocks", "snapshots", "rights"):
        assert found[name]["state"] == "fine", found[name]
    assert {f"sandbox: {measure.name}" for measure in measures()} <= set(found)
    assert found["sandbox: memory"]["state"] == "fine"


def test_each_fault_comes_with_its_advice(doclease: Doclease, home: Path, engine: Engine) -> None:
    (home / "passwords").write_text("secret\n", encoding="utf-8")
    (home / "passwords").chmod(0o644)
    _configure(home, ocr={"engine": "tesseract"}, inbox={"min_free_megabytes": 10**12})
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO inbox_scans VALUES ('/old', queue_now() - interval '1 hour', 3, 'paused: the disk is full')"
        )
    found = _checks(doclease, exit_code=9)
    assert "chmod 600" in found["passwords"]["advice"]
    assert "free some space" in found["store"]["found"]
    assert "paused: the disk is full" in found["inbox /old"]["found"]
    assert found["inbox /old"]["state"] == "broken"
    assert "secret" not in str(found)


@pytest.mark.parametrize("place", ["database_url", "database_url_file"])
def test_a_password_of_the_database_that_everybody_can_read_is_advised_against(
    doclease: Doclease, home: Path, database_url: URL, place: str
) -> None:
    address = database_url.set(password="canary").render_as_string(hide_password=False)  # noqa: S106 - nobody asks for it
    (home / "address").write_text(address, encoding="utf-8")
    _configure(home, **{"database_url": "", place: address if place == "database_url" else "address"})
    path = home / ("config.yaml" if place == "database_url" else "address")
    for mode, state in ((0o640, "fine"), (0o644, "advice")):
        path.chmod(mode)
        found = _checks(doclease)["database address"]
        assert found["state"] == state
    assert "chmod o=" in found["advice"]
    assert "canary" not in str(found)


def test_advice_fails_no_probe(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["one"])
    with engine.begin() as connection:
        connection.execute(text("UPDATE tasks SET finished_at = now() - interval '1 hour'"))
        connection.execute(
            text("""
                INSERT INTO arrivals (token, document_id, task_id, origin, name, raw_path, device, inode, byte_count,
                                      mtime_ns)
                SELECT gen_random_uuid(), document_id, task_id, 'inbox', 'a.txt', 'a.txt', 1, 1, 1, 1
                FROM tasks
            """)
        )
    found = _checks(doclease, "--quick")
    assert found["arrivals"]["state"] == "advice"
    assert "doclease watch" in found["arrivals"]["advice"]


def _expired(engine: Engine, queue: Queue) -> None:
    claim(queue, add_task(engine, queue))
    _execute(engine, "UPDATE tasks SET lease_expires_at = now() - interval '1 minute'")


def _overdue(engine: Engine, queue: Queue) -> None:
    queue.fail(
        claim(queue, add_task(engine, queue)),
        decide(Fault.TRANSIENT, Counts(), queue.limits, jitter=0),
        reason="io_error",
    )
    _execute(engine, "UPDATE tasks SET not_before = now() - interval '1 minute'")


def _waiting(engine: Engine, queue: Queue) -> None:
    add_task(engine, queue)
    _execute(engine, "UPDATE tasks SET enqueued_at = now() - interval '2 minutes'")


def _unswept(engine: Engine, queue: Queue) -> None:
    add_task(engine, queue)
    _execute(engine, "UPDATE sweeper_state SET last_ok_at = now() - interval '1 minute'")


def _execute(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


@pytest.mark.parametrize(
    ("trouble", "check", "told"),
    [
        (_expired, "stuck tasks", "1 leases ran out"),
        (_overdue, "stuck tasks", "1 delayed tasks are due"),
        (_waiting, "workers", "the oldest task waits since 2 min"),
        (_unswept, "sweep", "1 min"),
    ],
)
def test_what_does_not_move_is_broken_also_at_a_glance(
    doclease: Doclease, engine: Engine, queue: Queue, *, trouble: Callable[[Engine, Queue], None], check: str, told: str
) -> None:
    assert _checks(doclease, "--quick")[check]["state"] == "fine"
    trouble(engine, queue)
    found = _checks(doclease, "--quick", exit_code=9)[check]
    assert found["state"] == "broken"
    assert told in found["found"]


def test_a_worker_that_is_connected_is_seen(
    doclease: Doclease, engine: Engine, queue: Queue, database_url: URL
) -> None:
    _waiting(engine, queue)
    address = database_url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address, application_name="doclease work"):
        assert _checks(doclease, "--quick")["workers"]["state"] == "fine"


def test_a_glance_plans_nothing_hashes_nothing_and_starts_no_process(doclease: Doclease) -> None:
    found = _checks(doclease, "--quick")
    assert not [name for name in found if name.startswith(("plan", "sandbox"))]
    assert "store has its files" not in found
    assert {"schema", "sweep", "workers", "stuck tasks", "store takes files"} <= set(found)


def test_a_store_that_takes_nothing_is_broken(doclease: Doclease, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data/store").write_text("in the way", encoding="utf-8")
    found = _checks(doclease, "--quick", exit_code=9)["store takes files"]
    assert "Not a directory" in found["found"]


def test_a_probe_of_the_store_leaves_nothing(doclease: Doclease, home: Path) -> None:
    (home / "data/store/tmp").mkdir(parents=True)
    assert "written, synced, removed" in _checks(doclease, "--quick")["store takes files"]["found"]
    assert list((home / "data/store/tmp").iterdir()) == []


def test_a_session_without_limits_is_told(doclease: Doclease, home: Path) -> None:
    _configure(home, database={"pooler": "transaction"})  # as behind pgbouncer, where the role must have the limits
    found = _checks(doclease, exit_code=9)
    assert found["idle transactions"]["state"] == "broken"
    assert "ALTER ROLE" in found["idle transactions"]["advice"]
    assert found["statements"]["state"] == "advice"


def test_a_role_that_may_not_look_everywhere_sees_the_rest(doclease: Doclease, home: Path, server: URL) -> None:
    url = postgres.create_database(server, "tests_doctor")
    _configure(home, database_url=url.render_as_string(hide_password=False))
    doclease("db", "upgrade")
    engine = create_engine(url)
    with engine.begin() as connection:
        if not connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = 'tests_looker'")).all():
            connection.execute(text("CREATE ROLE tests_looker"))
        connection.execute(
            text("GRANT SELECT ON tasks, documents, attempts, sweeper_state, alembic_version TO tests_looker")
        )
        connection.execute(text("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO tests_looker"))
        connection.execute(text("ALTER DATABASE tests_doctor SET role = tests_looker"))
    engine.dispose()
    found = _checks(doclease)
    assert found["arrivals"]["found"] == "not seen: permission denied for table arrivals"
    assert "tests_looker may not" in found["rights"]["found"]
    assert "INSERT attempts" in found["rights"]["found"]
    assert found["sweep"]["state"] == "fine"


def test_a_database_that_is_away_is_another_exit_code(doclease: Doclease, home: Path) -> None:
    _configure(home, database_url="postgresql://nobody@127.0.0.1:9/none")
    told = doclease("doctor", "--quick", exit_code=7).stderr
    assert told.startswith("error: the database cannot be reached")
    assert told.count("\n") == 1


def test_a_database_without_its_schema_is_told_and_nothing_else_fails(
    doclease: Doclease, home: Path, server: URL
) -> None:
    url = postgres.create_database(server, "tests_doctor_empty")
    _configure(home, database_url=url.render_as_string(hide_password=False))
    found = _checks(doclease, "--quick", exit_code=9)
    assert "doclease db upgrade" in found["schema"]["advice"]


def test_the_probes_of_the_documentation_work(doclease: Doclease, home: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/operating.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n# probes of a worker\n(.*?)^```$", page, re.M | re.S)
    probes = yaml.safe_load(block)
    doclease(*probes["startupProbe"]["exec"]["command"][1:])
    assert probes["livenessProbe"]["httpGet"]["path"] == "/metrics"
    _configure(home, database_url="postgresql://nobody@127.0.0.1:9/none")
    doclease(*probes["startupProbe"]["exec"]["command"][1:], exit_code=7)


def test_every_line_of_doctor_is_documented(doclease: Doclease) -> None:
    page = (Path(__file__).parents[2] / "docs/operating.md").read_text(encoding="utf-8")
    table = page.partition("## What doctor says")[2].partition("\n## ")[0]
    told = {name.strip() for row in re.findall(r"^\| ([^|]+) \|", table, re.M) for name in row.split(",")}
    names = {re.sub(r"^(sandbox|inbox).*", r"\1", name) for name in _checks(doclease)}
    assert {name.removeprefix("plan of ") for name in names} <= {name.removeprefix("plan of ") for name in told}
