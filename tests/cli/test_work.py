"""The commands that work: each ends when it should, says what it did, and drains on SIGTERM."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tests.metrics.scraping import free_port, scrape
from tests.queue.rows import until

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_docs" / "rechnung-metallbau.pdf"


def command(home: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "pipeline", "-C", str(home), *arguments]


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(home, *arguments), cwd=ROOT, env=_environment(), capture_output=True, text=True, timeout=60, check=False
    )


@contextmanager
def running(home: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command(home, *arguments), cwd=ROOT, env=_environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def drained(process: subprocess.Popen[str]) -> str:
    """What it said until it ended on a SIGTERM, with the exit code of an interrupted command."""
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    return said


def test_work_once_reads_what_is_ready_and_says_so(home: Path) -> None:
    assert run(home, "ingest", str(SAMPLE)).returncode == 0
    done = run(home, "work", "-n", "1", "--once")
    assert done.returncode == 0, done.stderr
    assert "read rechnung-metallbau.pdf in" in done.stderr
    assert "invoice, pages: 1, ok" in done.stderr


def test_work_drain_ends_when_nothing_is_left_anywhere(home: Path, engine: Engine) -> None:
    assert run(home, "ingest", str(SAMPLE)).returncode == 0
    assert run(home, "work", "--drain").returncode == 0
    with engine.connect() as connection:
        assert connection.execute(text("SELECT status FROM tasks")).scalars().all() == ["succeeded"]


def test_watch_once_takes_and_places_what_there_is(home: Path) -> None:
    (home / "inbox").mkdir(exist_ok=True)
    target = home / "inbox" / SAMPLE.name
    target.write_bytes(SAMPLE.read_bytes())
    for arguments in (["watch", "--once"], ["work", "--drain"], ["watch", "--once"]):
        done = run(home, *arguments)
        assert done.returncode == 0, done.stderr
    assert (home / "processed" / SAMPLE.name).read_bytes() == SAMPLE.read_bytes()
    assert not target.exists()


def test_sweep_once_tells_what_it_took_back(home: Path) -> None:
    done = run(home, "sweep", "--once")
    assert (done.returncode, done.stdout) == (0, "took back 0, extended 0 after an outage\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["work", "watch", "sweep", "run"])
def test_a_command_that_goes_on_drains_on_sigterm(home: Path, name: str) -> None:
    with running(home, name) as process:
        until(lambda: _catches_sigterm(process.pid))
        drained(process)


@pytest.mark.slow
def test_run_takes_reads_and_places_until_it_is_stopped(home: Path, engine: Engine) -> None:
    (home / "inbox").mkdir(exist_ok=True)
    with running(home, "run", "-n", "1") as process:
        (home / "inbox" / "in.part").write_bytes(SAMPLE.read_bytes())
        (home / "inbox" / "in.part").rename(home / "inbox" / "in.pdf")
        until((home / "processed" / "in.pdf").exists)
        assert "drained: nothing is left in hand" in drained(process)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT invoice_number FROM invoices")).scalars().all() == ["RE-2026-00731"]


def _catches_sigterm(pid: int) -> bool:
    """Whether it has come far enough to drain; proc(5) shows the caught signals as bits."""
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool(int(fields["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_a_worker_on_another_store_says_so_and_fails_no_document(home: Path, engine: Engine) -> None:
    assert run(home, "ingest", str(SAMPLE)).returncode == 0
    (home / "data/store").rename(home / "elsewhere")
    done = run(home, "work", "-n", "1", "--once")
    assert done.returncode == 7
    assert "the store has none of the files that wait" in done.stderr
    with engine.connect() as connection:
        assert connection.execute(text("SELECT status, attempt_no FROM tasks")).one() == ("enqueued", 0)


@pytest.mark.slow
def test_a_process_shows_its_metrics_while_it_runs_and_a_taken_port_is_told(home: Path) -> None:
    port = free_port()
    with running(home, "sweep", "--metrics-port", str(port)) as sweeper:
        until(lambda: _answers(port))
        assert scrape(port)["doclease_database_up"][""] == 1
        second = run(home, "sweep", "--metrics-port", str(port))
        drained(sweeper)
    assert second.returncode == 8
    assert "Each process needs a port of its own: --metrics-port" in second.stderr
    assert not _answers(port)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
