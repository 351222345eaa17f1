"""The statements of the queue: one SQL file each, read once, bound by name."""

from __future__ import annotations

import functools
from pathlib import Path

from sqlalchemy import TextClause, TextualSelect, column, text

FOLDER = Path(__file__).parent / "sql"


@functools.cache
def statement(name: str) -> TextClause:
    """The statement of sql/<name>.sql. In it a cast is written CAST(:x AS type): `:x::type` would not be bound."""
    return text((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))


@functools.cache
def returning(name: str, *columns: str) -> TextualSelect:
    """The statement with its columns named in their order: they are made sense of once, not at every execution."""
    return statement(name).columns(*(column(each) for each in columns))
