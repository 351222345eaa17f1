"""The demo shows what it says: a contract lost in the middle, finished by another worker at the next page."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.trials.demo import CONTRACT, Demo, Outcome, Progress

SAMPLES = Path(__file__).parents[2] / "sample_docs"


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """One demo for all tests: it starts a server, a watcher and two workers, and kills one."""
    said: list[str] = []
    shown: list[Progress] = []
    with tempfile.TemporaryDirectory(prefix="doclease-tests-") as folder:
        Path(folder).chmod(0o755)
        done = Demo(said.append, shown.append).run(Path(folder) / "demo")
    assert any("SIGKILL" in line for line in said)
    assert shown[-1].ended == shown[-1].documents > 0
    return done


@pytest.mark.slow
def test_the_contract_is_lost_in_the_middle_and_finished_at_the_next_page(outcome: Outcome) -> None:
    assert outcome.is_as_promised
    (row,) = outcome.recoveries
    assert row["name"] == CONTRACT
    assert 0 < row["lost_at_page"] < 200
    assert row["resumed_at_page"] == row["lost_at_page"] + 1


@pytest.mark.slow
def test_every_sample_ends_as_expected_and_in_its_place(outcome: Outcome) -> None:
    expected = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))["documents"]
    reasons = {row["name"]: row["reason"] for row in outcome.documents}
    for name, entry in expected.items():
        if name in reasons:
            assert reasons[name] in (entry["reason"], "ok"), name
    from_inbox = [row for row in outcome.documents if row["in"] is None]
    assert len(from_inbox) == len(expected) - 1  # one file comes twice
    assert len([place for place in outcome.places if not place.endswith(".error.txt")]) == len(expected)
    assert len([place for place in outcome.places if place.startswith("processed/duplicates/")]) == 1
    assert {row["source"] for row in outcome.documents if row["name"] == "scanned-invoice.pdf"} == {"ocr"}


@pytest.mark.slow
def test_a_mail_shows_its_files_under_it_without_the_logo(outcome: Outcome) -> None:
    (mail,) = (row for row in outcome.documents if row["name"] == "rechnung-per-mail.eml")
    inside = {row["name"] for row in outcome.documents if row["in"] == mail["id"]}
    assert inside == {"Rechnung-2026-4417.pdf", "Rechnung-2026-4417.xml"}
    (facturx,) = (row for row in outcome.documents if row["name"] == "facture-facturx.pdf")
    assert {row["in"] for row in outcome.documents} == {None, mail["id"], facturx["id"]}
    (logo,) = outcome.left_out
    assert (logo["name"], logo["parent_name"]) == ("logo.png", mail["name"])
    assert logo["left_out"].startswith("decoration")


@pytest.mark.slow
def test_every_invoice_is_shown_once_also_the_one_that_came_as_pdf_and_as_xml(outcome: Outcome) -> None:
    expected = json.loads((SAMPLES / "expected.json").read_text(encoding="utf-8"))["documents"]
    entries = [inner for entry in expected.values() for inner in (entry, *entry.get("inside", {}).values())]
    papers = [entry for entry in entries if entry.get("type") == "invoice" and "rendition_of" not in entry]
    numbers = [entry["fields"].get("invoice_number", [{"value": None}])[0]["value"] for entry in papers]
    assert Counter(row["invoice_number"] for row in outcome.invoices) == Counter(numbers)


@pytest.mark.slow
def test_an_xml_that_claims_more_than_its_page_prints_is_told_with_both_values(outcome: Outcome) -> None:
    assert {row["name"] for row in outcome.failed_checks} == {"facture-facturx.pdf"}
    (gross,) = (row["message"] for row in outcome.failed_checks if row["check"] == "xml_vs_print_total_gross")
    assert "5104.80" in gross
    assert "4905.60" in gross


@pytest.mark.slow
def test_the_invoice_that_came_on_paper_and_by_mail_is_told_as_one_claim(outcome: Outcome) -> None:
    (row,) = outcome.duplicates
    assert {row["name"], row["duplicate_of"]} == {"invoice-glazing.pdf", "scanned-invoice.pdf"}
    assert (row["invoice_number"], f"{row['total_gross']:.2f}") == ("OG-20417", "3504.00")


@pytest.mark.slow
def test_what_is_missing_or_differs_is_in_the_review_queue(outcome: Outcome) -> None:
    first = {row["name"]: (row["field"], row["why"]) for row in outcome.review}
    assert first["invoice-no-number.pdf"] == ("invoice_number", "it was not found")
    assert first["facture-facturx.pdf"][0] == "xml_vs_print_total_gross"


@pytest.mark.slow
def test_a_demo_without_a_recovery_is_not_as_promised(outcome: Outcome) -> None:
    assert not replace(outcome, recoveries=[]).is_as_promised
    (row,) = outcome.recoveries
    assert not replace(outcome, recoveries=[{**row, "resumed_at_page": 1}]).is_as_promised
    assert not replace(outcome, recoveries=[{**row, "resumed_outcome": "failed"}]).is_as_promised
