"""Where UBL, CII and FatturaPA keep what a person looks for in an invoice; paths of element names without prefixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its title and where its values stand, from the row; `@name` is an attribute."""

    title: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Elements that are rows, and their columns."""

    rows: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Syntax:
    """What is shown of an invoice, in this order: labels, tables, amounts.

    A label's path that ends in `/*` joins all values below with commas, one in `/+` with nothing between.
    `body` is the path of the single invoices when a file holds several; tables, amounts and `body_header` are looked
    for there.
    """

    header: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    amounts: tuple[tuple[str, str], ...]
    body: str = ""
    body_header: tuple[tuple[str, str], ...] = ()


def _columns(**columns: str) -> tuple[Column, ...]:
    return tuple(Column(title.replace("_", " "), tuple(paths.split())) for title, paths in columns.items())


def _ubl_party(name: str, path: str) -> tuple[tuple[str, str], ...]:
    return (
        (name, f"{path}/PartyLegalEntity/RegistrationName"),
        (f"{name} trade name", f"{path}/PartyName/Name"),
        (f"{name} address", f"{path}/PostalAddress/*"),
        (f"{name} VAT ID", f"{path}/PartyTaxScheme/CompanyID"),
        (f"{name} registration", f"{path}/PartyLegalEntity/CompanyID"),
        (f"{name} ID", f"{path}/PartyIdentification/ID"),
        (f"{name} contact", f"{path}/Contact/*"),
    )


_UBL = Syntax(
    header=(
        ("Invoice number", "ID"),
        ("Invoice date", "IssueDate"),
        ("Due date", "DueDate"),
        ("Due date", "PaymentMeans/PaymentDueDate"),
        ("Document type", "InvoiceTypeCode|CreditNoteTypeCode"),
        ("Currency", "DocumentCurrencyCode"),
        ("Buyer reference", "BuyerReference"),
        ("Order number", "OrderReference/ID"),
        ("Contract number", "ContractDocumentReference/ID"),
        ("Preceding invoice", "BillingReference/InvoiceDocumentReference/ID"),
        ("Delivery date", "Delivery/ActualDeliveryDate"),
        ("Billing period", "InvoicePeriod/*"),
        *_ubl_party("Seller", "AccountingSupplierParty/Party"),
        *_ubl_party("Buyer", "AccountingCustomerParty/Party"),
        *_ubl_party("Payee", "PayeeParty"),
        ("Note", "Note"),
    ),
    tables=(
        Table(
            "InvoiceLine|CreditNoteLine",
            _columns(
                Position="ID",
                Item_number="Item/SellersItemIdentification/ID",
                Description="Item/Name Item/Description",
                Quantity="InvoicedQuantity|CreditedQuantity",
                Unit="InvoicedQuantity|CreditedQuantity@unitCode",
                Unit_price="Price/PriceAmount",
                VAT_percent="Item/ClassifiedTaxCategory/Percent",
                Amount="LineExtensionAmount",
            ),
        ),
        Table(
            "TaxTotal/TaxSubtotal",
            _columns(VAT_percent="TaxCategory/Percent", Taxable_amount="TaxableAmount", VAT_amount="TaxAmount"),
        ),
    ),
    amounts=(
        ("Sum of lines", "LegalMonetaryTotal/LineExtensionAmount"),
        ("Allowances", "LegalMonetaryTotal/AllowanceTotalAmount"),
        ("Charges", "LegalMonetaryTotal/ChargeTotalAmount"),
        ("Net total", "LegalMonetaryTotal/TaxExclusiveAmount"),
        ("VAT total", "TaxTotal/TaxAmount"),
        ("Gross total", "LegalMonetaryTotal/TaxInclusiveAmount"),
        ("Prepaid", "LegalMonetaryTotal/PrepaidAmount"),
        ("Rounding", "LegalMonetaryTotal/PayableRoundingAmount"),
        ("Amount due", "LegalMonetaryTotal/PayableAmount"),
        ("IBAN", "PaymentMeans/PayeeFinancialAccount/ID"),
        ("BIC", "PaymentMeans/PayeeFinancialAccount/FinancialInstitutionBranch/ID"),
        ("Payment reference", "PaymentMeans/PaymentID"),
        ("Payment terms", "PaymentTerms/Note"),
    ),
)

# The older names are those of ZUGFeRD 1.
_TRADE = "SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction"
_AGREEMENT = f"{_TRADE}/ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement"
_DELIVERY = f"{_TRADE}/ApplicableHeaderTradeDelivery|ApplicableSupplyChainTradeDelivery"
_SETTLEMENT = f"{_TRADE}/ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement"
_SUMS = f"{_SETTLEMENT}/SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
_LINE_AGREEMENT = "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement"
_LINE_SETTLEMENT = "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement"
_LINE_SUMS = "SpecifiedTradeSettlementLineMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
_QUANTITY = "SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery/BilledQuantity"


def _cii_party(name: str, path: str) -> tuple[tuple[str, str], ...]:
    return (
        (name, f"{path}/Name"),
        (f"{name} address", f"{path}/PostalTradeAddress/*"),
        (f"{name} VAT ID", f"{path}/SpecifiedTaxRegistration/ID[schemeID=VA]"),
        (f"{name} tax number", f"{path}/SpecifiedTaxRegistration/ID[schemeID=FC]"),
        (f"{name} registration", f"{path}/SpecifiedLegalOrganization/ID"),
        (f"{name} ID", f"{path}/ID"),
        (f"{name} contact", f"{path}/DefinedTradeContact/*"),
    )


_CII = Syntax(
    header=(
        ("Invoice number", "ExchangedDocument|HeaderExchangedDocument/ID"),
        ("Invoice date", "ExchangedDocument|HeaderExchangedDocument/IssueDateTime/DateTimeString"),
        ("Due date", f"{_SETTLEMENT}/SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString"),
        ("Document type", "ExchangedDocument|HeaderExchangedDocument/TypeCode"),
        ("Document name", "ExchangedDocument|HeaderExchangedDocument/Name"),
        ("Currency", f"{_SETTLEMENT}/InvoiceCurrencyCode"),
        ("Buyer reference", f"{_AGREEMENT}/BuyerReference"),
        ("Order number", f"{_AGREEMENT}/BuyerOrderReferencedDocument/IssuerAssignedID|ID"),
        ("Contract number", f"{_AGREEMENT}/ContractReferencedDocument/IssuerAssignedID|ID"),
        ("Preceding invoice", f"{_SETTLEMENT}/InvoiceReferencedDocument/IssuerAssignedID"),
        ("Delivery date", f"{_DELIVERY}/ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString"),
        *_cii_party("Seller", f"{_AGREEMENT}/SellerTradeParty"),
        *_cii_party("Buyer", f"{_AGREEMENT}/BuyerTradeParty"),
        *_cii_party("Payee", f"{_SETTLEMENT}/PayeeTradeParty"),
        ("Note", "ExchangedDocument|HeaderExchangedDocument/IncludedNote/Content"),
    ),
    tables=(
        Table(
            f"{_TRADE}/IncludedSupplyChainTradeLineItem",
            _columns(
                Position="AssociatedDocumentLineDocument/LineID",
                Item_number="SpecifiedTradeProduct/SellerAssignedID",
                Description="SpecifiedTradeProduct/Name SpecifiedTradeProduct/Description",
                Quantity=_QUANTITY,
                Unit=f"{_QUANTITY}@unitCode",
                Unit_price=f"{_LINE_AGREEMENT}/NetPriceProductTradePrice/ChargeAmount",
                VAT_percent=f"{_LINE_SETTLEMENT}/ApplicableTradeTax/RateApplicablePercent|ApplicablePercent",
                Amount=f"{_LINE_SETTLEMENT}/{_LINE_SUMS}/LineTotalAmount",
            ),
        ),
        Table(
            f"{_SETTLEMENT}/ApplicableTradeTax",
            _columns(
                VAT_percent="RateApplicablePercent|ApplicablePercent",
                Taxable_amount="BasisAmount",
                VAT_amount="CalculatedAmount",
            ),
        ),
    ),
    amounts=(
        ("Sum of lines", f"{_SUMS}/LineTotalAmount"),
        ("Allowances", f"{_SUMS}/AllowanceTotalAmount"),
        ("Charges", f"{_SUMS}/ChargeTotalAmount"),
        ("Net total", f"{_SUMS}/TaxBasisTotalAmount"),
        ("VAT total", f"{_SUMS}/TaxTotalAmount"),
        ("Gross total", f"{_SUMS}/GrandTotalAmount"),
        ("Prepaid", f"{_SUMS}/TotalPrepaidAmount"),
        ("Rounding", f"{_SUMS}/RoundingAmount"),
        ("Amount due", f"{_SUMS}/DuePayableAmount"),
        ("IBAN", f"{_SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount/IBANID"),
        ("BIC", f"{_SETTLEMENT}/SpecifiedTradeSettlementPaymentMeans/PayeeSpecifiedCreditorFinancialInstitution/BICID"),
        ("Payment reference", f"{_SETTLEMENT}/PaymentReference"),
        ("Payment terms", f"{_SETTLEMENT}/SpecifiedTradePaymentTerms/Description"),
    ),
)


def _italian_party(name: str, path: str) -> tuple[tuple[str, str], ...]:
    # The simplified invoice keeps these without the levels between.
    return (
        (name, f"{path}/DatiAnagrafici/Anagrafica/*"),
        (name, f"{path}/Denominazione"),
        (f"{name} VAT ID", f"{path}/DatiAnagrafici/IdFiscaleIVA/+"),
        (f"{name} VAT ID", f"{path}/IdFiscaleIVA/+"),
        (f"{name} tax code", f"{path}/DatiAnagrafici/CodiceFiscale"),
        (f"{name} tax code", f"{path}/CodiceFiscale"),
        (f"{name} address", f"{path}/Sede/*"),
    )


_GENERAL = "DatiGenerali/DatiGeneraliDocumento"
_FATTURAPA = Syntax(
    header=(
        *_italian_party("Seller", "FatturaElettronicaHeader/CedentePrestatore"),
        *_italian_party("Buyer", "FatturaElettronicaHeader/CessionarioCommittente"),
    ),
    body="FatturaElettronicaBody",
    body_header=(
        ("Invoice number", f"{_GENERAL}/Numero"),
        ("Invoice date", f"{_GENERAL}/Data"),
        ("Due date", "DatiPagamento/DettaglioPagamento/DataScadenzaPagamento"),
        ("Document type", f"{_GENERAL}/TipoDocumento"),
        ("Currency", f"{_GENERAL}/Divisa"),
        ("Order number", "DatiGenerali/DatiOrdineAcquisto/IdDocumento"),
        ("Contract number", "DatiGenerali/DatiContratto/IdDocumento"),
        ("Note", f"{_GENERAL}/Causale"),
    ),
    tables=(
        Table(
            "DatiBeniServizi/DettaglioLinee",
            _columns(
                Position="NumeroLinea",
                Item_number="CodiceArticolo/CodiceValore",
                Description="Descrizione",
                Quantity="Quantita",
                Unit="UnitaMisura",
                Unit_price="PrezzoUnitario",
                VAT_percent="AliquotaIVA",
                Amount="PrezzoTotale",
            ),
        ),
        Table(
            "DatiBeniServizi",
            _columns(Description="Descrizione", Amount="Importo", VAT_amount="DatiIVA/Imposta"),
        ),
        Table(
            "DatiBeniServizi/DatiRiepilogo",
            _columns(VAT_percent="AliquotaIVA", Taxable_amount="ImponibileImporto", VAT_amount="Imposta"),
        ),
    ),
    amounts=(
        ("Gross total", f"{_GENERAL}/ImportoTotaleDocumento"),
        ("Rounding", f"{_GENERAL}/Arrotondamento"),
        ("Amount due", "DatiPagamento/DettaglioPagamento/ImportoPagamento"),
        ("IBAN", "DatiPagamento/DettaglioPagamento/IBAN"),
        ("BIC", "DatiPagamento/DettaglioPagamento/BIC"),
    ),
)

SYNTAXES: Mapping[str, Syntax] = MappingProxyType({"ubl": _UBL, "cii": _CII, "fatturapa": _FATTURAPA})
