"""A child for counting pages is ready without what reading takes, and reads all the same when it is asked to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pipeline.config import WorkerSettings
from pipeline.worker.frames import Frame, job_frame
from pipeline.worker.process import ChildProcess
from pipeline.worker.provision import Provision
from tests.worker.shop import CHILD, ROOT

PATIENCE_SECONDS = 60.0
LOADED = """
import sys
from pipeline.documents import formats
from pipeline.worker import child
formats.discover()
print([name for name in sys.modules if name.split(".")[0] == "handlers" or name.startswith("pipeline.reading")])
"""


def test_nothing_that_finds_fields_is_loaded_to_count_pages() -> None:
    command = [sys.executable, "-c", LOADED]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_child_for_counting_counts_and_still_reads_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "document.sab"
    path.write_text("SABOTEUR\n\fPage 1.\fPage 2.", encoding="utf-8")
    child = ChildProcess(WorkerSettings(), CHILD)
    child.only_count()
    try:
        child.ensure()
        inspected = _answers(child, path, {"kind": "inspect", "name": path.name}, "inspected")
        job = job_frame(name=path.name, handler="auto", skip={}, depth=0, cpu_seconds=60)
        read = _answers(child, path, job, "finished")
    finally:
        child.kill()
    assert inspected[-1]["page_count"] == 2
    assert [frame["kind"] for frame in read] == ["opened", "page", "page", "finished"]


def _answers(child: ChildProcess, path: Path, request: Frame, last: str) -> list[Frame]:
    with path.open("rb") as file:
        child.assign(request, file, Provision())
    answers: list[Frame] = []
    while not answers or answers[-1]["kind"] != last:
        answer = child.receive(PATIENCE_SECONDS)
        assert answer is not None
        assert answer["kind"] != "refused", answer
        answers.append(answer)
    return answers
