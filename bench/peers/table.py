"""The tables of what was measured, from its JSON: one a fault, for a terminal or for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.peers.adapter import DONE, ENDED_BADLY, RUNNING, WAITING

Measured = Sequence[Mapping[str, Any]]
Column = Callable[["Group"], str]


@dataclass(frozen=True, slots=True)
class Group:
    """The repeats of one row under one fault."""

    row: Mapping[str, Any]
    measured: Measured

    def values(self, name: str) -> list[Any]:
        """A measure of every repeat."""
        return [each.get(name) for each in self.measured]

    def total(self, name: str) -> int:
        """The sum of a count."""
        return sum(int(value or 0) for value in self.values(name))

    def seconds(self, *names: str) -> str:
        """From the least to the most of some measures, in words where it did not happen at all or not always."""
        values = [value for name in names for value in self.values(name)]
        known = [value for value in values if value is not None]
        if not known:
            return f"not within {self.row['patience']:g} s"
        least, most = min(known), max(known)
        told = f"{most:.1f} s" if f"{least:.1f}" == f"{most:.1f}" else f"{least:.1f} to {most:.1f} s"
        return told if len(known) == len(values) else f"{told}, or not within {self.row['patience']:g} s"


@dataclass(frozen=True, slots=True)
class Table:
    """One fault."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def tables(results: Mapping[str, Any]) -> Iterator[Table]:
    """One for each fault that was measured."""
    for scenario, (title, columns) in _FAULTS.items():
        groups = [_group(row, scenario, results["cells"]) for row in results["rows"]]
        lines = tuple(_line(group, columns) for group in groups if group.measured)
        if lines:
            yield Table(title, ("queue", *columns), lines)


def printed(results: Mapping[str, Any]) -> str:
    """For a terminal."""
    return "\n\n".join(_aligned(table) for table in tables(results))


def markdown(results: Mapping[str, Any]) -> str:
    """For a page of the documentation, with the settings in front."""
    settings = tuple((row["name"], row["setting"], f"[page]({_target(row['link'])})") for row in results["rows"])
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    parts = [
        f"Measured on {results['date']}: {versions}.\n",
        _rendered(("queue", "setting (default)", "see"), settings),
    ]
    for table in tables(results):
        parts.append(f"\n**{table.title}**\n\n{_rendered(table.head, table.lines)}")
    return "\n".join(parts)


def _group(row: Mapping[str, Any], scenario: str, cells: Sequence[Mapping[str, Any]]) -> Group:
    mine = [cell["measures"] for cell in cells if (cell["row"], cell["scenario"]) == (row["name"], scenario)]
    return Group(row, mine)


def _line(group: Group, columns: Mapping[str, Column]) -> tuple[str, ...]:
    errors = [each["error"] for each in group.measured if "error" in each]
    if errors:
        return (group.row["name"], f"not measured: {errors[0]}", *[""] * (len(columns) - 1))
    return (group.row["name"], *(column(group) for column in columns.values()))


def _aligned(table: Table) -> str:
    widths = [max(map(len, column)) for column in zip(table.head, *table.lines, strict=True)]
    rule = tuple("-" * width for width in widths)
    rows = (table.head, rule, *table.lines)
    body = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([table.title, "", *body])


def _rendered(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def _target(link: str) -> str:
    return link.removeprefix("docs/")


# What a column says of a group


def _undone(group: Group) -> str:
    told = [f"{count} {name}" for name in ("lost", "stuck") if (count := group.total(name))]
    return f"{' and '.join(told)} of {group.total('tasks')}" if told else "0"


def _twice(group: Group) -> str:
    return f"{group.total('done_twice')} of {group.total('tasks')}"


def _stale(group: Group) -> str:
    words = {True: "**accepted**", False: "refused", None: "no second attempt"}
    return _each(words[value] for value in group.values("stale_accepted"))


def _hung_one(group: Group) -> str:
    return _each("killed" if ended else "goes on" for ended in group.values("hung_one_ended"))


def _hung_task(group: Group) -> str:
    return _each(
        _outcome(each["state"], each["begun_again"] is not None, each["hung_one_ended"]) for each in group.measured
    )


def _outcome(state: str, again: bool, killed: bool) -> str:
    if state == ENDED_BADLY:
        return "failed"
    if state == DONE or again:
        return "done by its second attempt"
    if state in (RUNNING, WAITING):
        return "still in work"
    return "given up" if killed else "forgotten"


def _meanwhile(group: Group) -> str:
    known = [value for value in group.values("begun_again") if value is not None]
    return f"after {group.seconds('begun_again')}" if known else "no"


def _slow_done(group: Group) -> str:
    return _each("yes" if value is not None else "never" for value in group.values("done"))


def _others(group: Group) -> str:
    return group.seconds("others_done_after")


def _executions(group: Group) -> str:
    return " and ".join(map(str, group.values("executions")))


def _verdict(group: Group) -> str:
    return _each(_poisoned(each, group.row["patience"]) for each in group.measured)


def _poisoned(measured: Mapping[str, Any], patience: float) -> str:
    if measured["over_after"] is not None:
        return "stopped, on record" if measured["state"] == ENDED_BADLY else "gone from the queue"
    return "stuck in work" if measured["executions"] == 1 else f"not stopped within {patience:g} s"


def _worker(group: Group) -> str:
    return _each(group.values("worker"))


def _open(group: Group) -> str:
    return str(group.total("open"))


def _each(words: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(words))


_FAULTS: Mapping[str, tuple[str, Mapping[str, Column]]] = {
    "kill": (
        "A worker and its children are killed (kill -9) in the middle of tasks; another one is there",
        {
            "begun again after": lambda group: group.seconds("begun_again_median", "begun_again"),
            "never done": _undone,
            "effect took place twice": _twice,
        },
    ),
    "child": (
        "Only the process that runs a task is killed (kill -9): a child, or the worker itself where it has none",
        {
            "begun again after": lambda group: group.seconds("begun_again"),
            "never done": _undone,
            "effect took place twice": _twice,
        },
    ),
    "freeze": (
        "A worker is frozen (SIGSTOP) in the middle of a task, and thawed while another is at work on the same task",
        {
            "taken over after": lambda group: group.seconds("taken_over"),
            "the stale worker's report": _stale,
            "effect took place twice": _twice,
        },
    ),
    "hang": (
        "A task hangs for ever and ignores exceptions",
        {
            "taken away after": lambda group: group.seconds("taken_away"),
            "the hung execution": _hung_one,
            "the task": _hung_task,
        },
    ),
    "slow": (
        "A healthy task goes on for longer than every time-out, a step a second; another worker is idle",
        {
            "it takes": lambda group: _each(f"{value} s" for value in group.values("takes")),
            "begun again meanwhile": _meanwhile,
            "done": _slow_done,
            "effect took place twice": _twice,
        },
    ),
    "poison": (
        "A task kills the process it runs in, every time; workers that die are restarted",
        {"executions": _executions, "the task": _verdict, "four tasks behind it were done after": _others},
    ),
    "restart": (
        "The server crashes and is back after 4 s; two tasks end while it is away, four wait in line",
        {
            "the worker": _worker,
            "all done after": lambda group: group.seconds("done"),
            "never done": _undone,
            "effect took place twice": _twice,
            "done, but still in work for the queue": _open,
        },
    ),
}
