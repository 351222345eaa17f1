"""From a correction to the next invoice: what a person said is found by the issuer's keys and used by the child."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import URL, Engine, text

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.documents.text import identifier
from pipeline.queue.model import Claim
from pipeline.queue.store import Queue
from pipeline.reading.memory.lessons import MAX_KEYS, Lesson, name_key
from pipeline.remembered import MAX_DOCUMENTS, PAGE_CHARACTERS, Memory
from pipeline.worker.frames import BrokenFrame
from pipeline.worker.issuer_frames import keys_of, remembered_of
from pipeline.worker.patience import Patience
from pipeline.worker.recollection import Recollection
from pipeline.worker.stopping import Stopping
from tests.tasks import add_task
from tests.worker import curious_child
from tests.worker.shop import Shop

Business = Callable[..., Shop]

VAT_ID = "DE136695976"
SHEET = """\
Quarry & Sons                                         Invoice
Fenland Library                                       Order no       77810

Voucher          Made out        Settle until
{number}          {made}      {due}

Gravel                                                 {net}
Goods before levy                                      {net}
State takes VAT                                        {levy}
Comes to                                               {owed} EUR

VAT no {vat_id}   IBAN DE89370400440532013000
"""


def _invoice(shop: Shop, name: str, *, pages: int = 1, vat_id: str = VAT_ID, **facts: str) -> Path:
    usual = {"made": "03.05.2024", "due": "02.06.2024", "net": "200,00", "levy": "38,00", "owed": "238,00"}
    path = shop.home / name
    sheet = SHEET.format(**{**usual, **facts}, vat_id=vat_id)
    path.write_text("\f".join([sheet, *["General terms."] * (pages - 1)]), encoding="utf-8")
    return path


def _read(shop: Shop, path: Path) -> int:
    """Take a file in and read it; returns its document."""
    task = shop.take_file(path)
    shop.work()
    assert shop.task(task).status == "succeeded", shop.task(task)
    return int(shop.task(task).document_id)


def _correct(shop: Shop, document_id: int, **values: str) -> None:
    with shop.engine.begin() as connection:
        for name, value in values.items():
            connection.execute(
                text("INSERT INTO corrections (document_id, name, action, value) VALUES (:id, :name, 'fix', :value)"),
                {"id": document_id, "name": name, "value": value},
            )


def _field(shop: Shop, document_id: int, name: str) -> tuple[str, str] | None:
    rows = shop.rows(
        "SELECT value, method FROM fields_v WHERE document_id = :id AND field = :name", id=document_id, name=name
    )
    return (rows[0].value, rows[0].method) if rows else None


def test_a_correction_makes_the_next_invoice_of_the_issuer_right_and_lasts_through_a_reprocess(
    open_for_business: Business,
) -> None:
    shop = open_for_business()
    first = _read(shop, _invoice(shop, "first.txt", number="Q-4471"))
    assert _field(shop, first, "invoice_number") != ("Q-4471", "label")
    _correct(shop, first, invoice_number="Q-4471", due_date="2024-06-02")
    second = _read(shop, _invoice(shop, "second.txt", number="Q-5120", due="17.10.2024", owed="240,00"))
    assert _field(shop, second, "invoice_number") == ("Q-5120", "memory")
    assert _field(shop, second, "due_date") == ("2024-10-17", "memory")

    with shop.app.again() as again:
        again.reprocess(first)
    shop.work()
    assert _field(shop, first, "invoice_number") == ("Q-4471", "human")


def test_another_issuers_invoice_is_read_without_that_memory(open_for_business: Business) -> None:
    shop = open_for_business()
    _correct(shop, _read(shop, _invoice(shop, "first.txt", number="Q-4471")), invoice_number="Q-4471")
    other = _invoice(shop, "other.txt", number="Q-5120", vat_id="DE811569869")
    other.write_text(other.read_text("utf-8").replace("   IBAN DE89370400440532013000", ""), encoding="utf-8")
    assert (_field(shop, _read(shop, other), "invoice_number") or ("", ""))[1] != "memory"


def test_what_is_remembered_is_the_latest_word_with_the_pages_that_matter_and_bounded(
    open_for_business: Business,
) -> None:
    shop = open_for_business()
    for number in range(MAX_DOCUMENTS + 2):
        path = _invoice(shop, f"{number}.txt", number=f"Q-{number}", pages=4)
        path.write_text(path.read_text("utf-8") + "\f" + "x" * (PAGE_CHARACTERS + 5), encoding="utf-8")
        shop.take_file(path)
    shop.work()
    documents = [row.document_id for row in shop.rows("SELECT document_id FROM current_invoices ORDER BY 1")]
    for document_id in documents:
        _correct(shop, document_id, invoice_number="wrong")
        _correct(shop, document_id, invoice_number=f"right {document_id}")
    answer = {"documents": Memory(shop.engine).of([VAT_ID.lower()])}
    remembered = remembered_of(answer)
    newest = documents[::-1][:MAX_DOCUMENTS]
    assert [each.lessons[0].value for each in remembered] == [f"right {number}" for number in newest]
    assert [page.number for page in remembered[0].pages] == [1, 5]
    assert max(len(page.layout) for page in remembered[0].pages) == PAGE_CHARACTERS
    assert Memory(shop.engine).of(["de999999999"]) == []


def test_what_was_accepted_or_removed_is_remembered_with_the_row_it_stood_in(open_for_business: Business) -> None:
    shop = open_for_business()
    document_id = _read(shop, _invoice(shop, "first.txt", number="Q-4471"))
    with shop.engine.begin() as connection:
        for name, action in (("iban", "accept"), ("currency", "remove"), ("mandate", "accept")):
            connection.execute(
                text("INSERT INTO corrections (document_id, name, action) VALUES (:id, :name, :action)"),
                {"id": document_id, "name": name, "action": action},
            )
    (remembered,) = remembered_of({"documents": Memory(shop.engine).of([VAT_ID.lower()])})
    lessons = {lesson.name: lesson for lesson in remembered.lessons}
    assert lessons["iban"].value == "DE89370400440532013000"
    assert lessons["iban"].snippet.startswith("VAT no")
    removed = lessons["currency"]
    assert (removed.value, removed.wrong, removed.wrong_row) == ("", "EUR", "Comes to 238,00 EUR")
    assert "mandate" not in lessons  # what was accepted is that there is none


def test_a_child_that_asks_on_and_on_loses_its_life_and_the_next_document_is_read(
    open_for_business: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.worker.shop.CHILD", curious_child.MODULE)
    shop = open_for_business(queue={"max_crashes": 1})
    peaceful = _read(shop, _invoice(shop, "first.txt", number="Q-4471"))  # nothing was corrected: it may not ask
    _correct(shop, peaceful, invoice_number="Q-4471")
    task = shop.take_file(_invoice(shop, "second.txt", number="Q-5120"))
    shop.work()
    assert shop.task(task).status == "quarantined"
    assert "it asks for an issuer twice" in shop.attempts(task)[0].error


def test_the_child_and_the_database_make_the_same_keys_of_names_and_numbers(engine: Engine) -> None:
    names = [
        "Quarry & Sons",
        "Bäckerei Übermut GmbH",
        "Straße + Söhne",
        "O'Neil (UK) Ltd.",
        "Café «Été» S.A.",
        "  ",
        "&",
    ]
    numbers = ["DE 136 695 976", "FR-AB.123456789", "NL123456789B01", "DE89 3704 0044"]
    with engine.connect() as connection:
        for make, text_, values in ((name_key, "name_key", names), (identifier, "identifier_key", numbers)):
            for value in values:
                stored = connection.execute(text(f"SELECT {text_}(:value)"), {"value": value}).scalar()
                assert make(value) == (stored or ""), value


@pytest.mark.parametrize(
    "keys", [None, "de1", {"de1": 1}, [1], [None], [""], ["a b"], ["a\x00"], ["\ud800"], ["a" * 201], ["a1"] * 49]
)
def test_odd_keys_are_nonsense(keys: object) -> None:
    with pytest.raises(BrokenFrame):
        keys_of({"kind": "issuer", "keys": keys})


@given(st.lists(st.text(max_size=4) | st.integers() | st.none(), max_size=MAX_KEYS + 2))
def test_keys_are_plain_words_or_known_to_be_nonsense(keys: list[object]) -> None:
    try:
        kept = keys_of({"kind": "issuer", "keys": keys})
    except BrokenFrame:
        return
    assert kept == keys
    assert all(key.isalnum() for key in kept)


@pytest.fixture
def claim(engine: Engine, queue: Queue) -> Claim:
    """A task in work."""
    add_task(engine, queue)
    (claim,) = queue.claim("tests")
    return claim


def _lost(url: URL) -> URL:
    return url.set(host="127.0.0.1", port=1)


def _elsewhere(url: URL) -> URL:
    return url.update_query_dict({"options": "-csearch_path=nowhere"})


@pytest.mark.parametrize("move", [_lost, _elsewhere])
def test_a_database_that_does_not_answer_costs_the_memory_and_nothing_else(
    claim: Claim, database_url: URL, move: Callable[[URL], URL]
) -> None:
    settings = DatabaseSettings(connect_timeout_seconds=1, pooler="transaction")
    engine = database.open_engine(move(database_url), settings, name="tests")
    recollection = Recollection(Memory(engine), Patience(claim, Stopping(drain_seconds=1)))
    assert recollection.answer({"kind": "issuer", "keys": ["de1"]}) == {"kind": "remembered", "documents": []}
    engine.dispose()


def test_a_fix_is_told_with_what_was_wrong() -> None:
    found = {"value": "77810", "page": 2, "snippet": "Order no 77810"}
    told = {"name": "invoice_number", "action": "fix", "value": "Q-1", "page": None, "snippet": None, "found": found}
    facts = {"vat_id": None, "iban": None, "seller": "Quarry", "pages": [[1, "x"]], "lessons": [told]}
    (remembered,) = remembered_of({"documents": [facts]})
    assert remembered.lessons == (Lesson("invoice_number", "fix", "Q-1", wrong="77810", wrong_row="Order no 77810"),)
