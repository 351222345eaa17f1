"""Several installations in one database, and logins of little right, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner, Result
from sqlalchemy import URL, Engine, text

from pipeline import database
from pipeline.cli import main
from pipeline.config import DatabaseSettings


def engine_in(url: URL, schema: str, *, pooler: str = "none") -> Engine:
    """An engine whose sessions are in a schema; several connections, since tests play several workers."""
    settings = DatabaseSettings(schema=schema, pooler=pooler)
    return database.open_engine(url, settings, name="tests", connections=4)


def run(engine: Engine, *statements: str) -> None:
    """Run statements one by one, each in a transaction of its own."""
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement.replace("%", "%%"))


def value(engine: Engine, query: str, **values: object) -> Any:
    """The one value that a query answers."""
    with engine.connect() as connection:
        return connection.execute(text(query), values).scalar_one()


def login(engine: Engine, name: str, *groups: str, more: str = "") -> URL:
    """The address for a login of its own, made anew, that is a member of the groups."""
    if value(engine, "SELECT count(*) FROM pg_roles WHERE rolname = :name", name=name):
        run(engine, f"DROP OWNED BY {name}", f"DROP ROLE {name}")
    run(engine, f"CREATE ROLE {name} LOGIN {more}", *(f"GRANT {group} TO {name}" for group in groups))
    return engine.url.set(username=name)


def configure(home: Path, url: URL, database: Mapping[str, Any] | None = None) -> None:
    """Write the config.yaml of a folder."""
    address = url.render_as_string(hide_password=False)
    document = {"database_url": address, "database": {**(database or {})}, "inbox": {"quiet_for_seconds": 0}}
    (home / "config.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")


def typed(home: Path, *arguments: str, exit_codes: Sequence[int] = (0,), answer: str | None = None) -> Result:
    """Type a command in the folder; fails on another exit code."""
    result = CliRunner().invoke(main, ["-C", str(home), *arguments], input=answer)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in exit_codes, (arguments, result.output)
    return result
