"""The address of the database may stand in a file of its own, as secrets of containers and services do."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import URL

from pipeline.config_reading import load
from pipeline.errors import ConfigurationError
from tests.installations import typed

ADDRESS = "postgresql://docs:open-sesame@db/docs"


def _folder(home: Path, config: str) -> Path:
    (home / "config.yaml").write_text(config, encoding="utf-8")
    return home


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file with an address, as an editor leaves it."""
    path = tmp_path / "secret"
    path.write_text(f"{ADDRESS}\n", encoding="utf-8")
    return path


def test_the_address_is_read_from_the_file_that_the_configuration_names(tmp_path: Path, secret: Path) -> None:
    home = _folder(tmp_path, f"database_url_file: {secret.name}")
    assert load(home, environment={}).database_url == ADDRESS


def test_a_file_named_in_the_environment_stands_alone_and_wins_over_the_configuration(
    tmp_path: Path, secret: Path
) -> None:
    environment = {"DOCLEASE_DATABASE_URL_FILE": str(secret)}
    assert load(tmp_path, environment=environment).database_url == ADDRESS
    home = _folder(tmp_path, "database_url: postgresql://other/docs")
    assert load(home, environment=environment).database_url == ADDRESS


def test_an_address_in_the_environment_wins_over_a_file_in_the_configuration(tmp_path: Path) -> None:
    home = _folder(tmp_path, "database_url_file: nowhere")
    assert load(home, environment={"DOCLEASE_DATABASE_URL": ADDRESS}).database_url == ADDRESS


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (f"database_url_file: secret\ndatabase_url: {ADDRESS}", "both set"),
        ("database_url_file: nowhere", "No such file"),
        ("database_url_file: empty", "is empty"),
        ("database_url_file: binary", "not UTF-8"),
    ],
)
@pytest.mark.usefixtures("secret")
def test_a_file_that_gives_no_address_is_told_without_a_secret(tmp_path: Path, config: str, told: str) -> None:
    (tmp_path / "empty").write_text("\n", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\xff\xfe open-sesame")
    with pytest.raises(ConfigurationError, match=told) as raised:
        load(_folder(tmp_path, config), environment={})
    assert "open-sesame" not in str(raised.value)


@pytest.mark.parametrize(
    "content", ["open-sesame", "http://me:open-sesame@db", "postgresql://me:open-sesame@db:port/x"]
)
def test_no_command_shows_what_is_in_the_file(tmp_path: Path, secret: Path, content: str) -> None:
    secret.write_text(content, encoding="utf-8")
    home = _folder(tmp_path, "database_url_file: secret")
    for command in (("documents", "list"), ("config", "check"), ("config", "show"), ("db", "url")):
        assert "open-sesame" not in typed(home, *command, exit_codes=(8,)).output


def test_commands_work_with_an_address_from_a_file(tmp_path: Path, secret: Path, database_url: URL) -> None:
    secret.write_text(database_url.render_as_string(hide_password=False), encoding="utf-8")
    home = _folder(tmp_path, "database_url_file: secret")
    typed(home, "config", "check")
    typed(home, "documents", "list", exit_codes=(4,))
    assert "database_url_file: secret  # config.yaml" in typed(home, "config", "show").stdout.splitlines()
