"""How rows reach a person or a program: a table, JSON or CSV. Nothing that a document contains can act on the reader.

A terminal gets no control characters, a spreadsheet no formulas. A table is printed completely, without colour, when
its reader is not a terminal.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TextIO, TypeVar

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.errors import NothingMatched

Row = Mapping[str, Any]
Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("table", "json", "csv")
LARGEST_ID = 2**63 - 1
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_WIDE_ENOUGH = 1_000_000
# A sign that begins a formula, also a full-width one, and also behind what a spreadsheet may drop: blanks, controls and
# marks without a width.
_FORMULA = re.compile("[\\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2060\ufeff]*[=+\\-@\uff1d\uff0b\uff0d\uff20]")
# Controls, lone surrogates, line and paragraph separators, and marks that turn the direction of the text around them,
# with which a name could show as another one.
_ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def format_option(command: Command) -> Command:
    """Give a command `--format`, passed as `output`."""
    option = click.option(
        "--format",
        "output",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="How to print: for people, or for programs.",
    )
    return option(command)


def limit_option(command: Command) -> Command:
    """Give a command `--limit`, a number of rows."""
    option = click.option(
        "--limit", type=click.IntRange(1, 10**9), default=50, show_default=True, help="Print at most so many rows."
    )
    return option(command)


def id_type() -> click.IntRange:
    """What an id on the command line may be."""
    number = click.IntRange(1, LARGEST_ID)
    number.name = "id"  # 'abc' is not a valid id.
    return number


def print_list(rows: Sequence[Row], output: str, *, nothing: str) -> None:
    """Print what was found. Raises NothingMatched with the sentence `nothing` if that is no row; JSON is then `[]`."""
    if not rows:
        if output == "json":
            click.echo("[]")
        raise NothingMatched(nothing)
    print_rows(rows, list(rows[0]), output)


def print_rows(rows: Sequence[Row], columns: Sequence[str], output: str) -> None:
    """Print rows as they are, also none."""
    if output == "json":
        click.echo(json_array(rows))
    elif output == "csv":
        write_csv(rows, columns, sys.stdout)
    else:
        click.echo(table(rows, columns), nl=False)


def table(rows: Sequence[Row], columns: Sequence[str], *, terminal: bool | None = None) -> str:
    """A table: as wide as the terminal, its cells wrapped; or as wide as it wants to be. Ends in a newline."""
    on_terminal = sys.stdout.isatty() if terminal is None else terminal
    header_style = "bold" if on_terminal else ""
    drawn = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style=header_style)
    for column in columns:
        numeric = all(isinstance(row[column], int | float | Decimal) for row in rows if row[column] is not None)
        has_values = any(row[column] is not None for row in rows)
        drawn.add_column(Text(safe(column)), justify="right" if numeric and has_values else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(safe(as_text(row[column]))) for column in columns))
    console = Console(
        width=None if on_terminal else _WIDE_ENOUGH,
        force_terminal=on_terminal,
        color_system="auto" if on_terminal else None,
        highlight=False,
    )
    with console.capture() as captured:
        console.print(drawn)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def json_array(rows: Iterable[Row]) -> str:
    """A JSON array with a row on each line."""
    lines = ",\n".join(json_line(row) for row in rows)
    return f"[\n{lines}\n]" if lines else "[]"


def json_line(value: Any) -> str:
    """A value as JSON on one line. Characters that could act on a terminal are written as \\u escapes."""
    text = json.dumps(value, default=_plain, ensure_ascii=False)
    return _ACTS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_csv(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> int:
    """Write CSV with a header, row by row; returns how many rows.

    No cell is a formula to a spreadsheet. If the file is a terminal, no cell acts on that either.
    """

    def line(cells: Sequence[str]) -> str:
        text = _csv_line(cells)
        return safe(text, lines=True) if file.isatty() else text

    file.write(line(columns))
    count = 0
    for row in rows:
        file.write(line([as_text(row[column], for_people=False) for column in columns]))
        count += 1
    return count


def write_jsonl(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> int:
    """Write a JSON object of these columns a line; returns how many rows."""
    count = 0
    for row in rows:
        file.write(json_line({column: row[column] for column in columns}) + "\n")
        count += 1
    return count


def neutral(cell: str) -> str:
    """The cell with a leading apostrophe if a spreadsheet would take it for a formula; numbers stay as they are."""
    return f"'{cell}" if begins_formula(cell) else cell


def begins_formula(cell: str) -> bool:
    """Whether a spreadsheet would take the text for a formula, or for a command to another program."""
    return (cell.startswith(("\t", "\r")) or bool(_FORMULA.match(cell))) and not _NUMBER.fullmatch(cell.strip(" "))


def safe(text: str, *, lines: bool = False) -> str:
    """The text with every character that could act on a terminal written as an escape.

    `lines` keeps newlines and tabs, for text that is printed as text.
    """
    kept = "\n\t" if lines else ""
    return _ACTS.sub(lambda match: match[0] if match[0] in kept else _escape(match[0]), text)


def as_text(value: Any, *, for_people: bool = True) -> str:
    """A cell as text; nothing is the empty text. For people, times are in UTC to the second."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value and for_people else "no" if for_people else str(value).lower()
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S") if for_people else value.isoformat()
    if isinstance(value, dict | list):
        return json.dumps(value, default=_plain, ensure_ascii=False)
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() else str(value)
    return str(_plain(value)) if isinstance(value, bytes | memoryview) else str(value)


def _csv_line(cells: Sequence[str]) -> str:
    # Not csv.writer: it leaves a lone carriage return unquoted, which its own reader then takes for the end of a row.
    quoted = [_quoted(neutral(cell)) for cell in cells]
    return (",".join(quoted) if quoted != [""] else '""') + "\n"


def _quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"' if any(sign in cell for sign in ',"\r\n') else cell


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        # A number where JSON's readers get the same value back, else a text: an amount is never rounded on the way.
        return float(value) if value.is_finite() and Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, bytes | memoryview):
        return "\\x" + bytes(value).hex()
    return str(value)


def _escape(sign: str) -> str:
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return named.get(sign) or (f"\\x{ord(sign):02x}" if ord(sign) < 0x100 else f"\\u{ord(sign):04x}")
