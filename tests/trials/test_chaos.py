"""A short chaos balances, and its ledger sees each kind of damage."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.store import Queue
from pipeline.trials.chaos import Chaos
from pipeline.trials.ledger import Ledger, Paper, close_books
from pipeline.trials.paper import make_pdf, marker
from tests.tasks import add_task
from tests.worker.shop import Shop


@pytest.mark.slow
def test_nothing_is_lost_doubled_or_stuck_in_a_short_chaos() -> None:
    said: list[str] = []
    with tempfile.TemporaryDirectory(prefix="doclease-tests-") as folder:
        Path(folder).chmod(0o755)
        ledger = Chaos(documents=25, seconds=8, seed=7, say=said.append).run(Path(folder) / "chaos")
    assert ledger.balances, (ledger, said)
    assert ledger.documents == 25
    assert "killed:" in said[-1]


@pytest.fixture
def books(shop: Shop, engine: Engine, tmp_path: Path) -> Books:
    """Three documents that went through, with their files in processed/."""
    return Books(shop, engine, tmp_path / "trial")


class Books:
    """What a chaos run leaves behind, small, so that it can be damaged."""

    def __init__(self, shop: Shop, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.inbox, self.processed = folder / "inbox", folder / "processed"
        for path in (self.inbox, self.processed):
            path.mkdir(parents=True)
        self.papers = {}
        for number in (1, 2, 3):
            content = make_pdf(number, 2, 0)
            path = self.processed / f"{number}.pdf"
            path.write_bytes(content)
            shop.take_file(path)
            self.papers[hashlib.sha256(content).hexdigest()] = Paper(number, 2)
        shop.work()

    def close(self) -> Ledger:
        """The ledger as it stands."""
        return close_books(self.engine, self.papers, inbox=self.inbox, processed=self.processed)

    def damage(self, statement: str) -> None:
        """Change the database behind its back."""
        with self.engine.begin() as connection:
            connection.execute(text(statement))


def test_the_books_balance_when_nothing_happened(books: Books) -> None:
    ledger = books.close()
    assert ledger.balances
    assert (ledger.documents, ledger.hits, ledger.false_recoveries) == (3, 0, 0)


@pytest.mark.parametrize(
    ("statement", "entry"),
    [
        ("UPDATE tasks SET reason = 'ok_with_gaps' WHERE task_id = (SELECT min(task_id) FROM tasks)", "lost"),
        ("DELETE FROM pages WHERE page_no = 2 AND task_id = (SELECT min(task_id) FROM tasks)", "wrong_pages"),
        ("UPDATE pages SET text = 'document-000009 page-0001' WHERE page_no = 1", "wrong_pages"),
        ("UPDATE attempts SET outcome = NULL, ended_at = NULL, result = NULL", "uneven_attempts"),
        ("UPDATE arrivals SET duplicate = true", "doubled"),
    ],
)
def test_damage_in_the_database_shows_in_the_books(books: Books, statement: str, entry: str) -> None:
    books.damage(statement)
    ledger = books.close()
    assert getattr(ledger, entry) > 0
    assert not ledger.balances


def test_a_task_that_never_ended_and_a_paper_that_never_arrived_show_in_the_books(
    books: Books, engine: Engine, queue: Queue
) -> None:
    add_task(engine, queue)
    assert books.close().stuck == 1
    books.papers["0" * 64] = Paper(9, 1)
    assert books.close().lost == 1


def test_misplaced_files_show_in_the_books(books: Books) -> None:
    (books.processed / "1.pdf").rename(books.inbox / "1.pdf")
    assert books.close().misplaced == 2  # one stands in the inbox, one is missing where it belongs
    (books.processed / "copy.pdf").write_bytes((books.processed / "2.pdf").read_bytes())
    assert books.close().misplaced == 3


def test_papers_are_the_same_for_the_same_seed_and_marked_on_every_page() -> None:
    assert make_pdf(1, 3, 7) == make_pdf(1, 3, 7) != make_pdf(1, 3, 8)
    assert make_pdf(1, 3, 7).count(b"(document-000001 page-000") == 3
    assert marker(1, 2) != marker(2, 1)
