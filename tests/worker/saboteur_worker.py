"""A worker process whose children obey saboteur documents. Arguments: the home folder, how many slots, until when."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from pipeline.app import open_app
from pipeline.config_reading import load
from pipeline.worker.slot import Until


def main() -> None:
    """Work as the arguments say."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    with open_app(load(Path(sys.argv[1])), name="work") as app:
        app.child_module = "tests.worker.saboteur_child"
        app.supervisor(int(sys.argv[2]), until=Until(sys.argv[3])).run()


if __name__ == "__main__":
    main()
