"""`doclease export`: all rows of a view into a file or a pipe."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from pipeline.cli.output import Row, write_csv, write_jsonl
from pipeline.cli.session import app_of
from pipeline.errors import UsageProblem
from pipeline.reports import exports

WRITERS: Mapping[str, Callable[[Iterable[Row], Sequence[str], TextIO], int]] = {"csv": write_csv, "jsonl": write_jsonl}


@click.command(short_help="Write all rows of a view as CSV or JSON lines.")
@click.argument("what", type=click.Choice(list(exports.EXPORTS)))
@click.option("--format", "output", type=click.Choice(list(WRITERS)), default="csv", show_default=True)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to FILE, which appears when it is complete (default: standard output).",
)
@click.pass_context
def export(ctx: click.Context, what: str, output: str, target: Path | None) -> None:
    """Write all rows of a view as CSV or as a JSON object a line, in UTF-8. Made for millions of rows.

    A CSV cell that a spreadsheet would run as a formula gets a leading apostrophe. Columns of JSON (fields, checks) are
    in jsonl only.
    """
    with app_of(ctx) as app, exports.stream(app.engine, what) as rows, _opened(target) as file:
        columns = rows.flat_columns if output == "csv" else rows.columns
        count = WRITERS[output](rows.rows, columns, file)
    if target is not None:
        click.echo(f"{count} rows of {what} are in {target}", err=True)


@contextmanager
def _opened(target: Path | None) -> Iterator[TextIO]:
    if target is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        yield sys.stdout
        sys.stdout.flush()
        return
    target = target.resolve()
    # A pipe or a device is written as it is; only a file is put in place when it is complete.
    is_file = target.is_file() or not target.exists()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part") if is_file else target
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            yield file
        if is_file:
            unfinished.replace(target)
    except OSError as error:
        raise UsageProblem(f"{target} cannot be written: {error.strerror}. Name another file with -o.") from error
    finally:
        if is_file:
            unfinished.unlink(missing_ok=True)
