"""Files inside a document become documents of their own, in the transaction that completes the one they came in.

A killed attempt therefore leaves none, and a repeated one doubles none. Their bytes are in the store before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from pipeline.documents.archive import Stored
from pipeline.documents.text import clean, display_name
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.store import Queue
from pipeline.registering import Origin, Registry, Triage

NAMELESS = "attachment"
_ALREADY_THERE = "it is the document itself"


@dataclass(frozen=True, slots=True)
class Parent:
    """The document the files came in, and what it passes on to them."""

    document_id: int
    root_document_id: int | None
    depth: int
    batch: str | None
    priority: int


@dataclass(frozen=True, slots=True)
class Part:
    """One file. `stored` and `triage` are None for one that was left out, for the reason that `left_out` gives."""

    number: int
    name: str
    media_type: str
    left_out: str = ""
    rendition_of: int | None = None
    stored: Stored | None = None
    triage: Triage | None = None


class Attachments:
    """Writes the parts of a document, in the caller's transaction."""

    def __init__(self, queue: Queue) -> None:
        self._registry = Registry(queue)

    def record(
        self, connection: Connection, parent: Parent, parts: Sequence[Part], *, handler: str, policy: LeasePolicy
    ) -> None:
        """Put every part on record, and in line what nobody has read yet. Writing the same parts again is harmless.

        Parts are locked in the order of their hashes, so that two parents with the same files do not block each other.
        """
        rows = []
        for part in sorted(parts, key=lambda each: (each.stored.sha256 if each.stored else "", each.number)):
            document_id = self._document(connection, parent, part, handler, policy) if part.stored else None
            rows.append(_row(parent, part, document_id))
        if rows:
            connection.execute(_WRITE, rows)

    def _document(
        self, connection: Connection, parent: Parent, part: Part, handler: str, policy: LeasePolicy
    ) -> int | None:
        assert part.stored is not None
        assert part.triage is not None
        origin = _origin(parent, part, part.stored)
        document_id = self._registry.document(connection, origin, part.triage)
        if document_id == parent.document_id:
            return None
        self._registry.put_in_line(
            connection, document_id, origin, part.triage, handler=handler, priority=parent.priority, policy=policy
        )
        return document_id


def _origin(parent: Parent, part: Part, stored: Stored) -> Origin:
    return Origin(
        name=_shown(part.name),
        raw_name=os.fsencode(_shown(part.name)),
        sha256=stored.sha256,
        byte_count=stored.byte_count,
        batch=parent.batch,
        parent_document_id=parent.document_id,
        root_document_id=parent.root_document_id or parent.document_id,
        depth=parent.depth + 1,
    )


def _row(parent: Parent, part: Part, document_id: int | None) -> dict[str, Any]:
    return {
        "parent_document_id": parent.document_id,
        "number": part.number,
        "name": _shown(part.name),
        "media_type": clean(part.media_type),
        "document_id": document_id,
        "left_out": None if document_id is not None else clean(part.left_out) or _ALREADY_THERE,
        "rendition_of": part.rendition_of,
    }


def _shown(name: str) -> str:
    """A name that can be stored and shown: the last part of whatever path it pretends to be."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return display_name(clean(last).encode()) or NAMELESS


_WRITE = text("""
    INSERT INTO attachments (parent_document_id, number, name, media_type, document_id, left_out, rendition_of)
    VALUES (:parent_document_id, :number, :name, :media_type, :document_id, :left_out, :rendition_of)
    ON CONFLICT (parent_document_id, number) DO UPDATE
    SET name = excluded.name,
        media_type = excluded.media_type,
        document_id = excluded.document_id,
        left_out = excluded.left_out,
        rendition_of = excluded.rendition_of
""")
