"""The figures that have a goal, as a picture: how much of the goal each uses, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure, Table

PASS, SHORT = "#2a7f4f", "#c2572b"


def plotted(tables: Sequence[Table], path: Path) -> None:
    """Draw bars to the goal: at 1 it is just met, beyond it falls short. A goal of 0 has no share that could be drawn.

    Needs matplotlib (extra `bench`).
    """
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 - an extra, and half a second

    bars = [(f"{table.title}: {each.name}", used(each)) for table in tables for each in _drawn(table)]
    canvas = Canvas(figsize=(11, 1.2 + 0.3 * len(bars)), layout="constrained")
    axes = canvas.subplots()
    names, values = [name for name, _ in bars][::-1], [value for _, value in bars][::-1]
    axes.barh(names, values, color=[PASS if value <= 1 else SHORT for value in values])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("share of the goal that is used: left of 1 it passes")
    axes.tick_params(axis="y", labelsize=7)
    canvas.savefig(path, dpi=110, metadata={"Software": None})


def _drawn(table: Table) -> Sequence[Figure]:
    return [each for each in table.figures if each.most or each.least]


def used(figure: Figure) -> float:
    """1 where the goal is just met, more where it is missed."""
    if figure.most is not None:
        return max(figure.value / figure.most, 0.01)
    return (figure.least or 0) / max(figure.value, 1e-9)
