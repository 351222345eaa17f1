"""`doclease ingest`: take in files by name."""

from __future__ import annotations

import functools
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from pipeline import handling
from pipeline.cli.output import format_option, print_rows
from pipeline.cli.priority import Priority
from pipeline.cli.session import app_of
from pipeline.documents.text import display_name
from pipeline.errors import NothingMatched
from pipeline.intake import ingesting
from pipeline.intake.ingesting import Taken, Wanted
from pipeline.intake.recipe import Intake
from pipeline.reports.durations import duration

SOME_FAILED, TIMED_OUT, ALL_REJECTED = 3, 5, 6
PLAIN_EVERY_SECONDS = 5.0
Show = Callable[[int, int], None]


class _OptionalSeconds(click.Command):
    """`--wait` may stand alone: a path that follows it is a path, not a number of seconds."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        given = [*args[:end]]
        for at, argument in enumerate(given):
            if argument == "--wait" and not (at + 1 < len(given) and _is_number(given[at + 1])):
                given[at] = "--wait=inf"
        return super().parse_args(ctx, [*given, *args[end:]])


@click.command(cls=_OptionalSeconds, short_help="Take files in: store them, count pages, put them in line.")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-r", "--recursive", is_flag=True, help="Take in every file below a folder.")
@click.option("--type", "handler", default=handling.AUTO, show_default=True, help="auto, invoice, contract, …")
@click.option("--priority", default="normal", show_default=True, type=Priority(), help="low … urgent, or -10 to 10.")
@click.option("--batch", metavar="NAME", help="A name to find these documents by.")
@click.option("--move/--copy", "remove", default=False, help="Remove each file once it is in the store; or leave it.")
@click.option("--wait", type=float, metavar="[SECONDS]", help="Wait until all are done, at most so long.")
@format_option
@click.pass_context
def ingest(
    ctx: click.Context, /, paths: tuple[Path, ...], recursive: bool, wait: float | None, output: str, **order: Any
) -> None:
    """Take files in: store them, count their pages, put them in line.

    The same bytes again are a duplicate and cost nothing; bytes that had failed are retried. A PATH of `-` reads a list
    of paths from standard input, one a line or separated by NUL.

    Exits with 0, also for duplicates; 3 when some were rejected or failed, 6 when all were rejected, 5 when --wait was
    not long enough and work goes on.
    """
    files = ingesting.files_of(list(_listed(paths)), recursive=recursive)
    if not files:
        raise NothingMatched("there is no file to take in")
    wanted = Wanted(**order)
    if wanted.handler != handling.AUTO:
        handling.named(handling.discover(), wanted.handler)  # raises with the names there are
    with app_of(ctx) as app:
        with app.intake() as intake:
            taken = _take_all(intake, files, wanted)
        in_time = True
        if wait is not None:
            with _progress("done") as show:
                taken, in_time = ingesting.follow(intake.arrivals, taken, seconds=wait, progress=show)
    rows = [_cells(each) if output == "table" else _row(each) for each in taken]
    print_rows(rows, list(rows[0]), output)
    ctx.exit(_exit_code(taken, in_time=in_time))


def _listed(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if str(path) == "-":
            yield from ingesting.paths_in(sys.stdin.buffer.read())
        else:
            yield path


def _take_all(intake: Intake, files: Sequence[Path], wanted: Wanted) -> list[Taken]:
    taken: list[Taken] = []
    with _progress("taken in") as show:
        for group in ingesting.take_all(intake, files, wanted):
            taken += group
            show(len(taken), len(files))
    return taken


@contextmanager
def _progress(what: str) -> Iterator[Show]:
    """A bar on a terminal; elsewhere a line now and then, if it takes long. Both beside the output, not in it."""
    if sys.stderr.isatty():
        with Progress(TextColumn(what), BarColumn(), MofNCompleteColumn(), console=Console(stderr=True)) as bars:
            bar = bars.add_task(what)
            yield functools.partial(_advance, bars, bar)
        return
    last = time.monotonic()

    def show(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PLAIN_EVERY_SECONDS:
            last = time.monotonic()
            click.echo(f"{done} of {of} {what}", err=True)

    yield show


def _advance(bars: Progress, bar: TaskID, done: int, of: int) -> None:
    bars.update(bar, completed=done, total=of)


def _cells(taken: Taken) -> dict[str, Any]:
    """A row for people."""
    arrived = taken.arrived
    return {
        "file": display_name(os.fsencode(taken.path)),
        "document": arrived and arrived.document_id,
        "pages": arrived and arrived.page_count,
        "priority": arrived and arrived.priority,
        "lease": duration(arrived.lease_seconds) if arrived and not taken.is_rejected else None,
        "state": taken.state,
    }


def _row(taken: Taken) -> dict[str, Any]:
    """A row for programs."""
    arrived = taken.arrived
    status, reason = taken.ended or (None, None)
    row: dict[str, Any] = {"file": display_name(os.fsencode(taken.path))}
    row |= dict.fromkeys(("document_id", "task_id", "pages", "priority", "lease_seconds"))
    if arrived is None:
        nothing = dict.fromkeys(("status", "reason", "note", "inside", "inside_failed"))
        return row | {"state": "unreadable", **nothing, "error": taken.problem}
    return row | {
        "document_id": arrived.document_id,
        "task_id": arrived.task_id,
        "pages": arrived.page_count,
        "priority": arrived.priority,
        "lease_seconds": arrived.lease_seconds,
        "state": arrived.state.value,
        "status": status,
        "reason": reason or arrived.reason,
        "error": arrived.error,
        "note": taken.note,
        "inside": len(taken.inside),
        "inside_failed": sum(status in ingesting.UNREAD for status, _ in taken.inside),
    }


def _exit_code(taken: Sequence[Taken], *, in_time: bool) -> int:
    if all(each.is_rejected for each in taken):
        return ALL_REJECTED
    if not in_time:
        return TIMED_OUT
    return SOME_FAILED if any(each.has_failed for each in taken) else 0


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False
