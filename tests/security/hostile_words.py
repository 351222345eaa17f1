"""Names and words that would act on a terminal, a log, a shell, SQL or a spreadsheet if anything let them."""

from __future__ import annotations

import re

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
WORDS = (
    "\x1b[2J\x1b]0;owned\x07",  # clears the screen, names the window
    "\x1b]52;c;cm0gLXJmIH4=\x07",  # puts something into the clipboard
    "\x1b]8;;http://127.0.0.1:9/\x1b\\click\x1b]8;;\x1b\\",  # a link
    "\x9b31mred",  # the same introducer in one byte
    "a\n2026-01-01 00:00:00 ERROR pipeline: forged",
    "a\rb",
    "invoice\u202efdp.exe",  # is shown as invoiceexe.pdf
    "\u2066left\u2069",
    "line\u2028break",
    "[bold]markup[/bold]",
    "$(touch owned)`touch owned`;touch owned",
    "'; DROP TABLE canary; --",
    "\"'); DELETE FROM canary; --",
    "%s%(x)s{x}:name$1\\",
    "=HYPERLINK(1)",
)


def is_harmless(text: str) -> bool:
    """Whether nothing in it acts on a terminal; line breaks and tabs are the command's own."""
    return not ACTING.search(text)
