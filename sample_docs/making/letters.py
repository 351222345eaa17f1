"""The short texts: a three-page agreement on confidentiality, a German contract for services, a memo and a mail."""

from __future__ import annotations

NDA_TITLE = "Mutual Non-Disclosure Agreement"
NDA_PARTIES = ("Brightmere Robotics Inc.", "Tolliver & Ashdown Castings LLC")
NDA_CLAUSES = (
    (
        "",
        (
            'This Mutual Non-Disclosure Agreement (the "Agreement") is entered into as of January 15, 2026 (the '
            '"Effective Date") by and between Brightmere Robotics Inc., a Delaware corporation with its principal '
            'office at 400 Kiln Road, Ember Falls ("Brightmere"), and Tolliver & Ashdown Castings LLC, a Delaware '
            'limited liability company with its principal office at 9 Crucible Way, Port Harlan ("Tolliver"). '
            'Each of them is a "party".'
        ),
    ),
    (
        "1. Why the parties share information",
        (
            "The parties are looking into whether Tolliver can cast the housings of a warehouse robot that "
            'Brightmere is designing (the "Purpose"). To do so, each will show the other drawings, samples, '
            "prices and plans that it does not publish. Neither is obliged to show anything in particular, or to "
            "enter into any further contract."
        ),
    ),
    (
        "2. Confidential Information",
        (
            '"Confidential Information" is everything that one party (the "Discloser") makes known to the other '
            '(the "Recipient") for the Purpose, in writing, in speech, as a sample or by letting it visit a site, '
            "if it is marked as confidential or if a reasonable person would take it to be so. It includes "
            "drawings and models, alloys and process parameters, test results, price lists, the names of "
            "customers and suppliers, and the fact that the parties are talking to each other."
        ),
    ),
    (
        "3. What is not confidential",
        (
            "Information is not Confidential Information if the Recipient can show by written records that it (a) "
            "was public when it was disclosed, or became so later without a breach of this Agreement; (b) was "
            "known to the Recipient before, free of any duty; (c) came from a third party who was free to pass it "
            "on; or (d) was developed by people of the Recipient who had no access to what the Discloser had "
            "shown."
        ),
    ),
    (
        "4. Duties of the Recipient",
        (
            "The Recipient shall use Confidential Information for the Purpose only. It shall keep it as carefully "
            "as its own secrets of similar weight, and never with less than reasonable care. It shall show it "
            "only to those of its employees and professional advisers who need it for the Purpose and who are "
            "bound to keep it secret on terms at least as strict as these, and it answers for what they do. It "
            "shall not take samples apart, analyze their composition or have others do so, unless the Discloser "
            "has agreed in writing beforehand."
        ),
    ),
    (
        "5. Disclosure that the law requires",
        (
            "If a court or an authority orders the Recipient to disclose Confidential Information, it may do so "
            "to the extent of the order. Where that is lawful, it shall tell the Discloser first and early enough "
            "for the Discloser to seek protection, and it shall ask that the information be treated as "
            "confidential."
        ),
    ),
    (
        "6. Copies and return",
        (
            "The Recipient may make the copies that the Purpose requires and shall keep the Discloser's notices "
            "on them. Within ten (10) business days of a written request it shall return or destroy the "
            "Confidential Information with all copies and confirm in writing that it has done so. It may keep "
            "what mandatory law obliges it to keep, and copies in routine backups until these are overwritten; "
            "this Agreement continues to apply to both."
        ),
    ),
    (
        "7. No license and no warranty",
        (
            "All Confidential Information remains the property of the Discloser. Nothing in this Agreement grants "
            "a license under a patent, a trademark, a copyright or a trade secret. Confidential Information is "
            "provided as it stands; the Discloser warrants that it may disclose it, and nothing else."
        ),
    ),
    (
        "8. Term",
        (
            "This Agreement begins on the Effective Date and has a term of two (2) years. Either party may end it "
            "earlier by giving thirty (30) days written notice. The duties of the Recipient last for three (3) "
            "years after the end of this Agreement and, for trade secrets, for as long as the information remains "
            "a trade secret."
        ),
    ),
    (
        "9. Remedies",
        (
            "The parties accept that money alone may not make good a breach. The Discloser may therefore ask a "
            "court for an injunction, in addition to any other remedy, without having to prove actual damage or "
            "to post a bond beyond what the law demands. A party that does not insist on a right at once does not "
            "waive it."
        ),
    ),
    (
        "10. Export",
        (
            "Neither party shall export or re-export Confidential Information in breach of the export control "
            "laws that apply to it. A Discloser that knows of a restriction shall name it when it discloses the "
            "information."
        ),
    ),
    (
        "11. Governing law and venue",
        (
            "This Agreement is governed by the laws of the State of Delaware, without regard to its conflict of "
            "laws rules. The state and federal courts located in Delaware have exclusive jurisdiction over any "
            "dispute about it, and each party accepts their jurisdiction."
        ),
    ),
    (
        "12. General",
        (
            "This Agreement is the whole agreement of the parties about the confidentiality of what they share "
            "for the Purpose. It can be changed only in a writing that both have signed. Neither party may assign "
            "it without the consent of the other, except to whoever takes over its whole business. If a provision "
            "is invalid, the others stay in force. It may be signed in counterparts and by electronic signature."
        ),
    ),
)
NDA_SIGNATURES = (
    ("BRIGHTMERE ROBOTICS INC.", "TOLLIVER & ASHDOWN CASTINGS LLC"),
    ("By: _______________________", "By: _______________________"),
    ("Name: Odalys Fairweather", "Name: Jasper Tolliver"),
    ("Title: Chief Technology Officer", "Title: Managing Member"),
    ("Date: January 13, 2026", "Date: January 14, 2026"),
)

