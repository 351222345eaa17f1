"""Metrics of a running App, shown while a block runs if a port is configured."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

from pipeline.app import App
from pipeline.errors import ConfigurationError

logger = logging.getLogger(__name__)


@contextmanager
def exported(app: App, *, port: int | None = None, slots: int = 0) -> Iterator[None]:
    """Show them on `port`, else on metrics.port; 0 is nowhere.

    A port that was asked for and is taken is a ConfigurationError. That of config.yaml is meant for each process of the
    folder and can be had by one: the others say so in the log, and work.
    """
    settings = app.settings.metrics if port is None else replace(app.settings.metrics, port=port)
    if not settings.port:
        yield
        return
    # Imported here: it costs a tenth of a second, and most commands show nothing.
    from pipeline.metrics.exporter import Exporter, Numbers  # noqa: PLC0415
    from pipeline.metrics.gauges import Gauges  # noqa: PLC0415

    app.counts.slots = slots
    with ExitStack() as stack:
        gauges = stack.enter_context(closing(Gauges(app.engine)))
        try:
            stack.enter_context(Exporter(Numbers(app.counts, gauges, app.settings.store_path), settings))
        except ConfigurationError as error:
            if port is not None:
                raise
            logger.warning("%s", error)
        yield
