"""What people corrected on documents of an issuer, and the keys by which its next document is known.

A key is the seller's VAT identification number, an IBAN or the seller's name, letters and digits alone. Several may
stand on a page, and some of them are the buyer's: whose document it is, `of_the_issuer` judges.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.documents.text import Document, Page, identifier
from pipeline.handling import Field
from pipeline.reading.identifiers import find_ibans, find_vat_ids
from pipeline.reading.rows import Row

MAX_KEYS = 48
MAX_IDENTIFIERS = 12
KEY_CHARACTERS = 200
KEY_PAGES = 2  # at either end
NAME_ROWS = 14  # from the top, where letterheads stand
TITLE_ROWS = 3
LETTERS = 3
_NAME_CHARACTERS = range(5, 61)
_PAGE_CHARACTERS = 40_000


@dataclass(frozen=True, slots=True)
class Lesson:
    """The latest a person said of one field: `action` is accept, fix or remove.

    `value` is what is right, empty where nothing is printed; `page` is 0 and `snippet` empty when nobody knows where it
    stands. `wrong` is the answer that was fixed or removed, if there was one, and `wrong_row` the row it stood in.
    """

    name: str
    action: str
    value: str
    page: int = 0
    snippet: str = ""
    wrong: str = ""
    wrong_row: str = ""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A document that was corrected: its seller's keys, empty where it has none, the pages that matter, the lessons."""

    vat_id: str
    iban: str
    seller: str
    pages: tuple[Page, ...]
    lessons: tuple[Lesson, ...]


def name_key(name: str) -> str:
    """A name as it is compared: letters and digits, folded, without accents."""
    plain = unicodedata.normalize("NFKD", name[:300]).lower()
    return "".join(sign for sign in plain if sign.isalnum())[:KEY_CHARACTERS]


def is_key(text: object) -> bool:
    """Whether that can be a key."""
    return isinstance(text, str) and len(text) <= KEY_CHARACTERS and text.isalnum()


def issuer_keys(document: Document, fields: Mapping[str, Sequence[Field]], rows: Sequence[Row]) -> tuple[str, ...]:
    """The keys of a document, what was found as the seller's first; `rows` are those of the document."""
    numbers = [identifier(_first(fields, name)) for name in ("seller_vat_id", "iban")]
    for page in (*document.pages[:KEY_PAGES], *document.pages[KEY_PAGES:][-KEY_PAGES:]):
        text = (page.layout or page.text)[:_PAGE_CHARACTERS]
        numbers += [identifier(each.value) for search in (find_vat_ids, find_ibans) for each in search(text)]
    names = [name_key(_first(fields, "seller_name")), *_names(rows)]
    kept = [*dict.fromkeys(key for key in numbers if key)][:MAX_IDENTIFIERS]
    return tuple(dict.fromkeys(key for key in [*kept, *names] if is_key(key)))[:MAX_KEYS]


def _names(rows: Sequence[Row]) -> Iterator[str]:
    """What may be the seller's name: the cells at the top of the first page.

    In the topmost rows a title may follow the name, or come before it, without a gap.
    """
    for place, row in enumerate(rows[:NAME_ROWS]):
        for cell in row.cells if row.page == rows[0].page else ():
            words = cell.text.split(" ")
            parts = [words, words[:-1], words[1:]] if place < TITLE_ROWS else [words]
            yield from (name_key(" ".join(part)) for part in parts if _may_be_a_name(" ".join(part)))


def _may_be_a_name(text: str) -> bool:
    return len(text) in _NAME_CHARACTERS and sum(map(str.isalpha, text)) >= LETTERS


def of_the_issuer(
    remembered: Sequence[Remembered], keys: Sequence[str], fields: Mapping[str, Sequence[Field]]
) -> list[Remembered]:
    """Those of the remembered documents that have the seller of the document with those keys and fields.

    The VAT number that was found as the seller's decides, as other keys may be the buyer's; a person's word for the
    number counts more. A name decides only where the seller has no number, and it is no name of the buyer.
    """
    found = identifier(_first(fields, "seller_vat_id"))
    numbered = [each for each in remembered if _has_number(each, keys, found)]
    if numbered or found:
        return numbered
    named = [each for each in remembered if not each.vat_id and not each.iban and _has_name(each, keys, fields)]
    if len({name_key(each.seller) for each in named}) > 1:
        wanted = name_key(_first(fields, "seller_name"))
        return [each for each in named if name_key(each.seller) == wanted]
    return named


def _has_number(remembered: Remembered, keys: Sequence[str], found: str) -> bool:
    vat_id, iban = identifier(remembered.vat_id), identifier(remembered.iban)
    told = any(lesson.name == "seller_vat_id" and lesson.value for lesson in remembered.lessons)
    if vat_id and found and not told:
        return vat_id == found
    return any(key in keys for key in (vat_id, iban) if key)


def _has_name(remembered: Remembered, keys: Sequence[str], fields: Mapping[str, Sequence[Field]]) -> bool:
    name = name_key(remembered.seller)
    return bool(name) and name in keys and name != name_key(_first(fields, "buyer_name"))


def _first(fields: Mapping[str, Sequence[Field]], name: str) -> str:
    return next((each.value for each in fields.get(name, ())), "")
