"""`doclease doctor`: what is not as it should be, and what to do about it."""

from __future__ import annotations

import click

from pipeline.cli.output import format_option, print_rows
from pipeline.cli.session import app_of

BROKEN = 9


@click.command(short_help="Look at everything, say what is not fine and what to do.")
@click.option("--quick", is_flag=True, help="Only what a probe may ask often: database, store, whether documents move.")
@format_option
@click.pass_context
def doctor(ctx: click.Context, quick: bool, output: str) -> None:
    """Look at the database, the store, the inbox, recognition and the sandbox of parsers, and say what to do.

    Each line is fine, advice (it works; somebody may want to change it) or broken (until somebody acts, a promise does
    not hold or documents do not move). Exits with 0 when nothing is broken, with 9 when something is, with 7 when the
    database is away. Changes nothing.
    """
    from pipeline.doctor import examine, glance  # noqa: PLC0415 - it knows all parts, and no other command needs them
    from pipeline.reports.checks import State  # noqa: PLC0415

    with app_of(ctx, check_schema=False) as app:
        found = list(glance(app) if quick else examine(app))
    rows = [
        {"check": each.name, "state": each.state, "found": each.found, "advice": "" if each.fine else each.advice}
        for each in found
    ]
    print_rows(rows, list(rows[0]), output)
    ctx.exit(BROKEN if any(each.state is State.BROKEN for each in found) else 0)
