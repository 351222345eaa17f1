"""The nine invoices. Companies, people, numbers and bank details are invented, domains and phones reserved."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

from making.values import (
    Company,
    Invoice,
    Line,
    Order,
    american_date,
    british_date,
    english_amount,
    french_amount,
    french_date,
    french_iban,
    german_amount,
    german_date,
    german_iban,
    short_date,
)

_TEST_BANK = "12345678"  # a placeholder: no bank has this code


def _lines(rows: str) -> tuple[Line, ...]:
    """Lines of an invoice from rows of `description | quantity | unit | price`."""
    cells = [[cell.strip() for cell in row.split("|")] for row in rows.strip().splitlines()]
    return tuple(Line(text, Decimal(quantity), unit, Decimal(price)) for text, quantity, unit, price in cells)


GBP = Invoice(
    number="HB-2026-0417",
    issued=date(2026, 3, 9),
    due=date(2026, 4, 8),
    currency="GBP",
    sign="£",
    seller=Company(
        "Harrowbeck Joinery Ltd", ("Unit 7, Tannery Yard", "Mill Lane", "Harrowbeck HX9 4QZ"), "GB 999 9999 73"
    ),
    buyer=Company("The Lantern Street Bookshop", ("42 Lantern Street", "Oldcastle", "OC2 7BN")),
    tax_percent=Decimal(20),
    lines=_lines(
        """
        Oak shelving unit, 2400 x 900 mm, oiled | 6 | pcs | 412.50
        Reading bench with storage, beech | 2 | pcs | 689.00
        Made-to-measure till counter | 1 | pcs | 1845.00
        Delivery and installation, two fitters | 11.5 | hours | 58.00
        Removal and recycling of old fittings | 1 | flat | 140.00
        """
    ),
    money=english_amount,
    day=british_date,
)

USD = Invoice(
    number="INV-100382",
    issued=date(2026, 2, 27),
    due=date(2026, 3, 29),
    currency="USD",
    sign="$",
    seller=Company(
        "Copperleaf Restaurant Supply, Inc.", ("1180 Foundry Avenue, Suite 300", "Millbrook Falls, OH 45999")
    ),
    buyer=Company("Blue Heron Diner LLC", ("77 Riverside Plaza", "Cedar Hollow, OH 45998")),
    tax_percent=Decimal("7.25"),
    lines=_lines(
        """
        CL-1004 Stock pot, stainless, 40 qt | 3 | ea | 128.40
        CL-1011 Sauce pan, aluminum clad, 4 qt | 8 | ea | 46.95
        CL-1019 Frying pan, carbon steel, 12 in | 10 | ea | 38.25
        CL-1032 Sheet pan, half size | 48 | ea | 9.80
        CL-1033 Sheet pan, full size | 24 | ea | 14.60
        CL-1047 Cooling rack, half size | 24 | ea | 8.15
        CL-1102 Chef knife, 10 in, molded handle | 6 | ea | 42.00
        CL-1108 Paring knife, 3 in | 12 | ea | 7.45
        CL-1115 Bread knife, 9 in | 4 | ea | 31.70
        CL-1140 Cutting board, 18 x 24 in, green | 6 | ea | 27.35
        CL-1141 Cutting board, 18 x 24 in, red | 6 | ea | 27.35
        CL-1207 Food storage box, 12 qt, clear | 18 | ea | 16.90
        CL-1208 Lid for food storage box, 12 qt | 18 | ea | 5.25
        CL-1215 Ingredient bin, 27 gal, with scoop | 2 | ea | 119.00
        CL-1301 Dinner plate, 10.5 in, ivory | 20 | dz | 64.80
        CL-1302 Salad plate, 7 in, ivory | 20 | dz | 41.20
        CL-1305 Soup bowl, 12 oz, ivory | 12 | dz | 52.60
        CL-1310 Coffee mug, 11 oz, ivory | 16 | dz | 39.90
        CL-1402 Water glass, 16 oz, stackable | 15 | dz | 28.75
        CL-1409 Juice glass, 7 oz | 10 | dz | 21.30
        CL-1501 Dinner fork, 18/0 | 20 | dz | 12.40
        CL-1502 Dinner knife, 18/0 | 20 | dz | 17.85
        CL-1503 Teaspoon, 18/0 | 25 | dz | 8.65
        CL-1504 Soup spoon, 18/0 | 12 | dz | 11.10
        CL-1611 Bus tub, 20 x 15 in, gray | 14 | ea | 10.45
        CL-1618 Serving tray, 27 in oval, non-skid | 8 | ea | 22.95
        CL-1702 Work table, stainless, 30 x 72 in | 2 | ea | 389.00
        CL-1710 Wire shelving unit, 18 x 48 in, 4 tier | 3 | ea | 174.50
        CL-1725 Hand sink, wall mounted | 1 | ea | 148.00
        CL-1801 Apron, bib, black, with pocket | 20 | ea | 11.25
        CL-1806 Bar towel, ribbed, 24 oz | 12 | dz | 16.20
        CL-1822 Oven mitt, 15 in, pair | 8 | ea | 18.40
        """
    ),
    money=english_amount,
    day=american_date,
)

EUR = Invoice(
    number="2026/118",
    issued=date(2026, 4, 2),
    due=date(2026, 4, 16),
    currency="EUR",
    sign="€",
    seller=Company(
        "Saltmarsh Translations DAC", ("3 Curlew Terrace", "Ballinreagh", "Co. Kilmarra, Ireland"), "IE 9999999WI"
    ),
    buyer=Company("Fennelworth Museum Trust", ("The Old Granary", "Quay Road, Port Aislin", "Ireland")),
    tax_percent=Decimal(23),
    lines=_lines(
        """
        Exhibition guide, German to English | 14.2 | 1,000 words | 145.00
        Audio guide script, adaptation for voice | 38 | minutes | 22.50
        Proofreading of wall texts, second pair of eyes | 6 | hours | 62.00
        """
    ),
    money=english_amount,
    day=short_date,
)

WORKSHOP = Invoice(
    number="RE-2026-00731",
    issued=date(2026, 5, 12),
    due=date(2026, 6, 11),
    currency="EUR",
    sign="€",
    seller=Company("Mühlbacher Metallbau GmbH", ("Am Schmiedeteich 14", "99998 Weidensee"), "DE999999999"),
    buyer=Company("Gärtnerei Löwenzahn e. K.", ("Frau Henrike Vossberg", "Gewächshausweg 3", "99997 Grünstedt")),
    tax_percent=Decimal(19),
    lines=_lines(
        """
        Stahltor zweiflügelig, feuerverzinkt, 3,60 m | 1 | Stk | 2480.00
        Torpfosten 120 x 120 mm mit Bodenplatte | 2 | Stk | 315.50
        Geländer Edelstahl geschliffen | 8.5 | m | 189.90
        Montage vor Ort, zwei Monteure | 14 | Std | 68.00
        An- und Abfahrt, pauschal | 1 | psch | 95.00
        """
    ),
    money=german_amount,
    day=german_date,
    iban=german_iban(_TEST_BANK, "4711002600"),
)

SOFTWARE = Invoice(
    number="2026-05-0093",
    issued=date(2026, 5, 29),
    due=date(2026, 6, 12),
    currency="EUR",
    sign="EUR",
    seller=Company(
        "Kranichfeld Software & Beratung UG (haftungsbeschränkt)",
        ("Speicherstraße 21", "99996 Hafenrode"),
        "DE888888888",
    ),
    buyer=Company("Stadtwerke Birkenau-Süd AöR", ("Abteilung Einkauf", "Rathausplatz 1", "99995 Birkenau-Süd")),
    tax_percent=Decimal(19),
    lines=_lines(
        """
        Anforderungsanalyse und Workshop | 2 | Tage | 1120.00
        Entwicklung Zählerportal, Sprint 9 | 61.5 | Std | 118.00
        Qualitätssicherung und Abnahmetests | 18.25 | Std | 104.00
        Betrieb und Wartung, Mai 2026 | 1 | Monat | 690.00
        SSL-Zertifikat, Laufzeit ein Jahr | 3 | Stk | 49.90
        """
    ),
    money=german_amount,
    day=german_date,
    iban=german_iban(_TEST_BANK, "9081726354"),
)

GLAZIER = Invoice(
    number="OG-20417",
    issued=date(2026, 5, 18),
    due=date(2026, 6, 17),
    currency="GBP",
    sign="£",
    seller=Company("Ottermere Glazing Ltd", ("Kiln Yard, Sandpiper Way", "Ottermere OT5 9ZZ"), "GB 888 8888 11"),
    buyer=Company("Pebblegate Primary School", ("11 Harbour Rise", "Pebblegate PG2 4ZZ")),
    tax_percent=Decimal(20),
    lines=_lines(
        """
        Toughened glass, 6 mm, cut to size | 14 | pane | 62.50
        Aluminium frame, powder coated | 7 | frame | 138.00
        Fitting, two glaziers | 16 | hour | 54.00
        Scaffold tower, hire for one week | 1 | week | 215.00
        """
    ),
    money=english_amount,
    day=british_date,
)

PAPER = Invoice(
    number="2026-4417",
    issued=date(2026, 6, 12),
    due=date(2026, 6, 26),
    currency="EUR",
    sign="EUR",
    seller=Company("Papierwerk Eibenbrück GmbH", ("Kartonagenweg 5", "99992 Eibenbrück"), "DE777777773"),
    buyer=Company("Stadtbibliothek Grünstedt", ("Einkauf", "Marktgasse 2", "99997 Grünstedt")),
    tax_percent=Decimal(19),
    lines=_lines(
        """
        Archivkarton, säurefrei, 390 x 270 mm | 120 | Stk | 3.85
        Buchdecke aus Leinen, Sonderformat | 36 | Stk | 14.20
        Prägung der Signaturen | 5.5 | Std | 72.00
        """
    ),
    money=german_amount,
    day=german_date,
    iban=german_iban(_TEST_BANK, "2206194417"),
)
PAPER_ORDER = Order(
    buyer_reference="99997-0417-87",
    buyer_mail="einkauf@stadtbibliothek-gruenstedt.example",
    contact=("Jorinde Falkenau", "+49 30 23125 417", "rechnung@eibenbrueck.example"),
)

BAKERY = Invoice(
    number="FA-2026-0218",
    issued=date(2026, 6, 3),
    due=date(2026, 7, 3),
    currency="EUR",
    sign="€",
    seller=Company("Fournil Valbrume SARL", ("8 rue des Glycines", "99001 Valbrume"), "FR27000004176"),
    buyer=Company("Hôtel des Trois Tilleuls", ("Service achats", "2 place du Lavoir", "99002 Montclaret")),
    tax_percent=Decimal(20),
    lines=_lines(
        """
        Four à sole, deux étages | 1 | pièce | 3480.00
        Plaque de cuisson perforée, 60 x 40 cm | 24 | pièce | 18.50
        Pose et mise en service | 6 | heure | 55.00
        """
    ),
    money=french_amount,
    day=french_date,
    iban=french_iban("99999", "00417", "20260218"),
)
BAKERY_ORDER = Order(
    buyer_reference="ACHATS-417",
    buyer_mail="achats@trois-tilleuls.example",
    contact=("Solène Aubrac", "+33 1 99 00 04 17", "factures@valbrume.example"),
)
# What its pages say: they were printed before six more plates and an hour of work were ordered.
BAKERY_PRINTED = replace(
    BAKERY,
    lines=_lines(
        """
        Four à sole, deux étages | 1 | pièce | 3480.00
        Plaque de cuisson perforée, 60 x 40 cm | 18 | pièce | 18.50
        Pose et mise en service | 5 | heure | 55.00
        """
    ),
)

GARDENER = Invoice(
    number="",
    issued=date(2026, 6, 9),
    due=date(2026, 6, 23),
    currency="GBP",
    sign="£",
    seller=Company("Hedgerow & Daughter Ltd", ("Old Forge Lane", "Lower Wickering", "LW3 9ZZ"), "GB 777 7777 46"),
    buyer=Company("Marram Court Management Limited", ("Marram Court", "Seagrove Road", "Ottermere OT1 9ZZ")),
    tax_percent=Decimal(20),
    lines=_lines(
        """
        Hedge cutting, north side | 9 | hours | 34.00
        Removal of cuttings | 2 | loads | 45.00
        Two young hornbeams, planted | 2 | trees | 62.50
        """
    ),
    money=english_amount,
    day=british_date,
)
