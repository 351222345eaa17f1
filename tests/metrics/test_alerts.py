"""The alert rules that ship ask for metrics that exist and tell whoever is woken what to do."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.metrics import catalogue

RULES = Path(__file__).parents[2] / "deploy/prometheus/doclease.rules.yaml"
METRICS = {each.name: each for each in (*catalogue.COUNTERS, *catalogue.OWN_GAUGES, *catalogue.SHARED_GAUGES)}


def _alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("alert", _alerts(), ids=lambda alert: alert["alert"])
def test_an_alert_asks_for_metrics_and_labels_that_exist(alert: dict[str, Any]) -> None:
    named = re.findall(r"(doclease_\w+)(?:\{(\w+)!?=\"(\w+)\"\})?", alert["expr"])
    assert named
    for name, label, value in named:
        metric = METRICS[name]
        assert label in ("", metric.label), name
        assert not value or value in metric.known, name
    for label in re.findall(r"\$labels\.(\w+)", str(alert["annotations"])):
        assert label == "instance" or re.search(rf"by \({label}\)", alert["expr"])


@pytest.mark.parametrize("alert", _alerts(), ids=lambda alert: alert["alert"])
def test_an_alert_says_what_is_wrong_and_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    assert len(alert["annotations"]["summary"].split()) >= 4
    assert len(alert["annotations"]["description"].split()) >= 6


def test_what_can_go_wrong_has_its_alert() -> None:
    asked = {name for alert in _alerts() for name in re.findall(r"doclease_\w+", alert["expr"])}
    for metric in (
        catalogue.SWEEP_AGE,
        catalogue.SCAN_AGE,
        catalogue.LEASE_OVERDUE,
        catalogue.FALSE_RECOVERIES,
        catalogue.ENDED_BADLY,
        catalogue.PAUSED,
        catalogue.STORE_FREE,
        catalogue.RECOVERIES,
        catalogue.CLAIMS,
        catalogue.DATABASE_UP,
    ):
        assert metric.name in asked


def test_prometheus_itself_takes_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed; it comes with Prometheus (Debian: apt-get install prometheus)")
    done = subprocess.run([promtool, "check", "rules", RULES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
