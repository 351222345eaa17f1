"""PostgreSQL as the rest sees it: an engine with the right limits, and a schema that is known to be current."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import psycopg
from sqlalchemy import URL, Connection, Engine, column, create_engine, event, inspect, make_url, select, table, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, OperationalError

from pipeline import place, roles
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
UPGRADE_LOCK = 0x646F636C65617365  # "doclease"
DEFAULT_PORT = "5432"
_READ_ONLY = "25006"
_REFUSALS = {
    "42501": "The role of database_url needs more rights for this; docs/operating.md says which commands need which"
    " role.",
    _READ_ONLY: "The server is a replica, or the role of database_url may only read: see docs/operating.md.",
}
_SCHEMA = "doclease_schema"  # the option by which an engine knows where its installation is

logger = logging.getLogger(__name__)


def parse_url(text_url: str) -> URL:
    """The URL for SQLAlchemy, with psycopg as its driver. Raises ConfigurationError without printing a password.

    It may name several hosts, as URLs of libpq do; the first that takes the connection is used.
    """
    try:
        url = make_url(_with_hosts_apart(text_url))
    except Exception as error:
        raise ConfigurationError("database_url is not a URL; it looks like postgresql://user@host/name") from error
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigurationError(f"database_url must start with postgresql://, not {url.drivername}://")
    return url.set(drivername="postgresql+psycopg")


def _with_hosts_apart(text_url: str) -> str:
    """`user@one:5433,two/name` with its hosts and ports as parameters, where SQLAlchemy can read them."""
    parts = urlsplit(text_url)
    user, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return text_url
    pairs = [re.fullmatch(r"(.*?)(?::(\d*))?", each) for each in hosts.split(",")]
    named = {
        "host": ",".join(pair[1].strip("[]") for pair in pairs if pair),
        "port": ",".join(pair[2] or DEFAULT_PORT for pair in pairs if pair),
    }
    return f"{parts.scheme}://{user}{at}{parts.path}?" + f"{urlencode(named)}&{parts.query}".rstrip("&")


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
            f"{session_options(url, settings)} -c timezone=UTC"
            f" -c statement_timeout={int(settings.statement_timeout_seconds * 1000)}"
            f" -c idle_in_transaction_session_timeout={IDLE_IN_TRANSACTION_SECONDS * 1000}"
        )
    engine = create_engine(
        url,
        connect_args=arguments,
        execution_options={_SCHEMA: settings.schema},
        pool_size=connections,
        max_overflow=0,
        pool_timeout=30,
        pool_recycle=3600,
    )
    event.listen(engine, "handle_error", _leave_a_replica)
    return engine


def _leave_a_replica(context: ExceptionContext) -> None:
    """Drop the sessions on a server that takes no writes: it is the primary no more, and the next one looks for it."""
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
        context.is_disconnect = True


def listening_connection(url: URL, settings: DatabaseSettings) -> psycopg.Connection[tuple[object, ...]]:
    """A connection in autocommit for LISTEN: the second and last one of a process."""
    arguments: dict[str, Any] = dict(KEEPALIVES)
    return psycopg.connect(
        _rendered(url.set(drivername="postgresql")),
        autocommit=True,
        connect_timeout=settings.connect_timeout_seconds,
        application_name="doclease listener",
        options=session_options(url, settings),
        **arguments,
    )


def session_options(url: URL, settings: DatabaseSettings) -> str:
    """What puts a session into the schema of the installation, after the options that the URL has of its own."""
    given = url.query.get("options", "")
    return " ".join([*([given] if isinstance(given, str) else given), f"-csearch_path={settings.schema}"]).strip()


def address(url: URL, settings: DatabaseSettings) -> str:
    """The URL for other clients, with its password: their sessions begin in the schema of the installation.

    A transaction pooler takes no options; there the search path of the role decides.
    """
    if settings.schema != roles.PUBLIC and settings.pooler != "transaction":
        url = url.update_query_dict({"options": session_options(url, settings)})
    return _rendered(url)


def without_password(url: URL) -> URL:
    """For a command line, which every user of the machine can read. URL.set takes None for what stays as it is."""
    return URL.create(url.drivername, url.username, None, url.host, url.port, url.database, url.query)


def _rendered(url: URL) -> str:
    """As text. SQLAlchemy writes a space as +, which libpq does not read as one."""
    path, mark, query = url.render_as_string(hide_password=False).partition("?")
    return path + mark + query.replace("+", "%20")


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


def schema_of(engine: Engine) -> str:
    """The schema of the installation that the engine was opened for."""
    return str(engine.get_execution_options().get(_SCHEMA, roles.PUBLIC))


def current_revision(engine: Engine) -> str | None:
    """The revision of the installation, None where there is none yet. Raises DatabaseUnavailable."""
    schema = schema_of(engine)
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("alembic_version", schema=schema):
                return None
            versions = table("alembic_version", column("version_num"), schema=schema)
            return connection.execute(select(versions.c.version_num)).scalar()
    except OperationalError as error:
        raise unavailable(error) from error


def require_schema(engine: Engine) -> None:
    """Raise SchemaOutdated that says what to type, unless the schema is this doclease's.

    Raises ConfigurationError where sessions do not find the schema's tables by their plain names.
    """
    found, wanted = current_revision(engine), newest_revision()
    if found is None:
        where = "" if schema_of(engine) == roles.PUBLIC else f" in schema {schema_of(engine)}"
        raise SchemaOutdated(f"the database has no doclease schema yet{where}. Type: doclease db upgrade")
    if found < wanted:
        raise SchemaOutdated(f"the database's schema is {found}, doclease needs {wanted}. Type: doclease db upgrade")
    if found > wanted:
        raise SchemaOutdated(f"the database's schema is {found}, newer than doclease's {wanted}. Upgrade doclease.")
    with engine.connect() as connection:
        place.require_session_in(connection, schema_of(engine))


def upgrade(engine: Engine) -> str:
    """Bring the schema up to date, with it the table of reasons and the rights of the roles; returns the revision.

    One transaction, safe to run twice at once. What an administrator has to do about the roles is a warning in the
    log. Raises DatabaseUnavailable, SchemaOutdated for a schema that is newer than this doclease's, or
    ConfigurationError for a PostgreSQL that is too old or a role that may not create what is missing.
    """
    if (current_revision(engine) or "") > newest_revision():
        require_schema(engine)
    # Imported here: it costs every command a third of its start, and only this one needs it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    schema = schema_of(engine)
    try:
        with engine.connect() as connection:
            _require_version(connection.dialect.server_version_info or (0,))
            connection.rollback()
            config.attributes |= {"connection": connection, "schema": schema}
            config.attributes |= {"prepare": lambda each: _lock_and_prepare(each, schema), "finish": _finish}
            command.upgrade(config, "head")
    except OperationalError as error:
        raise unavailable(error) from error
    return newest_revision()


def grant(engine: Engine) -> list[str]:
    """Give the roles their rights again, as an upgrade does; returns what an administrator has to do."""
    require_schema(engine)
    with engine.begin() as connection:
        _lock_and_prepare(connection, schema_of(engine))
        return roles.apply(connection, migrations_folder(), schema_of(engine))


def _lock_and_prepare(connection: Connection, schema: str) -> None:
    # Waiting for the lock, and building indexes on a large table, may take longer than a statement of the pipeline may.
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})
    place.prepare(connection, schema)


def _finish(connection: Connection) -> None:
    _write_reasons(connection)
    schema = schema_of(connection.engine)
    for hint in roles.apply(connection, migrations_folder(), schema):
        logger.warning("%s", hint)


def unavailable(error: DBAPIError) -> DatabaseUnavailable:
    """What to tell a person when the database cannot be reached; never shows a password."""
    first = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    return DatabaseUnavailable(f"the database cannot be reached: {first}. Check database_url and that PostgreSQL runs.")


def is_refusal(error: DBAPIError | psycopg.Error) -> bool:
    """Whether the role may not do this, or nobody may here: it is the same for every row."""
    return _state(error) in _REFUSALS


@contextmanager
def refusals_told() -> Iterator[None]:
    """Tell in a sentence that the role may not do what was asked of it. Raises ConfigurationError."""
    try:
        yield
    except (DBAPIError, psycopg.Error) as error:  # the second one comes of scripts, which the driver runs by itself
        if not is_refusal(error):
            raise
        problem = str(_cause(error)).strip().splitlines()[0]
        raise ConfigurationError(f"the database refuses: {problem}. {_REFUSALS[_state(error)]}") from error


def _cause(error: DBAPIError | psycopg.Error) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _state(error: DBAPIError | psycopg.Error) -> str:
    return getattr(_cause(error), "sqlstate", None) or ""


def _require_version(version: tuple[int | str, ...]) -> None:
    if int(version[0]) < SUPPORTED[0]:
        raise ConfigurationError(f"PostgreSQL {version[0]} is too old; doclease needs {SUPPORTED[0]} to {SUPPORTED[1]}")


def _write_reasons(connection: Connection) -> None:
    rows = [
        {"reason": reason.value, "retry": reason.retry.value, "owner": reason.owner.value, "help": reason.help}
        for reason in Reason
    ]
    # One statement: a refusal of many in a row is logged by the driver as well.
    upsert = text(
        "INSERT INTO reasons (reason, retry, owner, help) SELECT reason, retry, owner, help"
        " FROM json_to_recordset(CAST(:rows AS json)) AS given (reason text, retry text, owner text, help text)"
        " ON CONFLICT (reason) DO UPDATE SET retry = excluded.retry, owner = excluded.owner, help = excluded.help"
    )
    connection.execute(upsert, {"rows": json.dumps(rows)})
