"""config.yaml, environment and flags become one frozen Settings; an unknown key is an error naming the nearest.

Order, later wins: the defaults of pipeline/config.py, config.yaml, DOCLEASE_* variables
(`DOCLEASE_LEASE__BASE_SECONDS` is lease.base_seconds), flags.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from pipeline.config import CONFIG_NAME, OCR_ENGINES, UNLIMITED_STEP, Rule, Settings, parse_priority
from pipeline.errors import ConfigurationError

PREFIX = "DOCLEASE_"
LARGEST_PORT = 65_535
_ADDRESSES = ("database_url", "database_url_file")  # one of them says where the database is
# Room for what follows it in the names of roles and of the channel, which have at most 63 characters.
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,39}")


def load(home: Path, *, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of a folder. Raises ConfigurationError that names the key, the value and what would be right.

    A folder without config.yaml is refused unless the environment names a database: nobody wants a database started in
    a folder by mistake.
    """
    given = os.environ if environment is None else environment
    path = home / CONFIG_NAME
    overrides = _from_environment(given)
    if not path.is_file() and not any(overrides.get(name) for name in _ADDRESSES):
        raise ConfigurationError(f"{home.resolve()} has no {CONFIG_NAME}. Type: doclease init {shlex.quote(str(home))}")
    document = _read(path) if path.is_file() else {}
    if any(overrides.get(name) for name in _ADDRESSES):
        document = {key: value for key, value in document.items() if key not in _ADDRESSES}
    settings = settings_from(_merge(document, overrides), home=home.resolve())
    return replace(settings, database_url=_from_file(settings)) if settings.database_url_file else settings


def _from_file(settings: Settings) -> str:
    """The address of the database from the file that holds it. Its content is never told."""
    if settings.database_url:
        raise ConfigurationError("database_url and database_url_file are both set; keep one of them")
    path = settings.home / settings.database_url_file
    try:
        address = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(f"database_url_file is {path}, which cannot be read: {why}") from error
    if not address:
        raise ConfigurationError(f"database_url_file is {path}, which is empty; write the database's address into it")
    return address


def settings_from(document: Mapping[str, Any], *, home: Path) -> Settings:
    """Settings from plain data, as YAML gives it. Raises ConfigurationError."""
    settings: Settings = _build(Settings, {**document, "home": home}, "")
    _check(settings)
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    document = _parsed(text, path)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigurationError(f"{path} must be keys and values, not a {type(document).__name__}")
    return document


def _parsed(text: str, origin: object) -> Any:
    """YAML as plain data. Raises ConfigurationError, also for a date or a number that is none."""
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        place = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ConfigurationError(f"{origin} cannot be read: {place}{error.problem or error}") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigurationError(f"{origin} cannot be read: {str(error)[:200]}") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    known = {each.name for each in fields(Settings)} - {"home"}
    overrides: dict[str, Any] = {}
    for name, text in environment.items():
        keys = name.removeprefix(PREFIX).lower().split("__")
        if not name.startswith(PREFIX) or (len(keys) == 1 and keys[0] not in known):
            continue
        value = _parsed(text, name) if keys[0] not in _ADDRESSES else text
        overrides = _merge(overrides, {keys[0]: value} if len(keys) == 1 else {keys[0]: {keys[1]: value}})
    return overrides


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _build(kind: type[Any], document: Mapping[str, Any], path: str) -> Any:
    hints = typing.get_type_hints(kind)
    for key in document:
        if key not in hints:
            raise ConfigurationError(_unknown(path + str(key), [path + name for name in hints if name != "home"]))
    return kind(**{key: _convert(hints[key], value, path + key) for key, value in document.items()})


