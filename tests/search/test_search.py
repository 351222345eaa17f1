"""No order of what sessions do to the queue breaks a promise, and every guard that is missing is found by the search.

DOCLEASE_SEARCH_RUNS=5000 and DOCLEASE_SEARCH_SEED=anything make it longer, and another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL

from tests.queue.mutation import mutated
from tests.search.mutants import MUTANTS, plain
from tests.search.runs import STEPS, Player
from tests.search.search import LIMITS
from tests.search.steps import draw
from tests.search.world import World, open_world

RUNS = int(os.environ.get("DOCLEASE_SEARCH_RUNS", "50"))
SEED = os.environ.get("DOCLEASE_SEARCH_SEED", "doclease")
# With this seed each is found within 14 runs; what is over is for the day on which a rule or a step is added.
MUTANT_SEED = "c"
MUTANT_RUNS = 60
# What the schema refuses by itself, and what a person would look for first.
MAIN = ("complete by id", "complete by status", "renew by id", "fail and release by id", "sweep without a lock, by id")


@pytest.fixture(scope="module")
def world(server: URL) -> Iterator[World]:
    """The schema as it is."""
    with open_world(server, f"search_{os.getpid()}", nets=True) as world:
        yield world


@pytest.fixture(scope="module")
def bare_world(server: URL) -> Iterator[World]:
    """The schema without its nets."""
    with open_world(server, f"search_bare_{os.getpid()}", nets=False) as world:
        yield world


def test_no_order_of_what_sessions_do_breaks_a_promise(world: World) -> None:
    player = Player(world, plain(world, LIMITS))
    finding = player.search(runs=RUNS, seed=SEED)
    if finding:
        pytest.fail(str(player.shortest(finding)))


def test_the_promises_do_not_need_the_nets_of_the_schema(bare_world: World) -> None:
    player = Player(bare_world, plain(bare_world, LIMITS))
    finding = player.search(runs=RUNS // 5, seed=SEED)
    if finding:
        pytest.fail(str(player.shortest(finding)))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_missing_guard_is_found_without_the_nets(bare_world: World, tmp_path: Path, name: str) -> None:
    _found(bare_world, tmp_path, name)


@pytest.mark.parametrize("name", MAIN)
def test_a_missing_guard_is_found_or_refused_by_the_nets(world: World, tmp_path: Path, name: str) -> None:
    _found(world, tmp_path, name)


def test_a_run_is_its_seed_and_is_cut_to_what_fails(bare_world: World, tmp_path: Path) -> None:
    mutant = MUTANTS["complete by id"]
    with mutated(mutant.cuts, tmp_path):
        player = Player(bare_world, mutant.factory(bare_world, LIMITS))
        finding = player.search(runs=MUTANT_RUNS, seed=MUTANT_SEED)
        assert finding is not None
        again = player.play(draw(finding.seed, STEPS), seed=finding.seed)
        shortest = player.shortest(finding)
    assert again is not None
    assert list(again.steps) == list(finding.steps)
    assert len(shortest.steps) <= len(finding.steps)
    assert shortest.steps[0].name == "begin"


def _found(world: World, folder: Path, name: str) -> None:
    mutant = MUTANTS[name]
    with mutated(mutant.cuts, folder):
        finding = Player(world, mutant.factory(world, LIMITS)).search(runs=MUTANT_RUNS, seed=MUTANT_SEED)
    assert finding is not None, "nothing noticed that the guard is missing"
