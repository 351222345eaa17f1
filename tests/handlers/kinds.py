"""Invented documents of many kinds, to see what each is taken for: invoices and receipts, contracts, and others."""

from __future__ import annotations

INVOICES = {
    "receipt by mail": """
From: Cloudbridge <billing@cloudbridge.example>
Subject: Your receipt from Cloudbridge

Receipt
Receipt number: 2201-4417
Date: April 2, 2026
Pro plan      $20.00
Total         $20.00
Paid with Visa 4417
""",
    "plain text columns": """
Harbour Lights Ltd. INVOICE
4 Quay Street Invoice No: HL-20417
Bristol Invoice Date: 14 March 2023
Lamp 2 60.00 120.00
Total 180.00
""",
    "bill": """
Northgate Water                           Your bill
Customer number 20 4417 99                Bill date 3 March 2026
Water used 24 m3                             41.20
Sewerage                                     38.75
Standing charge                              12.00
Total to pay by 28 March 2026               91.95
We will take this amount by Direct Debit.
""",
    "kassenbon": """
Bäckerei Korn
Marktgasse 2, 99997 Grünstedt
Brötchen 4 x 0,45     1,80 A
Roggenbrot            4,20 A
Kaffee                2,60 B
SUMME EUR             8,60
Bar                  10,00
Rückgeld              1,40
MwSt A 7%   0,39
MwSt B 19%  0,42
12.03.2026 08:14 Kasse 2
Vielen Dank für Ihren Einkauf
""",
    "statement medical": """
Lakeside Clinic
Patient statement                    Account 5512
Date of service 02/03/2026   Office visit    140.00
Insurance payment                             -98.00
Amount due                                     42.00
Please pay by 03/30/2026
""",
    "honorarnote": """
Dr. Jorinde Falkenau, Ärztin
Liquidation
Für meine ärztlichen Leistungen erlaube ich mir zu berechnen:
12.02.2026 Beratung     10,72
12.02.2026 Untersuchung 20,10
Gesamtbetrag 30,82 EUR
Zahlbar innerhalb von 30 Tagen auf IBAN DE26 1234 5678 2206 1944 17
""",
    "nota": """
Nota di credito n. 12/2026 del 02/05/2026
Officina Ponte S.r.l.   P.IVA IT01234567890
Spett.le Comune di Riva
Reso merce 2 x 45,00  90,00
Imponibile 90,00 IVA 22% 19,80 Totale 109,80
""",
    "till us": """
COPPERLEAF CAFE
77 Riverside Plaza
1 Latte  4.50
1 Bagel  3.25
Subtotal 7.75
Tax      0.56
Total    8.31
VISA ****4417
Thank you!
""",
    "gebuehr": """
Stadt Birkenau   Gebührenrechnung
Kassenzeichen 4417.0093
Abfallgebühren 1. Quartal 2026     61,20 EUR
fällig am 15.02.2026
""",
    "proforma": """
PRO FORMA INVOICE PF-12
Seller: Saltmarsh Translations DAC   Buyer: Fennelworth Museum Trust
Books, 12 pcs, 10.00 EUR, 120.00 EUR
Total 120.00 EUR   No commercial value, for customs only
""",
    "tc back": """
Ottermere Glazing Ltd                       INVOICE
Invoice No: OG-1    Invoice date: 18 May 2026
Glass 14 x 62.50   875.00
Total due £875.00

Terms and conditions
1. These terms apply to all sales. The Buyer shall pay within 30 days. Either party may end the agreement by
notice. Title passes hereunder
when payment is made. 2. This agreement is governed by the laws of England. The parties hereto submit to its
courts. 3. The Seller shall
indemnify. Confidential information is protected herein. Gerichtsstand London.
""",
    "factuur": """
Schilder De Wit B.V.
Factuurnummer 2026-12    Factuurdatum 02-05-2026
Gemeente Haven
Schilderwerk  540,00
BTW 21% 113,40
Te betalen vóór 16-05-2026: € 653,40
""",
    "factura": """
FACTURA
Nº 2026/31     Fecha: 02/05/2026
Talleres Puente S.L.  NIF B12345678
Base imponible 540,00   IVA 21% 113,40   TOTAL 653,40 €
""",
    "japan": """
INVOICE
No. 4417   2026/05/12
Kiku Trading Co.
Tea bowls  12 x 1,200   14,400
Total ¥15,840
""",
    "polish": """
Faktura VAT nr 12/2026
Sprzedawca: Most Sp. z o.o.  Nabywca: Gmina Port
Usługa malarska  1  540,00  23%  124,20  664,20
Razem do zapłaty: 664,20 PLN
""",
    "restaurant fr": """
CHEZ BRUME
12 rue du Pont  69002 Lyon
2 Menu midi   31,80
1 Café         2,20
TOTAL TTC     34,00
CB VISA       34,00
dont TVA 10%   3,09
Merci de votre visite
""",
    "utility de": """
Stadtwerke Birkenau-Süd
Jahresabrechnung Strom 2025
Kundennummer 4417 Zählerstand 12.044
Verbrauch 2.410 kWh    842,10 EUR
Abschläge             -800,00 EUR
Nachzahlung             42,10 EUR, fällig am 15.02.2026
""",
    "freelance": """
Saltmarsh Translations
Bill to: Fennelworth Museum     Date: 2 April 2026    Ref: 118
Exhibition guide   2,059.00
Amount due  2,059.00 EUR
""",
    "subscription": """
Receipt from Cloudbridge
Receipt number 2201-4417    Date paid April 2, 2026
Pro plan x 1   $20.00
Amount paid    $20.00
""",
}

