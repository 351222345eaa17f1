"""Lines, parties and clauses as a child tells of them: what is odd is left out, what is right stays."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from pipeline import found
from pipeline.handling import Clause, Extraction, Field, Group

_NAMES = [
    "total_net", "amount_due", "net_amount", "prepaid", "rounding", "quantity", "price", "tax_rate", "subtotal",
    "issue_date", "period_start", "period_end", "dated", "invoice_number", "amount", "seller_name", "taxable_amount",
]  # fmt: skip
_anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**12) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=12,
)
_rows = st.lists(
    st.dictionaries(
        st.sampled_from(["name", "number", "fields", "level", "heading", "page", "start", "end", "end_page", "tags"]),
        _anything | st.sampled_from(["lines", "parties", 1, 2]),
    ),
    max_size=5,
)


@settings(max_examples=300, deadline=None)
@given(groups=_rows | _anything, clauses=_rows | _anything)
def test_whatever_a_child_tells_of_lines_and_clauses_is_checked_without_an_error(
    groups: object, clauses: object
) -> None:
    safe = found.checked({"groups": groups, "clauses": clauses})
    json.dumps([safe.groups, safe.clauses], allow_nan=False).encode("utf-8")


def test_what_a_handler_gives_arrives_as_it_is() -> None:
    line = Group(
        "lines", 1, {"name": Field("Bolts", 1, "Bolts 3 9.00"), "net_amount": Field("9.00", 1, "Bolts 3 9.00")}
    )
    clause = Clause("3.2", 2, "Notice", 1, 10, 2, 5, ("notice",))
    safe = found.checked(json.loads(json.dumps(asdict(Extraction("invoice", groups=[line], clauses=[clause])))))
    assert [(row["name"], row["number"], row["cells"]["net_amount"]["value"]) for row in safe.groups] == [
        ("lines", 1, "9.00")
    ]
    assert safe.clauses == [
        {"clause_no": 1, "number": "3.2", "level": 2, "heading": "Notice", "page": 1, "starts_at": 10, "end_page": 2,
         "ends_at": 5, "tags": ["notice"]}
    ]  # fmt: skip
    assert "groups" not in safe.result


@pytest.mark.parametrize(
    "box", [[0.1, 0.2, 0.3], [0, 0, 2, 1], ["0", 0, 1, 1], "box", [True, 0, 1, 1], [0, 0, 1, None]]
)
def test_a_box_that_is_none_is_left_out(box: object) -> None:
    value = {"value": "A", "page": 1, "snippet": "A", "method": "label", "confidence": 0.5, "box": box}
    assert "box" not in found.checked_result({"fields": {"seller_name": [value]}})["fields"]["seller_name"][0]


def test_a_line_without_a_sound_cell_is_left_out_and_the_rest_is_numbered_anew() -> None:
    rows = [
        {"name": "lines", "number": 7, "fields": {"net_amount": {"value": "nine"}}},
        {"name": "lines", "number": 9, "fields": {"net_amount": {"value": "9.00"}}},
        {"name": "secrets", "number": 1, "fields": {"net_amount": {"value": "9.00"}}},
    ]
    assert [(row["name"], row["number"]) for row in found.checked({"groups": rows}).groups] == [("lines", 1)]


@pytest.mark.parametrize("name", _NAMES)
def test_the_database_knows_the_kind_of_a_field_as_the_code_does(engine: Engine, name: str) -> None:
    with engine.connect() as connection:
        kinds = connection.execute(text("SELECT is_amount_field(:name), is_date_field(:name)"), {"name": name}).one()
    assert kinds == (found.is_amount(name), found.is_date(name))
