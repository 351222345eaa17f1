"""`doclease status` and `doclease leases`: what is going on, and how long leases are."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from pipeline import handling
from pipeline.cli.output import Row, format_option, json_line, limit_option, print_rows, safe, table
from pipeline.cli.session import app_of, stop_at_signal
from pipeline.reports import lengths, monitor
from pipeline.reports.durations import duration
from pipeline.reports.monitor import Condition, Snapshot

FAIL_IF_EXIT_CODE = 9


@click.command(short_help="Show what waits, what is in work, and what ended.")
@click.option(
    "--watch",
    type=click.FloatRange(min=0.1),
    is_flag=False,
    flag_value=2.0,
    metavar="[SECONDS]",
    help="Look again every SECONDS (2), until Ctrl-C.",
)
@format_option
@limit_option
@click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="EXPR",
    help="Exit 9 if true: failed>0, enqueued>100, oldest>3600, pages_left>500, sweep_age>60, scan_age>60, …",
)
@click.pass_context
def status(ctx: click.Context, watch: float | None, output: str, limit: int, conditions: tuple[str, ...]) -> None:
    """Show how many tasks are in each state, what is in work, and when leases and inbox were last looked at.

    CSV has the counts only; JSON is an object a line.
    """
    wanted = [monitor.parse_condition(words) for words in conditions]
    with app_of(ctx) as app:
        stop = None if watch is None else stop_at_signal()
        while True:
            found = monitor.snapshot(app.engine, limit=limit)
            _print(found, output, clear=stop is not None, rescan_seconds=app.settings.inbox.rescan_seconds)
            _fail_if(ctx, wanted, found)
            if stop is None or stop.wait(watch):
                return


@click.command(short_help="Show how long leases are, and why.")
@format_option
@click.pass_context
def leases(ctx: click.Context, output: str) -> None:
    """Show how long leases are, and why: the seconds a page may take, and what follows for three documents.

    A lease covers the next step of a document. Learned is what 99 of 100 attempts stayed below, by type and kind of
    page, once there are 50; it is used times lease.learn_margin, within a quarter and four times the configured value.
    JSON and CSV have a row for each type and document.
    """
    with app_of(ctx) as app:
        learned = monitor.rates(app.engine)
        names = dict.fromkeys([handling.AUTO, *handling.discover(), *(row["handler"] for row in learned)])
        in_force = {name: app.policy(name) for name in names}
        rows = lengths.lease_rows(in_force, learned, app.settings.lease)
        if output != "table":
            print_rows(rows, list(rows[0]), output)
            return
        rates = lengths.rate_rows(in_force, learned, app.settings.lease)
        click.echo(table(rates, list(rates[0])))
        for line in lengths.lease_sentences(in_force):
            click.echo(safe(line))


def _print(found: Snapshot, output: str, *, clear: bool, rescan_seconds: float) -> None:
    if output == "csv":
        print_rows(found.counts, list(found.counts[0]), output)
    elif output == "json":
        parts = {"queue": found.counts, "in_work": found.processing, "sweeps": found.sweeps, "inboxes": found.scans}
        click.echo(json_line(parts))
    else:
        if clear and sys.stdout.isatty():
            click.clear()
        click.echo(_words(found, rescan_seconds))
    sys.stdout.flush()


def _words(found: Snapshot, rescan_seconds: float) -> str:
    counts = table([_count(row) for row in found.counts], ["status", "tasks", "pages left", "oldest", "next"])
    working = [_in_work(row) for row in found.processing]
    lines = [counts]
    if working:
        lines.append(table(working, list(working[0])))
    by = found.sweeps["swept_by"]
    lines.append(f"Last sweep {duration(found.sweeps['sweep_age_seconds'])} ago{f' by {safe(by)}' if by else ''}.")
    if found.sweeps["braked_at"]:
        lines.append("Its brake is on: too many leases ran out at once; the next sweep looks again.")
    lines += [_scan(row, rescan_seconds) for row in found.scans]
    return "\n".join(lines)


def _count(row: Row) -> Row:
    return {
        "status": row["status"],
        "tasks": row["tasks"],
        "pages left": row["pages_left"] or None,
        "oldest": None if row["oldest_seconds"] is None else duration(row["oldest_seconds"]),
        "next": None if row["next_seconds"] is None else f"in {duration(max(0, row['next_seconds']))}",
    }


def _in_work(row: Row) -> Row:
    left = row["lease_left_seconds"]
    return {
        "task": row["task_id"],
        "document": row["name"],
        "worker": row["worker"],
        "attempt": row["attempt"],
        "page": f"{row['page']} of {row['pages']}",
        "last progress": f"{duration(max(0, row['progress_age_seconds']))} ago",
        "lease left": duration(left) if left > 0 else f"ran out {duration(-left)} ago",
    }


def _scan(row: Row, rescan_seconds: float) -> str:
    note = f" {safe(row['note'])}" if row["note"] else ""
    late = "" if monitor.is_watched(row, rescan_seconds) else " Nobody watches it now: type doclease run."
    return (
        f"Inbox {safe(row['inbox'])}: scanned {duration(row['scan_age_seconds'])} ago,"
        f" {_waiting(row['waiting_files'])} waiting.{note}{late}"
    )


def _waiting(files: int) -> str:
    return "1 file" if files == 1 else f"{files} files"


def _fail_if(ctx: click.Context, conditions: Sequence[Condition], found: Snapshot) -> None:
    true = [condition for condition in conditions if condition.holds(found)]
    for condition in true:
        click.echo(f"{condition} is true: {condition.figure} is {found.figure(condition.figure):g}", err=True)
    if true:
        ctx.exit(FAIL_IF_EXIT_CODE)
