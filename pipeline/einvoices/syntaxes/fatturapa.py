"""Italy's FatturaPA, ordinary and simplified: one header of parties, then one body an invoice.

It has no totals of net and tax: they are the sums of its summary by rate. Its codes of nature stand where the norm has
a reason of exemption.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from pipeline.einvoices.elements import Group
from pipeline.einvoices.model import (
    Account,
    Address,
    AllowanceCharge,
    Identifier,
    Invoice,
    Item,
    Line,
    Note,
    Party,
    PaymentMeans,
    Period,
    Preceding,
    Profile,
    References,
    Supporting,
    TaxRow,
    Totals,
)
from pipeline.einvoices.reading import Syntax

_ROOTS = ("FatturaElettronica", "FatturaElettronicaSemplificata")
_BODY = "FatturaElettronicaBody"
_HEADER = "FatturaElettronicaHeader"
_GENERAL = "DatiGenerali/DatiGeneraliDocumento"
_PAYMENT = "DatiPagamento/DettaglioPagamento"
_SELLER = ("BT-27", "BT-31", "BT-32", "BT-40")
_BUYER = ("BT-44", "BT-48", "BT-46", "BT-55")


def recognises(root: Group) -> bool:
    """By the name alone: its namespace changes with each version and is often wrong."""
    return root.name in _ROOTS and root.has(_BODY)


def read(root: Group) -> list[Invoice]:
    """One invoice a body."""
    version = root.attribute(".", "versione") or root.text("BT-24", f"{_HEADER}/DatiTrasmissione/FormatoTrasmissione")
    seller = _party(root.find(f"{_HEADER}/CedentePrestatore"), _SELLER)
    buyer = _party(root.find(f"{_HEADER}/CessionarioCommittente"), _BUYER)
    invoices = []
    for body in root.all(_BODY, noted=True):
        body.log = root.log.copy()
        invoices.append(_invoice(body, version, seller, buyer))
    return invoices


def _invoice(body: Group, version: str | None, seller: Party, buyer: Party) -> Invoice:
    taxes = tuple(_tax_row(each) for each in body.all("DatiBeniServizi/DatiRiepilogo"))
    return Invoice(
        "fatturapa",
        Profile.FATTURAPA,
        version,
        None,
        body.text("BT-1", f"{_GENERAL}/Numero"),
        body.date("BT-2", f"{_GENERAL}/Data"),
        body.text("BT-3", f"{_GENERAL}/TipoDocumento"),
        body.text("BT-5", f"{_GENERAL}/Divisa"),
        due_date=body.date("BT-9", f"{_PAYMENT}/DataScadenzaPagamento"),
        payment_terms=body.text("BT-20", "DatiPagamento/CondizioniPagamento"),
        references=_references(body),
        notes=tuple(Note(text) for each in body.all(f"{_GENERAL}/Causale") if (text := each.text("", "."))),
        preceding=tuple(
            Preceding(each.text("", "IdDocumento"), each.date("", "Data"))
            for each in body.all("DatiGenerali/DatiFattureCollegate")
        ),
        seller=seller,
        buyer=buyer,
        payments=tuple(_payment(each) for each in body.all(_PAYMENT, noted=True)),
        allowances=tuple(_allowance(each) for each in body.all(f"{_GENERAL}/ScontoMaggiorazione")),
        totals=_totals(body, taxes),
        tax_totals=1 if taxes else 0,
        taxes=taxes,
        supporting=tuple(
            Supporting(description=each.text("", "DescrizioneAttachment"), filename=each.text("", "NomeAttachment"))
            for each in body.all("Allegati")
        ),
        lines=tuple(_line(each) for each in body.all("DatiBeniServizi/DettaglioLinee")) or _simple(body),
        unread=tuple(body.log.unread),
        places=body.log.places,
    )


def _references(body: Group) -> References:
    return References(
        project=body.text("BT-11", "DatiGenerali/DatiOrdineAcquisto/CodiceCUP"),
        contract=body.text("BT-12", "DatiGenerali/DatiContratto/IdDocumento"),
        purchase_order=body.text("BT-13", "DatiGenerali/DatiOrdineAcquisto/IdDocumento"),
        receiving=body.text("BT-15", "DatiGenerali/DatiRicezione/IdDocumento"),
        despatch=body.text("BT-16", "DatiGenerali/DatiDDT/NumeroDDT"),
    )


def _party(group: Group | None, terms: tuple[str, ...]) -> Party:
    """A company's name, or first name and name of a person; the simplified form has no level between."""
    if group is None:
        return Party()
    name, vat, tax, country = terms
    data = group.find("DatiAnagrafici") or group.find("IdentificativiFiscali") or group
    names = data.find("Anagrafica") or group
    person = " ".join(filter(None, (names.text(name, "Nome"), names.text(name, "Cognome"))))
    legal = group.text("", "IscrizioneREA/NumeroREA")
    return Party(
        names.text(name, "Denominazione") or person or None,
        legal_id=Identifier(legal, "REA") if legal else None,
        vat_id=_vat_id(data, vat),
        tax_id=data.text(tax, "CodiceFiscale"),
        phone=group.text("", "Contatti/Telefono"),
        email=group.text("", "Contatti/Email"),
        address=_address(group.find("Sede"), country),
    )


