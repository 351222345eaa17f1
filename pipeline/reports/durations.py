"""How long things take and when they happen, in the words of people. Pure."""

from __future__ import annotations

import datetime as dt

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(seconds: float) -> str:
    """A length of time in at most two units: `0.4 s`, `8 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    left = round(seconds)
    words: list[str] = []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count or words:
            words.append(f"{count} {name}" if count else "")
        if len(words) == 2:
            break
    return " ".join(word for word in words if word)


def moment(when: dt.datetime, now: dt.datetime) -> str:
    """The time in UTC, without the date when it is today's."""
    when, now = when.astimezone(dt.UTC), now.astimezone(dt.UTC)
    return when.strftime("%H:%M:%S" if when.date() == now.date() else "%Y-%m-%d %H:%M:%S")