GERMAN_CONTRACT = """\
DIENSTLEISTUNGSVERTRAG
Vertragsnummer DV-2026-014

zwischen

Brauhaus Silberquell GmbH & Co. KG, Am Mühlgraben 8, 99994 Silberbach
- nachfolgend „Auftraggeber“ genannt -

und

Tannert IT-Service e. K., Inhaberin Friederike Tannert, Lindenhof 2, 99993 Auental
- nachfolgend „Auftragnehmerin“ genannt -

wird folgender Vertrag geschlossen:

§ 1 Gegenstand des Vertrags
(1) Die Auftragnehmerin betreut die Arbeitsplatzrechner, das Kassensystem und das Netzwerk des Auftraggebers an
    dessen Standort in Silberbach.
(2) Zu den Leistungen gehören die Überwachung der Datensicherung, das Einspielen von Aktualisierungen, die Beseitigung
    von Störungen und die Beratung bei Neuanschaffungen.
(3) Die Auftragnehmerin schuldet eine fachgerechte Tätigkeit, nicht einen bestimmten Erfolg.

§ 2 Erbringung der Leistungen
(1) Die Leistungen werden werktags zwischen 8:00 und 18:00 Uhr erbracht, nach Wahl der Auftragnehmerin vor Ort oder
    aus der Ferne.
(2) Auf Störungen, die den Verkauf verhindern, reagiert sie innerhalb von zwei Stunden, auf andere am nächsten Werktag.
(3) Sie darf Dritte nur mit vorheriger Zustimmung des Auftraggebers in Textform einsetzen.

§ 3 Mitwirkung des Auftraggebers
Der Auftraggeber gewährt Zutritt zu den Räumen, stellt die nötigen Zugangsdaten bereit und benennt eine Person,
die Entscheidungen treffen kann. Verzögerungen, die er zu vertreten hat, gehen nicht zu Lasten der Auftragnehmerin.

§ 4 Vergütung
(1) Der Auftraggeber zahlt eine monatliche Pauschale von 1.450,00 EUR zuzüglich der gesetzlichen Umsatzsteuer. Darin
    sind zwölf Arbeitsstunden enthalten.
(2) Jede weitere Stunde wird mit 96,00 EUR netto berechnet, im Takt von fünfzehn Minuten.
(3) Rechnungen sind innerhalb von 14 Tagen nach Zugang ohne Abzug zu zahlen.

§ 5 Vertragsbeginn, Laufzeit und Kündigung
(1) Der Vertrag tritt am 01.04.2026 in Kraft und hat eine Laufzeit von 24 Monaten.
(2) Er verlängert sich um jeweils zwölf Monate, wenn er nicht mit einer Kündigungsfrist von drei Monaten zum Ende der
    Laufzeit gekündigt wird.
(3) Das Recht zur fristlosen Kündigung aus wichtigem Grund bleibt unberührt. Jede Kündigung bedarf der Schriftform.

§ 6 Vertraulichkeit und Datenschutz
(1) Beide Seiten behandeln alles vertraulich, was sie über Geschäft und Technik der anderen erfahren, auch nach dem Ende
    des Vertrags.
(2) Soweit die Auftragnehmerin personenbezogene Daten verarbeitet, schließen die Parteien einen gesonderten Vertrag über
    die Auftragsverarbeitung.

§ 7 Haftung
Die Auftragnehmerin haftet unbeschränkt für Vorsatz und grobe Fahrlässigkeit sowie bei der Verletzung von Leben, Körper
und Gesundheit. Bei einfacher Fahrlässigkeit haftet sie nur für die Verletzung wesentlicher Pflichten und nur bis zur
Höhe des vorhersehbaren, typischen Schadens.

§ 8 Schlussbestimmungen
(1) Es gilt das Recht der Bundesrepublik Deutschland unter Ausschluss des UN-Kaufrechts.
(2) Gerichtsstand ist, soweit zulässig, Silberbach.
(3) Änderungen dieses Vertrags bedürfen der Textform. Ist eine Bestimmung unwirksam, bleiben die übrigen gültig.

Silberbach, den 17.03.2026                         Auental, den 19.03.2026

______________________________                     ______________________________
Korbinian Adlerkron                                Friederike Tannert
Brauhaus Silberquell GmbH & Co. KG                 Tannert IT-Service e. K.
"""

