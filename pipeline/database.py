"""PostgreSQL as the rest sees it: an engine with the right limits, and a schema that is known to be current."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Engine, create_engine, inspect, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError

from pipeline.config import DatabaseSettings
from pipeline.errors import ConfigurationError, DatabaseUnavailable, SchemaOutdated
from pipeline.reasons import Reason

# Well below the shortest lease: a session that stopped inside a transaction must not hide a row from the sweep.
IDLE_IN_TRANSACTION_SECONDS = 5
# A host that vanished without a word is noticed by keepalive probes while the line is idle, and by tcp_user_timeout
# (milliseconds) while an answer is awaited: without it the kernel would send again for a quarter of an hour.
KEEPALIVES = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3} | {
    "tcp_user_timeout": 15_000
}
SUPPORTED = (14, 18)
_REFUSALS = ("42501", "25006")  # insufficient privilege, read-only transaction


def parse_url(text_url: str) -> URL:
    """The URL for SQLAlchemy, with psycopg as its driver. Raises ConfigurationError without printing a password."""
    try:
        url = make_url(text_url)
    except Exception as error:
        raise ConfigurationError("database_url is not a URL; it looks like postgresql://user@host/name") from error
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigurationError(f"database_url must start with postgresql://, not {url.drivername}://")
    return url.set(drivername="postgresql+psycopg")


def open_engine(url: URL, settings: DatabaseSettings, *, name: str, connections: int = 1) -> Engine:
    """An engine of at most `connections` connections, made when first needed and again after a loss.

    Behind a transaction pooler no session setting and no prepared statement is used; set the timeouts on the role there
    (docs/operating.md).
    """
    arguments: dict[str, Any] = {
        "connect_timeout": settings.connect_timeout_seconds,
        "application_name": f"doclease {name}",
        **KEEPALIVES,
    }
    if settings.pooler == "transaction":
        arguments["prepare_threshold"] = None
    else:
        arguments["options"] = (
            f"-c statement_timeout={int(settings.statement_timeout_seconds * 1000)}"
            f" -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_SECONDS * 1000}"
            " -c timezone=UTC"
        )
    return create_engine(
        url, connect_args=arguments, pool_size=connections, max_overflow=0, pool_timeout=30, pool_recycle=3600
    )


def listening_connection(url: URL, settings: DatabaseSettings) -> psycopg.Connection[tuple[object, ...]]:
    """A connection in autocommit for LISTEN: the second and last one of a process."""
    arguments: dict[str, Any] = dict(KEEPALIVES)
    return psycopg.connect(
        url.set(drivername="postgresql").render_as_string(hide_password=False),
        autocommit=True,
        connect_timeout=settings.connect_timeout_seconds,
        application_name="doclease listener",
        **arguments,
    )


def migrations_folder() -> Path:
    """Where the migrations are: inside the installed package, or beside it in a source tree."""
    return resource("migrations")


def resource(name: str) -> Path:
    """A file or folder that ships with doclease and stands at the top of its source tree."""
    package = Path(__file__).parent
    inside = package / name
    return inside if inside.exists() else package.parent / name


def newest_revision() -> str:
    """The revision this doclease works with: migrations are numbered, the highest is the newest."""
    return max(path.name[:4] for path in (migrations_folder() / "versions").glob("[0-9]*.py"))


def current_revision(engine: Engine) -> str | None:
    """The revision of the database, None for one without a schema. Raises DatabaseUnavailable."""
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except OperationalError as error:
        raise unavailable(error) from error


def require_schema(engine: Engine) -> None:
    """Raise SchemaOutdated that says what to type, unless the schema is this doclease's."""
    found, wanted = current_revision(engine), newest_revision()
    if found is None:
        raise SchemaOutdated("the database has no doclease schema yet. Type: doclease db upgrade")
    if found < wanted:
        raise SchemaOutdated(f"the database's schema is {found}, doclease needs {wanted}. Type: doclease db upgrade")
    if found > wanted:
        raise SchemaOutdated(f"the database's schema is {found}, newer than doclease's {wanted}. Upgrade doclease.")


def upgrade(engine: Engine) -> str:
    """Bring the schema up to date and the table of reasons with it; returns the revision. Safe to run twice at once.

    Raises DatabaseUnavailable, SchemaOutdated for a schema that is newer than this doclease's, or ConfigurationError
    for a PostgreSQL that is too old.
    """
    if (current_revision(engine) or "") > newest_revision():
        require_schema(engine)
    # Imported here: it costs every command a third of its start, and only this one needs it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    try:
        with engine.connect() as connection:
            _require_version(connection.dialect.server_version_info or (0,))
            # Building indexes on a large table may take longer than a statement of the pipeline may.
            connection.execute(text("SET statement_timeout = 0"))
            connection.commit()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.execute(text("RESET statement_timeout"))
            connection.commit()
        _write_reasons(engine)
    except OperationalError as error:
        raise unavailable(error) from error
    return newest_revision()


def unavailable(error: DBAPIError) -> DatabaseUnavailable:
    """What to tell a person when the database cannot be reached; never shows a password."""
    first = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    return DatabaseUnavailable(f"the database cannot be reached: {first}. Check database_url and that PostgreSQL runs.")


@contextmanager
def refusals_told() -> Iterator[None]:
    """Tell in a sentence that the role may not do what was asked of it. Raises ConfigurationError."""
    try:
        yield
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) not in _REFUSALS:
            raise
        problem = str(error.orig).strip().splitlines()[0]
        raise ConfigurationError(
            f"the database refuses: {problem}. The role of database_url needs more rights for this; docs/operating.md"
            " lists what workers and readers are granted."
        ) from error


def _require_version(version: tuple[int | str, ...]) -> None:
    if int(version[0]) < SUPPORTED[0]:
        raise ConfigurationError(f"PostgreSQL {version[0]} is too old; doclease needs {SUPPORTED[0]} to {SUPPORTED[1]}")


def _write_reasons(engine: Engine) -> None:
    rows = [
        {"reason": reason.value, "retry": reason.retry.value, "owner": reason.owner.value, "help": reason.help}
        for reason in Reason
    ]
    upsert = text(
        "INSERT INTO reasons (reason, retry, owner, help) VALUES (:reason, :retry, :owner, :help)"
        " ON CONFLICT (reason) DO UPDATE SET retry = excluded.retry, owner = excluded.owner, help = excluded.help"
    )
    with engine.begin() as connection:
        connection.execute(upsert, rows)