CONTRACTS = {
    "mietvertrag": """
Wohnraummietvertrag
zwischen Frau Henrike Vossberg (Vermieterin) und Herrn Jorin Falkenau (Mieter)
§ 1 Mietsache. Vermietet wird die Wohnung im 2. OG, Gewächshausweg 3.
§ 2 Mietzeit. Das Mietverhältnis beginnt am 01.04.2026 und läuft auf unbestimmte Zeit.
§ 3 Miete. Die Miete beträgt monatlich 840,00 EUR, die Kaution 2.520,00 EUR.
""",
    "nda short": """
Confidentiality undertaking
Brightmere Robotics Inc. ("Discloser") gives information to Tolliver Castings LLC ("Recipient") on these terms:
1. Recipient keeps the information secret for two years.
2. This undertaking is governed by the laws of Delaware.
Signed: ____________
""",
    "bail": """
BAIL COMMERCIAL
Entre les soussignés : la société Atelier du Pont, ci-après dénommée le Bailleur, et la société Brume, ci-
après le Preneur,
il a été convenu ce qui suit.
Article 1. Objet. Article 2. Durée : neuf années. Article 3. Loyer : 12 000,00 euros par an.
""",
    "employment": """
Offer letter and employment agreement
Dear Mara, we are pleased to employ you as contract manager from 1 June 2026. Salary: 42,000.00 a year. Either
party may end
this agreement with one month's notice. This agreement is governed by the law of Scotland.
Signed by both parties.
""",
    "arbeitsvertrag": """
Arbeitsvertrag
zwischen der Brauhaus Silberquell GmbH (Arbeitgeber) und Frau Mara Quill (Arbeitnehmerin) wird Folgendes vereinbart:
1. Beginn am 01.06.2026. 2. Vergütung 3.200,00 EUR brutto. 3. Die Kündigungsfrist beträgt vier Wochen zum
Monatsende.
""",
    "amendment": """
Amendment No. 2 to the Master Services Agreement
Aldermoor Logistics Limited and Quillfen Systems Limited agree to extend the term until 28 February 2032. All
other terms stay as they are.
""",
    "contratto": """
CONTRATTO DI LOCAZIONE
Tra il sig. Ponte, di seguito "Locatore", e la sig.ra Riva, di seguito "Conduttore", si conviene quanto segue.
Art. 1 Il Locatore concede in locazione l'immobile. Canone 840,00 euro.
""",
    "contrato": """
CONTRATO DE PRESTACIÓN DE SERVICIOS
REUNIDOS: de una parte Talleres Puente S.L.; de otra parte Ayuntamiento de Puerto. EXPONEN que las partes
convienen las siguientes cláusulas.
""",
    "overeenkomst": """
Huurovereenkomst woonruimte
De ondergetekenden: De Wit, hierna te noemen verhuurder, en Quill, hierna te noemen huurder, komen overeen:
artikel 1 ...
""",
    "loan": """
PROMISSORY NOTE AND LOAN AGREEMENT
FOR VALUE RECEIVED, the Borrower promises to pay the Lender 10,000.00 dollars by 1 June 2028. This Note is
governed by the laws of Ohio.
""",
    "statement of work": """
Statement of Work No. 3
This Statement of Work is entered into under the Master Services Agreement between Aldermoor Logistics Limited
("Customer") and Quillfen
Systems Limited ("Supplier"). Fees: 12,000.00 a month. Supplier shall invoice monthly.
""",
    "aufhebung": """
Aufhebungsvertrag
Die Brauhaus Silberquell GmbH und Frau Quill sind sich einig, dass das Arbeitsverhältnis zum 30.06.2026 endet.
Abfindung 5.000,00 EUR.
""",
    "settlement": """
SETTLEMENT AND RELEASE
The undersigned hereby release each other from all claims. Payment of 4,000.00 within ten days. Whereas the
dispute has been resolved, the parties
hereto sign below.
""",
}

