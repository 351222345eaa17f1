"""Configuration is read once, refuses what it does not know, and says what would be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline import config
from pipeline.config import Rule, Settings, parse_priority
from pipeline.config_reading import load, settings_from
from pipeline.errors import ConfigurationError

ROOT = Path(__file__).parent.parent


def write(folder: Path, text: str) -> Path:
    (folder / config.CONFIG_NAME).write_text(text, encoding="utf-8")
    return folder


def test_the_shipped_file_shows_every_key_with_its_default() -> None:
    assert load(ROOT, environment={}) == Settings(home=ROOT)
    shipped = yaml.safe_load((ROOT / config.CONFIG_NAME).read_text(encoding="utf-8"))
    assert _keys(shipped) == _keys(_plain(Settings(home=ROOT)))


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    assert load(write(tmp_path, ""), environment={}) == Settings(home=tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("leese: {}", "leese is not a configuration key; did you mean lease?"),
        ("lease: {base_secnds: 1}", "did you mean lease.base_seconds?"),
        ("lease: {base_seconds: soon}", "lease.base_seconds must be a number, got 'soon'"),
        ("lease: {step_pages: 1.5}", "lease.step_pages must be a whole number, got 1.5"),
        ("lease: 3", "lease must be keys and values, got 3"),
        ("lease: {base_seconds: 0}", "lease.base_seconds must be above 0, got 0"),
        ("lease: {min_seconds: 100, max_seconds: 10}", "lease.min_seconds must not be above lease.max_seconds"),
        ("worker: {slots: true}", "worker.slots must be a whole number, got True"),
        ("inbox: {rules: {a: {prio: 1}}}", "did you mean inbox.rules.a.priority?"),
        ("inbox: {rules: {a: {priority: 11}}}", "priority is 11; it must be one of low, normal, high, urgent"),
        ("database: {pooler: session}", "database.pooler must be none or transaction, got 'session'"),
        ("- a list", "must be keys and values, not a list"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_what_would_be_right(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=r"\w") as raised:
        load(write(tmp_path, text), environment={})
    assert told in str(raised.value)
    assert raised.value.exit_code == 8


def test_a_folder_without_a_file_is_refused_so_that_no_database_starts_by_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="doclease init"):
        load(tmp_path, environment={})


def test_the_environment_wins_over_the_file_and_can_stand_alone(tmp_path: Path) -> None:
    environment = {
        "DOCLEASE_DATABASE_URL": "postgresql://db/doclease",
        "DOCLEASE_LEASE__BASE_SECONDS": "3",
        "DOCLEASE_LEASE__STEP_PAGES": "all",
        "DOCLEASE_QUEUE__AGING_MINUTES": "off",
        "DOCLEASE_DIR": "elsewhere",
    }
    alone = load(tmp_path, environment=environment)
    assert alone.database_url == "postgresql://db/doclease"
    assert alone.lease.step_pages == config.UNLIMITED_STEP
    assert alone.queue.aging_ms == config.STRICT_AGING_MS
    with_file = load(write(tmp_path, "lease: {base_seconds: 7, slack: 9}"), environment=environment)
    assert (with_file.lease.base_seconds, with_file.lease.slack) == (3, 9)


def test_a_wrong_variable_is_named_like_a_wrong_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean lease\.base_seconds"):
        load(write(tmp_path, ""), environment={"DOCLEASE_LEASE__BASE_SECOND": "3"})


def test_relative_folders_count_from_the_file(tmp_path: Path) -> None:
    settings = load(write(tmp_path, "inbox: {folder: drop, failed: /srv/failed}"), environment={})
    assert settings.inbox_path == tmp_path / "drop"
    assert settings.failed_path == Path("/srv/failed")
    assert settings.store_path == tmp_path / "data" / "store"


def test_rules_of_sub_folders_take_names_and_numbers() -> None:
    rules = {"rush": {"priority": "high"}, "old": {"priority": -3, "type": "contract"}}
    settings = settings_from({"inbox": {"rules": rules}}, home=ROOT)
    assert settings.inbox.rules == {"rush": Rule(priority=5), "old": Rule(priority=-3, type="contract")}


@pytest.mark.parametrize(("given", "number"), [("low", -5), ("urgent", 10), ("-10", -10), (7, 7)])
def test_priorities_have_names_and_numbers(given: object, number: int) -> None:
    assert parse_priority(given) == number


def test_strict_aging_outweighs_any_waiting_and_still_fits_a_bigint() -> None:
    now_ms = 4 * 10**12  # the year 2096
    assert now_ms + 10 * config.STRICT_AGING_MS < 2**63
    assert now_ms < config.STRICT_AGING_MS


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, Rule):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__ if name != "home"}
    return value


def _keys(document: dict[str, Any], path: str = "") -> set[str]:
    found = set()
    for key, value in document.items():
        deeper = isinstance(value, dict) and key != "rules"
        found |= _keys(value, f"{path}{key}.") if deeper else {path + key}
    return found
