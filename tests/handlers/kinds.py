"""Invented documents of many kinds, to see what each is taken for. They stand in kinds.txt, one under each `===`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def _read(kind: str) -> Mapping[str, str]:
    """The documents that are for one handler, by name."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    found = (each.split("\n", 1) for each in text.split(f"=== {kind}: ")[1:])
    return {name: content.split("\n=== ")[0] for name, content in found}


INVOICES, CONTRACTS, OTHERS = (_read(kind) for kind in ("invoice", "contract", "general"))
