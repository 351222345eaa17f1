"""`chaos`: proof that nothing is lost, doubled or stuck, on this machine, now."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from pipeline.cli.output import print_rows
from pipeline.trials.chaos import Chaos, default_seconds
from pipeline.trials.faults import KINDS
from pipeline.trials.ledger import Ledger
from pipeline.trials.recoveries import Times

NOTES_SHOWN = 20


def _kinds(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    kinds = KINDS if value == "all" else tuple(each.strip() for each in value.split(",") if each.strip())
    unknown = [each for each in kinds if each not in KINDS]
    if unknown:
        raise click.BadParameter(f"there is no fault {unknown[0]!r}; there are {', '.join(KINDS)}")
    return kinds


@click.command(short_help="Break everything at random while documents go through.")
@click.option("--documents", type=click.IntRange(1), default=100, show_default=True, help="Documents to put in.")
@click.option("--seconds", type=click.FloatRange(1), help="How long to break things for (default: by documents).")
@click.option("--seed", type=int, help="Repeat the choices of a run (default: a new one, printed).")
@click.option("--faults", default="all", show_default=True, callback=_kinds, help=f"Of {', '.join(KINDS)}.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Run in this folder and leave it.")
@click.pass_context
def chaos(
    ctx: click.Context,
    *,
    documents: int,
    seconds: float | None,
    seed: int | None,
    faults: tuple[str, ...],
    keep: Path | None,
) -> None:
    """Break everything at random while documents go through; then close the books.

    Processes are killed, frozen and told to end, the database is restarted, connections are cut and answers lost,
    clocks are wrong, files arrive in pieces. Exit code 0 when nothing is lost, doubled, stuck or late, else 1.
    """
    length = default_seconds(documents) if seconds is None else seconds
    run = Chaos(documents, length, secrets.randbelow(10**6) if seed is None else seed, click.echo, faults)
    began = time.monotonic()
    if keep is not None:
        ledger, _ = run.run(keep)
    else:
        with tempfile.TemporaryDirectory(prefix="doclease-chaos-") as folder:
            Path(folder).chmod(0o755)  # the database server may run as another user
            ledger, _ = run.run(Path(folder) / "trial")
    _print(ledger, time.monotonic() - began)
    ctx.exit(0 if ledger.balances and ledger.is_in_time else 1)


def _print(ledger: Ledger, seconds: float) -> None:
    rows = [{"what": what, "count": count} for what, count in _lines(ledger, seconds)]
    print_rows(rows, ["what", "count"], "table")
    for note in ledger.notes[:NOTES_SHOWN]:
        click.echo(f"! {note}", err=True)
    if len(ledger.notes) > NOTES_SHOWN:
        click.echo(f"! and {len(ledger.notes) - NOTES_SHOWN} more", err=True)


def _lines(ledger: Ledger, seconds: float) -> Iterator[tuple[str, str]]:
    yield "documents", str(ledger.documents)
    for what, count in ledger.wrong.items():
        yield what, str(count)
    yield "false recoveries with a cause", str(ledger.recoveries.late)
    yield "attempts that were lost", str(ledger.hits)
    yield "pages kept from lost attempts", str(ledger.pages_kept)
    yield "starts put off by an outage", str(ledger.put_off_starts)
    yield from _times("child died", ledger.recoveries.child)
    yield from _times("lease ran out", ledger.recoveries.lease)
    yield "seconds", f"{seconds:.0f}"


def _times(what: str, times: Times | None) -> Iterator[tuple[str, str]]:
    if times is None:
        yield f"{what}: seconds to take back", "none"
        return
    yield (
        f"{what}: seconds to take back (p50/p99/max of {times.count})",
        f"{times.p50:.3f} / {times.p99:.3f} / {times.longest:.3f}",
    )
    yield f"{what}: above {times.bound:g} s", str(times.above)
