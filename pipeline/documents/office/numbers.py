"""Numbers of worksheets as a reader sees them: dates as ISO, percents, currencies, decimals, and never an exponent.

What a person typed keeps every digit; what was computed is rounded to the decimals that its cell shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation

BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "0", 6: "0", 7: "0.00", 8: "0.00", 9: "0%", 10: "0.00%",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 27: "yyyy-mm-dd", 30: "yyyy-mm-dd", 31: "yyyy-mm-dd", 36: "yyyy-mm-dd", 37: "#,##0",
    38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 50: "yyyy-mm-dd",
    57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}  # fmt: skip
_DIGITS = 15  # what a spreadsheet computes with; more is noise of binary fractions
_LONGEST_INTEGER = 40  # digits; a number of more is written as the file has it
_MAX_DECIMALS = 12
_LAST_DAY = 2_958_465  # 9999-12-31
_QUOTED = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]\-]*)[^\]]*\]|\[([^\]]*)\]')
_CURRENCIES = re.compile(r"[$€£¥₹₽₩₺₴₪₫]|(?<![A-Za-z])(?:[A-Z]{3}|kr|zł|Kč|Ft|Fr|lei|R\$)(?![A-Za-z])")
_NUMBER = re.compile(r"[0#?][0#?,.]*")
_DATE_LETTERS = re.compile(r"[ymdhs]", re.I)
_ELAPSED = re.compile(r"h+|m+|s+", re.I)


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """What a cell's format says. `kind` is number, date, time, moment or elapsed.

    `before` and `after` are currencies; `width` is how many digits are shown at least.
    """

    kind: str = "number"
    decimals: int | None = None
    percent: bool = False
    width: int = 0
    before: str = ""
    after: str = ""


def parse_format(code: str) -> NumberFormat:
    """What the first section of a format code says; anything unusual is a plain number."""
    literals: list[str] = []
    elapsed = False

    def keep(match: re.Match[str]) -> str:
        nonlocal elapsed
        literal = match[1] or match[2] or match[3] or ""
        elapsed = elapsed or bool(match[4] and _ELAPSED.fullmatch(match[4]))
        if not _CURRENCIES.fullmatch(literal.strip()):
            return "" if not match[4] else " "
        literals.append(literal.strip())
        return "\x00"

    section = _QUOTED.sub(keep, code[:500]).split(";")[0]
    if section.strip().lower() in ("", "general", "@", "standard"):
        return NumberFormat()
    if elapsed:
        return NumberFormat("elapsed")
    if _DATE_LETTERS.search(section.replace("\x00", "")) and not re.search(r"[0#?]{2}|[0#?]\.|E\+", section):
        return NumberFormat(_kind_of_date(section.lower()))
    return _number_format(section, literals)


def _kind_of_date(section: str) -> str:
    day = "y" in section or "d" in section or ("m" in section and "h" not in section and "s" not in section)
    clock = "h" in section or "s" in section
    return "moment" if day and clock else "date" if day else "time"


def _number_format(section: str, literals: list[str]) -> NumberFormat:
    match = _NUMBER.search(section)
    if not match or "E" in section or "/" in section:
        return NumberFormat()
    shown = match[0]
    whole, dot, fraction = shown.partition(".")
    found = _CURRENCIES.search(section.replace("\x00", literals[0] if literals else ""))
    sign = found[0] if found else ""
    first = section.find("\x00") if literals else section.find(sign)
    zeros = len(whole) if set(whole) == {"0"} and not dot else 0
    return NumberFormat(
        decimals=min(len(fraction.rstrip(",")), _MAX_DECIMALS),
        percent="%" in section,
        width=zeros if zeros > 1 else 0,
        before=sign if sign and first < match.start() else "",
        after=sign if sign and first >= match.start() else "",
    )


def shown_number(raw: str, format_: NumberFormat, *, computed: bool = False, from_1904: bool = False) -> str:
    """The number `raw` as its format shows it; `raw` itself when it is none."""
    try:
        value = Decimal(raw.strip())
    except InvalidOperation:
        return raw
    if not value.is_finite() or abs(value.adjusted()) > _LONGEST_INTEGER:
        return raw.strip()
    if format_.kind != "number":
        return _shown_time(value, format_.kind, from_1904) or _plain(value)
    return _shown_number(value, format_, computed)


def _shown_number(value: Decimal, format_: NumberFormat, computed: bool) -> str:
    exact = value if value == value.to_integral_value() else Context(prec=_DIGITS).plus(value)
    if format_.percent:
        exact *= 100
    if format_.decimals is not None:
        typed = max(-int(exact.normalize().as_tuple().exponent), 0)
        decimals = format_.decimals if computed else max(format_.decimals, min(typed, _DIGITS))
        exact = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=_LONGEST_INTEGER + 20))
    text = _plain(exact, keep_zeros=format_.decimals is not None)
    if format_.width and text.isdecimal():
        text = text.zfill(format_.width)
    return "".join(
        (f"{format_.before} " if format_.before else "", text, "%" * format_.percent, f" {format_.after}".rstrip())
    )


def _plain(value: Decimal, *, keep_zeros: bool = False) -> str:
    """Without exponent and, unless they are kept, without zeros at the end of a fraction."""
    text = format(value, "f")
    if "." in text and not keep_zeros:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _shown_time(value: Decimal, kind: str, from_1904: bool) -> str:
    """ISO for a day number; empty when there is no such day."""
    if not 0 <= value <= _LAST_DAY:
        return ""
    seconds = int((value * 86_400).to_integral_value(ROUND_HALF_UP))
    if kind == "elapsed":
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    days, clock = divmod(seconds, 86_400)
    time = f"{clock // 3600:02d}:{clock // 60 % 60:02d}" + (f":{clock % 60:02d}" if clock % 60 else "")
    if kind == "time" or (kind == "moment" and not days):
        return time
    date = _date(days, from_1904)
    return f"{date} {time}" if kind == "moment" and clock else date


def _date(days: int, from_1904: bool) -> str:
    """1900 was no leap year, but workbooks count a 29 February in it."""
    if from_1904:
        first = datetime(1904, 1, 1)  # noqa: DTZ001 - days of a calendar, without a zone
    elif days > 60:
        first = datetime(1899, 12, 30)  # noqa: DTZ001
    elif days == 60:
        return "1900-02-29"
    else:
        first = datetime(1899, 12, 31)  # noqa: DTZ001
    try:
        return (first + timedelta(days=days)).date().isoformat()
    except OverflowError:
        return ""
