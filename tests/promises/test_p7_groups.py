"""P7: a command that takes many files in is killed with SIGKILL after each step of a group.

Whatever has rows has its bytes in the store. The command is then repeated: one document and one task for each content.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from pipeline.documents.archive import Archive
from pipeline.registering import State
from tests.taking import count, rows
from tests.victims import dies_taking, take_pile

FILES, CONTENTS = 30, 25
# The step, when, and its turn: in the third group, or amid its files.
DEATHS = [
    ("pipeline.documents.archive:Archive.put", "after", 12),
    ("pipeline.intake.recipe:Intake.triage", "after", 12),
    ("pipeline.documents.archive:Archive.sync", "after", 3),
    ("pipeline.queue.store:Queue.enqueue_all", "after", 3),
    ("pipeline.intake.arrivals:Arrivals.add_all", "after", 3),
    ("pipeline.intake.recipe:Intake.record_all", "after", 3),
]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("death", DEATHS, ids=lambda death: death[0].rpartition(":")[2])
def test_a_command_killed_amid_a_group_loses_and_doubles_nothing(
    engine: Engine, database_url: URL, tmp_path: Path, death: tuple[str, str, int]
) -> None:
    (tmp_path / "pile").mkdir()
    for number in range(FILES):
        (tmp_path / f"pile/{number:02}.txt").write_bytes(b"content %d" % (number % CONTENTS))
    assert dies_taking(database_url, tmp_path, *death), "the command never came there"
    archive = Archive(tmp_path / "store")
    before = rows(engine, "SELECT sha256 FROM documents")
    assert all(archive.verify(sha256) for sha256 in before)
    taken = take_pile(engine, tmp_path)
    new = [each for each in taken if each.arrived is not None and each.arrived.state is State.ENQUEUED]
    assert (len(taken), len(new)) == (FILES, CONTENTS - len(before))
    found = rows(engine, "SELECT sha256 FROM documents")
    assert all(archive.verify(sha256) for sha256 in found)
    assert (len(found), count(engine, "tasks"), count(engine, "arrivals") >= FILES) == (CONTENTS, CONTENTS, True)
