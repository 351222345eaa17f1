"""The law that governs an invented contract, in the words that contracts use for it."""

from __future__ import annotations

import pytest

from handlers.contract import handler
from tests.handlers.pages import document


@pytest.mark.parametrize(
    ("printed", "law"),
    [
        ("This Agreement is governed by the laws of the State and City of New York.", "New York"),
        (
            "It is governed by the internal laws (as opposed to the conflicts of law) of the State of Illinois.",
            "Illinois",
        ),
        ("It is governed by the internal law, and not the law of conflicts, of the State of Colorado.", "Colorado"),
        ("Governing Law: California", "California"),
        ("GOVERNING LAW. State of NEVADA.", "Nevada"),
        ("The parties agree that New Jersey law governs this Agreement.", "New Jersey"),
        ("The parties agree that this Agreement is made under the laws of Texas.", "Texas"),
        ("It is governed by the laws of the United States and the State of Florida.", "Florida"),
        ("It is governed by the laws of the People's Republic of China.", "People's Republic of China"),
        ("14. LAW OF THE AGREEMENT This Agreement is governed by the laws of the Province of Ontario.", "Ontario"),
        ("Fern exists under the laws of Ohio. This Agreement is made between Fern Ltd and Moss Ltd.", None),
    ],
)
def test_the_law_is_read_in_whatever_words_it_is_chosen(printed: str, law: str | None) -> None:
    found = handler.extract(document(f"AGREEMENT\n{printed}")).fields.get("governing_law", ())
    assert [field.value for field in found] == ([law] if law else [])


def test_a_law_said_to_govern_this_contract_wins_over_one_named_before() -> None:
    text = (
        "AGREEMENT\nThe notes are governed by an indenture under Brazil law. "
        + "It is so. " * 60
        + "9. Governing law. This Agreement "
        "shall be governed by the laws of Ireland."
    )
    law = handler.extract(document(text)).fields["governing_law"][0]
    assert (law.value, law.confidence) == ("Ireland", 0.95)
