"""One file an engine: a module here that ends in `engine: Maker = …` is an engine of its own name.

A module may be imported without its library: the library is loaded by the first page that is read, and a missing one is
a ConfigurationError that names the package to install.
"""

from __future__ import annotations

import importlib
import pkgutil

from pipeline.documents.ocr.seen import Maker
from pipeline.errors import ConfigurationError


def names() -> tuple[str, ...]:
    """Every engine, by name."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def find(name: str) -> Maker:
    """The engine's maker. Raises ConfigurationError for a name without a module."""
    if name not in names():
        raise ConfigurationError(f"ocr.engine: {name} is no engine; choose one of {', '.join(names())} or none.")
    module = importlib.import_module(f"{__name__}.{name}")
    maker: Maker = module.engine
    return maker
