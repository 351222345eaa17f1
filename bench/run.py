"""Every table there is: `python bench/run.py [--quick] [--only LIST] [--corpus FOLDER] [--results FOLDER] [--page]`

Tables with goals come first, each measure beside its goal; then what the other modules of bench print. --quick takes
only those with goals, with fewer samples and smaller piles: a quarter of an hour on a quiet machine with the peers'
environments made (`python -m bench.peers.venvs` makes them). --page writes them and their plot to docs/performance.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if sys.path[0] == str(ROOT / "bench"):  # a script's folder comes first, and bench/queue.py bears the name of a module
    sys.path[0] = str(ROOT)

import argparse  # noqa: E402
import datetime as dt  # noqa: E402
import os  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402

from bench.figures import Table, from_json, markdown, printed  # noqa: E402
from bench.plot import plotted  # noqa: E402

PAGE, PLOT = ROOT / "docs" / "performance.md", ROOT / "docs" / "performance.png"
BEGIN, END = "<!-- measured -->", "<!-- measured until here -->"
CORPUS = "CORPUS"


@dataclass(frozen=True, slots=True)
class Step:
    """One module of bench. `has_goals`: it writes figures as JSON; else what it prints is its table.

    `has_page`: its tables are on a page of their own, which it writes itself.
    """

    name: str
    arguments: tuple[str, ...]
    quick: tuple[str, ...] = ()
    has_goals: bool = False
    has_page: bool = False

    def command(self, *, is_quick: bool, corpus: Path | None, json_file: Path) -> list[str]:
        """How it is run; `quick` stands in for what it would take in full."""
        given = [
            *self.arguments,
            *(self.quick if is_quick else ()),
            *(["--json", str(json_file)] if self.has_goals else ()),
        ]
        return [sys.executable, *(each.replace(CORPUS, str(corpus)) for each in given)]


STEPS = (
    Step("growth", ("-m", "bench.growth"), ("--quick",), has_goals=True),
    Step("queue", ("-m", "bench.queue"), ("--quick",), has_goals=True),
    Step("intake", ("-m", "bench.intake"), ("--quick",), has_goals=True),
    Step("pickup", ("-m", "bench.pickup"), ("--quick",), has_goals=True),
    Step("recovering", ("-m", "bench.recovering"), ("--quick",), has_goals=True),
    Step("leases", ("-m", "bench.leases"), ("--quick",), has_goals=True),
    Step("pipeline", ("bench/pipeline.py",), ("--quick",), has_goals=True),
    Step("extraction", ("-m", "bench.extraction"), ("--quick",), has_goals=True),
    Step("recognition", ("-m", "bench.ocr_figures"), ("--quick",), has_goals=True),
    Step("scaling", ("-m", "bench.scaling"), ("--quick",), has_goals=True, has_page=True),
    Step("views", ("-m", "bench.views")),
    Step("memory", ("-m", "bench.memory", "drawn")),
    Step("recovery", ("-m", "bench.recovery")),
    Step("layout", ("bench/layout.py", CORPUS)),
    Step("fields", ("-m", "bench.fields", f"{CORPUS}/invoices_pdf", "--half", "dev")),
    Step("contracts", ("-m", "bench.contracts", f"{CORPUS}/contracts", "--half", "dev")),
    Step("ocr", ("-m", "bench.ocr", CORPUS, "--quiet")),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step told."""

    step: Step
    tables: Sequence[Table]
    text: str
    seconds: float


def run(step: Step, folder: Path, *, is_quick: bool, corpus: Path | None) -> Outcome:
    """One step in a process of its own; what went wrong is its text."""
    started, json_file = time.monotonic(), folder / f"{step.name}.json"
    command = step.command(is_quick=is_quick, corpus=corpus, json_file=json_file)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    if done.returncode:
        words = done.stderr.strip().splitlines() or ["it says nothing"]
        return Outcome(step, (), f"not measured: {words[-1]}", seconds)
    (folder / f"{step.name}.txt").write_text(done.stdout, encoding="utf-8")
    tables = from_json(json_file.read_text(encoding="utf-8")) if step.has_goals else []
    return Outcome(step, tables, "" if tables else done.stdout, seconds)


def outcomes(steps: Sequence[Step], folder: Path, *, is_quick: bool, corpus: Path | None) -> Iterator[Outcome]:
    """All of them in turn, each printed as it comes."""
    for step in steps:
        found = run(step, folder, is_quick=is_quick, corpus=corpus)
        print(f"\n== {step.name} ({found.seconds:.0f} s)\n\n{printed(found.tables) or found.text}", flush=True)
        yield found


def write_page(tables: Sequence[Table], plot: Path) -> None:
    """Put the tables between the page's marks, with the machine and the date."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    told = f"Measured on {dt.datetime.now(dt.UTC).date().isoformat()}: {_machine()}.\n\n{markdown(tables)}"
    PAGE.write_text(f"{before}{BEGIN}\n{told}{END}{after}", encoding="utf-8")
    plotted(tables, plot)


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} cores of {names[0] if names else 'an unknown processor'}, load {os.getloadavg()[2]:.1f}"


def _wanted(only: str | None, *, is_quick: bool, has_corpus: bool) -> list[Step]:
    """The steps that are named; else all, with --quick those that have goals."""
    named = [step for step in STEPS if (step.name in only.split(",") if only else step.has_goals or not is_quick)]
    return [step for step in named if has_corpus or not any(CORPUS in each for each in step.arguments)]


def main() -> None:
    """Run what was asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer samples, smaller piles")
    options.add_argument("--only", help=f"of {','.join(step.name for step in STEPS)}, joined by commas")
    options.add_argument("--corpus", type=Path, help="labelled documents, for layout, fields, contracts and ocr")
    options.add_argument("--results", type=Path, help="keep JSON and text in this folder")
    options.add_argument("--page", action="store_true", help="write docs/performance.md and its plot")
    chosen = options.parse_args()
    wanted = _wanted(chosen.only, is_quick=chosen.quick, has_corpus=chosen.corpus is not None)
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = chosen.results or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        found = list(outcomes(wanted, folder, is_quick=chosen.quick, corpus=chosen.corpus))
    tables = [table for outcome in found if not outcome.step.has_page for table in outcome.tables]
    if chosen.page and tables:
        write_page(tables, PLOT)


if __name__ == "__main__":
    main()
