"""How many pages of a document need recognition, from a look at each of a short one, and at a few of a long one."""

from __future__ import annotations

import time
from collections.abc import Callable

from pipeline.errors import DocumentError

_ALL = 4  # pages of a document that is looked at as a whole
_FIRST, _MORE = 3, 8  # pages of a longer one: when the first do not agree, more
_MOST_SECONDS = 1.0  # of the processor, for all of it


def spread(count: int, wanted: int) -> list[int]:
    """`wanted` of the numbers 1..count, the first and the last among them, the others evenly between; all if few."""
    if count <= wanted:
        return list(range(1, count + 1))
    return sorted({1 + round(place * (count - 1) / (wanted - 1)) for place in range(wanted)})


def estimate(count: int, is_needed: Callable[[int], bool], shows_text: Callable[[int], bool]) -> int:
    """About how many of `count` pages need it, 0..count. A page that cannot be looked at does not count.

    `shows_text` is the cheaper question: in a document that has a page to be read as it is, others that show text are
    taken for such.
    """
    until = time.process_time() + _MOST_SECONDS
    answers: dict[int, bool] = {}

    def asked(number: int) -> bool:
        return not (False in answers.values() and shows_text(number)) and is_needed(number)

    _ask(answers, spread(count, count if count <= _ALL else _FIRST), asked, until)
    if len(set(answers.values())) > 1:
        _ask(answers, spread(count, _MORE), is_needed, until)
    found = sum(answers.values())
    return found if len(answers) == count else round(found * count / max(len(answers), 1))


def _ask(answers: dict[int, bool], numbers: list[int], is_needed: Callable[[int], bool], until: float) -> None:
    for number in numbers:
        if number in answers or (answers and time.process_time() > until):
            continue
        try:
            answers[number] = is_needed(number)
        except DocumentError:
            answers[number] = False
