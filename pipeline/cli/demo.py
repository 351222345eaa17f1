"""`demo`: the whole thing in under a minute, in a temporary folder, with a worker killed on purpose."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from pipeline.cli.output import print_rows, safe
from pipeline.trials.demo import Demo, Outcome, Progress


@click.command(short_help="Sample documents, a killed worker, and what the tables say.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Run in this new folder and leave it.")
@click.pass_context
def demo(ctx: click.Context, keep: Path | None) -> None:
    """Drop sample documents into an inbox, kill a worker in the middle of a contract, and show what the tables say."""
    with _folder(keep) as folder, _live() as (say, show):
        outcome = Demo(say, show).run(folder)
    _print(outcome)
    if keep is not None:
        click.echo(f"\nIt is all in {keep}. Go on with: doclease -C {keep} status")
    ctx.exit(0 if outcome.is_as_promised else 1)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="doclease-demo-") as folder:
        Path(folder).chmod(0o755)  # the database server may run as another user
        yield Path(folder) / "demo"


@contextmanager
def _live() -> Iterator[tuple[Any, Any]]:
    """How to tell of events and of progress: a bar on a terminal, plain lines elsewhere."""
    if not sys.stdout.isatty():
        yield click.echo, lambda progress: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns) as bars:
        documents, pages = bars.add_task("documents", total=None), bars.add_task("pages", total=None)

        def show(progress: Progress) -> None:
            bars.update(documents, completed=progress.ended, total=progress.documents or None)
            bars.update(pages, completed=progress.pages_done, total=progress.pages or None)

        yield bars.console.print, show


def _print(outcome: Outcome) -> None:
    _section("Documents (documents_v)", outcome.documents)
    click.echo("\nLeft out (attachments_v)")
    for row in outcome.left_out:
        click.echo(f"  {safe(row['name'])} of {safe(row['parent_name'])}: {safe(row['left_out'])}")
    _section("Invoices (invoices)", outcome.invoices)
    click.echo("\nThe XML in an invoice against its print (checks_v)")
    for row in outcome.failed_checks:
        click.echo(f"  {safe(row['name'])}: {safe(row['check'])} failed: {safe(row['message'])}")
    click.echo("\nThe same invoice twice (business_duplicates)")
    for row in outcome.duplicates:
        click.echo(_claim(row))
    _section("To review, with the first doubt of each (review_queue)", outcome.review)
    click.echo("\nRecovery (recoveries)")
    for row in outcome.recoveries:
        click.echo(_story(row))
    click.echo("\nFiles")
    for place in outcome.places:
        click.echo(f"  {place}")


def _section(title: str, rows: Any) -> None:
    click.echo(f"\n{title}")
    print_rows(rows, list(rows[0]) if rows else [], "table")


def _claim(row: Mapping[str, Any]) -> str:
    return (
        f"  {safe(row['name'])} and {safe(row['duplicate_of'])}: {safe(row['invoice_number'])} of"
        f" {safe(row['seller_name'])}, {row['currency']} {row['total_gross']}, told by {row['matched_by']}"
    )


def _story(row: Mapping[str, Any]) -> str:
    return (
        f"  {row['name']}: worker {row['lost_worker']} lost at page {row['lost_at_page']},"
        f" taken back {row['seconds_to_take_back']} s after its last progress,"
        f" resumed at page {row['resumed_at_page']} by worker {row['resumed_by_worker']}: {row['resumed_outcome']}"
    )
