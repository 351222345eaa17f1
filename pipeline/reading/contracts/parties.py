"""The parties of a contract: every company or person it may be made with, and which of them it is made with.

Candidates come from the opening, from the lines that introduce companies by terms in brackets, from the head of a
letter and from the signatures; a logistic model over what speaks for each decides. Its weights are made by
bench/contract_rankers.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pipeline.reading.contracts import introductions, preamble, signatures, subtypes
from pipeline.reading.contracts.deciding import Features, probability
from pipeline.reading.contracts.laws import is_place
from pipeline.reading.contracts.preamble import Party
from pipeline.reading.contracts.prose import Prose

MAX_PARTIES = 60
_KEPT = 0.5
_SURE = 0.9  # of the model's probability: that much is left where labels and model differ though it is all but certain
_FORMS = re.compile(
    r"\b(?:inc|incorporated|llc|ltd|limited|llp|lp|corp|corporation|co|company|plc|gmbh|ag|kg|se|bv|nv|sa|na)\b"
)
_ROLE = re.compile(
    r"^(?:(?:the|each|an?) )?(?:company|client|customer|supplier|reseller|distributor|consultant|contractor|seller"
    r"|buyer|purchaser|vendor|provider|lender|borrower|owner|agent|landlord|tenant|employ\w+|recipient|discloser|developer"
    r"|licens\w+|less\w+|franchis\w+|manufacturer|sponsor|publisher|operator|manager|adviser|advisor|fund|trust|parent"
    r"|corporation|bank|servicer|issuer|guarantor|investor|holder|shipper|transporter|executive|you|disclosing party"
    r"|receiving party)s?$"
)
_INSTITUTION = re.compile(
    r"\b(?:trust|fund|bank|association|university|foundation|partners|holdings|group|authority|society|institute|mhc"
    r"|college|hospital|city of|county of|state of|department)\b",
    re.IGNORECASE,
)
_SIGNING = frozenset({"signed", "alone"})
_JOINED = re.compile(r"(?<!/)\b(\w+)\W{0,3}$")


def find_parties(prose: Prose) -> list[Party]:
    """The parties in order of the text, each once, with the term that the contract calls it by where it says so."""
    found = [
        replace(party, confidence=round(_SURE * share, 2))
        for party, features in candidates(prose)
        if (share := probability(features, "parties")) >= _KEPT
    ]
    return sorted(found, key=lambda each: each.start)[:MAX_PARTIES]


def candidates(prose: Prose) -> Sequence[tuple[Party, Features]]:
    """Whoever may be a party, and what speaks for it and against it.

    Only in contracts on secrecy, often letters, lines part names and people sign for themselves; others wrap names.
    """
    secret = subtypes.contract_type(prose) is not None
    prose = prose if secret else replace(prose, breaks=())
    opened = [preamble.opened(prose.text, span) for span in preamble.find_openings(prose)]
    groups = _groups(prose, opened, secret=secret)
    pair = groups["lettered"] if len(groups["lettered"]) >= 2 else preamble.likeliest(opened)
    likely, introduced = _names(pair), _names(groups["introduced"])
    only = signatures.signs_only(prose)
    signing = [bare(party.name) for party in (*groups["signed"], *groups["alone"])]
    listed = []
    for place, (name, (party, sources)) in enumerate(_merged(groups).items()):
        features = {f"from {source}": 1.0 for source in sources} | dict(_features(prose, party, name))
        features |= dict(_likely(name, likely, signing, seen=not sources <= _SIGNING))
        features["signed, unformed"] = float("signed" in sources and party.kind != "company")
        features["only signed"] = float(sources == {"signed"})
        features["undersigned"] = float(only and bool(sources & _SIGNING))
        features["undersigned others"] = float(only and not sources & _SIGNING)
        features["introduced pair"] = float(not likely and len(introduced) == 2 and name in introduced)
        features["late"] = float(place >= 4)
        listed.append((party, features))
    return listed


def _groups(prose: Prose, opened: Sequence[Sequence[Party]], *, secret: bool) -> dict[str, Sequence[Party]]:
    """The candidates by the place that names them."""
    alone = signatures.persons(prose) if secret else ()
    return {
        "lettered": preamble.lettered(prose),
        "opening": [party for parties in opened for party in parties],
        "introduced": [_on_its_line(prose, party) for party in preamble.introduced(prose.text)],
        "addressed": _spans(prose, introductions.addressed(prose)),
        "described": _spans(prose, introductions.described(prose.text)),
        "signed": _spans(prose, signatures.signatures(prose)),
        "alone": [replace(party, kind="person") for party in _spans(prose, alone)],
    }


def _on_its_line(prose: Prose, party: Party) -> Party:
    start = signatures.own_line(prose, party.start, party.end)
    return replace(party, name=party.name[start - party.start :], start=start)


def _merged(groups: Mapping[str, Sequence[Party]]) -> dict[str, tuple[Party, set[str]]]:
    """Each candidate once, where it is first named or called by a term, with the groups that it is in."""
    merged: dict[str, tuple[Party, set[str]]] = {}
    for source, parties in groups.items():
        for party in parties:
            known, sources = merged.setdefault(bare(party.name), (party, set()))
            sources.add(source)
            if party.alias and not known.alias:
                merged[bare(party.name)] = (party, sources)
    return merged


def _likely(name: str, likely: set[str], signing: Sequence[str], *, seen: bool) -> Iterator[tuple[str, float]]:
    """Whether a name is one of the likeliest opening, and whether it signs; `seen` if it stands elsewhere too."""
    signs, others = _signs(name, signing), bool(likely) and name not in likely
    yield "signs", float(signs)
    yield "likely", float(name in likely)
    yield "likely others", float(others)
    yield "likely others, signs", float(others and signs and seen)
    if name in likely and signing:
        yield "likely, others sign", float(not any(_signs(each, signing) for each in likely))


def _names(parties: Sequence[Party]) -> set[str]:
    return {bare(party.name) for party in parties}


def _spans(prose: Prose, spans: Iterable[tuple[int, int]]) -> list[Party]:
    return preamble.named(prose.text, ((start, end, "", 0.55) for start, end in spans))


def bare(name: str) -> str:
    """A name without case, signs and legal form: what stays the same wherever it is printed."""
    letters = " ".join(re.sub(r"[^\w]+", " ", name.replace(".", "").casefold()).split()).removeprefix("the ")
    return " ".join(_FORMS.sub(" ", letters).split()) or letters


def _signs(name: str, names: Sequence[str]) -> bool:
    return any(name == each or (len(name) > 5 and (each.startswith(name) or name.startswith(each))) for each in names)


def _features(prose: Prose, party: Party, name: str) -> Iterator[tuple[str, float]]:
    alias = party.alias.casefold()
    yield "any", 1.0
    yield "place", float(is_place(party.name))
    yield "institution", float(_INSTITUTION.search(party.name) is not None)
    yield "formed", float(party.kind == "company")
    yield "person", float(party.kind == "person")
    yield "capitals", float(party.name.isupper())
    yield "one word", float(" " not in party.name)
    yield "long", float(party.name.count(" ") >= 5)
    yield "named", float(bool(alias))
    yield "role", float(_ROLE.match(alias) is not None)
    yield "named like itself", float(bool(alias) and (name.startswith(bare(alias)) or alias == _initials(name)))
    often = prose.text.count(party.alias) if len(alias) > 2 else 0
    yield "term often", float(often >= 8)
    yield "term seldom", float(bool(alias) and often < 4)
    yield "early", float(party.start < 1_500)
    yield "very late", float(party.start > 6_000)
    yield "again", float(prose.folded.count(party.name.casefold()[:40]) >= 2)
    before = _JOINED.search(prose.folded, max(0, party.start - 20), party.start)
    if before:
        yield f"behind {before[1]}", 1.0


def _initials(name: str) -> str:
    return "".join(word[0] for word in name.split())
