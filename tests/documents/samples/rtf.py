"""An RTF document: a paragraph a line, a page break between pages, every character beyond ASCII as \\u."""

from __future__ import annotations

from collections.abc import Sequence


def escaped(text: str) -> str:
    """The text as RTF writes it."""
    units = text.encode("utf-16-le")
    written = ""
    for at in range(0, len(units), 2):
        code = int.from_bytes(units[at : at + 2], "little")
        if 0x20 <= code < 0x7F:
            written += f"\\{chr(code)}" if chr(code) in "\\{}" else chr(code)
        else:
            written += f"\\u{code - 0x10000 if code > 0x7FFF else code}?"
    return written


def document(content: str) -> bytes:
    """A document with one font around this content."""
    return f"{{\\rtf1\\ansi\\ansicpg1252\\deff0{{\\fonttbl{{\\f0\\fswiss\\fcharset0 Arial;}}}}{content}}}".encode(
        "ascii"
    )


def build(pages: Sequence[str]) -> bytes:
    """An RTF document with these texts, each on its page."""
    return document("\\page ".join("".join(f"{escaped(line)}\\par " for line in page.split("\n")) for page in pages))
