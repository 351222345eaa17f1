"""The readers that are compared: where each runs, what it can do, and a process that is one of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.peers.venvs import CACHE, PINS, is_made, python_of

ROOT = Path(__file__).resolve().parents[1]
_PATIENCE_SECONDS = 600.0
# Threads of tesseract cost two to three times the processor time that they save; so everybody gets this.
_ONE_THREAD = {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_NO_REPORTS = {"DO_NOT_TRACK": "true", "SCARF_NO_ANALYTICS": "true"}
_TESSDATA = "/usr/share/tesseract-ocr/5/tessdata"
_DEBIAN = {
    "tesseract": "tesseract-ocr",
    "pdftotext": "poppler-utils",
    "gs": "ghostscript",
}


@dataclass(frozen=True, slots=True)
class Peer:
    """A way to read documents. `venv` is a key of PINS, None for what runs in this interpreter.

    `scans`: it recognises pages without text. `whole`: it is asked for a folder, not for a file.
    """

    name: str
    module: str
    reader: str
    venv: str | None = None
    programs: tuple[str, ...] = ()
    scans: bool = False
    whole: bool = False
    said: str = ""

    @property
    def lacks(self) -> str:
        """Why it cannot be measured here; empty when it can."""
        if self.venv is not None and not is_made(self.venv):
            return f"not measured: run python -m bench.peers.venvs {self.venv}"
        absent = [program for program in self.programs if shutil.which(program) is None]
        packages = " ".join(_DEBIAN[program] for program in absent)
        return f"not here: {', '.join(absent)}; apt-get install {packages}" if absent else ""

    @property
    def version(self) -> str:
        """Of the library it is, and of the programs that it starts."""
        pins = [PINS[self.venv][0].partition("==")[2]] if self.venv else []
        own = [metadata.version("doclease")] if self.venv is None and "doclease" in self.module else []
        return ", ".join([*own, *pins, *map(_program_version, self.programs)])


_OTHERS, _OWN = "bench.peers.readers", "bench.peers.doclease_readers"
TEXT = Peer("doclease, pages", _OWN, "text", scans=True, said="text, layout, places of words")
RECIPE = Peer("doclease, recipe", _OWN, "recipe", scans=True, said="also type, fields, places, checks")
INSTALLED = Peer(
    "doclease, installed",
    "bench.peers.doclease_installed",
    "all",
    scans=True,
    whole=True,
    said="ingest to rows, in confined processes",
)
KREUZBERG = Peer("kreuzberg", _OTHERS, "kreuzberg", "kreuzberg", ("tesseract",), scans=True)
PEERS = (
    TEXT,
    RECIPE,
    INSTALLED,
    KREUZBERG,
    Peer("pdftotext", _OTHERS, "pdftotext", None, ("pdftotext",)),
    Peer("pdftotext -layout", _OTHERS, "pdftotext_layout", None, ("pdftotext",)),
    Peer("OCRmyPDF + pdftotext", _OTHERS, "ocrmypdf", "ocrmypdf", ("tesseract", "gs", "pdftotext"), scans=True),
    Peer("Tika, native", _OTHERS, "tika", "tika", ("tesseract",), scans=True),
    Peer("Tika, native, no OCR", _OTHERS, "tika_text", "tika"),
    Peer("unstructured, fast", _OTHERS, "unstructured", "unstructured"),
    Peer("docling", _OTHERS, "docling", "docling", scans=True),
    Peer("markitdown", _OTHERS, "markitdown", "markitdown"),
    Peer("pymupdf", _OTHERS, "pymupdf", "pymupdf"),
    Peer("pymupdf4llm", _OTHERS, "pymupdf4llm", "pymupdf", ("tesseract",), scans=True),
    Peer("pdfminer.six", _OTHERS, "pdfminer", "pdfminer"),
    Peer("pdfplumber", _OTHERS, "pdfplumber", "pdfplumber"),
)
OWN_IMAGE = Peer("doclease", _OWN, "image", scans=True)
TESSERACTS = (
    Peer("tesseract, in a process: tesserocr", _OTHERS, "tesserocr", "tesserocr", ("tesseract",), scans=True),
    Peer("tesseract, the program", _OTHERS, "tesseract", None, ("tesseract",), scans=True),
)
IMAGE_PEERS = (OWN_IMAGE, *TESSERACTS, *(peer for peer in PEERS if peer.reader == "ocrmypdf"))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader told of a file or a folder."""

    text: str
    values: int | None
    cpu_seconds: float
    seconds: float
    peak_rss_bytes: int


class Reading:
    """A process that is a reader; it is killed when an answer takes longer than ten minutes.

    `is_new`: nothing was asked of it so far.
    """

    def __init__(self, peer: Peer, process: subprocess.Popen[str], log: Path) -> None:
        self.peer = peer
        self.is_new = True
        self._process = process
        self._log = log
        self._line()  # ready

    def ask(self, path: Path) -> Answer:
        """Have a file read. Raises RuntimeError with what the reader says when it fails."""
        self.is_new = False
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # what it said at its end is told below
            self._process.stdin.write(f"{path}\n")
            self._process.stdin.flush()
        told: dict[str, Any] = json.loads(self._line())
        if "error" in told:
            raise RuntimeError(f"{path.name}: {told['error']}")
        return Answer(**told)

    def _line(self) -> str:
        assert self._process.stdout is not None
        alarm = threading.Timer(_PATIENCE_SECONDS, self._process.kill)
        alarm.start()
        try:
            line = self._process.stdout.readline()
        finally:
            alarm.cancel()
        if not line:
            words = self._log.read_text(encoding="utf-8", errors="replace").strip() or "it says nothing"
            raise RuntimeError(f"it ended: {words.splitlines()[-1][:300]}")
        return line


@contextmanager
def running(peer: Peer, folder: Path = CACHE) -> Iterator[Reading]:
    """A reader that is ready. Raises RuntimeError with what it says when it cannot start."""
    python = python_of(peer.venv, folder) if peer.venv else Path(sys.executable)
    with tempfile.TemporaryDirectory(prefix="doclease-bench-") as scratch:
        log = Path(scratch, "log")
        with (
            log.open("w", encoding="utf-8") as complaints,
            subprocess.Popen(
                [python, "-m", peer.module, peer.reader],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                cwd=scratch,
                env=_environment(),
            ) as process,
        ):
            yield Reading(peer, process, log)


def chosen(names: Sequence[str] | None, peers: Iterable[Peer] = PEERS) -> tuple[list[Peer], Mapping[str, str]]:
    """Those that can be measured here, and why others cannot. `names`: of readers or environments, None for all."""
    wanted = [peer for peer in peers if names is None or {peer.name, peer.reader, peer.venv} & set(names)]
    missing = {peer.name: peer.lacks for peer in wanted if peer.lacks}
    return [peer for peer in wanted if not peer.lacks], missing


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    tessdata = {"TESSDATA_PREFIX": _TESSDATA} if Path(_TESSDATA).is_dir() else {}
    return kept | _ONE_THREAD | _NO_REPORTS | tessdata | {"PYTHONPATH": str(ROOT)}


def _program_version(program: str) -> str:
    option = "-v" if program == "pdftotext" else "--version"
    done = subprocess.run([program, option], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(?:\.\d+)+", done.stdout + done.stderr)
    return f"{program} {found[0] if found else '?'}"
