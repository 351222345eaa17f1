"""`chaos`: proof that nothing is lost, doubled or stuck, on this machine, now."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

import click

from pipeline.cli.output import print_rows
from pipeline.trials.chaos import Chaos
from pipeline.trials.ledger import Ledger


@click.command(short_help="Kill processes at random while documents go through.")
@click.option("--documents", type=click.IntRange(1), default=100, show_default=True, help="Documents to put in.")
@click.option("--seconds", type=click.FloatRange(1), default=30, show_default=True, help="How long to kill for.")
@click.option("--seed", type=int, help="Repeat the choices of a run (default: a new one, printed).")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Run in this folder and leave it.")
@click.pass_context
def chaos(ctx: click.Context, documents: int, seconds: float, seed: int | None, keep: Path | None) -> None:
    """Kill children, workers, sweepers and watchers at random while documents go through; then close the books.

    Exit code 0 when nothing is lost, doubled or stuck, else 1.
    """
    run = Chaos(documents, seconds, secrets.randbelow(10**6) if seed is None else seed, click.echo)
    if keep is not None:
        ledger = run.run(keep)
    else:
        with tempfile.TemporaryDirectory(prefix="doclease-chaos-") as folder:
            Path(folder).chmod(0o755)  # the database server may run as another user
            ledger = run.run(Path(folder) / "trial")
    _print(ledger)
    ctx.exit(0 if ledger.balances else 1)


def _print(ledger: Ledger) -> None:
    counts = {
        "documents": ledger.documents,
        "lost": ledger.lost,
        "doubled": ledger.doubled,
        "stuck": ledger.stuck,
        "pages wrong": ledger.wrong_pages,
        "attempts uneven": ledger.uneven_attempts,
        "files misplaced": ledger.misplaced,
        "kills that hit work in progress": ledger.hits,
        "pages kept from lost attempts": ledger.pages_kept,
        "false recoveries": ledger.false_recoveries,
        "child killed: seconds to take back (p50/p99/max)": _times(ledger.child_recovery),
        "worker killed: seconds to take back (p50/p99/max)": _times(ledger.worker_recovery),
    }
    rows = [{"what": what, "count": str(count)} for what, count in counts.items()]
    print_rows(rows, ["what", "count"], "table")


def _times(times: tuple[float, float, float] | None) -> str:
    return "none" if times is None else " / ".join(f"{seconds:.2f}" for seconds in times)
