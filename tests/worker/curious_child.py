"""A parser child that a document has taken over: it asks for the memory of one issuer after the other."""

from __future__ import annotations

from pipeline import handling, work
from pipeline.documents.formats import plain
from pipeline.documents.text import Document
from pipeline.handling import Extraction
from pipeline.reading.memory.memory import Ask
from pipeline.worker import child

MODULE = "tests.worker.curious_child"


def _ask_on(document: Document, extraction: Extraction, ask: Ask) -> Extraction:
    for number in range(1000):
        ask((f"de{number:09}",))
    return extraction


if __name__ == "__main__":
    setattr(work, "with_memory", _ask_on)  # noqa: B010
    child.main((plain.format,), handling.discover)
