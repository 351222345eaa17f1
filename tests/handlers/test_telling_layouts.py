"""Layouts that mislead: what they print is read, and what they only seem to say is left out."""

from __future__ import annotations

import pytest

from handlers.invoice import handler
from tests.handlers.pages import document

KEEPER = """
Malerwerkstatt Moor                                        Rechnung Nr. 2023-118
Inh. Ida Moor e.K.                                         Hamburg, 08.11.2023
Am Wehr 6
20095 Hamburg

I. Moor, Am Wehr 6, 20095 Hamburg
Hausverwaltung Fels
Kieler Str. 8
20097 Hamburg
                                    Summe                  100,00 €
                                    + 19 % Mehrwertsteuer   19,00 €
                                    Rechnungssumme         119,00 €
"""
INN = """
                     GASTHOF LINDENHOF
          Familie Fels · 6370 Talheim · Tel 05356 55512
Rose AG                                             Anreise:    11.02.2024
Hill 2                                              Abreise:    14.02.2024
20095 Hamburg
RECHNUNG Nr. 24/00318                               Talheim, 14.02.2024
          Summe EUR                                        139,30
          Bezahlt Mastercard                              -139,30
          Offen                                              0,00
"""
MERCHANT = """
Ferry Timber Merchants                   INVOICE
Depot 4, Ferry Road, Tilbury RM18 7NL    Invoice No.   SI-0448190
Invoice To:                              Date          06/02/24
Moor Build Ltd
1 Nelson Court
Grays RM17 6ST
                         Goods Total      100.00
                         VAT 20%           20.00
                         Invoice Total    120.00
"""
CREDIT = """
Espumas Moor S.A.                          FACTURA RECTIFICATIVA
C/ Turín 12                                Nº:      R24/0071
30500 Molina                               Fecha:   03/06/2024
                                           Base        -100,00 €
                                           IVA 21%      -21,00 €
                                           TOTAL       -121,00 €
"""
DESIGNER = """
IDA MOOR                                             Invoice
Letters drawn by hand                                No. 041
                                                     Date: 12.09.2023
Lettering for Tulip Ltd, two changes                 £850.00
Licence, UK & Commonwealth, 5 years                  £200.00
                                                       Total    £1,050.00
"""
STRATA = """
Moor Plumbing Pty Ltd                       Invoice number: 1873
Bill to
Seaview Strata SP 44187
c/- Coastline Strata Mgmt
PO Box 900
Supply hot water unit      1    100.00    100.00
                           Total          $100.00
"""
JANITOR = """
From:  Moor Janitorial Services          Invoice:   PJ-2209
       PO Box 31                         Date:      9/30/23
To:    Willow School District
       Accounts Payable Dept
Building                     Nights     Rate          Amount
Elm                              20   118.00        2,360.00
"""
DEVELOPER = """
FACTURE                                             Numéro : 240187
Prestation              Jours       TJM        Total
Refonte, lot 2            6,5    420,00    2 730,00
Forfait de juin                              180,00
                   Total à régler        2 910,00 €
"""
WHOLESALER = """
MOOR + FELS KG                                            RECHNUNG
Gewerbepark 11 · 99085 Erfurt                             Nr. 7044187 / Blatt 1
                                                          vom 30.01.2024
Endsumme EUR  204,82
Zahlbar bis 13.02.2024 mit 2% Skonto = 200,72, bis 29.02.2024 netto.
"""
LAWYERS = """
Rechtsanwälte Moor & Fels mbB            Kostenrechnung Nr. 2300477
Zwischensumme netto                                          1.156,20 €
19 % Umsatzsteuer Nr. 7008 VV RVG                              219,68 €
Gesamtbetrag                                                 1.375,88 €
"""
PAID_ONLINE = """
Moor Writing B.V.                                  Receipt
Receipt number    2217-8841
Invoice number    QW-0A41-0003
Total  €45.00
"""
DOCTOR = "Rose AG · Hill 2 · 20095 Hamburg\nDr. Ida Moor\nQuay 8\n50667 Köln\n\nRechnung\nGesamtbetrag  10,00 €"
PRACTICE = """
Hausarztpraxis am Markt                Rechnung Nr.: 2023-118-07
Dr. med. Ida Moor
Moor, Markt 3, 04668 Grimma
Theo Fels
Quay 8
04668 Grimma
"""
HALF = "Rose AG\nHill 2\n20095 Hamburg\n\nMoor\nQuay 8\n50667 Köln\n\nRechnung\nGesamtbetrag  10,00 €"
RELATION = DOCTOR.replace("Dr. Ida", "M. Theo")


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        (KEEPER, {"seller_name": "Malerwerkstatt Moor", "buyer_name": "Hausverwaltung Fels"}),
        (INN, {"seller_name": "GASTHOF LINDENHOF", "issue_date": "2024-02-14", "amount_due": "0.00"}),
        (MERCHANT, {"currency": None, "buyer_name": "Moor Build Ltd", "total_gross": "120.00"}),
        (CREDIT, {"total_gross": "-121.00", "amount_due": None}),
        (DESIGNER, {"invoice_number": "041", "seller_name": None}),
        (STRATA, {"seller_name": "Moor Plumbing Pty Ltd", "buyer_name": None}),
        (JANITOR, {"seller_name": "Moor Janitorial Services", "buyer_name": "Willow School District"}),
        (DEVELOPER, {"total_gross": "2910.00", "amount_due": "2910.00"}),
        (WHOLESALER, {"invoice_number": "7044187", "due_date": "2024-02-29", "seller_name": "MOOR + FELS KG"}),
        (LAWYERS, {"total_tax": "219.68", "invoice_number": "2300477"}),
        (PAID_ONLINE, {"invoice_number": "QW-0A41-0003"}),
        ("Abschlagsrechnung Nr. 2\nRechnungsnummer:  24-0331", {"invoice_number": "24-0331"}),
        (DOCTOR, {"buyer_name": "Dr. Ida Moor"}),
        (RELATION, {"buyer_name": "Theo Moor"}),
        (PRACTICE, {"seller_name": "Dr. med. Ida Moor", "buyer_name": "Theo Fels"}),
        (HALF, {"seller_name": "Rose AG", "buyer_name": None}),
    ],
)
def test_what_is_printed_is_read_and_what_only_seems_so_is_left_out(
    layout: str, expected: dict[str, str | None]
) -> None:
    read = {name: several[0].value for name, several in handler.extract(document(layout)).fields.items()}
    assert {name: read.get(name) for name in expected} == expected
