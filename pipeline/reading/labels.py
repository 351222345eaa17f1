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
    CURRENCY = "currency"
    OTHER = "other"


AMOUNTS = frozenset({Kind.NET, Kind.TAX, Kind.GROSS, Kind.PAYABLE})

_NO = r"(?:number|num\b|nummer|no\b|nr\b|n[°ºo]|numero|#)"
_ID = rf"(?:{_NO}|id|code|ref)"
_TITLE = (
    r"(?:invoice|\w{0,16}rechnung|facture|factuur|factura|fattura|credit note|gutschrift|avoir|creditnota|tax invoice)"
)
_VAT = r"(?:vat|gst|hst|pst|sales tax|tax|mwst|ust|umsatzsteuer|mehrwertsteuer|tva|btw|iva|igic)"

_LABELS: dict[Kind, tuple[str, ...]] = {
    Kind.NUMBER: (
        rf"(?:tax |vat |sales |commercial )?(?:invoice|bill|receipt|credit note)[ -]?{_NO}",
        r"invoice id|inv(?:oice)?[. ]{1,2}(?:no|nr|#)|invoice ref(?:erence)?|document (?:number|no)|statement number",
        r"(?:rechnungs?|beleg|gutschrifts?)[ -]{0,3}(?:nummer|nr|no|id)\b|re[ .-]{1,2}nr",
        r"(?:\w{0,16}rechnung(?: \w{2,12})?|gutschrift)(?: \([^()]{1,40}\)){0,2}[ -]{1,3}(?:nr|no|nummer|#)",
        r"(?:numero|n[°ºo]|no)\.? (?:de )?(?:la |d')?(?:facture|factura|fattura|avoir|documento)",
        r"(?:facture|factura|fattura|avoir|ricevuta|documento) (?:n|nr|no|num|numero|n[°ºo])\b|facture n[°º]",
        r"factura n[°º]|fattura n[°º]",
        r"(?:factuur|nota|creditnota)[ -]?(?:nummer|nr|no)\b|numero documento|n[°º] documento",
    ),
    Kind.TITLE: (_TITLE,),
    Kind.ISSUED: (
        r"(?:tax )?invoice date|date of (?:issue|invoice)|issue date|issued(?: on)?|bill(?:ing)? date|invoiced(?: on)?",
        r"date issued",
        r"(?:rechnungs?|ausstellungs|beleg)[ -]?datum|datum der (?:rechnung|ausstellung)|ausgestellt am|rechnung vom",
        r"date de (?:la )?(?:facture|facturation)|date d'(?:emission|etablissement)|date facture|facture du|emise? le",
        r"facturee? le",
        r"factuur[ -]?datum|datum factuur|documentdatum",
        r"fecha (?:de )?(?:la )?(?:factura|emision|expedicion|facturacion)",
        r"data (?:di |della )?(?:fattura|emissione|documento|fatturazione)|data doc\b",
    ),
    Kind.DATE: (r"date|datum|fecha|data|dated",),
    Kind.DUE: (
        r"(?:payment |invoice )?due (?:date|on|by|before)|date due|(?:payment )?due",
        r"pay(?:able|ment)? (?:by|before|until|deadline)|pay by date",
        r"fallig(?:keit(?:sdatum)?)?(?: am| bis| zum)?|zahlbar (?:bis|am|zum)(?: zum)?|zahlungsziel|zahlungsfrist",
        r"zu zahlen bis|faelligkeit",
        r"(?:date d')?echeance(?: le)?|date limite(?: de paiement)?(?: le)?|a (?:payer|regler) (?:avant|pour)(?: le)?",
        r"payable (?:le|avant le)",
        r"(?:zahlbar|uberweisen|payable|payment|begleichen)\b.{0,40}?\b(?:bis|by|before|until)(?: zum| am| the)?",
        r"verval(?:datum|dag)|(?:uiterste )?betaaldatum|te (?:betalen|voldoen) (?:voor|uiterlijk)|betalen voor",
        r"uiterlijk (?:op|voor)",
        r"(?:fecha (?:de )?)?vencimiento|vence(?: el)?|pagar antes del?",
        r"(?:data (?:di )?)?scadenza|scade il|da pagare entro(?: il)?|scadenza pagamento",
    ),
    Kind.SELLER: (
        r"seller|vendor|supplier|sold by|from|service provider|issued by|payee",
        r"verkaufer|lieferant|rechnungssteller|rechnungsersteller|leistungserbringer|absender|vendeur|fournisseur",
        r"emetteur|prestataire",
        r"verkoper|leverancier|afzender|vendedor|proveedor|emisor|venditore|fornitore|cedente(?:/prestatore)?|emittente",
    ),
    Kind.BUYER: (
        r"bill(?:ed)?(?: |-)?to(?: address)?|invoice(?:d)? to|sold to|customer(?: name)?|client(?: name)?|buyer",
        r"billing address|charge to|invoice address",
        r"guest name|billing details|invoice for|recipient|customer details|purchaser",
        r"rechnung(?:sempfanger| an)|kaufer|rechnungsadresse|rechnungsanschrift|auftraggeber|leistungsempfanger|kunde",
        r"empfanger",
        r"facturee? a|adresse de facturation|client|acheteur|destinataire|nom du client|nom de l'abonne",
        r"factu(?:ur)?adres|factuur aan|gefactureerd aan|klant(?:naam)?|koper|afnemer|ontvanger|debiteur",
        r"facturar a|facturado a|cliente|comprador|datos del cliente|destinatario|direccion de facturacion",
        r"fatturare a|intestatario|cessionario(?:/committente)?|acquirente|spett(?:\.|abile)(?: le)?|committente",
    ),
    Kind.NET: (
        rf"sub ?-?total(?: (?:excl|before|without|less)\S*(?: {_VAT}| discount)?)?",
        r"net (?:total|amount|value|price|sum)|total net(?: amount)?|net",
        rf"total (?:excl|ex|before|without|w/o)\S* ?{_VAT}?|taxable (?:amount|value)|amount (?:before|excl\S*) {_VAT}",
        rf"excl\S* {_VAT}|total charges",
        r"netto(?:betrag|summe|wert|gesamt|rechnungsbetrag)?(?: gesamt)?|zwischensumme(?: netto)?",
        r"(?:gesamt|summe|total|gesamtsumme|gesamtbetrag|rechnungsbetrag|betrag|warenwert)[ -]?\(?netto\)?",
        r"positionssumme|summe positionen|gesamtnetto",
        r"(?:sous-?|sous )total(?: ht)?|(?:montant )?total (?:net )?(?:hors taxes?|h\.?t\b\.?)",
        r"(?:total |montant |net )h\.?t\b\.?|base (?:ht|hors taxe)",
        rf"excl(?:usief|\.)? (?:btw|{_VAT})|sub ?totaal|totaal (?:excl\S*|exclusief|ex\.?) ?(?:btw)?",
        r"netto(?:bedrag| totaal)|bedrag excl\S* btw|grondslag",
        r"base imponible|sub ?total|total sin iva|importe neto|total neto|imponible|suma",
        r"(?:totale )?imponibile|totale netto|importo netto|netto|subtotale|totale merce",
        r"totale (?:iva esclusa|senza iva)",
    ),
    Kind.TAX: (
        rf"(?:total |plus |add |zzgl\.? |zuzuglich |\+ ?)?{_VAT}(?: (?:amount|total|due|payable))?|estimated tax",
        r"total tax(?:es)?|taxes|c\.?gst|s\.?gst|i\.?gst",
        r"(?:gesetzliche )?(?:mwst|ust|umsatz-?steuer|mehrwert-?steuer)[ .-]{0,2}(?:betrag|gesamt|summe)?",
        r"steuer(?:betrag)?|(?:summe|gesamt) (?:mwst|ust|steuer)|vat amount",
        r"(?:montant |total )(?:de (?:la )?)?(?:tva|taxes?)|t\.v\.a\.?|taxes",
        r"(?:totaal |bedrag )btw|btw[ -]?(?:bedrag|totaal)|b\.t\.w\.",
        r"(?:importe|cuota|total) (?:de )?(?:iva|i\.v\.a\.)|i\.v\.a\.?|impuestos?",
        r"(?:totale |importo |tot\. )(?:iva|imposta)|imposta",
    ),
    Kind.GROSS: (
        r"(?:grand |invoice |order |bill |overall )?totals?(?: (?:amount|price|sum|value|gross))?",
        rf"total (?:\w+ )?\(?incl\S* (?:of )?{_VAT}",
        r"gross(?: (?:amount|total))?|invoice amount|amount total|total for this invoice|total invoice(?: amount)?",
        r"total payment|total cost|total charged",
        r"(?:gesamt|end|rechnungs|brutto)(?:betrag|summe|preis)(?: (?:brutto|inkl\S*))?",
        r"rechnungs(?:end)?(?:betrag|summe)|brutto(?:betrag|summe)?|gesamt(?: ?brutto)?|summe(?: brutto)?|insgesamt",
        r"total brutto|zu zahlender gesamtbetrag",
        r"(?:montant )?(?:total|net) (?:t\.?t\.?c\b\.?|toutes taxes comprises)|montant t\.?t\.?c\b\.?",
        r"total (?:de la )?facture|t\.?t\.?c\b\.?|total general|montant total",
        r"totaal(?:bedrag)?(?: \(?incl\S* ?(?:btw)?| inclusief btw)?|factuur(?:bedrag|totaal)|eindtotaal",
        r"bedrag incl\S* btw|inclusief btw",
        r"total (?:factura|general|con iva|iva incluido)|importe total(?: factura)?|total importe",
        r"totale(?: (?:fattura|documento|generale|complessivo|iva inclusa|ivato))?|importo totale",
        r"tot\. (?:fattura|documento)",
    ),
    Kind.PAYABLE: (
        r"(?:total )?(?:amount|balance|sum)(?: now)? (?:due|payable|owed|owing)|total due|balance(?: due)?",
        r"total (?:to pay|payable|outstanding|amount (?:due|payable))|(?:amount )?to pay",
        r"due payable|residual(?: amount)?|amount residual|(?:total )?payable(?: amount)?",
        r"balance (?:to pay|payable|owing)",
        r"outstanding(?: amount| balance)?|net payable|please pay|due amount|total now due|new balance",
        r"(?:zu )?zahl(?:ender )?betrag|zu (?:be)?zahlen(?:der betrag)?|offener (?:rest)?betrag|restbetrag",
        r"noch zu zahlen|zahlungsbetrag|falliger betrag|uberweisungsbetrag",
        r"(?:net|somme|montant|reste|solde|total) a (?:payer|regler)|(?:montant|solde|total) du\b|reste a payer",
        r"(?:totaal )?te (?:betalen|voldoen)(?: bedrag)?|openstaand(?: bedrag| saldo)?|nog te betalen",
        r"(?:total|importe|neto|liquido) a (?:pagar|abonar)|a pagar|saldo(?: pendiente)?|total pendiente",
        r"(?:netto|totale|importo|saldo) (?:a|da) (?:pagare|corrispondere)|importo dovuto|saldo dovuto",
    ),
    Kind.CURRENCY: (r"currency|wahrung|devise|monnaie|valuta|moneda|divisa",),
    Kind.OTHER: (
        rf"(?:order|customer|client|account|purchase order|p\.?o\.?|delivery|contract|project)\.?[ -]?{_ID}",
        rf"(?:reference|ref|booking|billing|shipment|quote|job|phone|fax|tel|member|policy)\.?[ -]?{_ID}",
        rf"(?:registration|company|reg)\.?[ -]?{_ID}",
        r"(?:order|delivery|ship(?:ping|ped)?|start|end|service|supply|print|payment|paid|period|from|to)[ -]?date",
        r"(?:booking|check[- ](?:in|out)|departure|arrival|expiry|valid|tax point|statement|contract)[ -]?date",
        r"date of (?:supply|delivery|order|birth|service)|date (?:paid|shipped|ordered)|paid on",
        rf"{_VAT}[ -]{{0,2}}(?:reg(?:istration)?|id(?:ent)?|{_NO}|code|exempt)[a-z-]*(?:[ .-]{{0,2}}{_NO})?",
        rf"{_VAT} (?:rate|invoice|point|code|period|payer|to be)|tax (?:id|rate|%)|(?:not a )vat invoice|federal tax",
        r"(?:ust|mwst|steuer|umsatzsteuer)[ .-]{0,2}(?:id|ident|identifikations?)?[ .-]{0,2}(?:nr|nummer|satz)",
        r"ust-?id|steuersatz|uid|tva intra\S*|n[°ºo]\.? (?:de )?tva|numero (?:de )?tva|taux(?: de)? tva",
        r"btw[ -]?(?:nummer|nr|id|%|tarief|percentage)|p(?:\.|artita) ?iva|tipo (?:de )?iva|aliquota",
        r"(?:kunden|auftrags|bestell|liefer(?:schein)?|vertrags|projekt|vorgangs)[ -]?(?:nummer|nr|no)",
        r"(?:konto|steuer|artikel|telefon|bank)[ -]?(?:nummer|nr|no)",
        r"(?:bestell|liefer|leistungs|auftrags|druck|versand|start|end|buchungs|zahlungs)[ -]?datum",
        r"datum (?:der )?(?:lieferung|leistung|bestellung)",
        r"(?:numero|n[°ºo]|code|ref\S*) (?:de )?(?:client|commande|compte|contrat|abonne|dossier|ligne|bon)",
        r"date de (?:livraison|commande|debut|fin|paiement|prestation|valeur|naissance)",
        r"(?:klant|order|bestel|debiteur|project|offerte|pakbon|kvk|rekening)[ -]?(?:nummer|nr)",
        r"(?:order|lever|bestel|print|betaal)[ -]?datum",
        r"(?:numero|n[°ºo]) (?:de )?(?:cliente|pedido|cuenta|albaran|contrato)",
        r"fecha (?:de )?(?:pedido|entrega|operacion|pago|cargo)|codice (?:cliente|fiscale|destinatario)",
        r"data (?:ordine|consegna|ddt|pagamento)|numero (?:ordine|cliente)",
        r"(?:previous|prior|opening|past|unpaid|starting) (?:unpaid )?balance|balance (?:forward|brought|b/f)",
        r"amount paid|total paid|payment(?:s)? received|net (?:\d+ )?days",
        r"total (?:items|qty|quantity|hours|weight|discount|savings|credits?|payments?|pages)|discount total",
        r"ship(?:ped)?(?: |-)?to|deliver(?:y)? (?:to|address)|shipping address|service address|lieferadresse",
        r"lieferanschrift|warenempfanger",
        r"adresse de livraison|adresse de l'installation|afleveradres|direccion de (?:envio|entrega)",
        r"indirizzo di (?:consegna|spedizione)|destinazione",
        r"customer (?:service|support|ref\S*|care|vat|tax)|client (?:ref\S*|vat)|kunden(?:service|betreuung)",
        r"service clients?|klantenservice|atencion al cliente|servizio clienti|net weight|net \d+",
        r"invoice (?:period|summary|details|total in words)|billing period|rechnungszeitraum|total (?:ex|in) words",
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
