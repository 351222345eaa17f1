"""`doclease sql`: one read-only statement, or psql on the database."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import click

from pipeline import database
from pipeline.app import App
from pipeline.cli.output import format_option, print_rows
from pipeline.cli.session import app_of
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import UsageProblem
from pipeline.reports import adhoc


@click.command(short_help="Run one SQL statement, read-only; without one, open psql.")
@click.argument("statement", required=False)
@format_option
@click.pass_context
def sql(ctx: click.Context, statement: str | None, output: str) -> None:
    """Run one SQL statement, read-only, and print its rows; without a statement, open psql.

    docs/querying.md lists the views. psql begins read-only too: SET default_transaction_read_only = off ends that.
    """
    with app_of(ctx) as app:
        if statement is None:
            ctx.exit(_psql(app))
        answer = adhoc.run(app.engine, statement)
        print_rows(answer.rows, answer.columns, output)


def _psql(app: App) -> int:
    """Run psql while this process keeps an embedded server up; returns its exit code."""
    program = _find_psql(app)
    url = app.url.set(drivername="postgresql")
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    if app.settings.database.pooler == "none":
        given = f"{os.environ.get('PGOPTIONS', '')} {database.session_options(url, app.settings.database)}"
        environment["PGOPTIONS"] = f"{given} -c default_transaction_read_only=on".strip()
        url = url.difference_update_query(["options"])  # it would win over the variable
    # Ctrl-C ends psql's statement, not psql. A handler, not SIG_IGN: a child would inherit that.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        address = database.without_password(url).render_as_string(hide_password=False)
        return subprocess.call([program, address], env=environment)
    finally:
        signal.signal(signal.SIGINT, before)


def _find_psql(app: App) -> str | Path:
    found = shutil.which("psql")
    if found is None:
        server = app.server or EmbeddedServer(app.settings.data_path)
        found = shutil.which(server.bin_dir / "psql")
    if found is None:
        raise UsageProblem('psql is not installed. Give a statement: doclease sql "SELECT * FROM documents_v"')
    return found
