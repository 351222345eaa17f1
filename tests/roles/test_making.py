"""Roles come with an upgrade, by whoever may make them, and their rights are set back to what they should be."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from sqlalchemy import URL, Engine, text

from pipeline import database
from tests import postgres
from tests.installations import configure, engine_in, login, run, typed, value
from tests.queue import rows
from tests.roles.conftest import SCHEMA


def test_rights_are_set_back_to_what_they_should_be(owner: Engine, home: Path) -> None:
    before = _rights(owner)
    run(owner, "GRANT DELETE ON tasks TO guarded_work", "REVOKE SELECT ON pages FROM guarded_read")
    run(owner, "GRANT UPDATE (result) ON attempts TO PUBLIC")
    assert _rights(owner) != before
    configure(home, owner.url, {"schema": SCHEMA})
    typed(home, "db", "roles", "--apply")
    assert _rights(owner) == before


def _rights(owner: Engine) -> set[tuple[str, ...]]:
    """Who may do what with each table, view and column, whatever the order in which it was granted."""
    query = """
        SELECT relname, attname, ARRAY(SELECT CAST(unnest(attacl) AS text) ORDER BY 1), ARRAY(
            SELECT CAST(unnest(relacl) AS text) ORDER BY 1)
        FROM pg_class
        JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE relnamespace = CAST('guarded' AS regnamespace) AND relkind IN ('r', 'v')
    """
    with owner.connect() as connection:
        return {tuple(map(str, row)) for row in connection.execute(text(query))}


def test_an_owner_without_the_right_to_make_roles_goes_on_and_a_superuser_makes_them_later(
    server: URL, home: Path
) -> None:
    name = f"modest_{os.getpid()}"
    admin = engine_in(postgres.create_database(server, name), "public")
    url = login(admin, f"owner_{name}")
    configure(home, url, {"schema": name})
    advice = typed(home, "db", "upgrade", exit_codes=(8,)).stderr.partition("types: ")[2].strip()
    assert advice == f'CREATE SCHEMA "{name}" AUTHORIZATION "owner_{name}"'
    run(admin, advice)
    advice = typed(home, "db", "upgrade", exit_codes=(8,)).stderr.partition("types: ")[2].strip()
    assert advice == "CREATE EXTENSION pg_trgm SCHEMA public"
    run(admin, advice)
    typed(home, "db", "upgrade")
    assert f"{name}_ingest, {name}_work, {name}_read" in typed(home, "db", "roles", "--apply", exit_codes=(8,)).stderr
    script = typed(home, "db", "roles").stdout
    with admin.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.connection.cursor().execute(script)
    typed(home, "db", "roles", "--apply")
    configure(home, login(admin, f"reader_{name}", f"{name}_read"), {"schema": name})
    typed(home, "documents", "list", exit_codes=(4,))
    admin.dispose()


def test_an_owner_with_the_right_to_make_roles_needs_nobody(server: URL) -> None:
    name = f"able_{os.getpid()}"
    admin = engine_in(postgres.create_database(server, name), "public")
    owner = engine_in(login(admin, f"owner_{name}", more="CREATEROLE"), name)
    run(admin, f"GRANT CREATE ON DATABASE {name} TO owner_{name}")
    database.upgrade(owner)
    assert database.grant(owner) == []
    for engine in (owner, admin):
        engine.dispose()


def test_a_login_that_happens_to_have_the_name_of_a_role_gets_no_rights(server: URL) -> None:
    name = f"taken_{os.getpid()}"
    admin = engine_in(postgres.create_database(server, name), name)
    login(admin, f"{name}_read")
    database.upgrade(admin)
    (hint,) = database.grant(admin)
    assert f"{name}_read can log in" in hint
    assert not value(admin, f"SELECT has_table_privilege('{name}_read', '{name}.documents', 'SELECT')")
    admin.dispose()


def test_two_databases_of_a_server_make_the_same_roles_at_once(server: URL) -> None:
    name = f"twice_{os.getpid()}"
    here, there = (engine_in(postgres.create_database(server, f"{name}_{end}"), name) for end in ("here", "there"))
    with here.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {name}_ingest")  # as an upgrade does, and stands still
        other = threading.Thread(target=database.upgrade, args=(there,), daemon=True)
        other.start()
        rows.until(lambda: rows.waiting_sessions(there) > 0)
        connection.commit()
    other.join(rows.GIVE_UP_SECONDS)
    assert not other.is_alive()
    assert database.current_revision(there) == database.newest_revision()
    assert database.grant(there) == []
    for engine in (here, there):
        engine.dispose()
