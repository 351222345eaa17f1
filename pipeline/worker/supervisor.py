"""One worker process: slots, the sweeper, the listener, and what signals mean.

The first SIGTERM or SIGINT drains: no more claims, what is in hand is finished within the drain time, with its lease
renewed until the end, else given back. A second one gives back at once. The order is: stop claiming, keep renewing,
finish or give back, stop sweeping.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType

from pipeline.queue.sweeper import Sweeper
from pipeline.queue.wakeup import Bell, Listener
from pipeline.worker.slot import Slot
from pipeline.worker.stopping import Stopping

LOOK_SECONDS = 0.2

logger = logging.getLogger(__name__)


class Supervisor:
    """Runs slots until they end or a signal comes. Call `run` from the main thread: it sets the signal handlers.

    `companions` run in threads of their own beside the slots (the inbox watcher) and end when draining begins.
    """

    def __init__(
        self,
        *,
        slots: Sequence[Slot],
        sweeper: Sweeper,
        listener: Listener | None,
        bell: Bell,
        drain_seconds: float,
        companions: Sequence[Callable[[threading.Event], None]] = (),
    ) -> None:
        self._slots = slots
        self._sweeper = sweeper
        self._listener = listener
        self._bell = bell
        self._companions = companions
        self._ending = threading.Event()
        self.stopping = Stopping(drain_seconds)

    def run(self) -> bool:
        """Work until stopped or done; returns whether a signal stopped it."""
        previous = {number: signal.signal(number, self._on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self._run()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
        return self.stopping.is_draining

    def _run(self) -> None:
        threads = [
            threading.Thread(target=slot.run, args=(self.stopping,), name=f"slot-{number}")
            for number, slot in enumerate(self._slots, start=1)
        ]
        beside = [
            threading.Thread(target=companion, args=(self._ending,), name=f"companion-{number}")
            for number, companion in enumerate(self._companions, start=1)
        ]
        if self._listener is not None:
            self._listener.start()
        self._sweeper.start()
        for thread in threads + beside:
            thread.start()
        try:
            self._wait_for(threads)
        finally:
            self._ending.set()
            for thread in beside:
                thread.join()
            if self._listener is not None:
                self._listener.stop()
            self._sweeper.stop()

    def _wait_for(self, threads: Sequence[threading.Thread]) -> None:
        """Until every slot ended. Waits in short steps: what a signal asked for is passed on between them."""
        for thread in threads:
            while thread.is_alive():
                thread.join(LOOK_SECONDS)
                if self.stopping.is_draining and not self._ending.is_set():
                    logger.info("draining: no more claims; what is in hand is finished or given back")
                    self._ending.set()
                    self._bell.ring_all()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Flags only: a second signal interrupts the handler of the first, and would wait for its locks for ever.
        self.stopping.drain()
