"""Which profile an invoice claims, by the identifier of its specification (BT-24)."""

from __future__ import annotations

from pipeline.einvoices.model import Profile

# The first that occurs in the identifier counts.
_SIGNS = (
    ("xrechnung", Profile.XRECHNUNG),
    ("peppol", Profile.PEPPOL),
    ("extended", Profile.EXTENDED),
    ("basicwl", Profile.BASIC_WL),
    ("minimum", Profile.MINIMUM),
    ("basic", Profile.BASIC),
    ("en16931", Profile.EN16931),
)


def profile_of(specification: str | None) -> Profile:
    """The profile, UNKNOWN without an identifier or with one of another specification."""
    folded = (specification or "").casefold().replace(" ", "")
    if "crossindustrydocument" in folded:
        return Profile.ZUGFERD1
    return next((profile for sign, profile in _SIGNS if sign in folded), Profile.UNKNOWN)