def _vat_id(data: Group, term: str) -> str | None:
    country, code = data.text("", "IdFiscaleIVA/IdPaese"), data.text(term, "IdFiscaleIVA/IdCodice")
    if not code:
        return None
    return code if country and code.upper().startswith(country.upper()) else f"{country or ''}{code}"


def _address(group: Group | None, country: str) -> Address | None:
    if group is None:
        return None
    line = " ".join(filter(None, (group.text("", "Indirizzo"), group.text("", "NumeroCivico"))))
    return Address(
        (line,) if line else (),
        group.text("", "Comune"),
        group.text("", "CAP"),
        group.text("", "Provincia"),
        group.text(country, "Nazione"),
    )


def _payment(group: Group) -> PaymentMeans:
    iban, bic = group.text("BT-84", "IBAN"), group.text("BT-86", "BIC")
    holder = group.text("BT-85", "Beneficiario")
    return PaymentMeans(
        group.text("BT-81", "ModalitaPagamento"),
        remittance=group.text("BT-83", "CodicePagamento"),
        accounts=(Account(iban, holder, bic),) if iban or bic else (),
    )


def _allowance(group: Group) -> AllowanceCharge:
    return AllowanceCharge(
        group.text("", "Tipo") == "MG",
        group.amount("BT-92", "Importo"),
        percent=group.amount("BT-94", "Percentuale"),
    )


def _totals(body: Group, taxes: Sequence[TaxRow]) -> Totals:
    due = [each.amount("BT-115", "ImportoPagamento") for each in body.all(_PAYMENT, noted=True)]
    gross = body.amount("BT-112", f"{_GENERAL}/ImportoTotaleDocumento")
    return Totals(
        net=_sum(row.base for row in taxes),
        tax=_sum(row.tax for row in taxes),
        gross=gross if gross is not None else body.amount("BT-112", "DatiBeniServizi/Importo"),
        rounding=body.amount("BT-114", f"{_GENERAL}/Arrotondamento"),
        due=_sum(due),
    )


def _sum(values: Iterable[Decimal | None]) -> Decimal | None:
    """The sum, None when there are no values or one of them is not known."""
    known = list(values)
    return sum((each for each in known if each is not None), Decimal()) if known and None not in known else None


def _tax_row(group: Group) -> TaxRow:
    return TaxRow(
        group.amount("BT-116", "ImponibileImporto"),
        group.amount("BT-117", "Imposta"),
        None,
        group.amount("BT-119", "AliquotaIVA"),
        group.text("BT-120", "RiferimentoNormativo"),
        group.text("BT-121", "Natura"),
        group.place,
    )


def _line(group: Group) -> Line:
    start, end = group.date("BT-134", "DataInizioPeriodo"), group.date("BT-135", "DataFinePeriodo")
    return Line(
        number=group.text("BT-126", "NumeroLinea"),
        quantity=group.amount("BT-129", "Quantita"),
        unit=group.text("BT-130", "UnitaMisura"),
        net=group.amount("BT-131", "PrezzoTotale"),
        accounting=group.text("BT-133", "RiferimentoAmministrazione"),
        period=Period(start, end) if start or end else None,
        allowances=tuple(_allowance(each) for each in group.all("ScontoMaggiorazione")),
        price=group.amount("BT-146", "PrezzoUnitario"),
        rate=group.amount("BT-152", "AliquotaIVA"),
        item=Item(group.text("BT-153", "Descrizione"), seller_id=group.text("BT-155", "CodiceArticolo/CodiceValore")),
        place=group.place,
    )


def _simple(body: Group) -> tuple[Line, ...]:
    """The lines of the simplified form: a description and an amount with its tax."""
    return tuple(
        Line(
            number=str(number),
            rate=each.amount("BT-152", "DatiIVA/Aliquota"),
            item=Item(each.text("BT-153", "Descrizione")),
            place=each.place,
        )
        for number, each in enumerate(body.all("DatiBeniServizi"), 1)
        if each.has("Descrizione")
    )


syntax: Syntax = Syntax("fatturapa", recognises, read)
