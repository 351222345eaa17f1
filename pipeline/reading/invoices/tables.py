"""What stands under what: the values below a row of labels, and the header row of a list of items.

A header is known by the words for quantities, units, prices and descriptions in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pipeline.reading.labels import Kind
from pipeline.reading.rows import Cell, Row

_GOODS = (
    r"(?:qty|quantity|unit|price|description|item|menge|anzahl|preis|einzelpreis|\w{0,12}beschreibung"
    r"|\w{0,12}bezeichnung|artikel|articolo|articulo|article|libelle|concepto|prestazione|hoeveelheid|stukprijs|q\.ta"
    r"|qta|cant|uds|p\.? ?u\.?(?= ht)"
    r"|pos|qte|quantite|prix|designation|aantal|prijs|omschrijving|cantidad|precio|descripcion|quantita|prezzo"
    r"|descrizione)"
)
_LISTED = re.compile(rf"\b{_GOODS}\b")
_WORDS = re.compile(rf"\b(?:{_GOODS}|(?<!tax )(?<!vat )rate)\b")
_FIGURES = re.compile(
    r"\b(?:units?|hours|rates?|amount|total|einheit|stunden|gesamt(?:preis)?|betrag|stuckpreis|unite|montant|eenheid"
    r"|bedrag|totaal|unidad|importe|unita|importo|totale|vat|mwst|ust|tva|btw|iva|text|leistung|detalle|details?|product"
    r"|producto|beschrijving|prestation|service|uom|me|ep|gp|gesamtpreis|netto|summe|subtotal|tarief|totaalbedrag|codigo"
    r"|codice|code|artikelnr|sku|each|ht|unitario|p\. unitario)\b"
)
HEADINGS = 3  # different ones in a row; a company may carry one or two in its name


def has_item_word(row: Row) -> bool:
    """Whether a row has any word that heads a column of items."""
    return _WORDS.search(row.folded) is not None


def names_goods(row: Row) -> bool:
    """Whether a row has a word for goods, their number or price; "rate" alone may head the rates of a tax."""
    return _LISTED.search(row.folded) is not None


def is_header(row: Row) -> bool:
    """Whether a row heads a list of items: several such words over columns, one of them a quantity or a price."""
    if not has_item_word(row):
        return False
    words = {match[0] for pattern in (_WORDS, _FIGURES) for match in pattern.finditer(row.folded)}
    return len(words) >= (HEADINGS if len(row.cells) > 1 else HEADINGS + 1)


def cells_below(rows: Sequence[Row], place: int, start: int, end: int, *, within: int = 2) -> list[tuple[Cell, Row]]:
    """The cells under a label in the next rows of its page, nearest first: in its columns, else at its turn.

    Letters differ in width, so that a value may stand beside the columns of its label; where both rows have as many
    cells, the second cell is under the second.
    """
    row = rows[place]
    found = []
    for under in rows[place + 1 : place + 1 + within]:
        if under.page != row.page:
            break
        cell = next((each for each in under.cells if each.overlaps(start - 1, end + 1)), None)
        if len(under.cells) == len(row.cells) > 1:
            turn = next((number for number, each in enumerate(row.cells) if each.overlaps(start, end)), None)
            cell = cell if turn is None else under.cells[turn]
        if cell:
            found.append((cell, under))
    return found


def headed(rows: Sequence[Row], place: int, column: int, kinds: Collection[Kind], *, within: int = 3) -> bool:
    """Whether a label of some kinds that fills its cell stands over a column, a few rows above."""
    return any(
        label.kind in kinds and abs(label.start - column) <= 4 and cell.end - label.end <= 3
        for row in rows[max(0, place - within) : place]
        for label in row.labels
        for cell in row.cells
        if cell.start <= label.start < cell.end
    )
