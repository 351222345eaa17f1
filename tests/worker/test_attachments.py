"""Files inside a document become documents with it: all of them or none, once, and never without bound."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.worker.shop import Shop, pages

Business = Callable[..., Shop]

LETTER = "then attach letter.txt Dear\\x20Sirs,\\x20your\\x20invoice\\x20INV-1"
NOTE = "then attach note.txt Call\\x20me"


def _children(shop: Shop) -> list[tuple[object, ...]]:
    return [
        tuple(row)
        for row in shop.rows(
            "SELECT parent_document_id, number, name, status FROM attachments_v ORDER BY parent_document_id, number"
        )
    ]


def _document(shop: Shop, task_id: int) -> int:
    return int(shop.task(task_id).document_id)


def test_each_file_inside_is_a_document_with_its_parent_and_its_text(open_for_business: Business) -> None:
    shop = open_for_business()
    task = shop.take(pages(1), opening=f"{LETTER}\n{NOTE}", priority=5)
    shop.work()
    parent = _document(shop, task)
    assert _children(shop) == [(parent, 1, "letter.txt", "succeeded"), (parent, 2, "note.txt", "succeeded")]
    facts = shop.rows(
        """
        SELECT name, parent_document_id, root_document_id, depth, priority
        FROM documents_v
        WHERE depth > 0
        ORDER BY document_id
        """
    )
    assert sorted(map(tuple, facts)) == [("letter.txt", parent, parent, 1, 5), ("note.txt", parent, parent, 1, 5)]
    texts = shop.rows("SELECT text FROM pages_v WHERE name = 'letter.txt'")
    assert [row.text for row in texts] == ["Dear Sirs, your invoice INV-1"]


def test_the_bytes_inside_are_in_the_store_unchanged_and_nothing_stays_in_the_scratch_folder(
    open_for_business: Business,
) -> None:
    shop = open_for_business()
    shop.take(pages(1), opening=NOTE)
    shop.work()
    digest = hashlib.sha256(b"Call me").hexdigest()
    assert shop.app.archive.path_of(digest).read_bytes() == b"Call me"
    assert shop.app.archive.verify(digest)


def test_a_killed_attempt_leaves_no_file_and_its_successor_doubles_none(open_for_business: Business) -> None:
    shop = open_for_business()
    once = f"then once {shop.home / 'killed'} kill"
    task = shop.take(pages(2), opening=f"{LETTER}\n{once}\n{NOTE}")
    shop.work()
    assert shop.outcomes(task) == [("crashed", "crash"), ("succeeded", "ok")]
    assert [child[2:] for child in _children(shop)] == [("letter.txt", "succeeded"), ("note.txt", "succeeded")]
    assert len(shop.rows("SELECT 1 FROM documents")) == 3
    assert len(shop.rows("SELECT 1 FROM tasks")) == 3


def test_a_document_that_always_dies_never_delivers_what_is_inside(open_for_business: Business) -> None:
    shop = open_for_business()
    task = shop.take(pages(1), opening=f"{LETTER}\nthen kill")
    shop.work()
    assert shop.task(task).status == "quarantined"
    assert _children(shop) == []
    assert len(shop.rows("SELECT 1 FROM documents")) == 1


def test_the_same_file_in_two_documents_is_one_document_read_once(open_for_business: Business) -> None:
    shop = open_for_business()
    first, second = shop.take(pages(1), opening=NOTE), shop.take(pages(2), opening=NOTE)
    shop.work(slots=2)
    assert [child[0] for child in _children(shop)] == sorted([_document(shop, first), _document(shop, second)])
    (note,) = shop.rows("SELECT document_id FROM documents WHERE name = 'note.txt'")
    assert len(shop.rows("SELECT 1 FROM attempts JOIN tasks USING (task_id) WHERE document_id = :id", id=note[0])) == 1


def test_a_file_that_nobody_can_read_is_on_record_with_its_reason_and_fails_no_other(
    open_for_business: Business,
) -> None:
    shop = open_for_business()
    task = shop.take(pages(1), opening=f"then attach tool.exe \\x7fELF\\x00\\x01\\x00\n{NOTE}")
    shop.work()
    assert shop.task(task).reason == "ok"
    rows = shop.rows("SELECT name, status, reason FROM attachments_v ORDER BY number")
    assert [tuple(row) for row in rows] == [("tool.exe", "failed", "unsupported"), ("note.txt", "succeeded", "ok")]


def _nested(depth: int) -> str:
    """A document in a document in …, so many below the first."""
    inner = "SABOTEUR\n\fThe innermost page."
    for level in range(depth):
        escaped = inner.encode("unicode_escape").decode().replace(" ", "\\x20")
        inner = f"SABOTEUR\nthen attach level-{depth - level}.sab {escaped}\n\fLevel {depth - level - 1}."
    return inner


def test_what_is_nested_deeper_than_allowed_is_left_out_by_name(open_for_business: Business) -> None:
    shop = open_for_business(limits={"max_nesting": 2})
    path = shop.home / "nested.sab"
    path.write_text(_nested(4), encoding="utf-8")
    shop.take_file(path)
    shop.work()
    rows = shop.rows("SELECT name, left_out FROM attachments_v ORDER BY parent_document_id")
    assert [tuple(row) for row in rows] == [
        ("level-1.sab", None),
        ("level-2.sab", None),
        ("level-3.sab", "nested 3 deep, limits.max_nesting is 2"),
    ]


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        ({"max_children": 1}, "it holds more than 1 files; limits.max_children allows no more"),
        ({"max_inflated_megabytes": 0.00001}, "limits.max_inflated_megabytes allows 1e-05 more"),
    ],
)
def test_a_document_that_unpacks_beyond_the_limits_is_quarantined_and_delivers_nothing(
    open_for_business: Business, limits: dict[str, float], error: str
) -> None:
    shop = open_for_business(limits=limits)
    task = shop.take(pages(1), opening=f"{LETTER}\n{NOTE}")
    shop.work()
    found = shop.task(task)
    assert (found.status, found.reason) == ("quarantined", "bomb")
    assert error in found.error
    assert (shop.outcomes(task), _children(shop)) == ([("failed", "bomb")], [])


def test_the_limits_hold_for_the_whole_tree(open_for_business: Business) -> None:
    shop = open_for_business(limits={"max_children": 3})
    path = shop.home / "nested.sab"
    path.write_text(_nested(5), encoding="utf-8")
    shop.take_file(path)
    shop.work()
    rows = shop.rows("SELECT name, status, reason FROM documents_v ORDER BY document_id")
    assert [tuple(row) for row in rows] == [
        ("nested.sab", "succeeded", "ok"),
        ("level-1.sab", "succeeded", "ok"),
        ("level-2.sab", "succeeded", "ok"),
        ("level-3.sab", "quarantined", "bomb"),
    ]


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\..\\boot.ini", "/etc/shadow"])
def test_a_name_is_shown_without_its_path_and_opens_nothing(open_for_business: Business, name: str) -> None:
    shop = open_for_business()
    shop.take(pages(1), opening=f"then attach {name} harmless")
    shop.work()
    (row,) = shop.rows("SELECT name, status FROM attachments_v")
    assert tuple(row) == (Path(name.replace("\\", "/")).name, "succeeded")


def test_a_document_that_is_read_again_may_hold_as_much_as_the_first_time(open_for_business: Business) -> None:
    shop = open_for_business(limits={"max_children": 2})
    document_id = _document(shop, shop.take(pages(1), opening=f"{LETTER}\n{NOTE}"))
    shop.work()
    with shop.app.again() as again:
        task = again.reprocess(document_id)
    shop.work()
    assert (shop.task(task).status, shop.task(task).reason) == ("succeeded", "ok")
    assert [child[2:] for child in _children(shop)] == [("letter.txt", "succeeded"), ("note.txt", "succeeded")]
    assert len(shop.rows("SELECT 1 FROM tasks")) == 4
