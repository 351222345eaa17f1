"""doclease: the real queue, intake, worker and sweeper; only the documents are orders instead of pages."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import URL, text

from bench.peers import adapter, doclease_child
from pipeline import database
from pipeline.app import App
from pipeline.config_reading import settings_from
from pipeline.intake.recipe import Source

_STATES = {
    "enqueued": adapter.WAITING,
    "delayed": adapter.WAITING,
    "processing": adapter.RUNNING,
    "succeeded": adapter.DONE,
}
_TASKS = text("SELECT documents.name, tasks.status FROM tasks JOIN documents USING (document_id)")


class Doclease:
    """Settings are sections of config.yaml."""

    def __init__(self, place: adapter.Place) -> None:
        self._home = Path(place.folder) / "doclease"
        self._home.mkdir(exist_ok=True)
        url = URL.create("postgresql+psycopg", place.user, database=place.database, query={"host": place.host})
        document = {**place.settings, "database_url": url.render_as_string(hide_password=False)}
        settings = settings_from(document, home=self._home)
        self._app = App(settings=settings, url=url, name="bench", child_module=doclease_child.__name__)

    def prepare(self) -> None:
        """Make the schema."""
        database.upgrade(self._app.engine)

    def enqueue(self, orders: Sequence[str]) -> None:
        """Take each order in as a document."""
        self._forget_connections()
        with self._app.intake() as intake:
            for order in orders:
                path = self._home / f"{adapter.task_of(order)}.order"
                path.write_bytes(doclease_child.HEAD + order.encode())
                intake.take(Source.at(path), token=uuid.uuid4())

    def states(self) -> dict[str, str]:
        """By the task's status."""
        self._forget_connections()
        with self._app.engine.connect() as connection:
            rows = list(connection.execute(_TASKS))
        return {Path(row.name).stem: _STATES.get(row.status, adapter.ENDED_BADLY) for row in rows}

    def work(self, slots: int) -> None:
        """What `doclease work` does."""
        self._app.supervisor(slots).run()

    def _forget_connections(self) -> None:
        """The server may have been restarted since the last command."""
        self._app.engine.dispose()


if __name__ == "__main__":
    adapter.main(Doclease(adapter.Place()))
