"""`doclease doctor`: what is not as it should be, and what to do about it."""

from __future__ import annotations

import click

from pipeline.cli.output import format_option, print_rows
from pipeline.cli.session import app_of

NOT_FINE = 9


@click.command(short_help="Look at everything, say what is not fine and what to do.")
@format_option
@click.pass_context
def doctor(ctx: click.Context, output: str) -> None:
    """Look at the database, the store, the inbox, recognition and the sandbox of parsers, and say what to do.

    Changes nothing. Exits with 0 when all is fine, with 9 when something is not.
    """
    from pipeline.doctor import examine  # noqa: PLC0415 - it knows all parts, and no other command needs them

    with app_of(ctx, check_schema=False) as app:
        found = list(examine(app))
    rows = [
        {"check": each.name, "found": each.found, "fine": each.fine, "advice": "" if each.fine else each.advice}
        for each in found
    ]
    print_rows(rows, list(rows[0]), output)
    ctx.exit(0 if all(each.fine for each in found) else NOT_FINE)
