"""The command line: parse, call the application, print. No SQL and no rules live here.

Commands are loaded when they are called, so that `doclease --help` does not import a PDF library.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from pipeline.cli.logs import log_to_terminal
from pipeline.cli.output import safe
from pipeline.errors import DocleaseError
from pipeline.redaction import without_passwords

INTERRUPTED = 130
COMMANDS: Mapping[str, str] = {
    "demo": "demo:demo",
    "init": "init:init",
    "run": "work:run",
    "ingest": "ingest:ingest",
    "watch": "work:watch",
    "work": "work:work",
    "sweep": "work:sweep",
    "status": "status:status",
    "doctor": "doctor:doctor",
    "leases": "status:leases",
    "tasks": "tasks:tasks",
    "documents": "documents:documents",
    "review": "review:review",
    "search": "search:search",
    "export": "export:export",
    "sql": "sql:sql",
    "db": "database:db",
    "config": "config:config",
    "chaos": "chaos:chaos",
}


class Commands(click.Group):
    """Loads a command's module when the command is used, and turns errors into a sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        found = getattr(importlib.import_module(f"pipeline.cli.{module}"), attribute)
        assert isinstance(found, click.Command)
        return found

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error that doclease raised on purpose is told in a sentence, never as a traceback."""
        try:
            return super().invoke(ctx)
        except DocleaseError as error:
            Console(stderr=True).print(
                f"[bold red]error:[/] {escape(safe(without_passwords(str(error)), lines=True))}",
                soft_wrap=True,
                highlight=False,
            )
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="doclease")
@click.option(
    "-C",
    "--dir",
    "home",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    envvar="DOCLEASE_DIR",
    show_envvar=True,
    help="Folder with config.yaml (default: the current one).",
)
@click.option("-v", "--verbose", count=True, help="Log what happens (-vv: every detail).")
@click.pass_context
def main(ctx: click.Context, home: Path, verbose: int) -> None:
    """Documents in, rows out, on leases that survive anything.

    Exit codes: 0 fine, 1 internal error, 2 usage, 3 finished but some documents failed, 4 nothing matched, 5 --wait
    timed out, 6 every input was rejected, 7 database or store unavailable, 8 configuration or migration, 9 --fail-if
    is true, 130 interrupted.
    """
    ctx.obj = home
    log_to_terminal(verbose)
