"""A mailbox whose list of mails is long enough for pages."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.documents.formats.mbox import MAILS_PER_PAGE

LINE = "From anna@example.org Mon Mar  2 09:00:00 2026\n"


def build(pages: Sequence[str]) -> bytes:
    """A mailbox with a page's text as the subject of the first mail of that page."""
    subjects = [
        subject
        for number, page in enumerate(pages, 1)
        for subject in (page, *(f"mail {number}.{other}" for other in range(1, MAILS_PER_PAGE)))
    ]
    return "".join(f"{LINE}From: anna@example.org\nSubject: {subject}\n\ntext\n\n" for subject in subjects).encode()
