"""P10: untrusted bytes are parsed only in a child process with capped memory and time and without network."""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.config import WorkerSettings
from pipeline.worker.confining import calls
from pipeline.worker.frames import Frame, job_frame, page_of
from pipeline.worker.measures import probe
from pipeline.worker.process import ChildProcess
from pipeline.worker.provision import Provision
from tests.worker import attempts, traitor_child
from tests.worker.shop import ROOT

pytestmark = pytest.mark.slow

SETTINGS = WorkerSettings(max_memory_megabytes=700)
PATIENCE_SECONDS = 60.0
CPU_SECONDS = 50.0
# Import of these is how untrusted bytes would come to be parsed in a process that holds the database's password.
PARSERS = ("pypdf", "pypdfium2", "lxml", "numpy", "faster_paddle", "python_calamine")
IMPORT = f"""
import importlib, pkgutil, sys
import pipeline.app, pipeline.cli
for module in pkgutil.walk_packages(pipeline.cli.__path__, "pipeline.cli."):
    importlib.import_module(module.name)
print(*[name for name in {PARSERS} if name in sys.modules])
"""

Start = Callable[..., ChildProcess]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a parser as a worker does."""
    started: list[ChildProcess] = []

    def _start(*module: str) -> ChildProcess:
        started.append(ChildProcess(SETTINGS, *module))
        started[-1].ensure()
        return started[-1]

    yield _start
    for each in started:
        each.kill()


def _read(child: ChildProcess, path: Path) -> list[Frame]:
    frame = job_frame(name=path.name, handler="auto", skip={}, depth=0, cpu_seconds=CPU_SECONDS)
    with path.open("rb") as file:
        child.assign(frame, file, Provision())
    answers: list[Frame] = []
    while not answers or answers[-1]["kind"] not in ("finished", "refused"):
        answer = child.receive(PATIENCE_SECONDS)
        assert answer is not None, "the child neither answers nor dies"
        answers.append(answer)
    return answers


def _texts(answers: list[Frame]) -> list[str]:
    return [page_of(answer["page"]).text for answer in answers if answer["kind"] == "page"]


def _status(pid: int | None) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_a_worker_parses_with_every_measure_that_the_host_grants(start: Start) -> None:
    granted = probe()
    child = start()
    assert sorted(child.measures) == sorted(granted)
    if platform.machine() in calls.MACHINES:
        assert "no_network" in granted


def test_the_kernel_says_so_too(start: Start) -> None:
    child = start()
    status = _status(child.pid)
    facts = {
        "no_new_privileges": status["NoNewPrivs"] == "1",
        "no_processes": status["Seccomp"] == "2",
        "no_capabilities": int(status["CapEff"], 16) == 0 == int(status["CapPrm"], 16),
        "own_group": os.getpgid(child.pid or 0) == child.pid,
    }
    assert {name for name, holds in facts.items() if holds} == set(facts) & set(child.measures)


def test_its_memory_and_its_time_are_capped(start: Start, tmp_path: Path) -> None:
    child = start(traitor_child.MODULE)
    _read(child, _traitor(tmp_path))
    limits = Path(f"/proc/{child.pid}/limits").read_text(encoding="ascii")
    assert _limit(limits, "Max address space") == SETTINGS.max_memory_megabytes << 20
    assert _limit(limits, "Max cpu time") <= CPU_SECONDS + PATIENCE_SECONDS


def test_a_parser_that_was_taken_over_can_do_nothing(start: Start, tmp_path: Path) -> None:
    child = start(traitor_child.MODULE)
    if not {"own_files_only", "no_processes"} <= set(child.measures):
        pytest.skip("this host grants too few measures")
    document = _traitor(tmp_path)
    answers = _read(child, document)
    assert answers[-1]["reason"] == "ok", answers[-1]
    outcomes = dict(zip(attempts.FORBIDDEN, _texts(answers), strict=True))
    assert {name: text for name, text in outcomes.items() if text not in ("EPERM", "EACCES", "ENOSYS")} == {}
    assert attempts.is_unharmed(tmp_path / "outside")


def test_a_parser_reads_what_it_is_given_where_only_its_parent_may_look(start: Start, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    document = private / "invoice.pdf"
    document.write_bytes((ROOT / "sample_docs" / "invoice-eur-plain.pdf").read_bytes())
    document.chmod(0o600)
    answers = _read(start(), document)
    assert "invoice" in " ".join(_texts(answers)).lower()


def test_no_command_loads_a_parser_into_the_process_that_holds_the_password() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run([sys.executable, "-c", IMPORT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def _traitor(folder: Path) -> Path:
    outside = folder / "outside"
    attempts.lay_out(outside)
    document = folder / "document.traitor"
    document.write_bytes(traitor_child.HEAD + str(outside).encode())
    return document


def _limit(limits: str, name: str) -> int:
    found = re.search(rf"^{name} +(\S+)", limits, re.MULTILINE)
    assert found
    return resource.RLIM_INFINITY if found[1] == "unlimited" else int(found[1])
