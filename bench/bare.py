"""Bare loops to compare with: the same libraries in one process, without sandbox, queue or database.

`process` does what a worker's child does with a document: identify it, count its pages, read them, choose a handler,
extract, place. `text` is pypdfium2 alone: load each page, take its text, nothing else.

Loops run two at a time, as a worker has two slots: on two threads of one core each takes up to half as much again as it
would alone. So this module is run as a program that gets lists of files, one a line, and answers with its seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pypdfium2

from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import formats, ocr
from pipeline.documents.contract import Means
from pipeline.work import Job, process

_PAIR = 2
Loop = Callable[[Path], object]


class Pair:
    """Two loops side by side. A context."""

    def __init__(self, loop: str, engine: str = "none") -> None:
        self._command = [sys.executable, "-m", "bench.bare", loop, engine]
        self._running: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Pair:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}
        pipe, root = subprocess.PIPE, Path(__file__).parents[1]
        self._running = [
            subprocess.Popen(self._command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=root)
            for _ in range(_PAIR)
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._running:
            each.communicate()

    def seconds(self, paths: Sequence[Path]) -> float:
        """Processor seconds that one of the two takes for the files while the other reads the same."""
        for each in self._running:
            assert each.stdin is not None
            each.stdin.write(json.dumps([str(path.absolute()) for path in paths]) + "\n")
            each.stdin.flush()
        return sum(float(_line(each)) for each in self._running) / _PAIR


def _line(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    return running.stdout.readline()


def _whole(engine: str) -> Loop:
    kinds, handlers, means = formats.discover(), handling.discover(), Means(ocr=ocr.reader(OcrSettings(engine)))

    def read(path: Path) -> object:
        with path.open("rb") as file:
            return process(
                Job(file, path.name, means=means),
                kinds,
                handlers,
                on_open=lambda count: None,
                on_page=lambda page: None,
                on_attachment=lambda attachment: None,
            )

    return read


def _text_alone(path: Path) -> object:
    document = pypdfium2.PdfDocument(path.read_bytes())
    characters = sum(len(page.get_textpage().get_text_range()) for page in document)
    document.close()
    return characters


def main() -> None:
    """Read lists until there is none."""
    loop, engine = sys.argv[1:]
    read = _text_alone if loop == "text" else _whole(engine)
    for line in sys.stdin:
        started = time.process_time()
        for path in map(Path, json.loads(line)):
            read(path)
        print(time.process_time() - started, flush=True)


if __name__ == "__main__":
    main()
