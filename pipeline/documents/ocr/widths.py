"""Full-width signs as plain ones where no East Asian text stands beside them: models that know both mix them up."""

from __future__ import annotations

import re

_EAST_ASIAN = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def narrowed(text: str) -> str:
    """A line's text with its full-width signs narrow; unchanged if it has a sign that only East Asian text has."""
    return text if text.isascii() or _EAST_ASIAN.search(text) else text.translate(_PLAIN)
