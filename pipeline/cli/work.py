"""`work`, `watch`, `sweep` and `run`: the processes that do the work."""

from __future__ import annotations

import logging

import click

from pipeline.app import App
from pipeline.cli import INTERRUPTED
from pipeline.cli.session import app_of, stop_at_signal
from pipeline.exporting import exported
from pipeline.reports import storage
from pipeline.worker.slot import Until

metrics_port = click.option(
    "--metrics-port", type=click.IntRange(0, 65_535), help="Show metrics there (default: metrics.port; 0 = nowhere)."
)


@click.command(short_help="Claim documents and read them.")
@click.option("-n", "--slots", type=click.IntRange(1, 64), help="Documents at a time (default: worker.slots).")
@click.option("--once", "until", flag_value="idle", help="End when nothing is ready.")
@click.option("--drain", "until", flag_value="empty", help="End when nothing is ready, delayed or in work anywhere.")
@metrics_port
@click.pass_context
def work(ctx: click.Context, slots: int | None, until: str | None, metrics_port: int | None) -> None:
    """Claim documents and read them, each in a child process of its own.

    SIGTERM or ctrl-C finishes what is in hand within worker.drain_seconds, else gives it back; a second one gives it
    back at once.
    """
    with app_of(ctx) as app, exported(app, port=metrics_port, slots=slots or app.settings.worker.slots):
        _supervise(ctx, app, slots, Until(until or "stopped"))


@click.command(short_help="Watch the inbox, read what arrives, sweep: all in one.")
@click.option("-n", "--slots", type=click.IntRange(1, 64), help="Documents at a time (default: worker.slots).")
@metrics_port
@click.pass_context
def run(ctx: click.Context, slots: int | None, metrics_port: int | None) -> None:
    """Everything in one process: watch the inbox, read what arrives, sweep."""
    with (
        app_of(ctx) as app,
        exported(app, port=metrics_port, slots=slots or app.settings.worker.slots),
        app.intake() as intake,
    ):
        _supervise(ctx, app, slots, Until.STOPPED, watch=app.watcher(intake).run)


@click.command(short_help="Take files in from the inbox, and put them in their place.")
@click.option("--once", is_flag=True, help="Take what has settled, place what has ended, then end.")
@metrics_port
@click.pass_context
def watch(ctx: click.Context, once: bool, metrics_port: int | None) -> None:
    """Take in files that settle in the inbox, and put them in their place once their document ended."""
    with app_of(ctx) as app, exported(app, port=metrics_port), app.intake() as intake:
        watcher = app.watcher(intake)
        if once:
            watcher.run_once()
            return
        _tell_what_happens()
        click.echo(f"watching {app.settings.inbox_path}", err=True)
        watcher.run(stop_at_signal())
    ctx.exit(INTERRUPTED)


@click.command()
@click.option("--once", is_flag=True, help="One sweep, told in a line, then end.")
@metrics_port
@click.pass_context
def sweep(ctx: click.Context, once: bool, metrics_port: int | None) -> None:
    """Take back what nobody works on any more. Workers do this too; it is never wrong to run another."""
    with app_of(ctx) as app, exported(app, port=metrics_port):
        sweeper = app.sweeper()
        if once:
            report = sweeper.run_once()
            state = " (waits: too many at once)" if report.braked else ""
            click.echo(f"took back {len(report.taken)}, extended {report.graced} after an outage{state}")
            return
        stop = stop_at_signal()
        sweeper.start()
        stop.wait()
        sweeper.stop()
    ctx.exit(INTERRUPTED)


def _supervise(ctx: click.Context, app: App, slots: int | None, until: Until, watch: object = None) -> None:
    _tell_what_happens()
    app.queue.claim(app.worker_id, batch=0)  # a role that may not claim is told so here, not with every poll
    storage.require_shared(app.engine, app.archive)
    count = slots or app.settings.worker.slots
    companions = [watch] if callable(watch) else []
    where = f", watching {app.settings.inbox_path}" if companions else ""
    click.echo(f"worker {app.worker_id}: {count} slots{where}", err=True)
    if app.supervisor(count, until=until, companions=companions).run():
        click.echo("drained: nothing is left in hand", err=True)
        ctx.exit(INTERRUPTED)


def _tell_what_happens() -> None:
    """A line for each document, also without -v: who starts a worker wants to see it work."""
    logger = logging.getLogger("pipeline")
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)
