"""A seeded part of the fuzzing, small enough for every run, and proof that its oracle sees what it looks for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.campaign import Campaign
from tests.fuzz.mutation import MOST_BYTES, Mutator
from tests.fuzz.runner import Runner
from tests.fuzz.targets import Target, targets

SEED = 1
CHANGED_INPUTS = 8  # for each target, besides its seeds
TARGETS = targets()


@pytest.fixture(scope="module")
def planted() -> Iterator[Runner]:
    """A child with broken targets."""
    with Runner(module="tests.fuzz.planted", cpu_seconds=1) as runner:
        yield runner


@pytest.mark.slow
def test_hostile_bytes_are_read_or_refused_by_name_and_nothing_else(tmp_path: Path) -> None:
    told: list[str] = []
    campaign = Campaign(list(TARGETS.values()), seed=SEED, into=tmp_path, say=told.append)
    report = campaign.run(changed_each=CHANGED_INPUTS)
    assert report.inputs == {name: len(each.seeds()) + CHANGED_INPUTS for name, each in TARGETS.items()}
    assert not report.findings, f"the inputs are in {tmp_path}"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("raises", "KeyError at planted.py"),
        ("ends", "ends its process with 3"),
        ("writes", "elsewhere' to write"),
        ("reads", "open of '/etc/passwd' to read"),
        ("calls", "socket.connect"),
        ("nul", "a text has NUL"),
        ("surrogate", "a text has '\\ud800'"),
        ("endless", "a figure is nan"),
    ],
)
def test_a_fault_is_a_finding(planted: Runner, name: str, told: str) -> None:
    assert told in planted.try_one(name, b"x").finding
    assert planted.try_one("whole", b"x").word == "ok"


def test_a_parser_that_never_ends_is_a_finding(planted: Runner) -> None:
    assert "of the processor" in planted.try_one("spins", b"x").finding


def test_what_c_code_and_the_cap_of_memory_do_is_told_and_is_no_finding(planted: Runner) -> None:
    crashed, swollen = planted.try_one("crashes", b"x"), planted.try_one("swells", b"x")
    assert (crashed.word, crashed.finding) == ("killed by SIGSEGV", "")
    assert (swollen.word, swollen.finding) == ("out_of_memory", "")


def test_the_same_seed_makes_the_same_inputs_and_another_one_others() -> None:
    def made(seed: int) -> list[bytes]:
        mutator = Mutator(random.Random(seed), [b"<a>1</a>" * 20])  # noqa: S311
        return [mutator.mutate(b"<b>2</b><c/>" * 20) for _ in range(40)]

    assert made(1) == made(1)
    assert made(1) != made(2)
    assert max(map(len, made(1))) <= MOST_BYTES


def test_every_format_is_a_target_and_has_seeds() -> None:
    from pipeline.documents import formats

    assert {f"format:{each.name}" for each in formats.discover()} <= TARGETS.keys()
    assert all(each.seeds() for each in TARGETS.values())


def test_an_input_that_is_worth_a_look_is_kept_beside_its_words(tmp_path: Path) -> None:
    target = Target("xml", lambda: [b"<a/>"], lambda data: "ok")
    campaign = Campaign([target], seed=SEED, into=tmp_path, say=lambda words: None)
    campaign.note(campaign.report.findings, "xml: KeyError", b"<a/>")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == ["", ".txt"]
