"""What a parser child may use for its next document: limits, recognition, passwords. Sent along with each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.config import LimitSettings, OcrSettings


@dataclass(frozen=True, slots=True)
class Provision:
    """Limits, how pages are recognised, and the passwords to try."""

    limits: LimitSettings = field(default_factory=LimitSettings)
    ocr: OcrSettings = field(default_factory=OcrSettings)
    passwords: tuple[str, ...] = ()


Provisioner = Callable[[], Provision]


def provision_of(fields: Mapping[str, Any]) -> Provision:
    """The provision that arrived. Only the parent sends one, so it is believed."""
    return Provision(LimitSettings(**fields["limits"]), OcrSettings(**fields["ocr"]), tuple(fields["passwords"]))