OTHERS = {
    "covering mail": """
From: Ottermere Glazing <accounts@ottermere.example>
To: office@pebblegate.example
Date: Mon, 18 May 2026 09:12:00 +0000
Subject: Invoice OG-20417

Dear customer,
please find attached our invoice no. OG-20417 of 18 May 2026 over 3,504.00 GBP. The amount is due on 17 June 2026.
Thank you for your custom.
""",
    "covering letter": """
Papierwerk Eibenbrück GmbH
Sehr geehrte Frau Lindner,
anbei erhalten Sie unsere Rechnung Nr. 2026-4417 über 1.629,35 EUR. Bitte überweisen Sie den Betrag bis zum
26.06.2026.
Mit freundlichen Grüßen
""",
    "question about an invoice": """
Subject: AW: Rechnung 2026-118

Guten Tag,
auf der Rechnungsnummer 2026-118 stehen 450,00 EUR, vereinbart waren 400,00 EUR. Können Sie bitte eine neue
Rechnung senden?
Mit freundlichen Grüßen
""",
    "payment advice": """
Avis de paiement
Nous avons payé vos factures suivantes par virement du 12/05/2026 :
Facture FA-2026-0218 du 03/06/2026     4 905,60
Facture FA-2026-0190 du 03/05/2026       120,00
Total                                  5 025,60
""",
    "newsletter": """
Subject: Save 20% on your next order

Offer ends Sunday! Total savings up to $45.00. Prices include tax. Visit our shop. Thank you for being our customer.
Unsubscribe here.
""",
    "job offer mail": """
Subject: Contract for the spring season

Hi Mara, the agreement we talked about is nearly ready; both parties only need to sign. Shall I send it to
your new address?
""",
    "terms of a website": """
Frequently asked questions
When do I have to pay? Payment is due within 30 days of the invoice date. How much is shipping? 4.90 EUR.
Can I cancel? You may cancel within 14 days. What is the total price? It includes VAT.
""",
    "bank statement": """
Fenwick Savings Bank
Account statement                                  Page 1 of 2
Account holder: Mara Quill        IBAN GB33 BUKB 2020 1555 5555 55
Date        Description                         Debit      Credit     Balance
01 Mar 2026 Opening balance                                           1,204.55
03 Mar 2026 Card payment Tanner & Co              45.20               1,159.35
05 Mar 2026 Salary                                         2,310.00   3,469.35
09 Mar 2026 Direct debit, water                   31.10               3,438.25
31 Mar 2026 Closing balance                                           3,438.25
Total debits 76.30    Total credits 2,310.00
""",
    "kontoauszug": """
Sparkasse Hafenrode                                   Kontoauszug Nr. 3/2026
Konto 4711002600   IBAN DE26 1234 5678 2206 1944 17    BIC XXXXDEFF
Alter Kontostand vom 28.02.2026                              1.204,55 EUR
02.03. Lastschrift Stadtwerke                                  -88,10
05.03. Gehalt                                                2.310,00
10.03. Rechnung 2026-118 Malerbetrieb                         -450,00
Neuer Kontostand vom 31.03.2026                              2.976,45 EUR
Summe Belastungen 538,10   Summe Gutschriften 2.310,00
""",
    "quotation": """
Harrowbeck Joinery Ltd                                  QUOTATION
Unit 7, Tannery Yard                   Quote no: Q-2026-031
Date: 4 March 2026                     Valid until: 4 April 2026
To: The Lantern Street Bookshop
Description               Qty   Unit price    Amount
Oak shelving               6      412.50     2,475.00
Installation               8       58.00       464.00
Subtotal  2,939.00
VAT 20%     587.80
Total     3,526.80
We look forward to your order.
""",
    "angebot": """
Mühlbacher Metallbau GmbH
Angebot Nr. AN-2026-044                       Datum: 12.05.2026
Sehr geehrte Frau Vossberg,
gerne bieten wir Ihnen an:
Pos Bezeichnung             Menge  Einzelpreis    Gesamt
1   Stahltor                1      2.480,00     2.480,00
2   Torpfosten              2        315,50       631,00
Nettobetrag 3.111,00
zzgl. 19 % MwSt. 591,09
Gesamtbetrag 3.702,09 EUR
Dieses Angebot gilt bis zum 12.06.2026.
""",
    "purchase order": """
PURCHASE ORDER                                 PO number: 88-2201
Blue Heron Diner LLC                           Date: 02/11/2026
Vendor: Copperleaf Restaurant Supply, Inc.     Ship to: Receiving dock
Item       Qty   Unit price   Total
Stock pot    3      128.40    385.20
Sauce pan    8       46.95    375.60
Subtotal 760.80   Tax 55.16   Total 815.96
Please send your invoice to accounts@blueheron.example and quote the PO number.
""",
    "order confirmation": """
Auftragsbestätigung AB-2026-77
Papierwerk Eibenbrück GmbH
Sehr geehrte Damen und Herren, wir bestätigen Ihren Auftrag vom 02.06.2026:
Pos  Artikel          Menge   Preis    Betrag
1    Archivkarton     120     3,85     462,00
Summe netto 462,00  USt 19 % 87,78  Gesamt 549,78 EUR
Lieferung in KW 27. Die Rechnung erhalten Sie nach Lieferung.
""",
    "delivery note": """
Delivery note 20417                 Ottermere Glazing Ltd
Deliver to: Pebblegate Primary School, 11 Harbour Rise
Our order 5512, dispatched 18 May 2026
Item                         Quantity   Unit
Toughened glass, 6 mm        14         pane
Aluminium frame               7         frame
Received in good condition: ____________________
""",
    "payslip": """
Payslip for March 2026            Fernhollow Lifts Limited
Employee: Mara Quill    NI no: QQ123456C   Tax code 1257L
Payments                      Deductions
Basic pay        2,600.00     Income tax      310.40
Overtime           120.50     National ins.   198.20
Gross pay        2,720.50     Total deductions 508.60
Net pay 2,211.90 paid to account ending 55
""",
    "reminder letter": """
Stadtbücherei Grünstedt
Sehr geehrter Herr Falkenau,
bitte bringen Sie die folgenden Bücher bis zum 12.03.2026 zurück. Für jede Woche fallen Gebühren von 1,50 EUR an.
Mit freundlichen Grüßen
""",
    "cv": """
Mara Quill
Curriculum vitae
Work experience
2019-2024 Contract manager, Aldermoor Logistics. Negotiated supplier agreements and licence terms; managed
invoices worth 2,000,000.00 a year.
Education: LL.M. contract law.
Languages: English, German.
""",
    "minutes": """
Minutes of the meeting of the works council, 4 March 2026
Present: six members. Apologies: two.
1. The minutes of the last meeting were approved.
2. The parties to the wage agreement meet again in May. The chair reported on the terms of the new lease and
the obligations of the landlord.
3. Total cost of the summer party: 1,250.00. Agreed.
""",
    "news": """
Two makers of lifts sign an agreement
Fernhollow and Marram said on Monday that they had signed a five-year agreement to service lifts in Scotland.
Under the
contract, the parties will share workshops. The deal is worth 4.50 million pounds and its effective date is in
June. Analysts
said the term of the licence was unusually long. Neither party would comment on termination.
""",
    "law article": """
Consideration and the law of contract
A contract is an agreement that the law enforces. In this article we ask whether a party who promises more
than it must shall
be bound. The doctrine has been criticised since Williams v Roffey. Where the parties agree to vary their
obligations, the
courts look for a practical benefit. Indemnification clauses and the governing law are treated in part two;
confidential
information is not. Termination and notice are governed by other rules.
""",
    "report": """
Annual report 2025
Our revenue grew by 4 percent to 12,400,112.50. Total assets were 45,010,332.11. Tax expense was 1,204,551.00.
The company leases its offices under an agreement that ends in 2031. The auditor's fee was 120,000.00.
""",
    "price list": """
Price list, spring 2026
Copperleaf Restaurant Supply, Inc.
Stock pot, 40 qt    128.40
Sauce pan, 4 qt      46.95
Frying pan, 12 in    38.25
All prices without tax. Quantity discounts on request.
""",
    "letter": """
Dear Ms Vossberg,
thank you for your letter of 3 May. I have spoken with our accounts department: the invoice you ask about was
sent on
12 April, and the amount of 1,240.00 has been paid. Please let us know if a receipt is needed.
Yours sincerely
""",
    "tax notice": """
Finanzamt Birkenau
Bescheid für 2025 über Einkommensteuer
Festgesetzt werden 4.310,00 EUR. Bereits gezahlt 4.100,00 EUR. Noch zu zahlen 210,00 EUR bis zum 12.07.2026.
Zahlbar auf das Konto IBAN DE26 1234 5678 2206 1944 17.
Rechtsbehelfsbelehrung: Gegen diesen Bescheid ist der Einspruch gegeben.
""",
    "expense report": """
Travel expense report          Employee: J. Falkenau
Date        What          Amount
03.03.2026  Train         88.10
04.03.2026  Hotel        129.00
04.03.2026  Taxi          23.40
Total 240.50     Receipts attached: 3
Approved by: ________
""",
    "manual": """
Installation guide
Before you begin, read the licence agreement that came with the product. Connect the cable. The total length
shall not exceed
10.00 m. If the unit does not start, contact your dealer. Warranty: two years.
""",
    "timetable": """
Bus line 14      Valid from 1 April 2026
Harbour   7.05  7.35  8.05  8.35
Market    7.12  7.42  8.12  8.42
Total running time 24 minutes. Ticket fares include tax.
""",
    "devis": """
Atelier du Pont SARL
DEVIS n° D-2026-12                     Date : 02/05/2026
Client : Mairie de Port-Aislin
Désignation      Quantité   Prix unitaire   Montant
Peinture         12         45,00           540,00
Total HT 540,00   TVA 20 % 108,00   Total TTC 648,00 €
Devis valable 30 jours. Bon pour accord, date et signature :
""",
    "budget": """
Parish council: budget for 2026
Item                      2025        2026
Grass cutting          4,200.00    4,350.00
Street lights          2,110.00    2,300.00
Total                  6,310.00    6,650.00
""",
    "email": """
Subject: lunch on Friday
Hi both, the total came to 45.20, tax included, so 15.07 each. I have the receipt. See you at the office!
""",
    "policy handbook": """
Employee handbook
This handbook is not a contract of employment. Employees shall treat confidential information with care.
Employees may give
notice at any time. The company may change these policies. Holidays must be agreed with the manager.
""",
    "extracto": """
Banco Almendra            Extracto de cuenta
Titular: Mara Quill   IBAN ES91 2100 0418 4502 0005 1332
Fecha   Concepto        Importe   Saldo
01/03   Saldo inicial             1.204,55
05/03   Nómina          2.310,00  3.514,55
Total cargos 0,00
""",
    "ddt": """
Documento di trasporto n. 44 del 03/02/2026
Mittente: Officina Ponte S.r.l.  Destinatario: Comune di Riva
Quantità 12  Descrizione: sedie   Causale: vendita
Firma del conducente
""",
    "offerte nl": """
Offerte 2026-031
Geachte mevrouw, hierbij onze offerte voor het schilderwerk:
Omschrijving   Aantal  Prijs   Bedrag
Schilderen     12      45,00   540,00
Subtotaal 540,00   BTW 21% 113,40   Totaal 653,40
""",
    "medical": """
Lakeside Clinic: discharge summary
Patient: Jorin Falkenau. Admitted 2 March 2026. The patient shall rest for two weeks. Dose: 2.50 mg twice a day.
Follow-up appointment due 16 March. Thank you for the referral.
""",
    "recipe": """
Onion soup
Serves 4. Total time 1.50 hours.
Butter 50 g, onions 1.25 kg, stock 1.50 l. Fry the onions in butter. Add a change of water. Serve with cheese.
Enjoy, and thank you.
""",
    "judgment": """
IN THE COURT OF APPEAL
Aldermoor Logistics Limited v Quillfen Systems Limited
1. This is an appeal against the order of the judge who held that the agreement made on 1 March 2020 was
terminated. The parties
had entered into the contract by which Quillfen shall deliver software. Clause 12 provides that either party
may end the agreement.
2. The sum of 1,250,000.00 was claimed. The appeal is dismissed.
""",
    "privacy": """
Privacy policy
We process your personal data when you visit our website. The controller is Kranichfeld Software. You have the
right to access and
to erasure. We keep invoices for ten years. Confidential information shall be protected.
""",
    "fraud warning": """
Beware of fake invoices
Every year companies lose money to letters that look like an invoice. If a bill says the amount due is 980.00
and you never
ordered anything, do not pay. Ask for the receipt.
""",
    "school letter": """
Dear parents,
the class trip costs 45.00 per child. Please pay by 3 May in cash or by transfer. Change cannot be given. Thank you!
""",
    "insurance certificate": """
Certificate of insurance
This certificate is issued as a matter of information only and confers no rights. Insured: Fernhollow Lifts Limited.
Each occurrence 1,000,000.00. Policy effective date 01/06/2026. General aggregate total 2,000,000.00
""",
    "boarding": """
Boarding pass   Flight OT 417   Seat 14C
Passenger QUILL/MARA   Fare 129.00 EUR incl. tax   Gate closes 18:40
""",
    "lebenslauf": """
Lebenslauf
Jorin Falkenau, geboren am 02.03.1988
2015-2024 Vertragsmanager bei Aldermoor: Verhandlung von Mietverträgen, Prüfung von Rechnungen bis 2.000.000,00 EUR
""",
    "stock": """
Inventory list, warehouse 2
Item no   Description     Quantity   Unit price   Value
4417      Oak shelf             12       412.50   4,950.00
4418      Bench                  3       689.00   2,067.00
Total                                             7,017.00
""",
    "tender": """
Call for tenders
The town of Birkenau invites offers for cleaning services. The contract will be awarded for two years.
Tenderers shall submit the form
by 12 June 2026. Estimated value 120,000.00 EUR without VAT. Payment within 30 days of the invoice.
""",
    "dunning": """
Mahnung
Sehr geehrter Herr Falkenau, unsere Rechnung Nr. 2026-118 vom 02.04.2026 über 450,00 EUR ist noch offen.
Bitte zahlen Sie bis zum 20.05.2026.
""",
}
