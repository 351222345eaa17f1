"""Feeds inputs to a child process and judges what comes of them: an answer, a finding, a crash of C code, a hang."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pipeline.config import WorkerSettings
from tests.fuzz.child import HEADER

ROOT = Path(__file__).resolve().parents[2]
WAIT_SECONDS = 300.0  # for an answer; only a child that sleeps reaches it, as its processor time is limited
CPU_SECONDS = 10.0  # of the processor, for an input of at most 400 KB
MEGABYTES = WorkerSettings().max_memory_megabytes
RECYCLE_AFTER = 2000  # inputs, so that what one leaves behind in the process is found soon and does not add up


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an input ended. `finding` is empty unless it is a fault of doclease; `word` is ok, a reason or a death."""

    word: str
    finding: str = ""


class Runner:
    """One child, replaced when it dies. A context."""

    def __init__(self, *, module: str = "tests.fuzz.child", cpu_seconds: float = CPU_SECONDS) -> None:
        self._module = module
        self._cpu_seconds = cpu_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._scratch = Path(tempfile.mkdtemp(prefix="doclease-fuzz-"))
        self._count = 0

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def try_one(self, target: str, data: bytes) -> Outcome:
        """Run an input through a target."""
        child = self._ready()
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(HEADER.pack(len(target.encode()), len(data)) + target.encode() + data)
            child.stdin.flush()
        except BrokenPipeError:
            return self._died(target)
        if not select.select([child.stdout], [], [], WAIT_SECONDS)[0]:
            self._end()
            return Outcome("hang", f"{target} sleeps")
        line = child.stdout.readline()
        return Outcome(**_words(line)) if line else self._died(target)

    def _ready(self) -> subprocess.Popen[bytes]:
        self._count += 1
        if self._count % RECYCLE_AFTER == 0:
            self._end()
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", self._module, str(self._scratch), str(MEGABYTES), str(self._cpu_seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": ""},
            )
        return self._child

    def _died(self, target: str) -> Outcome:
        """C code may die of hostile bytes: the worker is built for that. A Python process that ends itself is not."""
        assert self._child is not None
        code = self._child.wait()
        self._end()
        if code == -signal.SIGXCPU:
            return Outcome("hang", f"{target} takes more than {self._cpu_seconds:g} s of the processor")
        if code < 0:
            return Outcome(f"killed by {signal.Signals(-code).name}")
        return Outcome("ended", f"{target} ends its process with {code}")

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except BrokenPipeError:
                        pass
            self._child = None
        for left in self._scratch.iterdir():
            left.unlink() if left.is_file() else shutil.rmtree(left, ignore_errors=True)


def _words(line: bytes) -> dict[str, str]:
    told = json.loads(line)
    return {"word": told["outcome"], "finding": told["finding"]}
