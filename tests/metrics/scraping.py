"""Ask a process for its metrics as Prometheus does."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

Scraped = Mapping[str, Mapping[str, float]]


def free_port() -> int:
    """A port of the loopback that was free just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def scrape(port: int) -> Scraped:
    """Values by name and by the value of the label, "" without one."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        page = answer.read().decode()
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found.setdefault(sample.name, {})["".join(sample.labels.values())] = sample.value
    return found
