"""Rows as a Parquet file: exact decimals, dates and times with their types, written in groups of rows.

It needs pyarrow, 55 MB that only this format wants: the extra `export`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from pipeline.cli.output import Row, as_text
from pipeline.errors import UsageProblem
from pipeline.reports.exports import Kind

GROUP_ROWS = 20_000
GROUP_CHARACTERS = 16_000_000
# What views hold at most: 15 digits before the point and 6 behind it. Within what other databases take as exact, too.
DIGITS, DECIMALS = 28, 6


def write_parquet(rows: Iterable[Row], columns: Mapping[str, Kind], file: BinaryIO) -> int:
    """Write a Parquet file; returns how many rows. Raises UsageProblem without pyarrow, or for too long a number."""
    if importlib.util.find_spec("pyarrow") is None:
        raise UsageProblem('parquet needs an extra: pip install "doclease[export]"; csv, jsonl and xlsx need none')
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    schema = arrow.schema([(name, _type(arrow, kind)) for name, kind in columns.items()])
    count = 0
    with parquet.ParquetWriter(file, schema) as writer:
        for group in _groups(rows, columns):
            try:
                writer.write_table(arrow.table(group, schema=schema))
            except arrow.ArrowInvalid as error:
                raise UsageProblem(f"parquet cannot hold what was found: {error}. Use --format jsonl") from error
            count += len(next(iter(group.values())))
    return count


def _type(arrow: Any, kind: Kind) -> Any:
    return {
        Kind.INTEGER: arrow.int64(),
        Kind.DECIMAL: arrow.decimal128(DIGITS, DECIMALS),
        Kind.REAL: arrow.float64(),
        Kind.BOOLEAN: arrow.bool_(),
        Kind.DATE: arrow.date32(),
        Kind.TIME: arrow.timestamp("us", tz="UTC"),
        Kind.TEXT: arrow.string(),
    }[kind]


def _groups(rows: Iterable[Row], columns: Mapping[str, Kind]) -> Iterator[Mapping[str, Sequence[Any]]]:
    """The rows by column, in groups of bounded size; none is empty."""
    texts = [name for name, kind in columns.items() if kind is Kind.TEXT]
    group: dict[str, list[Any]] = {name: [] for name in columns}
    characters = count = 0
    for row in rows:
        values = {**row, **{name: _text(row[name]) for name in texts}}
        for name, cells in group.items():
            cells.append(values[name])
        count += 1
        characters += sum(len(values[name] or "") for name in texts)
        if count == GROUP_ROWS or characters > GROUP_CHARACTERS:
            yield group
            group, characters, count = {name: [] for name in columns}, 0, 0
    if count:
        yield group


def _text(value: Any) -> str | None:
    return None if value is None else as_text(value, for_people=False)
