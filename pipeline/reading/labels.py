"""The words that announce a field on an invoice, in English, German, French, Dutch, Spanish and Italian.

Labels are compared in folded text (pipeline.reading.rows.fold). Where two labels meet, the longer one counts: "total
due" is not a "total". Labels of fields that nobody asks for stand here too (`OTHER`), because "order date" is no date
of issue and "tax number" no tax.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass


class Kind(enum.StrEnum):
    """What a label announces."""

    NUMBER = "invoice_number"
    TITLE = "title"  # "Invoice" alone: a number may follow
    ISSUED = "issue_date"
    DATE = "date"  # "Date" alone
    DUE = "due_date"
    SELLER = "seller_name"
    BUYER = "buyer_name"
    NET = "total_net"
    TAX = "total_tax"
    GROSS = "total_gross"
    PAYABLE = "amount_due"
    PREPAID = "prepaid"
    CURRENCY = "currency"
    ORDER = "purchase_order"
    DELIVERY = "delivery_date"
    PERIOD = "period"
    REFERENCE = "payment_reference"
    SHIP = "ship_to"
    OTHER = "other"


AMOUNTS = frozenset({Kind.NET, Kind.TAX, Kind.GROSS, Kind.PAYABLE, Kind.PREPAID})

_NO = r"(?:number|num\b|nummer|no\b|nr\b|n[°ºo]|numero|#)"
_ID = rf"(?:{_NO}|id|code|ref)"
_TITLE = (
    r"(?:tax invoice|invoice|\w{0,16}rechnung|facture(?: d'avoir)?|(?:credit)?factuur"
    r"|factura(?: (?:rectificativa|simplificada))?|honorarnote|fattura(?: (?:accompagnatoria|immediata|differita))?"
    r"|bill|credit (?:note|memo)|gutschrift|rechnungskorrektur|avoir|creditnota|nota d[ie] credito|abono)"
)
_GERMAN = r"(?:\w{0,16}rechnung(?: \w{2,14}){0,2}|gutschrift|rechnungskorrektur|honorarnote|liquidation)"
_ROMANCE = (
    r"(?:facture|factura(?: rectificativa)?|fattura|avoir|abono|ricevuta|documento|piece|note d'honoraires"
    r"|parcella|notula|nota d[ie] credito)"
)
_PAYABLE = r"(?:zahlbar|zahlen|zahlung|uberweis(?:en|ung)|payable|payment|begleichen)"
_PAY = r"(?:regler|paiement|abonen|abonar|betalen|pagamento|pagare|saldare|pago)"
_VAT = r"(?:vat|gst|hst|pst|sales tax|tax|mwst|ust|umsatzsteuer|mehrwertsteuer|tva|btw|iva|igic|qst|tps|tvq)"

_CODE = r"(?: ?\(?(?:eur|usd|gbp|chf|cad|aud)\)?)?"

# Of several words that begin alike the longest stands first.
_LABELS: dict[Kind, tuple[str, ...]] = {
    Kind.NUMBER: (
        rf"(?:tax |vat |sales |commercial |our )?(?:invoice|bill|receipt|(?:credit|debit) (?:note|memo))[ -]?{_NO}",
        r"our invoice|invoice id|inv(?:oice)?[. ]{1,2}(?:no|nr|#)|invoice ref(?:erence)?|document (?:number|no|nr|#)",
        rf"statement number|memo[ -]?{_NO}",
        r"(?:rechnungs?|beleg|gutschrifts?|storno|faktura|dokument(?:en)?)[ -]{0,3}(?:nummer|nr|no|id)\b",
        r"r(?:e|g|echn)[ .-]{1,2}nr",
        rf"{_GERMAN}(?: \([^()]{{1,40}}\)){{0,2}}[ -]{{1,3}}(?:nr|no|nummer|#|n[°º])",
        rf"(?:numero|num|n[°ºo]|n\.[°ºo]?|no)\.? ?(?:de |du |della |di )?(?:la |l'|d')?{_ROMANCE}",
        rf"{_ROMANCE} (?:n|nr|no|num|numero|n\.?[°ºo])\b|{_ROMANCE} n\.?[°º]",
        r"ref(?:erence|\.)? (?:de )?(?:la )?facture",
        r"(?:(?:credit)?factuur|(?:credit)?nota|declaratie)[ -]?(?:nummer|nr|no)\b",
        r"n[°º] documento",
    ),
    Kind.TITLE: (_TITLE,),
    Kind.ISSUED: (
        r"(?:tax )?invoice date(?:d)?|date of (?:issue|invoice|issuance)|issue date|issued(?: on)?|bill(?:ing)? date",
        r"date issued|created(?: on)?|invoiced(?: on)?|(?:credit note|document) date",
        r"(?:rechnungs?|ausstellungs|beleg|gutschrifts?|erstell)(?:-?/? ?(?:liefer|leistungs)-?)?[ -]?datum",
        r"rechnungs(?:datum)?-? ?(?:/|und|=) ?(?:liefer|leistungs)-?datum|datum der (?:rechnung|ausstellung)",
        r"(?:ausgestellt|erstellt) am|rechnung vom|date de (?:la )?(?:facture|facturation)",
        r"date d[e'] ?(?:emission|etablissement|l'avoir)|date (?:facture|avoir)|facture du",
        r"(?:emise?|etablie?|facturee?) le|(?:factuur|nota|credit)[ -]?datum|datum (?:factuur|creditnota)",
        r"documentdatum|fecha (?:de )?(?:la )?(?:emision|expedicion|facturacion)(?: (?:de )?(?:la )?factura)?",
        r"fecha (?:de )?(?:la )?factura|(?:emitida|expedida) el",
        r"data (?:di |della )?(?:fattura|emissione|documento|fatturazione|nota)|data doc\b|emessa il",
    ),
    Kind.DATE: (r"tax point(?: date)?|date|datum|fecha|data|dated",),
    Kind.DUE: (
        r"(?:payment |invoice )?due (?:date|on|by|before)|date due|payment (?:is )?due(?: date| on| by)?|due",
        r"(?:please )?pay(?:able|ment)? (?:by|before|until|deadline)|pay by date|to be paid (?:by|before)",
        r"fallig(?:keit(?:sdatum)?)?(?: am| bis| zum)?|zahlbar (?:bis|am|zum)(?: zum| spatestens)?|zahlungsziel",
        r"zu (?:be)?zahlen bis|zahlung bis(?: zum)?|zahlungs(?:frist|termin)|faelligkeit(?:sdatum)?|netto bis",
        r"(?:date d')?echeance(?: le)?|date limite(?: de (?:paiement|reglement))?(?: le)?|date de reglement",
        r"a (?:payer|regler) (?:avant|pour|au plus tard)(?: le)?|(?:payable|reglement) (?:avant le|le|au)",
        rf"{_PAYABLE}\b.{{0,40}}?\b(?:bis|by|before)(?: [a-z]{{2,10}}){{0,2}}",
        r"(?:zahlbar|zahlung|payable|payment)\b[^.()\d]{0,20}\d{0,2}[^.()\d]{0,20}\(",
        rf"{_PAY}\b.{{0,40}}?\b(?:avant(?: le)?|antes del?|voor|uiterlijk|entro(?: il)?)",
        r"verval(?:datum|dag)|(?:uiterste )?betaaldatum|te (?:betalen|voldoen) (?:voor|uiterlijk)|betalen voor",
        r"uiterlijk (?:op|voor)|bedrag voor|(?:fecha (?:de )?)?(?:vencimiento|vto)|fecha limite(?: de pago)?",
        r"(?:spatestens|uiterlijk|au plus tard)(?: am| bis| zum| op| le)?|vence(?: el)?|pagar antes del?",
        r"(?:data (?:di )?)?scadenza(?: pagamento| fattura)?|scade il",
        r"da pagare entro(?: il)?|\w{0,12}betrag\b.{0,40}?\b(?:wird|buchen wir|ziehen wir) am",
        r"prelevement (?:a partir )?(?:le|du)",
        r"preleve(?:e|es|s)? le",
        r"(?:will be|to be) (?:debited|collected|charged|taken)(?: on)?|incasso ?(?:datum|op)|addebito (?:il|in data)",
    ),
    Kind.SELLER: (
        r"verkauft von|vendu par|venduto da|vendido por|verkocht door|seller|vendor|supplier|sold by|from",
        r"service provider|issued by|payee|verkaufer|lieferant|rechnungssteller",
        r"rechnungsersteller|leistungserbringer|absender|vendeur|fournisseur|emetteur|prestataire|verkoper",
        r"leverancier|afzender|vendedor|proveedor|emisor|venditore|fornitore|cedente(?:/prestatore)?|emittente",
    ),
    Kind.BUYER: (
        r"bill(?:ed)?(?: |-)?to(?: address)?|invoice(?:d)? to|sold to",
        r"(?:customer|client)(?: (?:name|details|address))?|buyer|billing address|charge to|invoice address",
        r"guest name|service for|prepared for|billing details|invoice for|recipient|purchaser",
        r"rechnung(?:sempfanger| an)|kaufer",
        r"rechnungsadresse|rechnungsanschrift|auftraggeber|leistungsempfanger|empfanger",
        r"kunde(?:nanschrift|nadresse)?|factur(?:e|ee|er) a|adressee? a|adresse de facturation|client|acheteur",
        r"destinataire",
        r"nom du client|nom de l'abonne|factu(?:ur)?adres|factuur aan|gefactureerd aan|klant(?:naam)?|koper|afnemer",
        r"ontvanger|debiteur|debtor|facturar a|facturado a|(?:datos (?:del? )?)?cliente|titular(?: del contrato)?",
        r"comprador|destinatario",
        r"direccion de facturacion|fatturare a|intestatario|cessionario(?:/committente)?|acquirente",
        r"spett(?:abile|\.)?(?: ?le)?\.?|committente",
    ),
    Kind.NET: (
        rf"sub ?-?total(?: \(?(?:excl?|before|without|less)\S*(?: {_VAT}| discount)?)?{_CODE}",
        r"net (?:total|amount|value|price|sum|goods)|total net(?: amount| ht)?",
        r"(?:goods|merchandise|product|parts|labou?r|items?|services?) total|net",
        rf"total \(?(?:excl|ex|before|without|w/o)\S* ?{_VAT}?|taxable (?:amount|value)",
        rf"amount (?:before|excl\S*) {_VAT}|excl\S* {_VAT}|total charges|netto ?(?:bedrag|totaal)",
        r"netto(?:betrag|summe|wert|gesamt|rechnungsbetrag)?(?: gesamt)?|zwischentotal|zwischensumme(?: \(?netto\)?)?",
        r"(?:gesamt|summe|total|gesamtsumme|gesamtbetrag|rechnungsbetrag|betrag|warenwert)[ -]?\(?netto\)?",
        r"positionssumme|summe positionen|gesamtnetto|(?:sous-?|sous )total(?: ht)?",
        r"(?:montant )?total (?:net )?(?:hors taxes?|h\.?t\b\.?)|(?:total |montant |net )h\.?t\b\.?",
        rf"base (?:ht|hors taxe)|excl(?:usief|\.)? (?:btw|{_VAT})|sub ?totaal(?: excl\S*(?: btw)?)?",
        r"totaal \(?(?:excl\S*|exclusief|ex\.?) ?(?:btw)?|bedrag \(?excl\S* btw|grondslag|base imponible|sub ?total",
        r"total (?:sin|antes de) iva|importe neto|total neto|imponible|suma|(?:totale )?imponibile|totale netto",
        r"importo netto|netto|subtotale|totale merce|totale \(?(?:iva esclusa|senza iva)",
    ),
    Kind.TAX: (
        r"umsatzsteuer nr\.? ?7008(?: vv)?(?: rvg)?",
        r"(?:sales )?tax rate[ :]{0,2}\d[\d.,]{0,5} ?%|(?:totaal |bedrag )btw|btw[ -]?(?:bedrag|totaal)|b\.t\.w\.",
        rf"(?:total |plus |add |zzgl\.? |zuzuglich |\+ ?)?{_VAT}(?: (?:amount|total|due|payable|hoog|laag))?",
        r"estimated tax|total tax(?:es)?|taxes|[csi]\.?gst ?\d{0,2}",
        r"(?:gesetzliche )?(?:mwst|ust|umsatz-?steuer|mehrwert-?steuer)[ .-]{0,2}(?:betrag|gesamt|summe)?",
        r"steuer(?:betrag)?|(?:summe|gesamt) (?:mwst|ust|steuer)|vat amount",
        r"(?:montant |total )(?:de (?:la )?)?(?:tva|taxes?)|t\.v\.a\.?",
        r"(?:importe|cuota|total) (?:de )?(?:iva|i\.v\.a\.)|i\.v\.a\.?|impuestos?|cuota",
        r"(?:totale |importo |tot\. )(?:iva|imposta)|imposta",
    ),
    Kind.GROSS: (
        rf"total (?:\w+ )?\(?inc\S* (?:of )?{_VAT}|gross(?: (?:amount|total))?|invoice (?:amount|value)|amount total",
        r"total for this invoice|total payment|total cost|total charged|total invoice(?: amount)?",
        r"total (?:de la )?facture|t\.?t\.?c\b\.?|total general(?: t\.?t\.?c\b\.?)?",
        r"montant total(?: t\.?t\.?c\b\.?)?|(?:montant )?(?:total|net) (?:t\.?t\.?c\b\.?|toutes taxes comprises)",
        r"montant t\.?t\.?c\b\.?|total (?:factura|con iva|\(?iva incluido\)?)|importe total(?: factura)?",
        r"total importe",
        rf"(?:grand |invoice |order |bill |overall )?totals?(?: (?:amount|price|sum|value|gross))?{_CODE}",
        rf"(?:gesamt|end|rechnungs|brutto)(?:betrag|summe|preis)(?: (?:brutto|inkl\S*(?: {_VAT})?))?{_CODE}",
        rf"rechnungs(?:end)?(?:betrag|summe)|brutto(?:betrag|summe)?|gesamt(?: ?brutto)?{_CODE}|summe(?: brutto)?",
        r"insgesamt|total brutto|zu zahlender gesamtbetrag|(?:rechnungs|gesamt)total(?: chf)?|gutschrifts?betrag",
        r"(?:credit|refund) total",
        r"totaal ?(?:bedrag)?(?: \(?incl\S* ?(?:btw)?| inclusief btw)?|factuur ?(?:bedrag|totaal)|eindtotaal",
        r"bedrag \(?incl\S* btw|inclusief btw",
        r"totale(?: (?:fattura|documento|generale|complessivo|iva inclusa|ivato))?|importo totale",
        r"tot\. (?:fattura|documento)",
    ),
    Kind.PREPAID: (
        r"(?:less )?(?:retainer|credits?) (?:applied|paid)|(?:abzuglich |abzgl\.? )?(?:geleistete[rn]? )?abschlage",
        r"(?:less )?(?:deposits?|prepayments?|advance payments?|down payments?|payments?)(?: (?:paid|received|made))",
        r"(?:less )?(?:deposit|prepayment|prepaid|advance payment|down payment)s?|amount paid|total paid",
        r"already paid|(?:less )?paid(?: (?:to date|amount))?",
        r"(?:abzuglich |abzgl\.? |geleistete )?(?:an|voraus|abschlags?|teil|akonto)zahlung(?:en)?",
        r"(?:bereits |schon )?(?:gezahlt|bezahlt|erhalten)(?:er betrag)?|gezahlter betrag|geleistete zahlungen",
        r"acomptes?(?: (?:deja )?(?:vers|recu|pay|regl)\w{1,4})?|(?:montant )?deja (?:paye|regle|verse)e?",
        r"paiements? recus?|aanbetaling|(?:reeds |al )(?:betaald|voldaan)|vooruitbetaling|betaald|voorschot",
        r"anticipos?|(?:importe )?pagado|pago a cuenta|entrega a cuenta|a cuenta|acconto(?: versato)?",
        r"gia (?:pagato|versato)|pagato|importo pagato",
    ),
    Kind.PAYABLE: (
        r"(?:total )?(?:amount|balance|sum)(?: now)? (?:due|payable|owed|owing)|total due|balance(?: due)?",
        r"total (?:to pay|payable|outstanding|amount (?:due|payable))|(?:amount )?to pay|due payable",
        r"residual(?: amount)?|amount residual|(?:total )?payable(?: amount)?|balance (?:to pay|payable|owing)",
        r"outstanding(?: amount| balance)?|net payable|please pay|due amount|(?:total )?now due|new balance",
        r"(?:zu )?zahl(?:ender )?betrag|zu (?:be)?zahlen(?:der betrag)?|offener (?:rest|gesamt)?betrag|restbetrag",
        r"offen(?= {2})",
        r"noch zu zahlen|zahlungsbetrag|falliger betrag|uberweisungsbetrag|restforderung|restzahlung|nachzahlung",
        r"(?:net|somme|montant|reste|solde|total) (?:a (?:payer|regler)|restant)|(?:montant|solde|total|reste) du\b",
        r"solde",
        r"(?:totaal )?te (?:betalen|voldoen)(?: bedrag)?|openstaand(?: bedrag| saldo)?|nog te (?:betalen|voldoen)",
        r"(?:total|importe|neto|liquido) (?:a (?:pagar|abonar|percibir)|pendiente)|a pagar|total pendiente",
        r"pendiente(?: de pago)?|saldo(?: pendiente| dovuto)?",
        r"(?:netto|totale|importo|saldo) (?:a|da) (?:pagare|corrispondere)|(?:importo|saldo) dovuto|da pagare",
    ),
    Kind.CURRENCY: (r"currency|wahrung|devise|monnaie|valuta|moneda|divisa",),
    Kind.ORDER: (
        rf"(?:your |customer )?(?:purchase order|p\.?o\.?|order)\.?[ -]?{_ID}",
        rf"(?:your|customer) (?:purchase )?order(?: {_NO})?|purchase order|order reference|customer po|your po",
        r"p\.?o\.?(?=[ :#]|$)(?! ?box)|(?:ihre )?bestell(?:ung)?[ -]{0,2}(?:nummer|nr|no)|ihre bestellung",
        r"bestellung (?:nr|nummer)",
        r"(?:numero|n[°ºo]|ref\S*)\.? (?:de )?(?:votre )?commande|(?:votre |bon de )?commande (?:n[°ºo]|numero)",
        r"(?:votre |bon de )commande|(?:uw )?(?:order|bestel|inkooporder|inkoop)[ -]?(?:nummer|nr)",
        r"(?:numero|n\.?[°ºo])\.? (?:de )?pedido|(?:su )?pedido (?:n\.?[°ºo]|numero)|su pedido",
        r"(?:numero|n[°ºo]?)\.? (?:di )?ordine|(?:vostro )?ordine (?:n[°ºo]?|numero)|(?:vs\.?|vostro) ordine",
    ),
    Kind.DELIVERY: (
        r"(?:delivery|supply|service|shipping|dispatch|despatch)[ -]?date|date of (?:supply|delivery|service)",
        r"date shipped|shipped(?: on)?|delivered(?: on)?",
        r"(?:liefer|leistungs)-?(?:/|und | und | / )?-?(?:liefer|leistungs)?[ -]?datum",
        r"datum (?:der )?(?:lieferung|leistung)|date de (?:livraison|prestation)|livree? le|lever(?:ings)?datum",
        r"geleverd op|fecha (?:de )?(?:entrega|operacion|prestacion)|data (?:di )?consegna|consegnato il",
    ),
    Kind.PERIOD: (
        r"(?:billing|service|invoice|usage|subscription|supply) period|period(?: covered)?",
        r"(?:leistungs|abrechnungs|rechnungs|liefer|nutzungs)-?zeitraum|zeitraum|abrechnungsperiode",
        r"periode(?: d[e'] ?(?:facturation|prestation|abonnement|consommation))?|factu(?:ur|ratie)periode|periode",
        r"period[oi](?: d[ei] (?:facturacion|liquidacion|riferimento|fatturazione|competenza))?",
    ),
    Kind.REFERENCE: (
        r"(?:payment|remittance) ref(?:erence)?|verwendungszweck|zahlungsreferenz",
        r"reference (?:de )?(?:paiement|virement)|(?:gestructureerde )?mededeling|communication(?: structuree)?",
        r"betalingskenmerk|referencia de pago|causale",
    ),
    Kind.SHIP: (
        r"shipper|consignee|ship(?:ped)?(?: |-)?to|deliver(?:y)? (?:to|address)|shipping address|service address",
        r"liefer(?:adresse|anschrift)|warenempfanger|versandadresse|adresse de livraison|adresse de l'installation",
        r"livree? a|(?:aflever|lever)adres|direccion de (?:envio|entrega)|indirizzo di (?:consegna|spedizione)",
        r"destinazione(?: merce)?|(?:livraison|lieferung|levering|consegna) ?/ ?delivery",
    ),
    Kind.OTHER: (
        rf"(?:customer|client|account|delivery|contract|project)\.?[ -]?{_ID}",
        rf"(?:reference|ref|booking|billing|shipment|quote|job|phone|fax|tel|member|policy|sales order)\.?[ -]?{_ID}",
        rf"(?:registration|company|reg)\.?[ -]?{_ID}|(?:order|ship|start|end|print|payment|paid|from|to)[ -]?date",
        r"(?:booking|check[- ](?:in|out)|departure|arrival|expiry|valid|statement|contract)[ -]?date",
        r"date of (?:order|birth)|date (?:paid|ordered)|paid on",
        rf"{_VAT}[ -]{{0,2}}(?:reg(?:istration)?|id(?:ent)?|{_NO}|code|exempt)[a-z-]*(?:[ .-]{{0,2}}{_NO})?",
        rf"{_VAT}[ .-]{{0,2}}%|{_VAT} (?:rate|invoice|code|period|payer|to be)",
        r"tax (?:id|rate|%)|(?:not a )vat invoice|federal tax",
        r"(?:ust|mwst|steuer|umsatzsteuer)[ .-]{0,2}(?:id|ident|identifikations?)?[ .-]{0,2}(?:nr|nummer|satz)",
        r"(?:ust|umsatzsteuer)-?id|steuersatz|uid|tva intra\S*|n[°ºo]\.? (?:de )?tva|numero (?:de )?tva",
        r"taux(?: de)? tva",
        r"(?:tva|btw-?nummer|p\. ?iva|nif|vat (?:no|number)) (?:du )?(?:client|klant|cliente|customer)|nif(?:-iva)?",
        r"cif|n\.i\.f|btw[ -]?(?:nummer|nr|id|%|tarief|percentage)|p(?:\.|artita) ?iva|tipo (?:de )?iva|aliquota",
        r"(?:your|ihre|votre|uw|su|vostra|customer|client|kunden?) (?:vat|ust|tva|btw|p\. ?iva|nif|uid)\S*",
        r"(?:kunden|kd\.?|auftrags|liefer(?:schein)?|vertrags|projekt|vorgangs)[ -]?(?:nummer|nr|no)",
        r"(?:konto|steuer|artikel|telefon|bank)[ -]?(?:nummer|nr|no)",
        r"(?:bestell|auftrags|druck|versand|start|end|buchungs|zahlungs)[ -]?datum|datum (?:der )?bestellung",
        r"(?:numero|n[°ºo]|code|ref\S*) (?:de )?(?:client|compte|contrat|abonne|dossier|ligne|bon)",
        r"date de (?:commande|debut|fin|paiement|valeur|naissance)",
        r"(?:klant|debiteur(?:en)?|project|offerte|pakbon|kvk|rekening)[ -]?(?:nummer|nr)",
        r"(?:order|bestel|print|betaal)[ -]?datum|(?:numero|n\.?[°ºo]) (?:de )?(?:cliente|cuenta|albaran|contrato)",
        r"codigo (?:de )?cliente|fecha (?:de )?(?:pedido|pago|cargo)|codice (?:cliente|fiscale|destinatario)",
        r"n\. cliente|data (?:ordine|ddt|pagamento)|numero cliente",
        r"(?:previous|prior|opening|past|unpaid|starting) (?:unpaid )?balance|balance (?:forward|brought|b/f)",
        r"(?:bei )?zahlung (?:bis|innerhalb|binnen).{0,60}?skonto|if paid (?:by|before|within)(?: the)?",
        r"(?:discount|escompte|korting|sconto|descuento)\b.{0,40}?\b(?:by|avant|voor|entro|antes)(?: le| il| del?)?",
        r"net (?:\d+ )?days|skonto(?: bis)?(?: zum)?|\d{1,2} ?% skonto.{0,30}?bis(?: zum)?",
        r"(?:gesamt|summe )(?:stunden|menge)|(?:total|totaal|totale) (?:heures|articles|uren|horas|ore|descuentos?)",
        r"total (?:items|qty|quantity|hours|weight|discount|savings|credits?|payments?|pages)|discount total",
        r"customer (?:service|support|ref\S*|care|vat|tax)|client (?:ref\S*|vat)",
        r"kunden(?:service|betreuung)|service clients?|klantenservice|atencion al cliente|servizio clienti",
        r"net weight|net \d+|your contact|sales rep|(?:ihr|unser) zeichen|(?:sach)?bearbeiter|ansprechpartner",
        r"suivi par|contactpersoon|invoice (?:summary|details|total in words)|total (?:ex|in) words",
    ),
}


@dataclass(frozen=True, slots=True)
class Label:
    """A label in a text: what it announces and where it stands."""

    kind: Kind
    start: int
    end: int


# No label begins with a blank, of which rows are full: to look for that first makes the search three times as fast.
_BY_KIND = {
    kind: re.compile(rf"(?=\S)(?<![a-z0-9])(?:{'|'.join(patterns)})(?![a-z0-9])") for kind, patterns in _LABELS.items()
}


def find_labels(folded: str) -> list[Label]:
    """The labels in a folded row, in order; of two that overlap the one that starts first, then the longer, counts."""
    hits = [Label(kind, *match.span()) for kind, pattern in _BY_KIND.items() for match in pattern.finditer(folded)]
    hits.sort(key=lambda label: (label.start, -label.end))
    kept: list[Label] = []
    for label in hits:
        if not kept or label.start >= kept[-1].end:
            kept.append(label)
    return kept
