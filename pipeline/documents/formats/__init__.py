"""One file a format: a module here that ends in `format: Format = …` is found by itself; nothing else needs to change.

What a format must do is in pipeline/documents/contract.py.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from pipeline.documents.contract import Format


def discover() -> tuple[Format, ...]:
    """Every format of this package, by name. A module without `format` is an error, named."""
    return tuple(sorted(_formats(), key=lambda each: each.name))


def _formats() -> Iterator[Format]:
    for module in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{module.name}").format
