"""The parts of the documentation that say what the code says: rendered from it, so that they cannot differ.

A block stands between `<!-- name -->` and `<!-- end of name -->`. `python -m tests.rendering` rewrites all of them.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from bench.peers.table import markdown
from pipeline.cli import COMMANDS, main
from pipeline.metrics import catalogue
from pipeline.queue.states import TRANSITIONS, Status
from pipeline.reasons import Owner, Reason, Retry
from tests.model.lease_surroundings import explored
from tests.model.lease_variants import COVERED, MUTANTS
from tests.model.telling import told

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"(?P<start><!-- (?P<name>[a-z ]+) -->\n).*?(?P<end><!-- end of (?P=name) -->)", re.DOTALL)
TOLD = (
    "a completion asks only that it is in work",
    "the sweep selects, then updates by id",
    "a write asks for no page that the holder knows to be stored",
)
_RETRY = {Retry.NEVER: "no", Retry.TRANSIENT: "after a wait", Retry.SUSPECT: "alone, in small steps"}
_OWNER = {Owner.NOBODY: "", Owner.USER: "who sent it", Owner.OPERATOR: "operator", Owner.BUG: "doclease: report it"}


def documents() -> list[Path]:
    """Every page of the documentation, the README included."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return sorted([*(path for path in found if path.exists()), *(ROOT / "docs").rglob("*.md")])


def rendered(text: str) -> str:
    """The page with its blocks rewritten."""
    return _BLOCK.sub(lambda block: block["start"] + BLOCKS[block["name"]]() + block["end"], text)


def transitions() -> str:
    """The moves of tasks.status and the statements that make them."""
    rows = []
    for status in Status:
        for other in Status:
            moved_by = TRANSITIONS.get((status, other))
            if moved_by:
                rows.append((f"`{status}`", f"`{other}`", ", ".join(f"`{each}.sql`" for each in _moved_by(moved_by))))
    return _table(("from", "to", "by"), rows)


def reasons() -> str:
    """Every reason, whether it is tried again, whose turn it is, what it means."""
    rows = [(f"`{each.value}`", _RETRY[each.retry], _OWNER[each.owner], each.help) for each in Reason]
    return _table(("reason", "tried again by itself", "whose turn", "what it means and what to do"), rows)


def metrics() -> str:
    """Every metric, its label, and what it counts or measures."""
    every = (*catalogue.COUNTERS, *catalogue.OWN_GAUGES, *catalogue.SHARED_GAUGES)
    rows = [(f"`{each.name}`", f"`{each.label}`" if each.label else "", each.help) for each in every]
    return _table(("metric", "label", "what it counts or measures"), rows)


def worlds() -> str:
    """The worlds in which the lease protocol was explored, and how many states each has."""
    rows = [(name + (" (by hand)" if each.by_hand else ""), f"{each.states:,}") for name, each in COVERED.items()]
    return _table(("world", "states"), rows)


def mutants() -> str:
    """The guards whose lack the model notices, and what breaks."""
    return _table(("left out or weaker", "breaks"), [(name, each.breaks) for name, each in MUTANTS.items()])


def traces() -> str:
    """The shortest ways to the faults of a few mutants."""
    return "\n".join(_trace(name) for name in TOLD)


def _trace(name: str) -> str:
    mutant = MUTANTS[name]
    found, _ = explored(mutant.design, mutant.setting, wanted=mutant.breaks)
    steps = [f"{number}. {label}" for number, label in enumerate(told(found.traces[mutant.breaks]), start=1)]
    return "\n".join([f"*{name}*:", "", *steps, "", f"{mutant.breaks}.", ""])


def commands() -> str:
    """Every command with its help and its options."""
    root = click.Context(main, info_name="doclease")
    below = [leaf for name in COMMANDS for leaf in leaves(name)]
    return "\n".join(_section(command, context) for command, context in [(main, root), *below])


def leaves(name: str) -> Iterator[tuple[click.Command, click.Context]]:
    """A command of doclease, or the commands below it."""
    yield from _leaves(main, click.Context(main, info_name="doclease"), name)


def _leaves(group: click.Group, context: click.Context, name: str) -> Iterator[tuple[click.Command, click.Context]]:
    command = group.get_command(context, name)
    assert command is not None, name
    inner = click.Context(command, info_name=name, parent=context)
    if isinstance(command, click.Group):
        for each in command.list_commands(inner):
            yield from _leaves(command, inner, each)
    else:
        yield command, inner


def _section(command: click.Command, context: click.Context) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    lines = [f"#### `{usage}`", ""]
    for paragraph in paragraphs:
        lines += [" ".join(paragraph.split()), ""]
    options = [record for each in command.params if (record := _option(each, context))]
    return "\n".join(lines) + ("\n" + _table(("option", "meaning"), options) if options else "")


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
    return None if record is None else (f"`{record[0]}`", " ".join(record[1].split()))


def _moved_by(names: str) -> list[str]:
    """The statement files: a release is a decision of settle.py that fail.sql carries out."""
    return sorted({"fail" if name == "release" else name for name in names.split(", ")})


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def recovery() -> str:
    """What `python -m bench.recovery` measured when it was last recorded."""
    return markdown(json.loads((ROOT / "bench/recovery.json").read_text(encoding="utf-8")))


BLOCKS: Mapping[str, Callable[[], str]] = {
    "transitions": transitions,
    "reasons": reasons,
    "metrics": metrics,
    "commands": commands,
    "recovery": recovery,
    "worlds of the model": worlds,
    "mutants of the model": mutants,
    "traces of the model": traces,
}


def rewrite() -> None:
    """Bring every page up to date."""
    for path in documents():
        before = path.read_text(encoding="utf-8")
        after = rendered(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            click.echo(f"rewrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    rewrite()
