"""Invoices written for the tests: one set of facts in UBL, in CII old and new, and in FatturaPA."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

NUMBER, ISSUED, DUE = "INV-2026/0042", "2026-03-05", "2026-04-04"
SELLER, BUYER, IBAN, VAT = "Ölmühle Nordhafen GmbH", "Atelier Søndergård", "DE02120300000000202051", "DE136695976"
_UBL = "urn:oasis:names:specification:ubl:schema:xsd"
_OTHERS = f'xmlns:cac="{_UBL}:CommonAggregateComponents-2" xmlns:cbc="{_UBL}:CommonBasicComponents-2"'
_CII = "urn:un:unece:uncefact:data:standard"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the sample invoices say; replaced one by one where a test wants another."""

    net: str = "300.00"
    tax: str = "57.00"
    gross: str = "357.00"
    due: str = "357.00"
    lines: str = "300.00"
    rate: str = "19"
    category: str = "S"
    first: str = "100.00"
    second: str = "200.00"
    iban: str = IBAN
    specification: str = "urn:cen.eu:en16931:2017"
    seller: str = SELLER
    number: str = NUMBER
    issued: str = ISSUED


def facts(**others: str) -> Facts:
    """The facts, with some replaced."""
    return replace(Facts(), **others)


def ubl(told: Facts, *, line_tax: bool = True) -> str:
    """A UBL invoice with two lines."""

    def line(number: int, amount: str) -> str:
        values = f"<ID>{told.category}</ID><Percent>{told.rate}</Percent>"
        tax = f"<ClassifiedTaxCategory>{values}{_VAT}</ClassifiedTaxCategory>"
        return (
            f"<InvoiceLine><ID>{number}</ID><InvoicedQuantity unitCode='C62'>1</InvoicedQuantity>"
            f"<LineExtensionAmount currencyID='EUR'>{amount}</LineExtensionAmount>"
            f"<Item><Name>Press {number}</Name>{tax if line_tax else ''}</Item>"
            f"<Price><PriceAmount>{amount}</PriceAmount></Price></InvoiceLine>"
        )

    return _prefixed(f"""<?xml version="1.0" encoding="UTF-8"?>
<Invoice xmlns="{_UBL}:Invoice-2" {_OTHERS}>
<CustomizationID>{told.specification}</CustomizationID><ID>{told.number}</ID>
<IssueDate>{told.issued}</IssueDate><DueDate>{DUE}</DueDate><InvoiceTypeCode>380</InvoiceTypeCode>
<DocumentCurrencyCode>EUR</DocumentCurrencyCode>
<AccountingSupplierParty><Party><PostalAddress><Country><IdentificationCode>DE</IdentificationCode></Country>
</PostalAddress><PartyTaxScheme><CompanyID>{VAT}</CompanyID>{_VAT}</PartyTaxScheme><PartyLegalEntity>
<RegistrationName>{told.seller}</RegistrationName></PartyLegalEntity></Party></AccountingSupplierParty>
<AccountingCustomerParty><Party><PostalAddress><Country><IdentificationCode>DK</IdentificationCode></Country>
</PostalAddress><PartyLegalEntity><RegistrationName>{BUYER}</RegistrationName></PartyLegalEntity></Party>
</AccountingCustomerParty><PaymentMeans><PaymentMeansCode>58</PaymentMeansCode><PayeeFinancialAccount>
<ID>{told.iban}</ID></PayeeFinancialAccount></PaymentMeans>
<TaxTotal><TaxAmount currencyID="EUR">{told.tax}</TaxAmount><TaxSubtotal><TaxableAmount>{told.net}</TaxableAmount>
<TaxAmount>{told.tax}</TaxAmount><TaxCategory><ID>{told.category}</ID><Percent>{told.rate}</Percent>{_VAT}</TaxCategory>
</TaxSubtotal></TaxTotal><LegalMonetaryTotal><LineExtensionAmount>{told.lines}</LineExtensionAmount>
<TaxExclusiveAmount>{told.net}</TaxExclusiveAmount><TaxInclusiveAmount>{told.gross}</TaxInclusiveAmount>
<PayableAmount>{told.due}</PayableAmount></LegalMonetaryTotal>{line(1, told.first)}{line(2, told.second)}</Invoice>""")


