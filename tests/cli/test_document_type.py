"""What type a document is: told by its scores, unless somebody said it; the scores are kept with the result."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, Engine

from tests.cli.conftest import Doclease
from tests.handlers.kinds import INVOICES
from tests.worker.shop import open_shop

RESULTS = "SELECT name, document_type, result -> 'scores' AS scores FROM accepted_results"


def test_a_type_that_is_ordered_wins_over_every_score_and_the_scores_are_kept(
    doclease: Doclease, home: Path, database_url: URL, engine: Engine
) -> None:
    (home / "inbox" / "contracts").mkdir(parents=True)
    for number, place in enumerate(("scored.txt", "ordered.txt", "inbox/contracts/in_folder.txt")):
        (home / place).write_text(INVOICES["honorarnote"] + "\n" * number, encoding="utf-8")
    with open_shop(home, database_url, engine, inbox={"quiet_for_seconds": 0.1}) as shop:
        doclease("ingest", str(home / "scored.txt"))
        doclease("ingest", str(home / "ordered.txt"), "--type", "contract")
        doclease("watch", "--once")
        shop.work()
        found = {row.name: (row.document_type, row.scores) for row in shop.rows(RESULTS)}
    kind, scores = found.pop("scored.txt")
    assert kind == "invoice"
    assert scores["invoice"] > scores["general"] > scores["contract"]
    assert found == dict.fromkeys(("ordered.txt", "in_folder.txt"), ("contract", {"contract": 1.0}))
