"""What a parser child says is checked before it is used: nonsense costs it its life and nobody else anything."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.config import WorkerSettings
from pipeline.documents.text import Page, Source
from pipeline.worker.deaths import ChildDied
from pipeline.worker.frames import BrokenFrame, Decoder, encode, inspection_of, page_fields, page_of, unpacked_of
from pipeline.worker.process import ChildProcess
from tests.fuzz.plain_targets import PLAIN
from tests.security import hoarder_child

EXTREMES: tuple[object, ...] = (
    2**70,
    -(2**70),
    float("inf"),
    float("-inf"),
    float("nan"),
    "\x00\ud800",
    "9" * 5000,
    "",
    [],
    {},
    None,
    True,
)
ANYTHING = st.sampled_from(EXTREMES) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
INSPECTION = {"media_type": "a/b", "page_count": 1, "ocr_page_count": 0, "restricted": False}
WHOLE: dict[str, object] = {
    **page_fields(Page(1, "words", source=Source.OCR, figures={"dpi": 200})),
    **INSPECTION,
    "name": "a.pdf",
    "left_out": "",
    "rendition_of": 0,
    "file": "attachment-1",
    "inspection": INSPECTION,
    "reason": None,
}
# A whole answer in which one fact is something else: nonsense all over would be found out by its first fact.
ANY_FACTS = st.dictionaries(st.sampled_from(sorted(WHOLE)), ANYTHING, min_size=1, max_size=1).map(WHOLE.__or__)
_, ANSWERED = PLAIN["frames"]


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    """A child that is up."""
    process = ChildProcess(WorkerSettings(), hoarder_child.MODULE)
    process.ensure()
    yield process
    process.kill()


def test_a_child_names_no_file_outside_its_scratch_folder(child: ChildProcess) -> None:
    inside = child.scratch_file("attachment-1")
    assert inside.name == "attachment-1"
    for name in ("../up", "/etc/passwd", ".", "..", "a/b", "a\x00b", "a.b", "", "A", "a" * 41, "a\n"):
        with pytest.raises(ChildDied):
            child.scratch_file(name)
        child.ensure()


@settings(max_examples=500)
@given(ANY_FACTS)
def test_any_facts_are_used_or_known_to_be_nonsense(facts: dict[str, object]) -> None:
    for take in (page_of, inspection_of, unpacked_of):
        try:
            take(facts)
        except BrokenFrame:
            continue


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_what_is_used_can_be_stored(name: str) -> None:
    for extreme in EXTREMES:
        facts = {**WHOLE, name: extreme}
        frame = {**facts, "kind": "any", "page": facts, "attachment": facts, "result": {"fields": facts, **facts}}
        text = json.dumps(frame).encode("ascii")
        assert ANSWERED(len(text).to_bytes(4, "big") + text) in ("ok", "broken")


@given(ANYTHING)
def test_any_result_is_checked_into_one_that_can_be_stored(result: object) -> None:
    text = json.dumps({"kind": "finished", "page_count": 1, "result": result}).encode("ascii")
    assert ANSWERED(len(text).to_bytes(4, "big") + text) in ("ok", "broken")


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_any_bytes_are_frames_or_known_to_be_none(pieces: list[bytes]) -> None:
    decoder = Decoder()
    decoder.feed(encode({"kind": "page"}))
    assert decoder.next() == {"kind": "page"}
    for piece in pieces:
        decoder.feed(piece)
        try:
            frame = decoder.next()
        except BrokenFrame:
            return
        assert frame is None or isinstance(frame["kind"], str)
