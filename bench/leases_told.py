"""What bench/leases.py found, as figures, as one table for a page, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.leases_fleet import Outcome

COLUMNS = (
    "policy",
    "false recoveries",
    "sound documents never finished",
    "stuck p50",
    "stuck p99",
    "after a kill p99, leases alone",
    "… with presence",
    "until a hang is noticed p99",
    "renewals a document",
)


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a policy, a run a seed: judged by leases alone, and with presence."""

    name: str
    alone: Sequence[Outcome]
    present: Sequence[Outcome]

    @property
    def false(self) -> list[int]:
        """Attempts taken away though they lived, a run."""
        return [run.false_recoveries for run in self.alone]

    @property
    def unfinished(self) -> list[int]:
        """Documents without a fault of their own that never ended well, a run."""
        return [run.sound_unfinished for run in self.alone]

    @property
    def renewals(self) -> list[float]:
        """Renewals written for a document, a run."""
        return [run.renewals / max(run.finished, 1) for run in self.alone]

    @property
    def stuck(self) -> list[float]:
        """Seconds from a fault until the task was back in line."""
        return killed(self.alone) + hung(self.alone)


def killed(runs: Sequence[Outcome]) -> list[float]:
    """Seconds stuck after their worker was killed."""
    return [seconds for run in runs for seconds in run.after_evictions]


def hung(runs: Sequence[Outcome]) -> list[float]:
    """Seconds until it was noticed that a document hangs."""
    return [seconds for run in runs for seconds in run.after_hangs]


def quantile(values: Sequence[float], share: float) -> float:
    """That share of the values is below; 0 of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def figures(told: Told, *, has_goals: bool) -> Iterator[Figure]:
    """Of one policy."""
    name, none = told.name, 0.0 if has_goals else None
    documents = sum(run.documents for run in told.alone)
    lost = sum(run.hanging_unfinished for run in told.alone)
    p99 = [quantile(killed([run]) + hung([run]), 0.99) for run in told.alone]
    yield Figure(f"{name}: false recoveries", sum(told.false), "attempts", most=none, note=_spread(told.false))
    yield Figure(
        f"{name}: sound documents never finished",
        sum(told.unfinished),
        "documents",
        most=none,
        note=f"of {documents:,}; {_spread(told.unfinished)}",
    )
    yield Figure(f"{name}: hanging documents without a result", lost, "documents")
    yield Figure(f"{name}: time stuck, p50", quantile(told.stuck, 0.5), "s", note=f"{len(told.stuck)} faults")
    yield Figure(f"{name}: time stuck, p99", quantile(told.stuck, 0.99), "s", note=_spread(p99))
    yield Figure(f"{name}: after a kill, p99", quantile(killed(told.alone), 0.99), "s", note="leases alone")
    yield Figure(f"{name}: after a kill, p99", quantile(killed(told.present), 0.99), "s", note="with presence")
    yield Figure(f"{name}: until a hang is noticed, p50", quantile(hung(told.alone), 0.5), "s")
    yield Figure(f"{name}: until a hang is noticed, p99", quantile(hung(told.alone), 0.99), "s")
    mean = sum(told.renewals) / len(told.renewals)
    yield Figure(f"{name}: renewals a document", mean, "", note=_spread(told.renewals))


def page(found: Sequence[Told]) -> str:
    """One row a policy, in Markdown."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *(_row(told) for told in found)]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _row(told: Told) -> tuple[str, ...]:
    times = (
        quantile(told.stuck, 0.5),
        quantile(told.stuck, 0.99),
        quantile(killed(told.alone), 0.99),
        quantile(killed(told.present), 0.99),
        quantile(hung(told.alone), 0.99),
    )
    mean = sum(told.renewals) / len(told.renewals)
    return (
        told.name,
        f"{sum(told.false):,}",
        f"{sum(told.unfinished):,}",
        *(f"{each:,.0f} s" for each in times),
        f"{mean:.2g}",
    )


def plotted(found: Sequence[Told], path: Path) -> None:
    """Three panels of bars, a group a policy. Needs matplotlib (extra `bench`)."""
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 - an extra, and half a second

    canvas = Canvas(figsize=(13, 4.2), layout="constrained")
    wrong, stuck, written = canvas.subplots(1, 3)
    names = [told.name for told in found]
    _bars(
        wrong,
        names,
        {
            "false recoveries": [float(sum(told.false)) for told in found],
            "sound documents never finished": [float(sum(told.unfinished)) for told in found],
        },
    )
    wrong.set(title="what goes wrong, in all runs", xscale="symlog")
    _bars(
        stuck,
        names,
        {
            "a worker was killed, leases alone": [quantile(killed(told.alone), 0.99) for told in found],
            "… with presence": [quantile(killed(told.present), 0.99) for told in found],
            "a document hangs": [quantile(hung(told.alone), 0.99) for told in found],
        },
    )
    stuck.set(title="seconds until back in line, p99", xscale="log")
    _bars(written, names, {"renewals": [sum(told.renewals) / len(told.renewals) for told in found]})
    written.set(title="renewals a document")
    canvas.savefig(path, dpi=110, metadata={"Software": None})


def _bars(axes: Any, names: Sequence[str], series: dict[str, list[float]]) -> None:
    height = 0.8 / len(series)
    for index, (label, values) in enumerate(series.items()):
        places = [place + index * height for place in range(len(names))]
        told = [f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in values]
        axes.bar_label(axes.barh(places, values, height, label=label), told, fontsize=7, padding=2)
    axes.set_yticks([place + 0.4 - height / 2 for place in range(len(names))], names)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    if len(series) > 1:
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=len(series))


def _spread(values: Sequence[float]) -> str:
    return f"{min(values):.3g} to {max(values):.3g} in {len(values)} runs"
