"""The answer to a child's question after the issuer of its document.

A child that was taken over may ask for anything: it gets one answer an attempt, of what stands in the database anyway,
cut to size. The parent looks into nothing that it hands on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from pipeline.remembered import Memory
from pipeline.worker.ends import End
from pipeline.worker.frames import BrokenFrame, Frame
from pipeline.worker.issuer_frames import keys_of
from pipeline.worker.patience import Patience

logger = logging.getLogger(__name__)


class Recollection:
    """Answers the question of one attempt."""

    def __init__(self, memory: Memory, database: Patience) -> None:
        self._memory = memory
        self._database = database
        self._answered = False

    def answer(self, frame: Frame) -> Frame:
        """The answer to send: nothing where the database is away, as no document waits for memory.

        Raises BrokenFrame for nonsense and for a second question.
        """
        keys = keys_of(frame)
        if self._answered:
            raise BrokenFrame("it asks for an issuer twice")
        self._answered = True
        return {"kind": "remembered", "documents": self._documents(keys)}

    def _documents(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        documents: list[dict[str, Any]] = []
        try:
            if self._database.may_ask:
                self._database.attempt(lambda: documents.extend(self._memory.of(keys)))
        except End as end:
            logger.warning("nothing is remembered of an issuer: %s", end.error)
        return documents
