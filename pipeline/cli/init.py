"""`doclease init`: a folder to work in, with its configuration, its inbox and its database. Safe to repeat."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from pipeline import database
from pipeline.app import open_app
from pipeline.config import CONFIG_NAME, Settings
from pipeline.config_reading import load


@click.command(short_help="Make a folder ready: configuration, inbox and database.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--no-database", is_flag=True, help="Leave the database alone.")
@click.pass_context
def init(ctx: click.Context, folder: Path | None, no_database: bool) -> None:
    """Make a folder ready: config.yaml, the inbox with its sub-folders, and the database.

    What is there already stays as it is, so the command may be repeated.
    """
    outer = ctx.find_root().obj
    home = (outer if isinstance(outer, Path) else Path()) / (folder or Path())
    wrote = _write_config(home)
    settings = load(home)
    made = _make_folders(settings)
    if not no_database:
        _prepare_database(settings)
    click.echo(f"{settings.home} is ready" + ("." if wrote or made else "; nothing was missing."))
    _tell_next_steps(settings)


def _write_config(home: Path) -> bool:
    home.mkdir(parents=True, exist_ok=True)
    path = home / CONFIG_NAME
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(database.resource(CONFIG_NAME).read_text(encoding="utf-8"))
    except FileExistsError:
        return False
    return True


def _make_folders(settings: Settings) -> int:
    inbox = settings.inbox_path
    wanted = [inbox, *(inbox / rule for rule in settings.inbox.rules)]
    wanted += [settings.processed_path, settings.failed_path, settings.data_path]
    missing = [folder for folder in wanted if not folder.is_dir()]
    for folder in missing:
        folder.mkdir(parents=True, exist_ok=True)
    return len(missing)


def _prepare_database(settings: Settings) -> None:
    with open_app(settings, name="init", check_schema=False) as app:
        if database.current_revision(app.engine) is None:
            database.upgrade(app.engine)
        database.require_schema(app.engine)


def _tell_next_steps(settings: Settings) -> None:
    rules = ", ".join(f"{settings.inbox.folder / rule}/" for rule in settings.inbox.rules)
    here = "" if settings.home == Path.cwd() else f"cd {shlex.quote(str(settings.home))} && "
    steps = [
        (f"{here}doclease run", "works on what comes into the inbox, until Ctrl-C"),
        (f"cp FILE {shlex.quote(str(settings.inbox_path))}/", f"hands a file over; {rules} set priority and type"),
        ('doclease sql "SELECT * FROM invoices"', "shows what was found"),
        ("doclease status", "shows what is in work"),
    ]
    click.echo("Next, type:")
    for step, meaning in steps:
        click.echo(f"  {step}\n      {meaning}")
