"""How the invoices look: one function a layout, each draws a whole invoice onto a canvas."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, LETTER

from making.pen import LEFT, Columns, Pen
from making.values import Invoice, Line

_NAVY = colors.HexColor("#1f3a5f")
_RUST = colors.HexColor("#9a4a24")
_MIST = colors.HexColor("#eef2f6")
_LINES_ON_FIRST_PAGE = 20


def british(canvas: Any, invoice: Invoice) -> None:
    """A4, the seller on top, details in a block at the right."""
    pen = Pen(canvas, "Times", A4)
    pen.ink(_RUST)
    pen.write(LEFT, pen.height - 70, invoice.seller.name, size=18, bold=True)
    pen.write_right(pen.height - 72, "INVOICE", size=24, bold=True)
    pen.ink(colors.black)
    pen.write(LEFT, pen.height - 86, ", ".join(invoice.seller.address))
    top = pen.height - 150
    pen.block(LEFT, top, ("Invoice to:", invoice.buyer.name, *invoice.buyer.address))
    pen.pairs(345, top, _british_details(invoice))
    headings = ("Description", "Qty", "Unit", "Unit price £", "Amount £")
    columns = Columns(headings, (238, 46, 46, 76, 76), colors.white, _RUST)
    bottom = pen.table(top - 110, columns, _rows(invoice, invoice.lines))
    bottom = pen.totals(bottom, _totals(invoice, ("Subtotal", "VAT at 20%", "Total due"), "{sign}{amount}"))
    notes = (
        "Payment within 30 days of the invoice date, please, quoting the invoice number.",
        "Bank: Example Bank plc   Sort code: 00-00-00   Account: 12345678",
        "Goods remain our property until paid for in full. Thank you for your custom.",
    )
    pen.block(LEFT, bottom - 50, notes)
    pen.footer(f"{invoice.seller.name}  |  01632 960417  |  office@harrowbeck.example")
    pen.turn()


def _british_details(invoice: Invoice) -> tuple[tuple[str, str], ...]:
    return (
        ("Invoice No:", invoice.number),
        ("Invoice date:", invoice.day(invoice.issued)),
        ("Due date:", invoice.day(invoice.due)),
        ("VAT Reg No:", invoice.seller.tax_id),
        ("Your order:", "LSB/88"),
    )


def american(canvas: Any, invoice: Invoice) -> None:
    """Letter, two pages: a coloured band, bill-to and ship-to, a long table carried over, totals on page two."""
    pen = Pen(canvas, "Helvetica", LETTER)
    first, second = invoice.lines[:_LINES_ON_FIRST_PAGE], invoice.lines[_LINES_ON_FIRST_PAGE:]
    columns = Columns(("Item", "Qty", "U/M", "Price", "Amount"), (278, 46, 42, 64, 70), colors.white, _NAVY)
    _american_head(pen, invoice, 1)
    buyer = (invoice.buyer.name, *invoice.buyer.address)
    pen.block(LEFT, 650, ("BILL TO", *buyer))
    pen.block(320, 650, ("SHIP TO", *buyer, "Receiving dock, rear entrance"))
    bottom = pen.table(580, columns, _rows(invoice, first))
    carried = sum((line.amount for line in first), Decimal(0))
    pen.write_right(bottom - 16, f"Carried forward: {invoice.money(carried)}", size=9)
    pen.turn()
    _american_head(pen, invoice, 2)
    bottom = pen.table(650, columns, _rows(invoice, second))
    bottom = pen.totals(bottom, _totals(invoice, ("Subtotal", "Sales tax (7.25%)", "TOTAL DUE"), "{sign}{amount}"))
    terms = (
        "Terms: net 30. Past-due balances bear interest at 1.0% a month.",
        "Make checks payable to Copperleaf Restaurant Supply, Inc. and write the invoice number on the check.",
        "Returns within 15 days in original packaging; special orders are not returnable.",
    )
    pen.block(LEFT, bottom - 40, terms)
    pen.turn()


def _american_head(pen: Pen, invoice: Invoice, page: int) -> None:
    pen.ink(_NAVY)
    pen.canvas.rect(0, pen.height - 84, pen.width, 84, stroke=0, fill=1)
    pen.ink(colors.white)
    pen.write(LEFT, pen.height - 38, invoice.seller.name, size=15, bold=True)
    pen.write(LEFT, pen.height - 54, " · ".join(invoice.seller.address), size=9)
    pen.write(LEFT, pen.height - 68, "(614) 555-0142 · billing@copperleaf.example", size=9)
    pen.write_right(pen.height - 42, "Invoice", size=20, bold=True)
    pen.ink(colors.black)
    dates = f"Date: {invoice.day(invoice.issued)}      Due date: {invoice.day(invoice.due)}"
    pen.write(LEFT, pen.height - 108, f"Invoice #: {invoice.number}      {dates}", size=10, bold=True)
    pen.footer(f"Invoice {invoice.number}  -  Page {page} of 2")


def plain(canvas: Any, invoice: Invoice) -> None:
    """A4, no colours: labels at the left, values beside them, as an old form prints."""
    pen = Pen(canvas, "Courier", A4)
    pen.write(LEFT, pen.height - 70, invoice.seller.name, size=15, bold=True)
    pen.block(LEFT, pen.height - 88, (*invoice.seller.address, f"VAT number {invoice.seller.tax_id}"))
    pen.write(LEFT, pen.height - 172, "Tax invoice", size=13, bold=True)
    details = (
        ("Number", invoice.number),
        ("Issued", invoice.day(invoice.issued)),
        ("Payable by", invoice.day(invoice.due)),
        ("Customer", invoice.buyer.name),
        *(("", part) for part in invoice.buyer.address),
        ("Currency", invoice.currency),
    )
    pen.pairs(LEFT, pen.height - 198, details, gap=110)
    columns = Columns(("Service", "Quantity", "Unit", "Rate", "Total"), (246, 56, 72, 50, 58), size=7.5)
    bottom = pen.table(pen.height - 330, columns, _rows(invoice, invoice.lines))
    bottom = pen.totals(bottom, _totals(invoice, ("Net", "VAT 23%", "Total payable"), "{sign}{amount}"))
    pen.block(LEFT, bottom - 50, ("Please pay within 14 days.", "Contact: accounts@saltmarsh.example"))
    pen.turn()


def german_letter(canvas: Any, invoice: Invoice) -> None:
    """A4 as German business letters are: window address, reference block at the right, bank details at the foot."""
    pen = Pen(canvas, "Helvetica", A4)
    pen.write_right(pen.height - 60, invoice.seller.name, size=17, bold=True)
    pen.write(LEFT, pen.height - 132, " · ".join((invoice.seller.name, *invoice.seller.address)), size=7)
    canvas.line(LEFT, pen.height - 135, LEFT + 230, pen.height - 135)
    pen.block(LEFT, pen.height - 152, (invoice.buyer.name, *invoice.buyer.address))
    pen.pairs(350, pen.height - 152, _german_details(invoice, "Rechnungsnummer:", "Zahlbar bis:"))
    pen.write(LEFT, pen.height - 262, f"Rechnung {invoice.number}", size=14, bold=True)
    opening = "für die Arbeiten an Ihrer Einfahrt berechnen wir wie vereinbart:"
    pen.block(LEFT, pen.height - 288, ("Sehr geehrte Frau Vossberg,", opening))
    _german_body(
        pen,
        invoice,
        pen.height - 330,
        _totals(invoice, ("Nettobetrag", "zzgl. 19 % MwSt.", "Gesamtbetrag"), "{amount} {sign}"),
    )


def german_modern(canvas: Any, invoice: Invoice) -> None:
    """A4 with a coloured side: the heading first, sender and recipient under it."""
    pen = Pen(canvas, "Helvetica", A4)
    pen.ink(_NAVY)
    canvas.rect(0, 0, 22, pen.height, stroke=0, fill=1)
    pen.write(LEFT, pen.height - 80, "Rechnung", size=26, bold=True)
    pen.ink(colors.black)
    pen.block(LEFT, pen.height - 120, ("Von", invoice.seller.name, *invoice.seller.address))
    pen.block(350, pen.height - 120, ("An", invoice.buyer.name, *invoice.buyer.address))
    pen.pairs(LEFT, pen.height - 210, _german_details(invoice, "Rechnungs-Nr.", "Fällig am"), gap=130)
    pen.write(LEFT, pen.height - 300, "Leistungszeitraum: Mai 2026, Bestellnummer EK-4402")
    totals = _totals(invoice, ("Summe netto", "Umsatzsteuer 19 %", "Rechnungsbetrag"), "{amount} {sign}")
    _german_body(pen, invoice, pen.height - 320, totals)


def german_catalogue(canvas: Any, invoice: Invoice) -> None:
    """A4, everything from the left margin: sender, recipient, details, lines."""
    pen = Pen(canvas, "Times", A4)
    pen.write(LEFT, pen.height - 64, invoice.seller.name, size=16, bold=True)
    pen.write(LEFT, pen.height - 108, " · ".join((invoice.seller.name, *invoice.seller.address)), size=7)
    pen.block(LEFT, pen.height - 124, (invoice.buyer.name, *invoice.buyer.address))
    pen.write(LEFT, pen.height - 206, "RECHNUNG", size=18, bold=True)
    pen.pairs(LEFT, pen.height - 230, _german_details(invoice, "Rechnungsnummer:", "Zahlbar bis:"), gap=110)
    totals = _totals(invoice, ("Zwischensumme netto", "Umsatzsteuer 19 %", "Rechnungsbetrag"), "{amount} {sign}")
    _german_body(pen, invoice, pen.height - 310, totals)


def form(canvas: Any, invoice: Invoice) -> None:
    """A4 in one colour, as a form that is printed, signed and scanned."""
    pen = Pen(canvas, "Helvetica", A4)
    pen.write(LEFT, pen.height - 76, invoice.seller.name, size=16, bold=True)
    pen.block(LEFT, pen.height - 94, (*invoice.seller.address, f"VAT Reg No: {invoice.seller.tax_id}"))
    pen.write_right(pen.height - 78, "INVOICE", size=20, bold=True)
    pen.block(LEFT, pen.height - 168, ("Bill to:", invoice.buyer.name, *invoice.buyer.address))
    details = (
        ("Invoice No:", invoice.number),
        ("Invoice date:", invoice.day(invoice.issued)),
        ("Due date:", invoice.day(invoice.due)),
    )
    pen.pairs(345, pen.height - 168, details)
    headings = ("Description", "Quantity", "Unit", "Price", "Amount")
    bottom = pen.table(
        pen.height - 260, Columns(headings, (226, 56, 56, 66, 78), size=10), _rows(invoice, invoice.lines)
    )
    bottom = pen.totals(bottom, _totals(invoice, ("Subtotal", "VAT at 20%", "Total due"), "{sign}{amount}"))
    notes = ("Payment by bank transfer within 30 days, please.", "Sort code: 00-00-00   Account: 12345678")
    pen.block(LEFT, bottom - 50, notes)
    pen.footer(f"{invoice.seller.name}  |  01632 960204  |  accounts@ottermere.example")
    pen.turn()


def french(canvas: Any, invoice: Invoice) -> None:
    """A4 in French: the title at the left, both parties under it side by side, the terms of payment at the foot."""
    pen = Pen(canvas, "Helvetica", A4)
    pen.ink(_RUST)
    pen.write(LEFT, pen.height - 70, "FACTURE", size=24, bold=True)
    pen.ink(colors.black)
    seller = (invoice.seller.name, *invoice.seller.address, f"N° TVA : {invoice.seller.tax_id}")
    pen.block(LEFT, pen.height - 110, ("Émetteur", *seller))
    pen.block(345, pen.height - 110, ("Facturé à", invoice.buyer.name, *invoice.buyer.address))
    details = (
        ("Facture n° :", invoice.number),
        ("Date de facture :", invoice.day(invoice.issued)),
        ("Date d'échéance :", invoice.day(invoice.due)),
    )
    pen.pairs(LEFT, pen.height - 200, details)
    columns = Columns(
        ("Désignation", "Quantité", "Unité", "Prix unitaire", "Montant"), (238, 50, 50, 72, 72), ground=_MIST
    )
    bottom = pen.table(pen.height - 260, columns, _rows(invoice, invoice.lines))
    bottom = pen.totals(bottom, _totals(invoice, ("Total HT", "TVA 20 %", "Total TTC"), "{amount} {sign}"))
    pen.block(LEFT, bottom - 50, ("Paiement par virement, sans escompte.", f"IBAN : {invoice.iban}"))
    pen.footer(f"{invoice.seller.name} · {' · '.join(invoice.seller.address)}")
    pen.turn()


def note(canvas: Any, invoice: Invoice) -> None:
    """A4 as somebody types it who writes few invoices: without a number."""
    pen = Pen(canvas, "Times", A4)
    pen.block(LEFT, pen.height - 70, (invoice.seller.name, *invoice.seller.address))
    pen.block(
        345, pen.height - 70, (f"Invoice date: {invoice.day(invoice.issued)}", f"VAT No: {invoice.seller.tax_id}")
    )
    pen.block(LEFT, pen.height - 160, ("Bill to:", invoice.buyer.name, *invoice.buyer.address))
    pen.write(LEFT, pen.height - 250, "Invoice", size=14, bold=True)
    columns = Columns(("Description", "Quantity", "Unit", "Price", "Amount"), (226, 56, 56, 66, 78), size=10)
    bottom = pen.table(pen.height - 280, columns, _rows(invoice, invoice.lines))
    bottom = pen.totals(bottom, _totals(invoice, ("Subtotal", "VAT at 20%", "Total due"), "{sign}{amount}"))
    pen.block(LEFT, bottom - 50, (f"Please pay by {invoice.day(invoice.due)}.", "Thank you for your custom."))
    pen.turn()


def _german_details(invoice: Invoice, number_label: str, due_label: str) -> tuple[tuple[str, str], ...]:
    return (
        (number_label, invoice.number),
        ("Rechnungsdatum:", invoice.day(invoice.issued)),
        (due_label, invoice.day(invoice.due)),
        ("USt-IdNr.:", invoice.seller.tax_id),
    )


def _german_body(pen: Pen, invoice: Invoice, top: float, totals: Sequence[tuple[str, str]]) -> None:
    headings = ("Bezeichnung", "Menge", "Einheit", "Einzelpreis", "Betrag")
    bottom = pen.table(top, Columns(headings, (238, 50, 50, 72, 72), ground=_MIST), _rows(invoice, invoice.lines))
    bottom = pen.totals(bottom, totals)
    closing = (
        f"Bitte überweisen Sie den Betrag ohne Abzug bis zum {invoice.day(invoice.due)} auf unser Konto",
        f"IBAN {invoice.iban} unter Angabe der Rechnungsnummer.",
        "Vielen Dank für Ihren Auftrag.",
    )
    pen.block(LEFT, bottom - 44, closing)
    pen.footer(f"{invoice.seller.name} · Musterbank · IBAN {invoice.iban}")
    pen.turn()


def _rows(invoice: Invoice, lines: Sequence[Line]) -> list[tuple[str, ...]]:
    def quantity(line: Line) -> str:
        return str(line.quantity).replace(".", invoice.money(Decimal(0))[1])

    return [
        (line.description, quantity(line), line.unit, invoice.money(line.price), invoice.money(line.amount))
        for line in lines
    ]


def _totals(invoice: Invoice, labels: tuple[str, str, str], pattern: str) -> list[tuple[str, str]]:
    """Net, tax and gross under the layout's own labels; `pattern` puts the sign of the currency in its place."""
    amounts = (invoice.net, invoice.tax, invoice.gross)
    return [
        (label, pattern.format(amount=invoice.money(amount), sign=invoice.sign))
        for label, amount in zip(labels, amounts, strict=True)
    ]
