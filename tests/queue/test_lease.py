"""How long a lease is: bounded whatever is claimed, and never shorter for more work."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.queue.lease import LeasePolicy

rates = st.floats(0.001, 300)
page_counts = st.integers(-(10**12), 10**12)


@st.composite
def policies(draw: st.DrawFn) -> LeasePolicy:
    """Policies that config.yaml can express; OCR is never cheaper than reading a text layer."""
    per_page = draw(rates)
    shortest = draw(st.floats(1, 600))
    return LeasePolicy(
        base_seconds=draw(st.floats(0, 600)),
        per_page_seconds=per_page,
        ocr_per_page_seconds=per_page * draw(st.floats(1, 1000)),
        min_seconds=shortest,
        max_seconds=shortest * draw(st.floats(1, 1000)),
        step_pages=draw(st.integers(1, 10**6)),
        slack=draw(st.floats(1, 100)),
        max_pages=draw(st.integers(1, 10**6)),
    )


@given(policies(), page_counts, page_counts)
def test_a_lease_never_leaves_its_bounds(policy: LeasePolicy, pages: int, ocr_pages: int) -> None:
    assert policy.min_seconds <= policy.lease_seconds(pages, ocr_pages) <= policy.max_seconds


@given(policies(), page_counts, page_counts, page_counts)
def test_more_pages_never_shorten_a_lease(policy: LeasePolicy, pages: int, more: int, ocr_pages: int) -> None:
    assume(pages <= more)
    assert policy.lease_seconds(pages, ocr_pages) <= policy.lease_seconds(more, ocr_pages) * (1 + 1e-9)
    assert policy.deadline_seconds(pages, ocr_pages) <= policy.deadline_seconds(more, ocr_pages) * (1 + 1e-9)


@given(policies(), page_counts, page_counts, page_counts)
def test_more_pages_that_need_ocr_never_shorten_a_lease(
    policy: LeasePolicy, pages: int, ocr_pages: int, more: int
) -> None:
    assume(ocr_pages <= more)
    assert policy.lease_seconds(pages, ocr_pages) <= policy.lease_seconds(pages, more) * (1 + 1e-9)
    assert policy.deadline_seconds(pages, ocr_pages) <= policy.deadline_seconds(pages, more) * (1 + 1e-9)


@given(policies(), page_counts, page_counts)
def test_a_deadline_is_never_below_its_lease(policy: LeasePolicy, pages: int, ocr_pages: int) -> None:
    assert policy.deadline_seconds(pages, ocr_pages) >= policy.lease_seconds(pages, ocr_pages)


@given(policies(), st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_lease_covers_one_step_whatever_follows(policy: LeasePolicy, more: int, ocr_more: int) -> None:
    step = min(policy.step_pages, policy.max_pages)
    longest = policy.lease_seconds(step, step)
    assert policy.lease_seconds(step + more, step + ocr_more) == longest


@given(policies(), page_counts, page_counts)
def test_a_claim_of_a_million_pages_is_capped_before_it_scales(policy: LeasePolicy, pages: int, ocr_pages: int) -> None:
    highest = policy.deadline_seconds(policy.max_pages, policy.max_pages)
    assert policy.deadline_seconds(pages, ocr_pages) <= highest * (1 + 1e-9)


@given(policies(), st.integers(-(10**12), 1))
def test_a_missing_or_negative_page_count_is_one_page(policy: LeasePolicy, pages: int) -> None:
    assert policy.lease_seconds(pages, -5) == policy.lease_seconds(1, 0)
    assert policy.deadline_seconds(pages, -5) == policy.deadline_seconds(1, 0)


@given(policies(), st.none() | st.floats(0, 1e12), st.none() | st.floats(0, 1e12))
def test_a_learned_rate_stays_within_a_factor_of_four(
    policy: LeasePolicy, text: float | None, ocr: float | None
) -> None:
    learned = policy.with_rates(text=text, ocr=ocr)
    for rate, default, found in (
        (text, policy.per_page_seconds, learned.per_page_seconds),
        (ocr, policy.ocr_per_page_seconds, learned.ocr_per_page_seconds),
    ):
        assert default / 4 <= found <= default * 4
        if rate is None:
            assert found == default
        elif default / 4 <= rate <= default * 4:
            assert found == rate
    unlearned = replace(
        learned, per_page_seconds=policy.per_page_seconds, ocr_per_page_seconds=policy.ocr_per_page_seconds
    )
    assert unlearned == policy


def test_the_defaults_give_the_leases_that_the_documentation_names() -> None:
    policy = LeasePolicy()
    assert policy.lease_seconds(2) == 15, "a 2-page invoice: the shortest there is"
    assert policy.lease_seconds(200) == 35, "a 200-page contract: one step of 50 pages"
    assert policy.deadline_seconds(200) == 440
    assert policy.lease_seconds(20, 20) == 35, "20 scans: the longest there is"
    assert policy.deadline_seconds(20, 20) == 1640
    whole = replace(policy, step_pages=policy.max_pages, max_seconds=900)
    assert (whole.lease_seconds(2), whole.lease_seconds(200)) == (15, 110)
