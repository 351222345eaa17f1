"""A folder whose config.yaml names the test database, and a way to type commands in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from sqlalchemy import URL, Engine

from pipeline.cli import main

Doclease = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, database_url: URL, engine: Engine) -> Path:
    """A folder on the (empty) test database."""
    assert engine.url.database == database_url.database
    address = database_url.render_as_string(hide_password=False)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"database_url": address}), encoding="utf-8")
    return tmp_path


@pytest.fixture
def doclease(home: Path) -> Doclease:
    """Run a command in the folder; fails the test on another exit code than `exit_code`."""

    def run(*arguments: str, exit_code: int = 0) -> Result:
        result = CliRunner().invoke(main, ["-C", str(home), *arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == exit_code, result.output
        return result

    return run


def rows_of(result: Result) -> list[dict[str, Any]]:
    """What a command printed with --format json."""
    rows = json.loads(result.stdout)
    assert isinstance(rows, list)
    return rows
