"""Contracts: parties, dates, governing law, duration and notice, read from the opening and from single clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pipeline.documents.text import Document
from pipeline.handling import Extraction, Field, Group, Handler
from pipeline.reading.contracts import clauses, ends, laws, renewals, signing, subtypes, terms
from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.parties import find_parties
from pipeline.reading.contracts.preamble import Party
from pipeline.reading.contracts.prose import Prose, prose
from pipeline.reading.contracts.sections import clauses as numbered
from pipeline.reading.dates import day_first, find_dates
from pipeline.reading.headings import find_run_on_title, find_title
from pipeline.reading.likeness import contract_likeness
from pipeline.reading.periods import find_periods
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
        "contract_type",
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
        """Find the fields; an unfilled template, with blanks and without a date or a sure party, has none.

        The clauses are those of any contract, a template too.
        """
        running = prose(document)
        parties = find_parties(running)
        answers = {name: (field,) for name, field in _fields(running)}
        sections = numbered(document)
        if _is_unfilled(running, parties, answers):
            return Extraction(self.name, clauses=sections)
        named = tuple(_field(running, party, party.name) for party in parties)
        found = _title(document) | ({"parties": named} if named else {}) | answers
        return Extraction(self.name, found, groups=tuple(_groups(running, parties)), clauses=sections)


def _title(document: Document) -> dict[str, tuple[Field, ...]]:
    title = find_title(document, wanted=lambda line: _NAMES.search(fold(line)) is not None)
    title = title or find_run_on_title(document)
    if not title:
        return {}
    return {"title": (Field(title.value, title.page, title.value, "pattern", title.confidence),)}


def _groups(running: Prose, parties: Sequence[Party]) -> Iterator[Group]:
    """Each party with its name, what the contract calls it, and whether it is a company or a person."""
    for number, party in enumerate(parties, 1):
        values = {"name": party.name, "alias": party.alias, "kind": party.kind}
        yield Group("parties", number, {name: _field(running, party, value) for name, value in values.items() if value})


def _field(running: Prose, party: Party, value: str) -> Field:
    snippet = running.sentence(party.start, party.end)
    return Field(value, running.page(party.start), snippet, "ranker", party.confidence)


def _is_unfilled(running: Prose, parties: Sequence[Party], answers: Mapping[str, object]) -> bool:
    blanks = len(_BLANKS.findall(running.text[:BLANKS_CHARACTERS]))
    dated = "agreement_date" in answers or "effective_date" in answers
    return blanks >= 2 and not dated and not any(party.confidence >= 0.5 for party in parties)


def _fields(running: Prose) -> Iterator[tuple[str, Field]]:
    for name, answer in _answers(running).items():
        if answer:
            snippet = (answer.derivation + running.sentence(answer.start, answer.end))[:300]
            yield name, Field(answer.value, running.page(answer.start), snippet, answer.method, answer.confidence)


def _answers(running: Prose) -> dict[str, Answer | None]:
    order = day_first([running.text])
    dates, periods = find_dates(running.folded, day_first=order), list(find_periods(running.folded))
    agreed, effective = signing.agreement_date(running, dates), signing.effective_date(running, dates)
    kind = subtypes.contract_type(running)
    if kind and not effective:
        effective = signing.since_made(agreed)
    runs, renewed = terms.term(running, periods), renewals.candidates(running, periods)
    begins = terms.start(running, runs, dates) or signing.counts_from(effective, agreed)
    return {
        "contract_type": kind,
        "contract_number": clauses.contract_number(running),
        "agreement_date": agreed,
        "effective_date": effective,
        "expiration_date": ends.expiration(running, dates, agreed=agreed, term=runs, start=begins),
        "term": runs,
        "renewal_term": renewals.renewal_term(renewed),
        "notice_period": clauses.notice_period(running, periods),
        "renewal_notice": renewals.renewal_notice(running, renewed),
        "termination_notice": renewals.termination_notice(running, periods),
        "governing_law": laws.governing_law(running),
    }


handler: Handler = ContractHandler()
