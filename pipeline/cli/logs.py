"""How the log looks: an event begins a line and nothing else does, and no text in it acts on whoever reads it.

File names, titles and error texts come from outside. One with a line break cannot forge an event, since what belongs to
an event is indented; one with control characters is shown as escapes.
"""

from __future__ import annotations

import logging
import sys

from rich.console import Console
from rich.logging import RichHandler

from pipeline.cli.output import safe
from pipeline.redaction import without_passwords

PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Events(logging.Formatter):
    """Formats a record as one line; the lines of a traceback follow it, indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        """The line of the event."""
        return safe(without_passwords(super().formatMessage(record)))

    def formatException(self, ei: object) -> str:  # noqa: N802 - the name is logging's
        """The traceback below it."""
        return _indented(super().formatException(ei))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - the name is logging's
        """The stack below it."""
        return _indented(super().formatStack(stack_info))


def log_to_terminal(verbose: int) -> None:
    """Log to standard error: warnings, with `verbose` what happens, with 2 every detail."""
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    if sys.stderr.isatty():
        handler: logging.Handler = RichHandler(console=Console(stderr=True), show_path=False)
        handler.setFormatter(Events("%(message)s"))
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(Events(PLAIN))
    logging.basicConfig(level=level, handlers=[handler])
    logging.getLogger("apscheduler").setLevel(max(level, logging.ERROR))
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _indented(text: str) -> str:
    lines = without_passwords(text).split("\n")  # a carriage return or another break stays in its line, as an escape
    return "\n".join(f"    {safe(line)}" for line in lines)
