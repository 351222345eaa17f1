"""What a message may not show: passwords in database addresses, also in one that was written in the wrong place."""

from __future__ import annotations

import re

# As far as the last @ of a word, as people do not always encode the one in a password. Bounded, since what is searched
# may be somebody else's text.
_IN_ADDRESS = re.compile(r"(://[^\s:/@]{0,100}:)\S{1,300}@")
_IN_PARAMETER = re.compile(r"\b((?:PG)?PASSWORD\s?=\s?)(?!\s)[^\s&'\"]{1,300}", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """The text with `***` where a password of a database address or of a connection string stands."""
    return _IN_PARAMETER.sub(r"\1***", _IN_ADDRESS.sub(r"\1***@", text))
