"""The place of an installation in its database: a schema of its own, found by every session of it and by no other.

Several installations may share a database; each has its tables, views, functions, roles, channel and version. What they
have in common is the extension pg_trgm, which belongs to none of them.
"""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from pipeline.errors import ConfigurationError
from pipeline.roles import PUBLIC, prefix

EXTENSION = "pg_trgm"


def prepare(connection: Connection, schema: str) -> None:
    """Have the schema and the extension, and let names mean the schema's until the transaction ends.

    Raises ConfigurationError that says what to type where the role may not create what is missing.
    """
    _refuse_neighbour(connection, schema)
    if not connection.execute(_HAS_SCHEMA, {"schema": schema}).scalar_one():
        _create(
            connection, f'CREATE SCHEMA "{schema}"', f'CREATE SCHEMA "{schema}" AUTHORIZATION "{_role(connection)}"'
        )
    # Not in the schema: dropping that would take the indexes of the other installations along.
    if connection.execute(_EXTENSION_SCHEMA, {"name": EXTENSION}).scalar() is None:
        statement = f"CREATE EXTENSION {EXTENSION} SCHEMA {PUBLIC}"
        _create(connection, statement, statement)
    extension_schema = connection.execute(_EXTENSION_SCHEMA, {"name": EXTENSION}).scalar_one()
    connection.execute(_SEARCH, {"path": f'"{schema}", "{extension_schema}"'})


def require_session_in(connection: Connection, schema: str) -> None:
    """Raise ConfigurationError that says what to type, unless names mean the schema's in sessions like this one."""
    found = connection.execute(text("SELECT current_schema()")).scalar()
    if found == schema:
        return
    database = connection.execute(text("SELECT current_database()")).scalar_one()
    raise ConfigurationError(
        f"database.schema is {schema}, and sessions of role {_role(connection)} are in {found or 'none'}. Behind a"
        f' transaction pooler the role decides; on the server itself type: ALTER ROLE "{_role(connection)}" IN DATABASE'
        f' "{database}" SET search_path = "{schema}"; and let the pooler reconnect'
    )


def _refuse_neighbour(connection: Connection, schema: str) -> None:
    """Two installations whose roles and channel would have the same names."""
    other = {PUBLIC: prefix(PUBLIC), prefix(PUBLIC): PUBLIC}.get(schema)
    if other is not None and connection.execute(_HAS_QUEUE, {"schema": other}).scalar_one():
        raise ConfigurationError(
            f"database.schema is {schema}, and schema {other} of this database has an installation whose roles have"
            " the same names. Choose another schema"
        )


def _create(connection: Connection, statement: str, advice: str) -> None:
    try:
        connection.execute(text(statement))
    except ProgrammingError as error:
        raise ConfigurationError(f"{_first_line(error)}. A superuser of the database types: {advice}") from error


def _role(connection: Connection) -> str:
    return str(connection.execute(text("SELECT current_user")).scalar_one())


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0]


_HAS_SCHEMA = text("SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = :schema)")
_EXTENSION_SCHEMA = text("""
    SELECT nspname
    FROM pg_catalog.pg_extension
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pg_extension.extnamespace
    WHERE extname = :name
""")
_SEARCH = text("SELECT set_config('search_path', :path, true)")
_HAS_QUEUE = text("""
    SELECT EXISTS (
        SELECT
        FROM pg_catalog.pg_class
        JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pg_class.relnamespace
        WHERE nspname = :schema
            AND relname = 'sweeper_state'
    )
""")
