"""Metrics of a running App, shown while a block runs if a port is configured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from pipeline.app import App


@contextmanager
def exported(app: App, *, port: int | None = None, slots: int = 0) -> Iterator[None]:
    """Show them on `port`, else on metrics.port; 0 is nowhere. Raises ConfigurationError when it cannot be had."""
    settings = app.settings.metrics if port is None else replace(app.settings.metrics, port=port)
    if not settings.port:
        yield
        return
    # Imported here: it costs a tenth of a second, and most commands show nothing.
    from pipeline.metrics.exporter import Exporter, Numbers  # noqa: PLC0415
    from pipeline.metrics.gauges import Gauges  # noqa: PLC0415

    app.counts.slots = slots
    with (
        closing(Gauges(app.engine)) as gauges,
        Exporter(Numbers(app.counts, gauges, app.settings.store_path), settings),
    ):
        yield
