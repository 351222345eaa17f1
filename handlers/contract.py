"""Contracts: parties, dates, governing law, duration and notice, read from the opening and from single clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pipeline.documents.text import Document
from pipeline.handling import Extraction, Field, Handler
from pipeline.reading import clauses, renewals, terms
from pipeline.reading.clauses import Answer
from pipeline.reading.dates import day_first, find_dates
from pipeline.reading.headings import find_run_on_title, find_title
from pipeline.reading.likeness import contract_likeness
from pipeline.reading.periods import find_periods
from pipeline.reading.preamble import find_parties
from pipeline.reading.prose import Prose, prose
from pipeline.reading.rows import fold

_NAMES = re.compile(
    r"\b(?:agreement|contract|lease|license|licence|amendment|addendum|\w*vertrag|\w*vereinbarung|contrat|convention"
    r"|\w*overeenkomst|contrato|acuerdo"
    r"|contratto|accordo|memorandum of understanding|terms and conditions)\b"
)
# A place left to fill in: "[NAME]", "[ ]", "[●]", "_____"; not "[***]", which hides what was filled in.
_BLANKS = re.compile(r"\[[ ●•x#_]{0,40}\]|\[[A-Z][A-Za-z ]{1,40}\]|_{4,200}|\b(?:COMPANY|CONTRACTOR|CLIENT) NAME\b")
BLANKS_CHARACTERS = 30_000


class ContractHandler:
    """Reads contracts; at its best in English, with openings and clauses of five other languages known."""

    name = "contract"
    fields: tuple[str, ...] = (
        "title",
        "contract_number",
        "parties",
        "agreement_date",
        "effective_date",
        "expiration_date",
        "term",
        "renewal_term",
        "notice_period",
        "renewal_notice",
        "termination_notice",
        "governing_law",
    )

    def score(self, document: Document) -> float:
        """What its headings and words say. A document that is or carries an electronic invoice is no contract."""
        return contract_likeness(document) if document.einvoice is None else 0.0

    def extract(self, document: Document) -> Extraction:
        """Find the fields; an unfilled template, with blanks and without a date or a sure party, has only its title."""
        running = prose(document)
        found: dict[str, tuple[Field, ...]] = {}
        title = find_title(document, wanted=lambda line: _NAMES.search(fold(line)) is not None)
        title = title or find_run_on_title(document)
        if title:
            found["title"] = (Field(title.value, title.page, title.value, "pattern", title.confidence),)
        parties = tuple(
            Field(
                each.name, running.page(each.start), running.sentence(each.start, each.end), "pattern", each.confidence
            )
            for each in find_parties(running)
        )
        if parties:
            found["parties"] = parties
        answers: dict[str, tuple[Field, ...]] = {name: (field,) for name, field in _clauses(running)}
        if _is_unfilled(running, parties, answers):
            return Extraction(self.name, {name: several for name, several in found.items() if name == "title"})
        return Extraction(self.name, found | answers)


def _is_unfilled(running: Prose, parties: Sequence[Field], answers: Mapping[str, object]) -> bool:
    blanks = len(_BLANKS.findall(running.text[:BLANKS_CHARACTERS]))
    dated = "agreement_date" in answers or "effective_date" in answers
    return blanks >= 2 and not dated and not any(party.confidence >= 0.5 for party in parties)


def _clauses(running: Prose) -> Iterator[tuple[str, Field]]:
    for name, answer in _answers(running).items():
        if answer:
            snippet = (answer.derivation + running.sentence(answer.start, answer.end))[:300]
            yield name, Field(answer.value, running.page(answer.start), snippet, answer.method, answer.confidence)


def _answers(running: Prose) -> dict[str, Answer | None]:
    order = day_first([running.text])
    dates, periods = find_dates(running.folded, day_first=order), list(find_periods(running.folded))
    agreed, effective = clauses.agreement_date(running, dates), clauses.effective_date(running, dates)
    sure = effective if effective and effective.confidence >= 0.5 else None
    runs = terms.term(running, periods)
    printed = clauses.expiration_date(running, dates)
    return {
        "contract_number": clauses.contract_number(running),
        "agreement_date": agreed,
        "effective_date": effective,
        "expiration_date": printed or terms.expiration(running, runs, sure or agreed),
        "term": runs,
        "renewal_term": renewals.renewal_term(running, periods),
        "notice_period": clauses.notice_period(running, periods),
        "renewal_notice": renewals.renewal_notice(running, periods),
        "termination_notice": renewals.termination_notice(running, periods),
        "governing_law": clauses.governing_law(running),
    }


handler: Handler = ContractHandler()
