"""`doclease export`: all rows of a view, or those that are new, into a file or a pipe."""

from __future__ import annotations

import datetime as dt
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from pipeline.cli.output import write_csv, write_jsonl
from pipeline.cli.parquet import write_parquet
from pipeline.cli.session import app_of
from pipeline.cli.workbook import write_xlsx
from pipeline.documents.archive import sync_folder
from pipeline.errors import UsageProblem
from pipeline.reports import export_place, exports
from pipeline.reports.exports import Stream


def _csv(rows: Stream, file: Any) -> int:
    return write_csv(rows.rows, list(rows.flat_columns), file)


def _jsonl(rows: Stream, file: Any) -> int:
    return write_jsonl(rows.rows, list(rows.columns), file)


def _parquet(rows: Stream, file: Any) -> int:
    return write_parquet(rows.rows, rows.flat_columns, file)


def _xlsx(rows: Stream, file: Any) -> int:
    return write_xlsx(rows.rows, rows.flat_columns, file)


Writer = Callable[[Stream, IO[Any]], int]
TEXTS: Mapping[str, Writer] = {"csv": _csv, "jsonl": _jsonl}
BINARIES: Mapping[str, Writer] = {"parquet": _parquet, "xlsx": _xlsx}
WRITERS = {**TEXTS, **BINARIES}
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?")


@click.command(short_help="Write all rows of a view, or new ones, as CSV, JSON lines, Parquet or a workbook.")
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
@click.option(
    "--new-since",
    metavar="PLACE|TIME",
    help="Only what the last export with this file PLACE may not have had, or what changed since TIME (2026-11-01).",
)
@click.pass_context
def export(ctx: click.Context, what: str, output: str, target: Path | None, new_since: str | None) -> None:
    """Write all rows of a view in UTF-8: CSV, a JSON object a line, a Parquet file, a workbook. For millions of rows.

    A cell of CSV that a spreadsheet would run as a formula gets a leading apostrophe; in a workbook it is text. Columns
    of JSON (fields, checks) are in jsonl only. Parquet needs the extra `export`.

    --new-since PLACE keeps its place in that file, which the first run makes: each run writes the rows of documents
    read or corrected since the one before, none is ever left out, however late its transaction ends.
    """
    if output in BINARIES and target is None and sys.stdout.isatty():
        raise UsageProblem(f"{output} is not for a terminal; name a file with -o")
    since, place = _since(new_since)
    if place is not None and target is not None and place.resolve() == target.resolve():
        raise UsageProblem("the place and the output are the same file; name two")
    with (
        app_of(ctx) as app,
        exports.stream(app.engine, what, since=since, accept_at=app.settings.review.accept_at) as rows,
        _opened(target, binary=output in BINARIES) as file,
    ):
        count = WRITERS[output](rows, file)
    if target is not None:
        click.echo(f"{count} rows of {what} are in {target}", err=True)
    if place is not None:
        export_place.keep(rows.place, place)


def _since(typed: str | None) -> tuple[export_place.Place | dt.datetime | None, Path | None]:
    """From where to go on, and the file that keeps the place."""
    if typed is None:
        return None, None
    if not _TIME.fullmatch(typed):
        return export_place.read(Path(typed)), Path(typed)
    try:
        since = dt.datetime.fromisoformat(typed)
    except ValueError as error:
        raise UsageProblem(f"--new-since {typed} is no time: write 2026-11-01 or 2026-11-01T12:00+01:00") from error
    return since if since.tzinfo else since.replace(tzinfo=dt.UTC), None


@contextmanager
def _opened(target: Path | None, *, binary: bool = False) -> Iterator[IO[Any]]:
    if target is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        yield sys.stdout.buffer if binary else sys.stdout
        sys.stdout.flush()
        return
    target = target.resolve()
    # A pipe or a device is written as it is; only a file is put in place when it is complete.
    is_file = target.is_file() or not target.exists()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part") if is_file else target
    try:
        with unfinished.open("wb") if binary else unfinished.open("w", encoding="utf-8", newline="") as file:
            yield file
            if is_file:
                file.flush()
                os.fsync(file.fileno())
        if is_file:
            unfinished.replace(target)
            sync_folder(target.parent)
    except OSError as error:
        raise UsageProblem(f"{target} cannot be written: {error.strerror}. Name another file with -o.") from error
    finally:
        if is_file:
            unfinished.unlink(missing_ok=True)
