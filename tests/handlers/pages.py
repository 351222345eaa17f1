"""Invented documents for the tests of handlers: text laid out in columns, as a format would deliver it."""

from __future__ import annotations

from pipeline.documents.text import Document, Page


def document(*layouts: str, name: str = "invented.pdf") -> Document:
    """A document of these pages; what stands in a page is both its text and its layout."""
    pages = tuple(Page(number, layout.strip("\n"), layout.strip("\n")) for number, layout in enumerate(layouts, 1))
    return Document(name, "application/pdf", pages)


ENGLISH_INVOICE = """
Harbour Lights Ltd.                                             INVOICE
4 Quay Street
Bristol BS1 4AA                                   Invoice No:    HL-20417
www.harbour-lights.example                        Invoice Date:  14 March 2023
VAT No: GB123456727                               Due Date:      13 April 2023

Bill to:                                          Purchase order no: 5512
Juniper Theatre Company
9 Stage Lane
Leeds LS2 7EW

Description                   Qty      Unit price      VAT       Amount
Lamp, brass                     2          £60.00      20%      £120.00
Cable                          10           £3.00      20%       £30.00

                                            Subtotal            £150.00
                                            VAT (20%)            £30.00
                                            Total               £180.00
                                            Amount due          £180.00
"""

GERMAN_INVOICE = """
      Nordwind Möbel GmbH • Deichweg 3 • 20095 Hamburg
      Brandt & Söhne OHG                                        Kundennr.            77120
      Lindenallee 8                                             Rechnungsnr.         2023-0815
      10115 Berlin                                              Rechnungsdatum       03.04.2023
                                                                Lieferdatum          28.03.2023
      Rechnung
      Pos   Beschreibung                     Menge     Einzelpreis        Gesamt
      1     Tisch, Eiche                         3        400,00 €    1.200,00 €
      2     Stuhl                                2         50,00 €      100,00 €
                                              Zwischensumme (netto)   1.300,00 €
                                              zzgl. 19 % MwSt.          247,00 €
                                              Gesamtbetrag            1.547,00 €
      Zahlbar bis 17.04.2023 ohne Abzug.
      Nordwind Möbel GmbH     Amtsgericht Hamburg     IBAN DE89 3704 0044 0532 0130 00
      Deichweg 3              HRB 4711                USt-IdNr. DE987654301
"""

FRENCH_INVOICE = """
Atelier du Pont SARL
12 rue des Moulins
69002 Lyon
SIRET 12345678900012 - TVA intracommunautaire : FR40 303265045

Facture n° FA-2022-118                                  Date de facture : 02/05/2022
Facturé à :                                             Date d'échéance : 01/06/2022
Librairie Plume SAS
5 place Verte
75011 Paris

Désignation                          Quantité      Prix unitaire        Montant
Reliure de registres                       10            45,50 €       455,00 €

                                                   Total HT            455,00 €
                                                   TVA 20 %             91,00 €
                                                   Total TTC           546,00 €
                                                   Net à payer         546,00 €
"""

DUTCH_INVOICE = """
Fietsenmaker De Kade B.V.                                   Factuur
Havenstraat 21                                              Factuurnummer: 90331
1013 AB Amsterdam                                           Factuurdatum:  7 november 2022
BTW-nummer NL123456708B01                                   Vervaldatum:   21 november 2022

Klant: Basisschool De Eik
                                      Totaal excl. BTW      € 200,00
                                      BTW 21%                € 42,00
                                      Totaal incl. BTW      € 242,00
IBAN NL91ABNA0417164300
"""

SPANISH_INVOICE = """
Talleres del Sur S.L.
Calle Mayor 7
41001 Sevilla
Número de factura: F-0099                       Fecha de emisión: 5 de enero de 2024
Cliente: Panadería Luz S.A.                     Fecha de vencimiento: 4 de febrero de 2024
                                                Base imponible        1.000,00 €
                                                IVA 21%                 210,00 €
                                                Total factura         1.210,00 €
"""

ITALIAN_INVOICE = """
Officina Verdi S.r.l.
Via Roma 18
50123 Firenze
Partita IVA IT00743110157
Fattura n. 55/2023                              Data fattura: 09/10/2023
Cliente: Teatro Piccolo S.p.A.                  Scadenza: 08/11/2023
                                                Imponibile              300,00 €
                                                IVA 22%                  66,00 €
                                                Totale fattura          366,00 €
"""

