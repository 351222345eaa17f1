"""An embedded server that does not start is a database that is away: waited for, and no fault of any document."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from pipeline import database
from pipeline.app import App
from pipeline.config_reading import settings_from
from pipeline.embedded.server import EmbeddedServer
from pipeline.queue.model import Claim
from pipeline.worker.patience import Patience
from pipeline.worker.stopping import Stopping
from tests.faults.servers import public_folder

pytestmark = pytest.mark.slow


def _ask(app: App) -> None:
    with app.engine.connect() as connection:
        connection.execute(text("SELECT 1"))


def test_an_embedded_server_that_does_not_start_is_waited_for() -> None:
    with public_folder() as home:
        server = EmbeddedServer(home / "data")
        app = App(settings_from({}, home=home), database.parse_url(server.acquire()), "tests", server)
        patience = Patience(Claim(1, 1, 1, uuid.uuid4(), "auto", 1, 0, 0, 15, 60, 0, 0, 0), Stopping(drain_seconds=1))
        try:
            assert patience.attempt(lambda: _ask(app))
            server.stop()
            app.engine.dispose()
            settings: Path = server.cluster_dir / "postgresql.conf"
            kept = settings.read_text("utf-8")
            settings.write_text(f"{kept}\nno_such_setting = 1\n", encoding="utf-8")
            with pytest.raises(OperationalError):
                _ask(app)
            assert not patience.attempt(lambda: _ask(app))
            settings.write_text(kept, encoding="utf-8")
            patience.insist(lambda: _ask(app))
        finally:
            app.engine.dispose()
            server.stop()
