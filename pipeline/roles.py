"""The group roles of an installation (to take in, to work, to read, to review) and the way they get their rights.

What each may do is SQL: migrations/roles.sql makes the roles, migrations/grants.sql gives and takes the rights. Roles
belong to a whole server, so those of a schema other than public bear its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Connection, text

KINDS = ("ingest", "work", "read", "review")
PUBLIC = "public"


def names(schema: str) -> Mapping[str, str]:
    """The names of the roles by what they do: doclease_ingest, … for public, `<schema>_ingest`, … for another."""
    return {kind: f"{prefix(schema)}_{kind}" for kind in KINDS}


def prefix(schema: str) -> str:
    """What the names of an installation's roles begin with."""
    return "doclease" if schema == PUBLIC else schema


def script(folder: Path, schema: str) -> str:
    """All of it for psql, whoever is allowed to run it: a superuser, or the owner if the roles are there."""
    return "\n".join(
        [
            "BEGIN;",
            f'SET LOCAL search_path = "{schema}";',
            _sql(folder / "roles.sql", schema),
            _sql(folder / "grants.sql", schema),
            "COMMIT;",
        ]
    )


def apply(connection: Connection, folder: Path, schema: str) -> list[str]:
    """Make the roles where that is allowed, give them their rights; returns what an administrator has to do.

    Runs inside the caller's transaction, whose search path leads to the schema. Safe to repeat, not to run twice at
    once.
    """
    _execute(connection, _sql(folder / "roles.sql", schema))
    hindrance = _hindrance(connection, schema)
    if hindrance is not None:
        return [hindrance]
    _execute(connection, _sql(folder / "grants.sql", schema))
    if connection.execute(_OPEN_TO_ALL, {"schema": schema}).scalar_one():
        return [
            f'everybody may create in schema {schema}; its owner types: REVOKE CREATE ON SCHEMA "{schema}" FROM PUBLIC'
        ]
    return []


def _hindrance(connection: Connection, schema: str) -> str | None:
    """Why no rights can be given: a role that is missing, or one of that name that is somebody's login."""
    found = {row.rolname: row.rolcanlogin for row in connection.execute(_FOUND, {"names": [*names(schema).values()]})}
    missing = [name for name in names(schema).values() if name not in found]
    if missing:
        return (
            f"no rights were granted: {', '.join(missing)} cannot be created by this role. Everything works for it;"
            " for others a superuser runs what `doclease db roles` prints"
        )
    logins = [name for name in names(schema).values() if found[name]]
    if logins:
        return (
            f"no rights were granted: {', '.join(logins)} can log in, so it is no group role of doclease. Rename it,"
            " or choose another database.schema"
        )
    return None


def _sql(path: Path, schema: str) -> str:
    script = path.read_text(encoding="utf-8").replace("<schema>", schema)
    for kind, name in names(schema).items():
        script = script.replace(f"<{kind}>", name)
    return script


def _execute(connection: Connection, script: str) -> None:
    # The driver's own cursor: a script of many statements, in which % and : are plain characters.
    connection.connection.cursor().execute(script)


_FOUND = text("SELECT rolname, rolcanlogin FROM pg_catalog.pg_roles WHERE rolname = ANY(CAST(:names AS text[]))")
_OPEN_TO_ALL = text("SELECT has_schema_privilege('public', :schema, 'CREATE')")
