"""`doclease init` makes a folder ready, and changes nothing that is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import URL

from pipeline import config_reading, database
from pipeline.cli import main
from pipeline.config import DatabaseSettings
from tests import postgres


def init(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["init", *map(str, arguments)], catch_exceptions=False)


def test_a_folder_is_made_with_inbox_and_rules(tmp_path: Path) -> None:
    home = tmp_path / "with a space"
    result = init(home, "--no-database")
    assert result.exit_code == 0, result.output
    found = {str(path.relative_to(home)) for path in home.rglob("*")}
    rules = {"inbox/urgent", "inbox/invoices", "inbox/contracts"}
    assert found == {"config.yaml", "inbox", "processed", "failed", "data"} | rules
    assert config_reading.load(home, environment={}) == config_reading.settings_from({}, home=home)
    assert f"cd '{home}' && doclease run" in result.stdout


def test_init_again_changes_nothing(tmp_path: Path) -> None:
    init(tmp_path, "--no-database")
    (tmp_path / "config.yaml").write_text("lease: {base_seconds: 11}\n")
    result = init(tmp_path, "--no-database")
    assert "nothing was missing" in result.stdout
    assert (tmp_path / "config.yaml").read_text() == "lease: {base_seconds: 11}\n"


def test_the_folders_are_those_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("inbox: {folder: drop, rules: {rush: {priority: high}}}\n")
    result = init(tmp_path, "--no-database")
    assert (tmp_path / "drop" / "rush").is_dir()
    assert "drop/rush/" in result.stdout
    assert not (tmp_path / "inbox").exists()


def test_an_empty_database_gets_its_schema(tmp_path: Path, server: URL, monkeypatch: pytest.MonkeyPatch) -> None:
    url = postgres.create_database(server, "tests_init")
    monkeypatch.setenv("DOCLEASE_DATABASE_URL", url.render_as_string(hide_password=False))
    assert init(tmp_path).exit_code == 0
    assert init(tmp_path).exit_code == 0
    engine = database.open_engine(url, DatabaseSettings(), name="tests")
    assert database.current_revision(engine) == database.newest_revision()
    engine.dispose()


def test_a_mistake_in_the_configuration_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("leese: {}\n")
    result = init(tmp_path, "--no-database")
    assert result.exit_code == 8
    assert "did you mean lease?" in result.stderr
