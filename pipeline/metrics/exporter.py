"""The page that Prometheus reads, on a port of its own: counts of this process and gauges of the whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from pipeline.config import MetricsSettings
from pipeline.errors import ConfigurationError
from pipeline.metrics import catalogue
from pipeline.metrics.counts import Counts, Values
from pipeline.metrics.gauges import Gauges, Sample


class Numbers(Collector):
    """All metrics of a process, collected when they are asked for."""

    def __init__(self, counts: Counts, gauges: Gauges, store: Path) -> None:
        self._counts = counts
        self._gauges = gauges
        self._store = store

    def collect(self) -> Iterator[Family]:
        """Every metric of the catalogue that has a value now."""
        for metric in catalogue.COUNTERS:
            yield _family(CounterMetricFamily, metric, self._counts.values(metric))
        samples = [*self._own(), *self._gauges.read()]
        for metric in (*catalogue.OWN_GAUGES, *catalogue.SHARED_GAUGES):
            values = {sample.label: float(sample.value) for sample in samples if sample.metric is metric}
            if values:
                yield _family(GaugeMetricFamily, metric, values)

    def _own(self) -> Iterator[Sample]:
        yield Sample(catalogue.INFO, 1, _version())
        yield Sample(catalogue.SLOTS, self._counts.slots)
        yield Sample(catalogue.SLOTS_BUSY, self._counts.slots_busy)
        yield Sample(catalogue.CHILD_PEAK, self._counts.child_peak_bytes())
        above = next((folder for folder in (self._store, *self._store.parents) if folder.exists()), Path("/"))
        yield Sample(catalogue.STORE_FREE, shutil.disk_usage(above).free)


class Exporter:
    """Serves the numbers while its block runs. Raises ConfigurationError when the port cannot be had."""

    def __init__(self, numbers: Numbers, settings: MetricsSettings) -> None:
        self._settings = settings
        self._registry = CollectorRegistry()
        self._registry.register(numbers)
        ProcessCollector(registry=self._registry)

    def __enter__(self) -> Self:
        host, port = self._settings.host, self._settings.port
        try:
            self._server, self._thread = start_http_server(port, host, self._registry)
        except OSError as error:
            raise ConfigurationError(
                f"metrics cannot be shown on {host}:{port}: {error.strerror or error}."
                " Each process needs a port of its own: --metrics-port"
            ) from error
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _family(
    kind: type[CounterMetricFamily | GaugeMetricFamily], metric: catalogue.Metric, values: Values
) -> CounterMetricFamily | GaugeMetricFamily:
    family = kind(metric.name, metric.help, labels=[metric.label] if metric.label else None)
    for label, value in sorted(values.items()):
        family.add_metric([label] if metric.label else [], value)
    return family


def _version() -> str:
    try:
        return version("doclease")
    except PackageNotFoundError:  # a source tree that is not installed
        return "unknown"