def _prefixed(text: str) -> str:
    """UBL has elements with a text and elements with others in two namespaces."""
    text = re.sub(r"<(\w+)([^<>]*)>([^<]*)</\1>", r"<cbc:\1\2>\3</cbc:\1>", text)
    return re.sub(r"<(/?)(?!Invoice\b|\w+:)(\w+)", r"<\1cac:\2", text)


_VAT = "<TaxScheme><ID>VAT</ID></TaxScheme>"


def cii(told: Facts) -> str:
    """A CII invoice as Factur-X has it."""

    def line(number: int, amount: str) -> str:
        return (
            f"<IncludedSupplyChainTradeLineItem><AssociatedDocumentLineDocument><LineID>{number}</LineID>"
            f"</AssociatedDocumentLineDocument><SpecifiedTradeProduct><Name>Press {number}</Name>"
            "</SpecifiedTradeProduct><SpecifiedLineTradeAgreement><NetPriceProductTradePrice>"
            f"<ChargeAmount>{amount}</ChargeAmount></NetPriceProductTradePrice></SpecifiedLineTradeAgreement>"
            "<SpecifiedLineTradeDelivery><BilledQuantity unitCode='C62'>1</BilledQuantity>"
            "</SpecifiedLineTradeDelivery><SpecifiedLineTradeSettlement><ApplicableTradeTax><TypeCode>VAT</TypeCode>"
            f"<CategoryCode>{told.category}</CategoryCode><RateApplicablePercent>{told.rate}</RateApplicablePercent>"
            "</ApplicableTradeTax><SpecifiedTradeSettlementLineMonetarySummation>"
            f"<LineTotalAmount>{amount}</LineTotalAmount></SpecifiedTradeSettlementLineMonetarySummation>"
            "</SpecifiedLineTradeSettlement></IncludedSupplyChainTradeLineItem>"
        )

    def day(date: str) -> str:
        return f'<udt:DateTimeString format="102">{date.replace("-", "")}</udt:DateTimeString>'

    return f"""<rsm:CrossIndustryInvoice xmlns:rsm="{_CII}:CrossIndustryInvoice:100"
xmlns:udt="{_CII}:UnqualifiedDataType:100"
xmlns="{_CII}:ReusableAggregateBusinessInformationEntity:100"><rsm:ExchangedDocumentContext>
<GuidelineSpecifiedDocumentContextParameter><ID>{told.specification}</ID></GuidelineSpecifiedDocumentContextParameter>
</rsm:ExchangedDocumentContext><rsm:ExchangedDocument><ID>{told.number}</ID><TypeCode>380</TypeCode><IssueDateTime>
{day(told.issued)}</IssueDateTime></rsm:ExchangedDocument><rsm:SupplyChainTradeTransaction>{line(1, told.first)}
{line(2, told.second)}<ApplicableHeaderTradeAgreement><SellerTradeParty><Name>{told.seller}</Name><PostalTradeAddress>
<CountryID>DE</CountryID></PostalTradeAddress><SpecifiedTaxRegistration><ID schemeID="VA">{VAT}</ID>
</SpecifiedTaxRegistration></SellerTradeParty><BuyerTradeParty><Name>{BUYER}</Name><PostalTradeAddress>
<CountryID>DK</CountryID></PostalTradeAddress></BuyerTradeParty></ApplicableHeaderTradeAgreement>
<ApplicableHeaderTradeDelivery/><ApplicableHeaderTradeSettlement><InvoiceCurrencyCode>EUR</InvoiceCurrencyCode>
<SpecifiedTradeSettlementPaymentMeans><TypeCode>58</TypeCode><PayeePartyCreditorFinancialAccount>
<IBANID>{told.iban}</IBANID></PayeePartyCreditorFinancialAccount></SpecifiedTradeSettlementPaymentMeans>
<ApplicableTradeTax><CalculatedAmount>{told.tax}</CalculatedAmount><TypeCode>VAT</TypeCode>
<BasisAmount>{told.net}</BasisAmount><CategoryCode>{told.category}</CategoryCode>
<RateApplicablePercent>{told.rate}</RateApplicablePercent></ApplicableTradeTax><SpecifiedTradePaymentTerms>
<DueDateDateTime>{day(DUE)}</DueDateDateTime></SpecifiedTradePaymentTerms>
<SpecifiedTradeSettlementHeaderMonetarySummation><LineTotalAmount>{told.lines}</LineTotalAmount>
<TaxBasisTotalAmount>{told.net}</TaxBasisTotalAmount><TaxTotalAmount currencyID="EUR">{told.tax}</TaxTotalAmount>
<GrandTotalAmount>{told.gross}</GrandTotalAmount><DuePayableAmount>{told.due}</DuePayableAmount>
</SpecifiedTradeSettlementHeaderMonetarySummation></ApplicableHeaderTradeSettlement></rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>"""


