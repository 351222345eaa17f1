"""What a trial does is drawn from its seed, and files reach the inbox in every way that people have."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.trials import clocks, feeding
from pipeline.trials.faults import DECK, KINDS, choices
from pipeline.trials.feeding import WAYS, Delivery, Feeder, Paper
from pipeline.trials.paper import make_pdf, marker


def test_the_same_seed_draws_the_same_faults() -> None:
    first, again, other = (list(itertools.islice(choices(seed, KINDS), 100)) for seed in (1, 1, 2))
    assert first == again != other


def test_every_fault_comes_up_in_each_round() -> None:
    size = sum(times for _, times in DECK)
    drawn = [choice.card for choice in itertools.islice(choices(3, KINDS), 2 * size)]
    for start in (0, size):
        assert set(drawn[start : start + size]) == {card for card, _ in DECK}


def test_only_the_faults_that_were_asked_for_are_drawn() -> None:
    assert {choice.card.kind for choice in itertools.islice(choices(3, ["cut", "kill"]), 50)} == {"cut", "kill"}
    assert list(choices(3, ["clocks", "pieces"])) == []


def plan(seed: int, *, in_pieces: bool = True) -> list[Delivery]:
    return feeding.plan(200, seed=seed, seconds=10, scale=1, in_pieces=in_pieces)


def test_the_same_seed_draws_the_same_deliveries() -> None:
    assert plan(1) == plan(1) != plan(2)
    assert {each.way for each in plan(1)} == set(WAYS)
    whole = plan(1, in_pieces=False)
    assert {each.way for each in whole} == {"whole"}
    assert [each.paper for each in whole] == [each.paper for each in plan(1)]


def test_papers_are_the_same_for_the_same_seed_and_marked_on_every_page() -> None:
    assert make_pdf(1, 3, 7) == make_pdf(1, 3, 7) != make_pdf(1, 3, 8)
    assert make_pdf(1, 3, 7).count(b"(document-000001 page-000") == 3
    assert marker(1, 2) != marker(2, 1)


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """An empty inbox, with the place beside it where files are made."""
    for name in ("inbox", "staged"):
        (tmp_path / name).mkdir()
    return tmp_path / "inbox"


def feeder(inbox: Path, *deliveries: Delivery) -> Feeder:
    """Brings these deliveries."""
    return Feeder(deliveries, seed=7, staged=inbox.parent / "staged", inbox=inbox, quiet_for_seconds=0.01)


def test_every_way_brings_the_whole_file(inbox: Path) -> None:
    ways = [Delivery(Paper(n, 2), 0, way, (0.1, 0.2, 0.3), Paper(n + 9, 2)) for n, way in enumerate(sorted(WAYS), 1)]
    feeding_thread = feeder(inbox, *ways)
    assert not feeding_thread.is_done()
    feeding_thread.start()
    feeding_thread.join(30)
    assert feeding_thread.is_done()
    contents = {path.read_bytes() for path in inbox.rglob("*.pdf")}
    assert contents == {make_pdf(each.paper.number, 2, 7) for each in ways}
    assert {paper.number for paper in feeding_thread.papers.values()} == {each.paper.number for each in ways}
    assert feeding_thread.withdrawn == 1


def test_a_version_that_was_taken_before_it_was_replaced_has_to_be_a_document_too(inbox: Path) -> None:
    bringing = feeder(inbox)
    steps = bringing._bring(Delivery(Paper(1, 1), 0, "replaced", (0.1, 0.2, 0.3), Paper(2, 1)))
    next(steps)
    (inbox / "000001.pdf").rename(inbox.parent / "taken.pdf")
    assert list(steps) == []
    assert {paper.number for paper in bringing.papers.values()} == {1, 2}
    assert bringing.withdrawn == 0


def test_what_stops_the_feeding_is_told(inbox: Path) -> None:
    bringing = feeder(inbox, Delivery(Paper(1, 1), 0, "whole", (0.1,)))
    inbox.rmdir()
    bringing.start()
    bringing.join(30)
    with pytest.raises(FileNotFoundError):
        bringing.is_done()


def test_a_shifted_clock_is_wrong_by_an_hour_and_waits_as_long_as_any() -> None:
    library = clocks.shifting_library()
    if library is None:
        pytest.skip("no clock can be shifted: pip install libfaketime")
    script = "import os, time; print(os.getpid(), time.time(), time.monotonic(), flush=True); os.kill(os.getpid(), 9)"
    process = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | dict(clocks.shifted(library, -1)),
        capture_output=True,
        text=True,
        check=False,
    )
    pid, wall, monotonic = process.stdout.split()
    assert abs(time.time() - 3600 - float(wall)) < 60
    assert abs(time.monotonic() - float(monotonic)) < 60
    shared = list(Path("/dev/shm").glob(f"*faketime*_{pid}"))  # noqa: S108
    assert shared
    clocks.forget(int(pid))
    assert not any(path.exists() for path in shared)


def test_a_clock_that_is_right_or_cannot_be_shifted_needs_nothing() -> None:
    assert clocks.shifted(None, 1) == {}
    assert clocks.shifted(Path("x"), 0) == {}
