"""The parser child: its death is seen at once and told by cause, nothing of it is left, and it cannot do much harm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pipeline.config import WorkerSettings
from pipeline.documents.text import Page
from pipeline.reasons import Reason
from pipeline.worker.deaths import ChildDied, Death
from pipeline.worker.frames import MAX_FRAME_BYTES, Frame, encode, job_frame, page_of, stored_frames
from pipeline.worker.process import ChildProcess
from pipeline.worker.provision import Provision
from tests.worker.shop import CHILD, ROOT, is_alive, until

SETTINGS = WorkerSettings(max_memory_megabytes=400, recycle_memory_megabytes=300)
PATIENCE_SECONDS = 60.0


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    """A child that obeys saboteur documents."""
    process = ChildProcess(SETTINGS, CHILD)
    yield process
    process.kill()


@dataclass(frozen=True)
class _Job:
    path: Path
    frame: Frame
    stored: Sequence[Page] = ()


def _job(tmp_path: Path, order: str, *, cpu_seconds: float = 600) -> _Job:
    return _written(tmp_path, f"Page 1.\n!{order}", cpu_seconds=cpu_seconds)


def _written(tmp_path: Path, first: str, *, cpu_seconds: float = 600, stored: Sequence[Page] = ()) -> _Job:
    path = tmp_path / "document.sab"
    path.write_text(f"SABOTEUR\n\f{first}\fPage 2.", encoding="utf-8")
    frame = job_frame(
        name="document.sab",
        handler="auto",
        stored=len(stored),
        whole=len(stored),
        skip={},
        depth=0,
        cpu_seconds=cpu_seconds,
    )
    return _Job(path, frame, stored)


def _assign(child: ChildProcess, job: _Job) -> None:
    with job.path.open("rb") as file:
        child.assign(job.frame, file, Provision(), stored_frames(job.stored))


def _run(child: ChildProcess, job: _Job) -> list[Frame]:
    """All answers to a job. Raises ChildDied."""
    child.ensure()
    _assign(child, job)
    answers: list[Frame] = []
    while not answers or answers[-1]["kind"] not in ("finished", "refused"):
        answer = child.receive(PATIENCE_SECONDS)
        assert answer is not None, "the child neither answers nor dies"
        answers.append(answer)
    return answers


def _receive_all(child: ChildProcess) -> None:
    while child.receive(PATIENCE_SECONDS) is not None:
        pass


def _death(child: ChildProcess, job: _Job) -> Death:
    with pytest.raises(ChildDied) as died:
        _run(child, job)
    return died.value.death


@pytest.mark.parametrize(
    ("order", "reason", "error"),
    [
        ("segfault", Reason.CRASH, "the parser died of signal 11 (SIGSEGV)"),
        ("abort", Reason.CRASH, "the parser died of signal 6 (SIGABRT)"),
        ("kill", Reason.CRASH, "the parser died of signal 9 (SIGKILL)"),
        ("exit 7", Reason.CRASH, "the parser ended with exit code 7"),
        ("exit 0", Reason.CRASH, "the parser ended with exit code 0"),
        ("raise out of order", Reason.CRASH, "the parser ended with exit code 1: RuntimeError: out of order"),
        ("garbage", Reason.CRASH, "the parser answered nonsense: a frame of 4,294,967,295 bytes"),
        ("cpu 1", Reason.TIMEOUT, "the parser used up its processor time (SIGXCPU)"),
    ],
)
def test_a_death_is_told_by_its_cause(
    child: ChildProcess, tmp_path: Path, order: str, reason: Reason, error: str
) -> None:
    death = _death(child, _job(tmp_path, order))
    assert (death.reason, death.error) == (reason, error)
    assert child.pid is None


def test_the_processor_time_of_a_document_is_capped(child: ChildProcess, tmp_path: Path) -> None:
    assert _death(child, _job(tmp_path, "spin forever", cpu_seconds=0.1)).reason is Reason.TIMEOUT


def test_memory_is_capped_and_the_child_says_so(child: ChildProcess, tmp_path: Path) -> None:
    answers = _run(child, _job(tmp_path, "allocate 4000"))
    assert answers[-1]["reason"] == Reason.OUT_OF_MEMORY


SMALL_PARENT = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.worker.test_process import CHILD, SETTINGS, ChildProcess, _death, _job
child = ChildProcess(replace(SETTINGS, max_memory_megabytes=600), CHILD)
death = _death(child, _job(Path(sys.argv[1]), "swell 500"))
print(death.reason, death.peak_rss_bytes > 500_000_000, death.error[:28], sep="|")
"""


def test_a_library_that_dies_near_the_cap_died_of_memory(tmp_path: Path) -> None:
    # In a process of its own: under a parent as large as a whole test run, the kernel cannot say what the child held.
    command = [sys.executable, "-c", SMALL_PARENT, str(tmp_path)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert told == "out_of_memory|True|the parser died (SIGSEGV) ho\n"


def test_the_size_of_a_large_parent_is_not_taken_for_that_of_its_child(tmp_path: Path) -> None:
    held = b"x" * 450_000_000
    child = ChildProcess(replace(SETTINGS, max_memory_megabytes=400), CHILD)
    death = _death(child, _job(tmp_path, "segfault"))
    assert (death.reason, death.peak_rss_bytes) == (Reason.CRASH, 0)
    assert _run(child, _job(tmp_path, "print"))[-1]["peak_rss_bytes"] < len(held)
    child.kill()


def test_a_death_is_seen_also_when_a_descendant_holds_the_pipe_open(child: ChildProcess, tmp_path: Path) -> None:
    child.ensure()
    _assign(child, _job(tmp_path, f"fork {tmp_path / 'pid'}"))
    until((tmp_path / "pid").exists)
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildDied) as died:
        _receive_all(child)
    assert died.value.death.error == "the parser died of signal 9 (SIGKILL)"


