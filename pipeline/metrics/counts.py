"""What a process has counted since it began. Plain numbers behind a lock: nobody has to read them."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from weakref import WeakSet

from pipeline.metrics.catalogue import COUNTERS, Metric
from pipeline.worker.process import ChildProcess

_HIGH_WATER = re.compile(r"^VmHWM:\s*(\d+) kB$", re.MULTILINE)

Values = Mapping[str, float]


class Counts:
    """Counters by the value of their label ("" without one), busy slots, and the parser children there are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[str, Counter[str]] = defaultdict(Counter)
        self._children: WeakSet[ChildProcess] = WeakSet()
        self.slots = 0
        self.slots_busy = 0
        for metric in COUNTERS:
            self._counters[metric.name].update(dict.fromkeys(metric.known if metric.label else ("",), 0))

    def add(self, metric: Metric, value: str = "", amount: int = 1) -> None:
        """Count. `value` is that of the metric's label."""
        with self._lock:
            self._counters[metric.name][value] += amount

    def occupy(self, slots: int) -> None:
        """Note that so many more slots, or fewer, have a document in hand."""
        with self._lock:
            self.slots_busy += slots

    def watch(self, child: ChildProcess) -> None:
        """Look at this child's memory when asked, for as long as anybody uses it."""
        with self._lock:
            self._children.add(child)

    def values(self, metric: Metric) -> Values:
        """A counter's values by that of its label."""
        with self._lock:
            return dict(self._counters[metric.name])

    def child_peak_bytes(self) -> int:
        """The most memory that any child alive has held, in bytes; 0 without a child."""
        with self._lock:
            pids = [child.pid for child in self._children]
        return max((_peak_bytes(pid) for pid in pids if pid is not None), default=0)


def _peak_bytes(pid: int) -> int:
    try:
        held = _HIGH_WATER.search(Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace"))
    except OSError:  # it has just ended
        return 0
    return int(held[1]) * 1024 if held else 0
