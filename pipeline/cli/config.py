"""`doclease config`: the settings in force, where each comes from, and whether they make sense."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from pipeline import database, handling
from pipeline.cli.session import settings_of
from pipeline.config import CONFIG_NAME, UNLIMITED_STEP, Settings
from pipeline.config_reading import PREFIX
from pipeline.errors import ConfigurationError, UsageProblem
from pipeline.redaction import without_passwords


@click.group()
def config() -> None:
    """The configuration: config.yaml and the environment."""


@config.command(short_help="Print the settings in force, and where each comes from.")
@click.pass_context
def show(ctx: click.Context) -> None:
    """Print the settings in force as YAML; what is not the default has its origin beside it. No password is shown."""
    settings = settings_of(ctx)
    for line in _lines(settings, _given(settings)):
        click.echo(line)


@config.command(short_help="Check config.yaml and the DOCLEASE_ variables.")
@click.pass_context
def check(ctx: click.Context) -> None:
    """Check config.yaml and the DOCLEASE_ variables: keys, values, types of inbox rules, folders.

    Exit code 8 if something is wrong.
    """
    settings = settings_of(ctx)
    _check_variables(os.environ)
    if settings.database_url:
        database.parse_url(settings.database_url)
    _check_rules(settings)
    _check_folders(settings)
    click.echo(f"The configuration of {settings.home} is fine.")


def _given(settings: Settings) -> Mapping[str, Any]:
    path = settings.home / CONFIG_NAME
    found = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None
    return found if isinstance(found, dict) else {}


def _lines(values: Any, given: Mapping[str, Any], section: str = "") -> Iterator[str]:
    for each in fields(values):
        value = getattr(values, each.name)
        if each.name == "home":
            continue
        if is_dataclass(value):
            inside = given.get(each.name)
            yield f"{each.name}:"
            yield from _lines(value, inside if isinstance(inside, dict) else {}, f"{each.name}__")
            continue
        variable = f"{PREFIX}{section}{each.name}".upper()
        chosen = each.name in given and value != _default(each)
        origin = variable if variable in os.environ else CONFIG_NAME if chosen else ""
        indent = "  " if section else ""
        shown = yaml.safe_dump(
            {each.name: _plain(each.name, value)}, default_flow_style=False, sort_keys=False, width=999
        )
        yield from (f"{indent}{line}" for line in _with_origin(shown.rstrip("\n"), origin).splitlines())


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _with_origin(shown: str, origin: str) -> str:
    first, newline, others = shown.partition("\n")
    return f"{first}  # {origin}{newline}{others}" if origin else shown


def _plain(name: str, value: Any) -> Any:
    if name == "step_pages" and value == UNLIMITED_STEP:
        return "all"
    if name == "aging_minutes" and value is None:
        return "off"
    if name == "database_url" and value:
        shown = database.parse_url(value).set(drivername="postgresql").render_as_string(hide_password=True)
        return without_passwords(shown)  # it may also stand among the parameters
    if isinstance(value, Mapping):
        return {folder: {"priority": rule.priority, "type": rule.type} for folder, rule in value.items()}
    return str(value) if isinstance(value, Path) else value


def _check_variables(names: Iterable[str]) -> None:
    """Find a slip in a name of the top level. Other names that begin like ours may be somebody else's."""
    known = [f"{PREFIX}{each.name}".upper() for each in fields(Settings) if each.name != "home"] + [f"{PREFIX}DIR"]
    for name in names:
        if name.startswith(PREFIX) and "__" not in name and name not in known:
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
            if nearest:
                raise ConfigurationError(f"{name} is not a variable of doclease; did you mean {nearest[0]}?")


def _check_rules(settings: Settings) -> None:
    handlers = handling.discover()
    for folder, rule in settings.inbox.rules.items():
        try:
            if rule.type != handling.AUTO:
                handling.named(handlers, rule.type)
        except UsageProblem as error:
            raise ConfigurationError(f"inbox.rules.{folder}.type: {error}") from error


def _check_folders(settings: Settings) -> None:
    """A file that is put away must not come in again."""
    inbox = settings.inbox_path.resolve()
    for name, path in (("processed", settings.processed_path), ("failed", settings.failed_path)):
        if path.resolve().is_relative_to(inbox):
            raise ConfigurationError(f"inbox.{name} is {path}, inside the inbox; name a folder outside {inbox}")
