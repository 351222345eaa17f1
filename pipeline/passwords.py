"""The file of passwords to try on locked documents: one a line, readable by its owner only.

Passwords go to parser children with each document and nowhere else: not into the database, a log or an error.
"""

from __future__ import annotations

import os
from pathlib import Path

from pipeline.errors import ConfigurationError

MOST = 200  # each is tried on every locked document; some encryptions take a while
LONGEST = 127  # bytes of UTF-8: what a PDF's newest encryption takes


def known_passwords(path: Path) -> tuple[str, ...]:
    """The passwords of a file, newest first, at most 200; none when there is no file. Raises ConfigurationError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigurationError(f"the file of passwords {path} cannot be read: {why}") from error
    return tuple(dict.fromkeys(line for line in reversed(lines) if line))[:MOST]


def remember(path: Path, password: str) -> bool:
    """Add a password to the file, durably; False if it is there. Raises ConfigurationError for one that cannot be."""
    if not password or "\n" in password or "\r" in password or len(password.encode()) > LONGEST:
        raise ConfigurationError(f"a password has 1 to {LONGEST} bytes and no line break")
    if password in known_passwords(path):
        return False
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        os.fchmod(descriptor, 0o600)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        gap = b"" if file.read(1) in (b"", b"\n") else b"\n"
        file.write(gap + password.encode() + b"\n")
        file.flush()
        os.fsync(descriptor)
    return True
