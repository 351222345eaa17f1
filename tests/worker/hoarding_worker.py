"""A saboteur worker that commits no result before its batch ends: so it can be killed with all of them in hand."""

from __future__ import annotations

from pipeline.worker import delivery, outbox
from tests.worker.saboteur_worker import main

if __name__ == "__main__":
    delivery.SHORT_SECONDS = outbox.LONGEST_SECONDS = 600
    main()
