"""How much a document looks like an invoice, or like a contract, from 0 to 1, by what its first pages say.

Words alone do not tell: an order, a quotation and an account statement have prices, taxes and totals too, and the news
of a contract has parties and terms. So an invoice must be headed as one, be numbered as one, ask for money or come from
a till; a contract must have words that only contracts have. What lacks that stays below every fallback.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator

from pipeline.documents.text import Document
from pipeline.reading.rows import fold

PAGES = 4
CHARACTERS = 15_000
HEAD_LINES = 30
_WIDE = re.compile(r" {3,}")
_CELLS = re.compile(r"\s{2,}|\t|\|")
_CURRENCY = (
    r"(?:rs\.?|rm|kr|zł|kč|ft|eur|usd|gbp|chf|cad|aud|nzd|inr|jpy|cny|sek|nok|dkk|pln|czk|huf|ron|brl|mxn|zar|sgd|hkd"
    r"|try)"
)
_MONEY = re.compile(
    r"(?<![\d.,])\d{1,3}(?:[ .,'’]?\d{3}){0,3}[.,]\d\d(?![\d.,]|[.,]?\d)"
    rf"|(?:[$€£¥₹]|\b{_CURRENCY}) ?\d|\d ?(?:€|{_CURRENCY}\b)"
)
_FEW_WORDS = 8
_TITLE = 80  # characters
_SENTENCE_WIDTH = 70

_INVOICE = (
    r"(?:invoice|receipt(?! (?:of|and)\b)|(?:credit|debit) (?:note|memo)|honorarnote|liquidation|quittung|kassenbon"
    r"|facture|avoir|recu|factuur|creditnota|kassabon|factura|recibo|nota d[ei] credito|fattura|ricevuta|parcella"
    r"|scontrino|faktura|paragon|rachunek|fatura|\w{0,24}rechnung|\w{0,24}gutschrift|guest folio"
    r"|bill(?! (?:to|of)\b))"
)
_INVOICE_TITLE = re.compile(rf"(?:\W|\d\.)*(?:[a-z&'.-]{{1,16}} ){{0,3}}{_INVOICE}\b")
_OTHER_TITLE = re.compile(
    r"\W*(?:[a-z&'-]{1,16} ){0,2}(?:quot(?:e|ation)|estimate|offer|angebot|kostenvoranschlag|devis|offerte|presupuesto"
    r"|oferta|preventivo|(?:purchase|sales) order|order confirmation|bestellung|auftragsbestatigung"
    r"|(?:bon|confirmation) de commande|bestelbon|orderbevestiging|pedido|ordine|delivery note|packing (?:slip|list)"
    r"|lieferschein|bon de livraison|pakbon|albaran|documento di trasporto|pay ?slip|bulletin de paie|loonstrook|nomina"
    r"|(?:lohn|gehalts|entgelt)\w*abrechnung|busta paga|(?:bank|account) statement|statement of account|kontoauszug"
    r"|releve de compte|rekeningafschrift|extracto|estratto conto|price ?list|preisliste|(?:expenses?|annual) report"
    r"|reisekostenabrechnung|budget|minutes|curriculum vitae|(?:remittance|payment) advice|zahlungsavis"
    r"|avis de paiement|bescheid|(?:check|cheque) register)\b"
)
_REMINDER = re.compile(r"\W*(?:[a-z0-9.]{1,16} ){0,2}(?:mahnung|zahlungserinnerung|(?:payment )?reminder|aanmaning)\b")
_HEADER = re.compile(r"(?:from|to|cc|date|subject|betreff|von|an|datum|objet|asunto|oggetto|onderwerp): ")  # of a mail
_STARTS = r"(?:^|\n|\t|  )\W{0,20}"  # a row or a cell
_NUMBER = (
    r"(?:(?:invoice|inv|bill|receipt|rechnungs?|gutschrifts?|beleg|facture|factuur|factura|fattura|faktura)[ .:/-]{0,3}"
    r"(?:no\b|nr\b|num\b|number|nummer|n[°ºo]|numero|id\b|#|date|datum|dated)"
    r"|(?:date|numero|data|fecha|n[°º]|datum) (?:de |d'|della |van )?(?:la )?(?:facture|factura|fattura|factuur)\b)"
)
_NUMBERED = re.compile(rf"{_STARTS}(?:[a-z]{{1,12}} )?{_NUMBER}|\b{_NUMBER}[ .]{{0,3}}[:#]")  # not in a sentence
_ASKED = re.compile(
    rf"{_STARTS}(?:(?:amount|balance|total|payment) due|due date|payable (?:by|within|on)|please pay"
    r"|(?:amount|total) (?:payable|to pay)|remit to|zahlbar (?:bis|innerhalb|auf|ohne|sofort)|fallig (?:am|bis|zum)"
    r"|rechnungsbetrag|bitte (?:uberweisen|zahlen|begleichen)|zahlungsziel|zu zahlen|zahlbetrag|net a payer|a regler"
    r"|echeance|te betalen|vervaldatum|importe a pagar|total a pagar|vencimiento|da pagare|scadenza|termin platnosci"
    r"|do zaplaty)\b"
    r"[^.;!?\n]{0,60}\n?[^.;!?\n\d]{0,60}\d"
)
_TAX = re.compile(r"\b(?:vat|mwst|ust|umsatzsteuer|tva|btw|iva|gst|sales tax|tax)\b")
_TOTAL = re.compile(
    r"\b(?:total|totaal|totale|gesamt\w{0,8}|summe|sub-?total|endbetrag|rechnungsbetrag|importe|razem)\b"
)
_TABLE = re.compile(
    r"\b(?:qty|quantity|unit price|menge|einzelpreis|quantite|prix unitaire|aantal|cantidad|quantita|prezzo|precio"
    r"|ilosc)\b"
)
_CUSTOMER = re.compile(r"\b(?:bill(?:ed)? to|sold to|customer|kunden\w{0,8}|client|klant|cliente|iban)\b")
_TOTALLED = re.compile(rf"{_TOTAL.pattern}[^\n]{{0,60}}\n?[^\n\d]{{0,20}}\d")
_TILL_PAYS = 4  # of the kinds below are words of paying
_TILL = tuple(
    re.compile(rf"\b(?:{words})\b")
    for words in (
        "cash|tender(?:ed)?|paid|bar|especes|efectivo|contanti|contant",
        "visa|mastercard|amex|girocard|ec-?karte|credit card|carte bancaire|tarjeta|pinpas",
        "cashier|kasse|terminal|till|pos|caissier|cajero|cassa|kassa|served by|operator",
        "gst|tax invoice|rounding|inclusive|incl",
        "change|ruckgeld|wechselgeld|rendu|cambio|resto|wisselgeld",
        "thank you|thanks|come again|vielen dank|merci|gracias|grazie|bedankt",
    )
)

_CONTRACT_TITLE = re.compile(
    r"\b(?:(?:agreement|memorandum of understanding|terms and conditions|undertaking|\w*vertrag|\w*vereinbarung"
    r"|\w*overeenkomst|acuerdo|accordo)\b|(?:contract|lease|license|licence|deed|contrat|convention|bail|contrato"
    r"|contratto)(?=$|[^\w ]| (?:no|nr|number|n[°ºo]|for|with|between|dated|entre|de|di|commercial)\b))"
)
_SENTENCE = re.compile(
    r"\b(?:an?|the|th(?:is|at|ese)|is|was|are|were|be|we|you|they|it|have|has|had|under|its|their|your|our|which|if|when"
    r"|der|die|das|den|dem|eine?[mnr]?|im|les?|la|une?|el|los|il|lo|una|het|een)\b|\b(?:of|to) $"
)
_CHANGED = re.compile(r"\W*(?:[a-z]{1,12} ){0,2}(?:amendment|addendum|nachtrag|avenant|addenda|atto aggiuntivo)\b")
_ONLY_CONTRACTS = re.compile(
    r"\b(?:hereby|hereto|herein|hereof|hereunder|hereinafter|whereas|witnesseth|in witness whereof|now,? therefore"
    r"|by and between|is made (?:and entered into|as of|on|by)|governed by (?:and construed|the laws?)|either party"
    r"|(?:both|the) parties (?:hereto|agree|have agreed|have executed)|agrees? (?:as follows|to extend)"
    r"|vertragspart\w+|(?:wird|schliessen|vereinbaren) (?:folgende[rs]?|nachstehende[rs]?)|gerichtsstand"
    r"|salvatorisch\w*|im folgenden|nachfolgend|kundigungsfrist|mietverhaltnis|arbeitsverhaltnis|mietsache|mietzeit"
    r"|praambel|entre les soussignes?|ci-apres|il a ete convenu|bailleur|preneur|preavis|resiliation"
    r"|de ondergetekenden?|hierna te noemen|komen overeen|partijen|opzegging"
    r"|reunidos|exponen|de una parte|las partes|clausulas|le parti|premesso che|si conviene|di seguito|recesso)\b"
    r"|\((?:the |each,? an? |as )?[\"“”„][^\"“”()]{2,40}[\"“”]\)|\n *§ ?\d"
)
_LEGAL = re.compile(
    r"\b(?:agreement|party|parties|governing law|term and termination|confidential information|indemnif\w+|obligations"
    r"|executed|effective date|shall|vertrag\w{0,12}|vereinbarung|kundigung\w{0,6}|laufzeit|contrat|les parties"
    r"|prestataire|overeenkomst|opdrachtgever|contrato|clausula\w?|contratto|laws of|signed)\b"
)


class _Heading(enum.Enum):
    CONTRACT = enum.auto()
    INVOICE = enum.auto()
    REMINDER = enum.auto()
    OTHER = enum.auto()


_HEADINGS = {_Heading.REMINDER: _REMINDER, _Heading.INVOICE: _INVOICE_TITLE, _Heading.OTHER: _OTHER_TITLE}


def invoice_likeness(document: Document) -> float:
    """Headed or numbered as one, asking for money or from a till; and then taxes, totals, a table of items."""
    text = _beginning(document)
    if not _MONEY.search(text):
        return 0.0
    heading = _heading(document)
    headed, numbered, asked, till = (
        heading is _Heading.INVOICE,
        _is_in(_NUMBERED, text),
        _is_in(_ASKED, text),
        _till(text),
    )
    besides = sum(_is_in(each, text) for each in (_TOTAL, _TAX, _TABLE, _CUSTOMER))
    score = min(1.0, 0.3 * headed + 0.2 * numbered + 0.15 * asked + 0.1 * besides + 0.1 * till)
    other = heading is _Heading.REMINDER or (heading is _Heading.OTHER and not numbered)
    return score if not other and (headed or numbered or asked or till) else 0.09 * score


def contract_likeness(document: Document) -> float:
    """Words that only contracts have, besides the title of one and words that contracts have often."""
    text = _beginning(document)
    invoiced = _heading(document) is _Heading.INVOICE
    titled = not invoiced and any(_names_a_contract(title) for title in _titles(document))
    only = len({match[0].strip() for match in _ONLY_CONTRACTS.finditer(text)})
    often = len({match[0] for match in _LEGAL.finditer(text)})
    if not titled and (only < 2 or not often):
        return min(0.09, 0.03 * often)
    score = min(1.0, 0.12 * only + 0.2 * titled + min(0.3, 0.05 * often))
    return 0.4 * score if invoiced else score  # the terms on the back of an invoice


def _is_in(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.search(text) is not None


def _till(text: str) -> int:
    """How many kinds of words a till prints under its total, 0 for a single one."""
    found = [_is_in(each, text) for each in _TILL]
    return sum(found) if any(found[:_TILL_PAYS]) and sum(found) > 1 and _is_in(_TOTALLED, text) else 0


def _beginning(document: Document) -> str:
    text = "\n".join(page.layout or page.text for page in document.pages[:PAGES])[: 4 * CHARACTERS]
    return fold(_WIDE.sub("  ", text)[:CHARACTERS])


def _heads(document: Document) -> Iterator[str]:
    """The cells of the first rows, folded; not the rest of a sentence that began in the row before."""
    first = next((page.layout or page.text for page in document.pages if page.text.strip()), "")
    lines = [line.strip() for line in fold(first[:CHARACTERS]).split("\n") if line.strip()]
    for above, line in zip(["", *lines], lines[:HEAD_LINES], strict=False):
        if len(above) < _SENTENCE_WIDTH or len(_CELLS.split(above)) > 1 or above[-1] in ".:;!?":
            yield from _CELLS.split(line[:300])


def _titles(document: Document) -> Iterator[str]:
    """The headings, and what the text begins with when it has none."""
    for number, cell in enumerate(_heads(document)):
        if _HEADER.match(cell):
            continue
        if number < 2 or (len(cell) <= _TITLE and not cell.endswith((",", ";"))):
            yield cell[:_TITLE]


def _names_a_contract(title: str) -> bool:
    found = _CONTRACT_TITLE.search(title)
    return _CHANGED.match(title) is not None or (found is not None and not _SENTENCE.search(title[: found.start()]))


def _heading(document: Document) -> _Heading | None:
    """What the first heading that tells is of."""
    for cell in _heads(document):
        if cell.count(" ") < _FEW_WORDS:
            found = next((heading for heading, pattern in _HEADINGS.items() if pattern.match(cell)), None)
            if found or _names_a_contract(cell):
                return found or _Heading.CONTRACT
    return None
