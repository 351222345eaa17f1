"""Whose tax number is whose: the VAT numbers of an invoice, by their labels and by the blocks they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stdnum.de import stnr

from pipeline.reading.identifiers import FoundIdentifier, find_national_vat_ids, find_vat_ids
from pipeline.reading.invoices.addresses import FoundName
from pipeline.reading.invoices.tables import is_header
from pipeline.reading.labels import Kind
from pipeline.reading.rows import Row

BLOCK_ROWS = 9
_STEUERNUMMER = re.compile(
    r"\b(?:steuer-?(?:nummer|nr)|st\.?-?nr)\b[^\d\n]{0,5}(\d{2,5}[ /]\d{3,4}[ /]\d{3,5}|\d{10,13})(?!\d)"
)
_FACTS = frozenset({Kind.NUMBER, Kind.TITLE, Kind.ISSUED, Kind.DATE, Kind.DUE, Kind.ORDER, Kind.DELIVERY, Kind.PERIOD})
_CODE = re.compile(r"[ :.]{1,60}[A-Z]{0,3}-?\d")  # "Customer  10077" heads no block
_TAX_WORD = re.compile(
    r"\b(?:vat|ust|uid|umsatzsteuer|mwst|tva|btw|iva|tax|nif|cif|p\. ?i(?:va|\.)|steuer|moms|mva)|n\.i\.f"
)
_BUYERS_OWN = re.compile(r"\b(?:customer|client|kunden?|your|ihre|klant|cliente|buyer|acheteur|votre|uw|su)\b")
_REGISTERED = re.compile(
    r"\b(?:hr[ab]|handelsreg\w*|registergericht|amtsgericht|geschaftsfuhr\w*|siret|rcs|kvk|iban|company (?:no|number"
    r"|reg)\w*|registered)\b"
)


@dataclass(frozen=True, slots=True)
class TaxNumber:
    """A VAT number, its row, whether it stands there with its country, and how sure its owner is."""

    value: str
    row: Row
    whole: bool
    proved: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class TaxNumbers:
    """The seller's and the buyer's; None where none is printed, or where nothing tells whose it is."""

    seller: TaxNumber | None = None
    buyer: TaxNumber | None = None
    local: TaxNumber | None = None  # what the seller's own tax office gave, in Germany


def find_tax_numbers(rows: Sequence[Row], buyer: FoundName | None) -> TaxNumbers:
    """Both parties' VAT numbers. One that is the buyer's anywhere is never the seller's."""
    blocks = [*_buyer_columns(rows), *_below(rows, buyer)]
    own: list[TaxNumber] = []
    theirs: list[TaxNumber] = []
    for place, row in enumerate(rows):
        for vat in (*find_vat_ids(row.text), *find_national_vat_ids(row.folded)):
            labels = row.folded[max(0, vat.start - 60) : vat.start] + " " + _above(rows, place, vat)
            block = next((each for each in blocks if _inside(each, place, row, vat.start)), None)
            if _BUYERS_OWN.search(labels) or block:
                theirs.append(_number(vat, row, 0.9))
                blocks = [each for each in blocks if place not in each[0]]  # nobody has two numbers
            elif _TAX_WORD.search(labels):
                near = " ".join(each.folded for each in rows[max(0, place - 2) : place + 3])
                own.append(_number(vat, row, 0.96 if _REGISTERED.search(near) else 0.92))
            elif vat.proved:
                own.append(_number(vat, row, 0.7))
    foreign = {each.value for each in theirs}
    sellers = [each for each in own if each.value not in foreign]
    return TaxNumbers(_best(sellers), _best(theirs), _local(rows))


def _local(rows: Sequence[Row]) -> TaxNumber | None:
    """The first German tax number behind its label whose parts are those of a state's."""
    for row in rows:
        for match in _STEUERNUMMER.finditer(row.folded):
            if stnr.is_valid(match[1]):
                return TaxNumber(match[1], row, whole=True, proved=True, confidence=0.9)
    return None


def _number(vat: FoundIdentifier, row: Row, trust: float) -> TaxNumber:
    return TaxNumber(vat.value, row, vat.whole, vat.proved, trust if vat.proved else trust - 0.2)


def _best(found: Sequence[TaxNumber]) -> TaxNumber | None:
    return max(found, key=lambda each: each.confidence, default=None)


def _above(rows: Sequence[Row], place: int, vat: FoundIdentifier) -> str:
    """The label in the cell over a number that fills its own cell."""
    row = rows[place]
    filled = any(cell.start >= vat.start - 1 and cell.start <= vat.start for cell in row.cells)
    over = rows[place - 1] if place and filled and rows[place - 1].page == row.page else None
    cells = [cell for cell in over.cells if cell.overlaps(vat.start - 1, vat.end + 1)] if over else []
    return " ".join(over.folded[cell.start : cell.end] for cell in cells) if over else ""


def _inside(block: tuple[range, int, int], place: int, row: Row, column: int) -> bool:
    """Whether a column of a row belongs to a block of the buyer; a label of the seller in the row ends that."""
    if any(label.kind is Kind.SELLER for label in row.labels):
        return False
    lines, start, end = block
    return place in lines and start - 3 <= column <= end


def _buyer_columns(rows: Sequence[Row]) -> Iterator[tuple[range, int, int]]:
    """The places under labels of the buyer, to keep the buyer's tax number out: rows and columns."""
    for place, row in enumerate(rows):
        for label in row.labels:
            if label.kind is Kind.BUYER and not _CODE.match(row.text, label.end):
                yield _block(rows, place, label.start), label.start, label.end + 30


def _below(rows: Sequence[Row], buyer: FoundName | None) -> Iterator[tuple[range, int, int]]:
    """The places under the name of the buyer, as far as its column goes on without a gap."""
    for place, row in enumerate(rows):
        for cell in row.cells if buyer is not None and row is buyer.row else ():
            if buyer is not None and buyer.value in cell.text:
                block = _block(rows, place, cell.start)
                gap = (each for each in block[1:] if not any(abs(c.start - cell.start) <= 2 for c in rows[each].cells))
                yield range(place, next(gap, block.stop)), cell.start, cell.start + 40


def _block(rows: Sequence[Row], place: int, column: int) -> range:
    """The rows of a block of the buyer: until the facts of the invoice begin in its column."""
    last = min(place + BLOCK_ROWS, len(rows))
    for number in range(place + 1, last):
        if is_header(rows[number]) or any(
            label.kind in _FACTS and abs(label.start - column) <= 3 for label in rows[number].labels
        ):
            return range(place, number)
    return range(place, last)
