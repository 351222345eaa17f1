"""A mail as a program sends it: its text is long, and has form feeds."""

from __future__ import annotations

from collections.abc import Sequence

HEAD = (
    "From: Anna <anna@example.org>\r\nTo: books@example.org\r\n"
    "Date: Mon, 2 Mar 2026 09:00:00 +0100\r\nSubject: Papers\r\n"
)


def build(pages: Sequence[str]) -> bytes:
    """A mail with these pages of text and no files."""
    text = "\f".join(pages).replace("\n", "\r\n")
    return f'{HEAD}MIME-Version: 1.0\r\nContent-Type: text/plain; charset="utf-8"\r\n\r\n{text}\r\n'.encode()
