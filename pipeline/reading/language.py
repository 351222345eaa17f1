"""Which of six languages a text is written in, by its commonest words."""

from __future__ import annotations

import re
from collections import Counter

_COMMON = {
    "en": "the and of to is for with this that by shall be or as from are your you not it on have has an was which at",
    "de": "der die das und ist nicht mit von zu den dem ein eine für auf im sich werden wird auch oder nach wir sie",
    "fr": "le la les et des du est une dans pour que qui sur avec par au aux ce cette ou vous nous pas sont être votre",
    "nl": "de het een en van is dat niet op te voor met zijn aan bij ook uit wordt naar of deze door om worden u uw",
    "es": "el la los las y de que en un una por con para del se es no al su como más o sus este esta lo entre",
    "it": "il lo la gli le e di che un una per con del della non è sono da al dei nel alla questo si come anche dalla",
}
_LANGUAGES = {
    word: tuple(code for code, words in _COMMON.items() if word in words.split())
    for word in {word for words in _COMMON.values() for word in words.split()}
}
_WORD = re.compile(r"[^\W\d_]+")
MIN_HITS = 3


def guess(text: str) -> tuple[str, float] | None:
    """The ISO 639-1 code and how sure it is (0 to 1), or None if too few known words say so."""
    hits: Counter[str] = Counter()
    for match in _WORD.finditer(text[:20_000].lower()):
        hits.update(_LANGUAGES.get(match[0], ()))
    if not hits:
        return None
    ranked = sorted(hits.items(), key=lambda each: (-each[1], each[0]))
    code, best = ranked[0]
    second = ranked[1][1] if len(ranked) > 1 else 0
    if best < MIN_HITS or best == second:
        return None
    return code, round(min(0.98, 0.5 + 0.5 * (best - second) / best), 2)
