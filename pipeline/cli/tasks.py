"""`doclease tasks`: list, show, explain, retry and cancel what the queue holds."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pipeline.app import App, limits
from pipeline.cli.output import format_option, id_type, json_line, limit_option, print_list, print_rows, safe
from pipeline.cli.session import app_of
from pipeline.errors import IllegalMove, NothingMatched, UsageProblem
from pipeline.queue.states import Status
from pipeline.reasons import Reason
from pipeline.reports import explain as story
from pipeline.reports import queries, steering
from pipeline.reports.steering import Moved

ENDED_BADLY = (Status.FAILED.value, Status.QUARANTINED.value, Status.CANCELLED.value)


@click.group(short_help="List, explain, retry and cancel tasks.")
def tasks() -> None:
    """What the queue holds: a task is one run of a document through the pipeline."""


@tasks.command("list", short_help="List tasks, newest first.")
@click.option("--status", type=click.Choice([each.value for each in Status]), help="Only tasks in this state.")
@click.option("--batch", metavar="NAME", help="Only tasks of documents taken in as this batch.")
@format_option
@limit_option
@click.pass_context
def list_(ctx: click.Context, status: str | None, batch: str | None, output: str, limit: int) -> None:
    """List tasks, newest first."""
    with app_of(ctx) as app:
        rows = queries.tasks(app.engine, status=status, batch=batch, limit=limit)
    print_list(rows, output, nothing="no task matches; `doclease tasks list` shows all there are")


@tasks.command()
@click.argument("task_id", metavar="ID", type=id_type())
@format_option
@click.pass_context
def show(ctx: click.Context, task_id: int, output: str) -> None:
    """Show a task's columns and its attempts. JSON is one object; CSV has the attempts."""
    with app_of(ctx) as app:
        found = queries.task(app.engine, task_id)
    if output == "json":
        click.echo(json_line({**found.task, "attempts": found.attempts}))
        return
    if output == "table":
        print_rows(
            [{"column": name, "value": value} for name, value in found.task.items()], ["column", "value"], output
        )
        click.echo()
    if found.attempts:
        print_rows(found.attempts, list(found.attempts[0]), output)


@tasks.command(short_help="Tell in words where a task stands and what happens next.")
@click.argument("task_id", metavar="ID", type=id_type())
@click.pass_context
def explain(ctx: click.Context, task_id: int) -> None:
    """Tell in words where a task stands, what its attempts came to, and what happens next and when."""
    with app_of(ctx) as app:
        found = queries.task(app.engine, task_id)
        lines = story.explain(
            found,
            app.policy(found.task["handler"]),
            limits(app.settings.queue),
            sweep_seconds=app.settings.sweep.interval_seconds,
        )
    for line in lines:
        click.echo(safe(line))


@tasks.command(short_help="Put tasks that ended without a result in line again.")
@click.argument("task_ids", metavar="ID…", type=id_type(), nargs=-1)
@click.option("--status", type=click.Choice(ENDED_BADLY), help="All tasks in this state.")
@click.option(
    "--reason", type=click.Choice([each.value for each in Reason]), help="All tasks that ended with this reason."
)
@click.pass_context
def retry(ctx: click.Context, task_ids: tuple[int, ...], status: str | None, reason: str | None) -> None:
    """Put tasks that failed, were quarantined or cancelled in line again.

    Their counters begin at zero; pages that are done are kept.
    """
    _require_one_way(task_ids, status or reason, "IDs, or --status and --reason")
    with app_of(ctx) as app:
        chosen = list(task_ids) or queries.ended_badly(app.engine, status=status, reason=reason)
        moved = steering.retry(app.queue, chosen)
        _tell(app, moved, "no task that ended without a result matches; see: doclease tasks list")


@tasks.command()
@click.argument("task_ids", metavar="ID…", type=id_type(), nargs=-1)
@click.option("--batch", metavar="NAME", help="All tasks of this batch that have not ended.")
@click.pass_context
def cancel(ctx: click.Context, task_ids: tuple[int, ...], batch: str | None) -> None:
    """Cancel tasks. What waits is cancelled at once, what is in work stops at its next checkpoint."""
    _require_one_way(task_ids, batch, "IDs or --batch")
    with app_of(ctx) as app:
        chosen = list(task_ids) if batch is None else queries.unfinished(app.engine, batch=batch)
        moved = steering.cancel(app.queue, chosen)
        _tell(app, moved, f"no task of batch {batch} is unfinished")


def _require_one_way(task_ids: Sequence[int], chosen: str | None, ways: str) -> None:
    if bool(task_ids) == bool(chosen):
        raise UsageProblem(f"say which tasks, one way: {ways}")


def _tell(app: App, moved: Sequence[Moved], nothing: str) -> None:
    """Say what became of each task. Raises, after telling all: NothingMatched when none exists, IllegalMove when some
    could not be moved.
    """
    if not moved:
        raise NothingMatched(nothing)
    if any(each.status == Status.ENQUEUED for each in moved):
        app.notifier.notify()
    for each in moved:
        stopping = "; it stops at its next checkpoint" if each.status == Status.PROCESSING else ""
        if each.problem is None:
            click.echo(f"task {each.task_id} is {each.status}{stopping}")
    problems = [each.problem for each in moved if each.problem]
    if problems:
        raise (NothingMatched if all(each.is_missing for each in moved) else IllegalMove)("; ".join(problems))