LISTED_INVOICE = """
Gull & Sparrow Carpentry
6 Ferry Steps
Tax invoice
Number             2031/77
Issued             5 June 2024
Customer           Lime Tree Pottery Trust
                   The Kiln House
Currency           EUR
 Service                 Quantity  Unit       Rate     Total
 Mending of shelves           2.5  hours     40.00    100.00
                              Net                    €100.00
                              VAT 23%                 €23.00
                              Total payable          €123.00
"""

ROUTED_INVOICE = """
Rechnung
Von                                     An
Ahornweg Druckerei UG                   Stadtbücherei Neuwiese
Ahornweg 3                              Einkauf
20095 Hamburg                           Am Markt 1
                                        10115 Berlin
Rechnungsnummer    D-3391               Rechnungsdatum   02.09.2024
                                        Nettobetrag        50,00 €
                                        19 % MwSt.          9,50 €
                                        Gesamtbetrag       59,50 €
"""

RECEIPT = """
        KEDAI ROTI MERPATI SDN BHD
              (123456-K)
          NO 7, JALAN KENARI 3,
             TAMAN PIPIT,
          47100 PUCHONG, SELANGOR
           TEL: 03-1234 5678
        GST REG NO: 000111222333
             TAX INVOICE
RECEIPT NO: 00417     CASHIER: ANNA
DATE: 14/08/2017 18:22:07
ITEM            QTY  PRICE  AMOUNT
WHOLEMEAL LOAF    2   4.20    8.40
RAISIN BUN        3   1.51    4.53
TOTAL EXCL GST               12.20
GST 6%                        0.73
TOTAL INCL GST               12.93
ROUNDING                      0.02
TOTAL                  RM    12.95
CASH                   RM    20.00
CHANGE                 RM     7.05
        THANK YOU, COME AGAIN
"""

CONTRACT_FIRST = """
                         SUPPLY AGREEMENT

This Supply Agreement (the "Agreement") is made and entered into as of March 3, 2021 (the "Effective
Date") by and between Copperfield Mills, Inc., a Delaware corporation with its principal office at 10 Mill
Road, Dover, Delaware ("Supplier"), and Oakhurst Paper Limited, a company incorporated under the laws
of England and having its registered office in Leeds ("Buyer").

WHEREAS, Supplier makes paper pulp; and WHEREAS, Buyer wishes to buy it;
NOW, THEREFORE, the parties hereto agree as follows:
1. Term. The initial term of this Agreement shall be three (3) years. It shall expire on
March 2, 2024 unless it is renewed. This Agreement shall renew for successive one (1) year periods
unless either party gives at least ninety (90) days' prior written notice.
"""

CONTRACT_SECOND = """
9. Governing Law. This Agreement shall be governed by and construed in accordance with the laws of the
State of Delaware, without regard to its conflict of laws principles.
IN WITNESS WHEREOF, the parties have executed this Agreement.
"""

GERMAN_CONTRACT = """
Dienstleistungsvertrag

zwischen der Sommer Technik GmbH, Ringstraße 5, 50667 Köln (nachfolgend „Auftragnehmer“)
und der Winter Handel AG, Am Markt 2, 80331 München (nachfolgend „Auftraggeber“)

§ 1 Laufzeit. Der Vertrag beginnt am 1. Juli 2022. Die Laufzeit beträgt 24 Monate.
§ 2 Kündigung. Es gilt eine Kündigungsfrist von 3 Monaten zum Ende der Laufzeit.
§ 3 Es gilt das Recht der Bundesrepublik Deutschland. Gerichtsstand ist Köln.
"""

LETTER = """
Minutes of the garden club

The meeting was held on the terrace. The roses are in bloom and the hedge was cut by all of us.
"""

EVERYTHING = {
    "english invoice": document(ENGLISH_INVOICE),
    "german invoice": document(GERMAN_INVOICE),
    "french invoice": document(FRENCH_INVOICE),
    "dutch invoice": document(DUTCH_INVOICE),
    "spanish invoice": document(SPANISH_INVOICE),
    "italian invoice": document(ITALIAN_INVOICE),
    "listed invoice": document(LISTED_INVOICE),
    "routed invoice": document(ROUTED_INVOICE),
    "till's invoice": document(RECEIPT),
    "english contract": document(CONTRACT_FIRST, CONTRACT_SECOND),
    "german contract": document(GERMAN_CONTRACT),
    "letter": document(LETTER),
    "empty": document(""),
    "no pages": Document("none", "application/pdf", ()),
}