def zugferd1(told: Facts, *, root: str = "CrossIndustryDocument") -> str:
    """The same with the names of ZUGFeRD 1; the release candidate calls its root Invoice."""
    text = cii(replace(told, specification="urn:ferd:CrossIndustryDocument:invoice:1p0:comfort"))
    for new, old in (
        ("rsm:CrossIndustryInvoice", f"rsm:{root}"),
        (f"{_CII}:CrossIndustryInvoice:100", "urn:ferd:CrossIndustryDocument:invoice:1p0"),
        ("rsm:ExchangedDocumentContext", "rsm:SpecifiedExchangedDocumentContext"),
        ("rsm:ExchangedDocument>", "rsm:HeaderExchangedDocument>"),
        ("rsm:SupplyChainTradeTransaction", "rsm:SpecifiedSupplyChainTradeTransaction"),
        ("ApplicableHeaderTrade", "ApplicableSupplyChainTrade"),
        ("SpecifiedLineTrade", "SpecifiedSupplyChainTrade"),
        ("RateApplicablePercent", "ApplicablePercent"),
        ("SettlementHeaderMonetary", "SettlementMonetary"),
        ("SettlementLineMonetary", "SettlementMonetary"),
    ):
        text = text.replace(new, old)
    return text


def fatturapa(told: Facts, *, bodies: int = 1) -> str:
    """An Italian file with some invoices, numbered on."""

    def party(name: str, country: str, code: str) -> str:
        return (
            f"<DatiAnagrafici><IdFiscaleIVA><IdPaese>{country}</IdPaese><IdCodice>{code}</IdCodice></IdFiscaleIVA>"
            f"<Anagrafica><Denominazione>{name}</Denominazione></Anagrafica></DatiAnagrafici>"
        )

    body = "".join(
        f"""<FatturaElettronicaBody><DatiGenerali><DatiGeneraliDocumento><TipoDocumento>TD01</TipoDocumento>
<Divisa>EUR</Divisa><Data>{told.issued}</Data><Numero>{told.number}-{number}</Numero>
<ImportoTotaleDocumento>{told.gross}</ImportoTotaleDocumento></DatiGeneraliDocumento></DatiGenerali><DatiBeniServizi>
<DettaglioLinee><NumeroLinea>1</NumeroLinea><Descrizione>Press</Descrizione><PrezzoUnitario>{told.net}</PrezzoUnitario>
<PrezzoTotale>{told.net}</PrezzoTotale><AliquotaIVA>{told.rate}</AliquotaIVA></DettaglioLinee><DatiRiepilogo>
<AliquotaIVA>{told.rate}</AliquotaIVA><ImponibileImporto>{told.net}</ImponibileImporto><Imposta>{told.tax}</Imposta>
</DatiRiepilogo></DatiBeniServizi><DatiPagamento><DettaglioPagamento>
<DataScadenzaPagamento>{DUE}</DataScadenzaPagamento>
<ImportoPagamento>{told.due}</ImportoPagamento><IBAN>{told.iban}</IBAN></DettaglioPagamento></DatiPagamento>
</FatturaElettronicaBody>"""
        for number in range(1, bodies + 1)
    )
    return (
        '<p:FatturaElettronica versione="FPR12" xmlns:p="urn:some"><FatturaElettronicaHeader><CedentePrestatore>'
        f"{party(told.seller, 'DE', VAT[2:])}</CedentePrestatore><CessionarioCommittente>"
        f"{party(BUYER, 'DK', '13585628')}</CessionarioCommittente></FatturaElettronicaHeader>"
        f"{body}</p:FatturaElettronica>"
    )
