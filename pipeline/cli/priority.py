"""How a priority is written on the command line: a word or a number."""

from __future__ import annotations

import click

from pipeline.config import parse_priority
from pipeline.errors import ConfigurationError


class Priority(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """low, normal, high, urgent, or -10 to 10."""

    name = "priority"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of a priority."""
        try:
            return parse_priority(value)
        except ConfigurationError as error:
            self.fail(str(error), param, ctx)
