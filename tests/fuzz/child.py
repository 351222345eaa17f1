"""What runs the targets: a process with capped memory and time, told an input at a time, answering in JSON lines.

What C code does to it is its parent's to see. Arguments: scratch folder, megabytes of memory,
seconds of the processor for an input.
"""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from pipeline.worker.confining.limits import limit_cpu
from tests.fuzz.guard import Guard
from tests.fuzz.oracle import ROOT, signature
from tests.fuzz.targets import Target, targets

HEADER = struct.Struct("!HI")  # lengths of the name of the target and of the input
MOST_FILE_BYTES = 64 * 1024 * 1024


def main(load: Callable[[], Mapping[str, Target]] = targets) -> None:
    """Answer until the input ends."""
    scratch, megabytes, cpu_seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    os.chdir(scratch)
    warnings.simplefilter("ignore")
    found = load()
    guard = Guard(scratch, ROOT)
    resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1024 * 1024,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE_BYTES,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while (given := _next(sys.stdin.buffer)) is not None:
        name, data = given
        limit_cpu(cpu_seconds)
        answers.write(json.dumps(_tried(found[name].run, guard, data)) + "\n")
        answers.flush()


def _next(requests: BinaryIO) -> tuple[str, bytes] | None:
    header = requests.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    name_bytes, data_bytes = HEADER.unpack(header)
    return requests.read(name_bytes).decode(), requests.read(data_bytes)


def _tried(run: Callable[[bytes], str], guard: Guard, data: bytes) -> Mapping[str, str]:
    with guard.watching() as seen:
        try:
            outcome, finding = run(data), ""
        except MemoryError:
            outcome, finding = "out_of_memory", ""
        except BaseException as error:  # noqa: BLE001 - whatever leaves a target is what is looked for
            outcome, finding = "raised", signature(error)
    return {"outcome": outcome, "finding": finding or (f"forbidden: {seen[0]}" if seen else "")}


if __name__ == "__main__":
    main()