def _unknown(key: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there are: {', '.join(known)}"
    return f"{key} is not a configuration key; {hint}"


def _convert(hint: Any, value: Any, key: str) -> Any:
    if is_dataclass(hint):
        if not isinstance(value, dict):
            raise ConfigurationError(f"{key} must be keys and values, got {value!r}")
        return _build(typing.cast("type[Any]", hint), value, f"{key}.")
    special = _SPECIAL.get(key)
    if special is not None:
        return special(value, key)
    return _scalar(hint, value, key)


def _scalar(hint: Any, value: Any, key: str) -> Any:
    accepted: dict[Any, tuple[type, ...]] = {
        float: (int, float),
        int: (int,),
        bool: (bool,),
        str: (str,),
        Path: (str, Path),
    }
    if not isinstance(value, accepted[hint]) or (isinstance(value, bool) and hint is not bool):
        raise ConfigurationError(f"{key} must be {_WORDS[hint]}, got {value!r}")
    return hint(value)


_WORDS: Mapping[Any, str] = types.MappingProxyType(
    {float: "a number", int: "a whole number", bool: "true or false", str: "a text", Path: "a path"}
)


def _step_pages(value: Any, key: str) -> int:
    return UNLIMITED_STEP if value == "all" else int(_scalar(int, value, key))


def _aging(value: Any, key: str) -> float | None:
    # YAML reads a bare `off` as false.
    return None if value is False or value == "off" else float(_scalar(float, value, key))


def _rules(value: Any, key: str) -> dict[str, Rule]:
    if not isinstance(value, dict) or not all(isinstance(rule, dict) for rule in value.values()):
        raise ConfigurationError(f"{key} must map a folder to {{priority: …, type: …}}, got {value!r}")
    return {str(folder): _rule(rule, f"{key}.{folder}.") for folder, rule in value.items()}


def _rule(document: dict[str, Any], path: str) -> Rule:
    for key in document:
        if key not in ("priority", "type"):
            raise ConfigurationError(_unknown(path + str(key), [path + "priority", path + "type"]))
    return Rule(parse_priority(document.get("priority", 0)), str(document.get("type", "auto")))


_SPECIAL = {"lease.step_pages": _step_pages, "queue.aging_minutes": _aging, "inbox.rules": _rules}


def _check(settings: Settings) -> None:
    if settings.database.pooler not in ("none", "transaction"):
        raise ConfigurationError(f"database.pooler must be none or transaction, got {settings.database.pooler!r}")
    schema = settings.database.schema
    if not _SCHEMA.fullmatch(schema) or schema == "information_schema":
        raise ConfigurationError(
            f"database.schema must be at most 40 of a-z, 0-9 and _, not beginning with a digit or pg_, got {schema!r}"
        )
    if settings.ocr.engine not in OCR_ENGINES:
        raise ConfigurationError(f"ocr.engine must be one of {', '.join(OCR_ENGINES)}, got {settings.ocr.engine!r}")
    if settings.review.accept_at > 1:
        raise ConfigurationError(f"review.accept_at must be between 0 and 1, got {settings.review.accept_at}")
    if settings.metrics.port > LARGEST_PORT:
        raise ConfigurationError(f"metrics.port must be at most {LARGEST_PORT}, got {settings.metrics.port}")
    if settings.lease.min_seconds > settings.lease.max_seconds:
        raise ConfigurationError("lease.min_seconds must not be above lease.max_seconds")
    for section in fields(settings):
        values = getattr(settings, section.name)
        if is_dataclass(values):
            _check_positive(section.name, values)


def _check_positive(section: str, values: Any) -> None:
    may_be_zero = {
        "busy_extensions",
        "quiet_for_seconds",
        "empty_grace_seconds",
        "min_free_megabytes",
        "claim_ahead_seconds",
        "drain_seconds",
        "second_look_below",
        "port",
        "accept_at",
    }
    for each in fields(values):
        value = getattr(values, each.name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if value < 0 or (value == 0 and each.name not in may_be_zero):
            raise ConfigurationError(f"{section}.{each.name} must be above 0, got {value}")
