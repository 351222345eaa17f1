"""A mailbox gives every mail as it was sent, however large it is and whatever stands in the mails."""

from __future__ import annotations

import io
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.documents.contract import Means
from pipeline.documents.formats import discover
from pipeline.documents.formats.mbox import format as mbox
from pipeline.documents.identify import identify
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents import trees
from tests.documents.samples.mbox import LINE
from tests.documents.trees import unpack

FIRST = "From: Anna <anna@example.org>\nSubject: First\nDate: today\n\nHello\n"
SECOND = "From: Bert <bert@example.org>\nSubject: =?utf-8?q?M=C3=A4rz/?=\n\nHello again\n"


def _mails(content: str) -> list[str]:
    return [(each.content or b"").decode() for each in unpack(mbox, content.encode())[1]]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_mail_comes_out_as_it_was_sent_and_the_list_names_it(ending: str) -> None:
    content = f"{LINE}{FIRST}\n{LINE}{SECOND}".replace("\n", ending)
    (page,), (first, second) = unpack(mbox, content.encode())
    assert (first.content, second.content) == (
        FIRST.replace("\n", ending).encode(),
        SECOND.replace("\n", ending).encode(),
    )
    assert (first.name, second.name) == ("First.eml", "M\u00e4rz-.eml")
    assert page.split("\n") == [
        "1  today  Anna <anna@example.org>  First",
        "2    Bert <bert@example.org>  M\u00e4rz/",
    ]


def test_a_quoted_line_is_as_it_was_written() -> None:
    quoted = "From: a\n\n>From here\n>>From there\n> From nowhere\nx >From\n"
    assert _mails(f"{LINE}{quoted}\n{LINE}{FIRST}") == [
        "From: a\n\nFrom here\n>From there\n> From nowhere\nx >From\n",
        FIRST,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "From Berlin with love, 2026\n",
        "\nFrom Berlin with love, 2026\nand no field\n",
        "\nFrom Berlin with love\nKind: regards\n",
        f"no blank line\n{LINE}Kind: regards\n",
    ],
)
def test_a_line_of_a_text_begins_no_mail(text: str) -> None:
    assert len(_mails(f"{LINE}{FIRST}{text}\n{LINE}{SECOND}")) == 2


def test_thunderbirds_line_without_a_sender_begins_a_mail() -> None:
    assert _mails(f"From - Mon Mar  2 09:00:00 2026\n{FIRST}\nFrom - Mon Mar  2 09:00:00 2026\n{SECOND}") == [
        FIRST,
        SECOND,
    ]


def test_a_mailbox_is_told_from_a_mail_and_from_a_text() -> None:
    content = f"{LINE}{FIRST}"
    assert identify(io.BytesIO(content.encode()), "Inbox", discover())[0] is mbox
    assert identify(io.BytesIO(content.encode()), "a.txt", discover())[0] is mbox
    assert mbox.recognises(content.encode(), b"", "a.eml") is None
    assert mbox.recognises(b"From Berlin with love, 2026\nand more\n", b"", "") is None


def test_more_mails_than_allowed_is_a_bomb_that_names_its_limit() -> None:
    with pytest.raises(DocumentError, match=r"limits\.max_children allows 2") as refusal:
        unpack(mbox, f"{LINE}{FIRST}\n".encode() * 3, trees.means(max_children=2))
    assert refusal.value.reason is Reason.BOMB


def test_a_large_mailbox_is_never_in_memory() -> None:
    mail = f"{LINE}{FIRST}".encode() + b"x" * 70 + b"\n" + (b"y" * 75 + b"\n") * 30_000 + b"\n"
    file = io.BytesIO(mail * 10)
    tracemalloc.start()
    with mbox.open(file, Means()) as document:
        assert document.page_count == 1
        sizes = [sum(map(len, each.content or ())) for each in document.attachments()]  # type: ignore[attr-defined]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sizes == [len(mail) - len(LINE) - 1] * 9 + [len(mail) - len(LINE)]
    assert peak < 3_000_000


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400))
def test_whatever_is_in_a_mailbox_nothing_but_named_refusals_leave(junk: bytes, where: int) -> None:
    whole = f"{LINE}{FIRST}\n{LINE}{SECOND}".encode()
    with suppress(DocumentError):
        unpack(mbox, whole[:where] + junk + whole[where:])
