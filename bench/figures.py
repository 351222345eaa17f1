"""What was measured, beside what it should be: printed as a table, kept as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One value. `most` and `least` are its goals, where it has any."""

    name: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None
    note: str = ""

    @property
    def goal(self) -> str:
        """In words; empty when there is none."""
        if self.most is not None:
            return f"<= {self.most:g}"
        return "" if self.least is None else f">= {self.least:g}"

    @property
    def verdict(self) -> str:
        """pass, or falls short; empty without a goal."""
        if not self.goal:
            return ""
        met = self.value <= self.most if self.most is not None else self.value >= (self.least or 0)
        return "pass" if met else "falls short"


@dataclass(frozen=True, slots=True)
class Table:
    """Figures that belong together."""

    title: str
    figures: Sequence[Figure]


def printed(tables: Sequence[Table]) -> str:
    """For a terminal."""
    return "\n\n".join(f"{table.title}\n\n{_aligned(_lines(table))}" for table in tables)


def markdown(tables: Sequence[Table]) -> str:
    """For a page of the documentation."""
    return "\n".join(f"**{table.title}**\n\n{_piped(_lines(table))}" for table in tables)


def to_json(tables: Sequence[Table]) -> str:
    """With the verdicts, and what it was measured on."""
    told = [
        {"title": table.title, "figures": [asdict(each) | {"verdict": each.verdict} for each in table.figures]}
        for table in tables
    ]
    return json.dumps({"machine": machine(), "tables": told}, indent=1) + "\n"


def from_json(text: str) -> list[Table]:
    """What `to_json` wrote."""
    return [
        Table(
            table["title"],
            [Figure(**{name: value for name, value in each.items() if name != "verdict"}) for each in table["figures"]],
        )
        for table in json.loads(text)["tables"]
    ]


def machine() -> str:
    """The processors, their load, and the interpreter."""
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {platform.machine()}, load {load:.1f}, Python {platform.python_version()}"


def tell(tables: Sequence[Table], json_file: Path | None) -> None:
    """Print, and write the JSON where it is wanted."""
    print(printed(tables))
    if json_file:
        json_file.write_text(to_json(tables), encoding="utf-8")


def add_json(options: argparse.ArgumentParser) -> None:
    """The option that every table has."""
    options.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")


def _lines(table: Table) -> list[tuple[str, ...]]:
    body = [(each.name, _number(each.value), each.unit, each.goal, each.verdict, each.note) for each in table.figures]
    lines = [("measure", "figure", "unit", "goal", "verdict", "note"), *body]
    used = [any(line[column] for line in lines[1:]) for column in range(len(lines[0]))]
    return [tuple(cell for cell, is_used in zip(line, used, strict=True) if is_used) for line in lines]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _piped(lines: Sequence[Sequence[str]]) -> str:
    rows = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)