@pytest.mark.parametrize("order", ["fork", "spawn"])
def test_what_a_child_started_goes_with_it(child: ChildProcess, tmp_path: Path, order: str) -> None:
    _run(child, _job(tmp_path, f"{order} {tmp_path / 'pid'}"))
    descendant = int((tmp_path / "pid").read_text())
    assert is_alive(descendant)
    child.kill()
    until(lambda: not is_alive(descendant), "the end of the descendant")


def test_the_scratch_folder_is_private_and_goes_with_the_child(child: ChildProcess, tmp_path: Path) -> None:
    _run(child, _job(tmp_path, f"cwd {tmp_path / 'cwd'}"))
    scratch = Path((tmp_path / "cwd").read_text())
    assert scratch.parent == Path(tempfile.gettempdir())
    assert scratch.stat().st_mode & 0o077 == 0
    child.kill()
    assert not scratch.exists()


def test_a_child_knows_no_password_and_no_setting(
    child: ChildProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "open-sesame")
    monkeypatch.setenv("DOCLEASE_DATABASE_URL", "postgresql://me:open-sesame@host/name")
    _run(child, _job(tmp_path, f"tell {tmp_path / 'told'}"))
    told = (tmp_path / "told").read_text()
    assert "HOME=" in told
    assert "open-sesame" not in told
    assert "DOCLEASE" not in told


def test_a_child_reaches_no_network_where_it_says_so(child: ChildProcess, tmp_path: Path) -> None:
    _run(child, _job(tmp_path, f"tell {tmp_path / 'told'}"))
    if "no_network" not in child.measures:
        pytest.skip("this host does not allow a network namespace")
    # With a network, port 9 of this host refuses; without one, there is no way there.
    assert "reach=OSError 101" in (tmp_path / "told").read_text()


def test_what_libraries_print_does_not_end_up_between_frames(child: ChildProcess, tmp_path: Path) -> None:
    kinds = [answer["kind"] for answer in _run(child, _job(tmp_path, "print"))]
    assert kinds == ["opened", "page", "page", "finished"]


def test_a_large_document_travels_both_ways(child: ChildProcess, tmp_path: Path) -> None:
    words = "word " * 400_000
    pages = [page_of(each["page"]) for each in _run(child, _written(tmp_path, words))[1:3]]
    assert len(pages[0].text) == 2_000_000
    assert [each["kind"] for each in _run(child, _written(tmp_path, words, stored=pages))] == ["opened", "finished"]


def test_more_stored_pages_than_a_frame_can_hold_travel_in_several(child: ChildProcess, tmp_path: Path) -> None:
    many = [Page(number, "word " * 150_000, engine="e") for number in range(1, 31)]
    frames = list(stored_frames(many))
    assert [page_of(page) for frame in frames for page in frame["pages"]] == many
    assert max(len(encode(frame)) for frame in frames) < MAX_FRAME_BYTES / 20
    path = tmp_path / "document.sab"
    path.write_text("SABOTEUR" + "\n\fPage." * 31, encoding="utf-8")
    frame = job_frame(name="document.sab", handler="auto", stored=30, whole=30, skip={}, depth=0, cpu_seconds=600)
    answers = _run(child, _Job(path, frame, many))
    assert [each["kind"] for each in answers] == ["opened", "page", "finished"]
    assert answers[1]["page"]["number"] == 31


def test_a_child_is_replaced_after_so_many_documents(tmp_path: Path) -> None:
    child = ChildProcess(replace(SETTINGS, max_documents_per_child=2), CHILD)
    pids = []
    for _ in range(5):
        _run(child, _job(tmp_path, "print"))
        pids.append(child.pid)
    child.kill()
    assert [pids[0] == pids[1], pids[1] == pids[2], pids[2] == pids[3], pids[3] == pids[4]] == [
        True, False, True, False,
    ]  # fmt: skip


def test_a_child_that_grew_is_replaced(tmp_path: Path) -> None:
    child = ChildProcess(replace(SETTINGS, recycle_memory_megabytes=1), CHILD)
    _run(child, _job(tmp_path, "print"))
    first = child.pid
    child.ensure()
    assert child.pid not in (None, first)
    child.kill()


def test_a_child_that_died_in_between_is_replaced(child: ChildProcess, tmp_path: Path) -> None:
    child.ensure()
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    until(lambda: not is_alive(child.pid or 0))
    assert _run(child, _job(tmp_path, "print"))[-1]["kind"] == "finished"


def test_a_child_that_cannot_be_started_is_a_death_with_a_cause(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(ChildDied, match="no parser process can be started"):
        ChildProcess(SETTINGS, CHILD).ensure()


def test_a_module_that_does_not_come_up_is_a_death_with_a_cause() -> None:
    with pytest.raises(ChildDied, match=r"exit code 1.*No module named"):
        ChildProcess(SETTINGS, "tests.worker.nothing").ensure()


def test_a_child_dies_with_the_thread_that_started_it(child: ChildProcess) -> None:
    pids: list[int | None] = []

    def start() -> None:
        child.ensure()
        pids.append(child.pid)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    until(lambda: not is_alive(pids[0] or 0), "the end of the child")


_PARENT = f"""
import sys
from pipeline.config import WorkerSettings
from pipeline.worker.process import ChildProcess
child = ChildProcess(WorkerSettings(), {CHILD!r})
child.ensure()
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    until(lambda: not is_alive(pid), "the end of the child")
