"""`doclease db`: schema, checks, address, roles, backups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline import database
from pipeline.cli.output import format_option, print_rows
from pipeline.cli.session import app_of, settings_of
from pipeline.config import MEGABYTE
from pipeline.errors import ConfigurationError
from pipeline.reports import checks
from pipeline.roles import script as role_script

if TYPE_CHECKING:
    from pipeline.backup.manifest import Label
    from pipeline.backup.taking import Lost

SOME_FAILED = 3


@click.group()
def db() -> None:
    """The database itself."""


@db.command()
@click.pass_context
def upgrade(ctx: click.Context) -> None:
    """Bring the schema up to date. Safe to repeat, also twice at once."""
    with app_of(ctx, check_schema=False) as app:
        before = database.current_revision(app.engine)
        after = database.upgrade(app.engine)
    click.echo(f"The schema is {after}" + (", as it was." if before == after else f"; it was {before or 'not there'}."))


@db.command(short_help="Check version, schema, durability and plans.")
@format_option
@click.pass_context
def check(ctx: click.Context, output: str) -> None:
    """Check version, schema, durability and the plans of claim, sweep and promote. Exit code 8 if one is not fine."""
    with app_of(ctx, check_schema=False) as app:
        found = checks.check(app.engine)
    rows = [{"check": each.name, "found": each.found, "fine": each.fine} for each in found]
    print_rows(rows, list(rows[0]), output)
    wrong = [f"{each.name} is {each.found}; {each.advice}" for each in found if each.state is checks.State.BROKEN]
    if wrong:
        raise ConfigurationError(". ".join(wrong))


@db.command(short_help="Print the address of the database, for psql and others.")
@click.option("--libpq", "kind", flag_value="libpq", default="libpq", help="For psql and most others (the default).")
@click.option("--sqlalchemy", "kind", flag_value="sqlalchemy", help="For SQLAlchemy.")
@click.pass_context
def url(ctx: click.Context, kind: str) -> None:
    """Print the address of the database, with its password: psql "$(doclease db url)".

    This command keeps nothing running. The embedded server answers at the address while any doclease command of the
    folder runs, `doclease run` for example; `doclease sql` opens psql without that.
    """
    with app_of(ctx, check_schema=False) as app:
        click.echo(app.libpq_url if kind == "libpq" else database.address(app.url, app.settings.database))


@db.command(short_help="Print the SQL that makes the roles of ingest, work and read.")
@click.option("--apply", is_flag=True, help="Run it, as the owner of the tables. `db upgrade` does that too.")
@click.pass_context
def roles(ctx: click.Context, apply: bool) -> None:
    """Print the SQL that makes the group roles and gives them their rights, for a superuser: doclease db roles | psql …

    It may be run again at any time. What each role may do is in docs/operating.md.
    """
    if not apply:
        click.echo(role_script(database.migrations_folder(), settings_of(ctx).database.schema))
        return
    with app_of(ctx) as app:
        hints = database.grant(app.engine)
    if hints:
        raise ConfigurationError(". ".join(hints))
    click.echo("The roles have their rights.")


@db.command(short_help="Back up the database, and list or copy its files.")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--with-store",
    "store",
    type=click.Choice(["copy", "link"]),
    is_flag=False,
    flag_value="copy",
    help="The files too: copied, or linked, which costs no space and protects against deletion only.",
)
@click.pass_context
def backup(ctx: click.Context, folder: Path, store: str | None) -> None:
    """Back up into DIR, a new folder, while everything runs: the database as of one moment, and a list of its files.

    Exits with 3 when the store lacks a file of the list or has another one in its place; the backup is complete but
    for these.
    """
    from pipeline.backup.taking import take  # noqa: PLC0415 - only this command needs it

    with app_of(ctx) as app:
        taken = take(app, folder, store=store)
    click.echo(
        f"backed up {_told(taken.label)}" + (", with their files" if store else "; their files stay in the store")
    )
    _end_with(ctx, taken.lost)


@db.command(short_help="Restore a backup into an empty database.")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.pass_context
def restore(ctx: click.Context, folder: Path) -> None:
    """Restore the backup in DIR into a database that has no installation yet, and check each of its files.

    Files come from the backup, if it has them, else they must be in the store already. Exits with 3 when some are
    missing or damaged; all else is restored then. What was in work when the backup was taken is swept and done again.
    """
    from pipeline.backup.restoring import restore as bring_back  # noqa: PLC0415 - only this command needs it

    with app_of(ctx, check_schema=False) as app:
        restored = bring_back(app, folder)
    click.echo(f"restored {_told(restored.label)}; the schema is {restored.revision}")
    _end_with(ctx, restored.lost)


def _told(label: Label) -> str:
    return f"{label.documents} documents of {label.byte_count / MEGABYTE:,.1f} MB, as of {label.taken_at}"


def _end_with(ctx: click.Context, lost: Sequence[Lost]) -> None:
    if lost:
        print_rows([asdict(each) for each in lost], [field.name for field in fields(lost[0])], "table")
        ctx.exit(SOME_FAILED)
