"""The folder and the command line that the tests of commands use."""

from __future__ import annotations

from tests.cli.conftest import doclease, home

__all__ = ["doclease", "home"]
