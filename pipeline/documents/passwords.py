"""Which passwords to try on a locked document, and how they may have been typed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

LOCKED = "the document opens only with a password"


def locked(passwords: Sequence[str]) -> str:
    """Why a document stays closed; says how many passwords were tried, never which."""
    return f"{LOCKED}, and none of the {len(passwords)} known fits" if passwords else LOCKED


def candidates(passwords: Sequence[str]) -> Iterator[str]:
    """The empty password, then each of these as it is and in the forms that programs normalise it to, each once."""
    tried = set()
    for password in ("", *passwords):
        for form in (password, *(unicodedata.normalize(name, password) for name in ("NFC", "NFKC", "NFD"))):
            if form not in tried:
                tried.add(form)
                yield form