MEMO = """\
MEMO

From:    Philippa Wrenfield, Facilities
To:      Everybody on the second and third floor
Date:    20 April 2026
Subject: Moving desks while the windows are replaced

The windows on the river side will be replaced floor by floor, starting with the third. The fitters need the desks
cleared and moved two metres away from the outer wall. They work from seven in the morning until three in the
afternoon; it will be loud until noon.

What to do before you leave on Thursday:

  - Put everything from your desk and window sill into the grey crates. There are two for each person, by the lifts.
  - Write your name and room on the crate's label. Crates without a name go to the post room.
  - Take plants home, or carry them to the canteen, where Ruben will water them.
  - Leave the screens plugged in. The technicians move them and bring them back.

Where to work: rooms 1.04 to 1.11 are free for the whole time, and there are twenty seats in the library. If you need
a telephone that stays reachable, ask for a headset at the front desk.

The third floor should be done after four working days, and the second after another four. Rain can delay this by a day
or two; a note on the doors will say so by nine in the morning.

Thank you for your patience. Questions are welcome on extension 214.
"""

MAIL_SUBJECT = "Rechnung 2026-4417 zu Ihrer Bestellung"
MAIL = """\
Guten Morgen Frau Heckenroth,

anbei die Rechnung für die Kartons und Buchdecken, wie bestellt als PDF und als XRechnung.
Die Lieferung ist heute aus dem Haus gegangen und sollte am Dienstag bei Ihnen sein.

Mit freundlichen Grüßen
Jorinde Falkenau

Papierwerk Eibenbrück GmbH
Kartonagenweg 5, 99992 Eibenbrück
"""
