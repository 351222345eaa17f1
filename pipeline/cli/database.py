"""`doclease db`: bring the schema up to date, look whether the database keeps promises, print its address."""

from __future__ import annotations

import click

from pipeline import database
from pipeline.cli.output import format_option, print_rows
from pipeline.cli.session import app_of, settings_of
from pipeline.errors import ConfigurationError
from pipeline.reports import checks
from pipeline.roles import script as role_script


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
