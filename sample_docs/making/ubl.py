"""An invoice as an XRechnung: the XML (UBL 2.1) that German public buyers ask for beside the PDF."""

from __future__ import annotations

from decimal import Decimal
from xml.etree import ElementTree as ET

from making.elements import Row, fill, written
from making.values import Company, Invoice, Order

_ROOT = "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
_SPACES = {
    "cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
    "cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
}
_XRECHNUNG = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
_PROFILE = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
_UNITS = {"Stk": "H87", "Std": "HUR"}
_INVOICE, _TRANSFER, _STANDARD_RATE = "380", "58", "S"


def xrechnung(invoice: Invoice, order: Order) -> bytes:
    """The invoice as XML; addresses end in street and in postcode and city."""
    root = ET.Element("Invoice", {"xmlns": _ROOT} | {f"xmlns:{name}": uri for name, uri in _SPACES.items()})
    fill(
        root,
        [
            ("cbc:CustomizationID", _XRECHNUNG),
            ("cbc:ProfileID", _PROFILE),
            ("cbc:ID", invoice.number),
            ("cbc:IssueDate", invoice.issued.isoformat()),
            ("cbc:DueDate", invoice.due.isoformat()),
            ("cbc:InvoiceTypeCode", _INVOICE),
            ("cbc:DocumentCurrencyCode", invoice.currency),
            ("cbc:BuyerReference", order.buyer_reference),
        ],
    )
    fill(root, _party("cac:AccountingSupplierParty/cac:Party", invoice.seller, order.contact[2], order.contact))
    fill(root, _party("cac:AccountingCustomerParty/cac:Party", invoice.buyer, order.buyer_mail))
    fill(root, _payment(invoice))
    fill(root, _sums(invoice))
    for number, _ in enumerate(invoice.lines, 1):
        fill(ET.SubElement(root, "cac:InvoiceLine"), _line(invoice, number))
    return written(root)


def _party(path: str, company: Company, mail: str, contact: tuple[str, ...] = ()) -> list[Row]:
    postcode, city = company.address[-1].split(" ", 1)
    rows: list[Row] = [
        (f"{path}/cbc:EndpointID", mail, {"schemeID": "EM"}),
        (f"{path}/cac:PostalAddress/cbc:StreetName", company.address[-2]),
        (f"{path}/cac:PostalAddress/cbc:CityName", city),
        (f"{path}/cac:PostalAddress/cbc:PostalZone", postcode),
        (f"{path}/cac:PostalAddress/cac:Country/cbc:IdentificationCode", "DE"),
    ]
    if company.tax_id:
        rows += [
            (f"{path}/cac:PartyTaxScheme/cbc:CompanyID", company.tax_id),
            (f"{path}/cac:PartyTaxScheme/cac:TaxScheme/cbc:ID", "VAT"),
        ]
    rows.append((f"{path}/cac:PartyLegalEntity/cbc:RegistrationName", company.name))
    names = ("Name", "Telephone", "ElectronicMail")
    return rows + [
        (f"{path}/cac:Contact/cbc:{name}", value) for name, value in zip(names[: len(contact)], contact, strict=True)
    ]


def _payment(invoice: Invoice) -> list[Row]:
    return [
        ("cac:PaymentMeans/cbc:PaymentMeansCode", _TRANSFER),
        ("cac:PaymentMeans/cac:PayeeFinancialAccount/cbc:ID", invoice.iban.replace(" ", "")),
    ]


def _sums(invoice: Invoice) -> list[Row]:
    total, part = "cac:LegalMonetaryTotal", "cac:TaxTotal/cac:TaxSubtotal"
    return [
        _amount("cac:TaxTotal/cbc:TaxAmount", invoice, invoice.tax),
        _amount(f"{part}/cbc:TaxableAmount", invoice, invoice.net),
        _amount(f"{part}/cbc:TaxAmount", invoice, invoice.tax),
        *_tax(f"{part}/cac:TaxCategory", invoice),
        _amount(f"{total}/cbc:LineExtensionAmount", invoice, invoice.net),
        _amount(f"{total}/cbc:TaxExclusiveAmount", invoice, invoice.net),
        _amount(f"{total}/cbc:TaxInclusiveAmount", invoice, invoice.gross),
        _amount(f"{total}/cbc:PayableAmount", invoice, invoice.gross),
    ]


def _line(invoice: Invoice, number: int) -> list[Row]:
    line = invoice.lines[number - 1]
    return [
        ("cbc:ID", str(number)),
        ("cbc:InvoicedQuantity", str(line.quantity), {"unitCode": _UNITS[line.unit]}),
        _amount("cbc:LineExtensionAmount", invoice, line.amount),
        ("cac:Item/cbc:Name", line.description),
        *_tax("cac:Item/cac:ClassifiedTaxCategory", invoice),
        _amount("cac:Price/cbc:PriceAmount", invoice, line.price),
    ]


def _tax(path: str, invoice: Invoice) -> list[Row]:
    return [
        (f"{path}/cbc:ID", _STANDARD_RATE),
        (f"{path}/cbc:Percent", str(invoice.tax_percent)),
        (f"{path}/cac:TaxScheme/cbc:ID", "VAT"),
    ]


def _amount(path: str, invoice: Invoice, amount: Decimal) -> Row:
    return path, f"{amount:.2f}", {"currencyID": invoice.currency}
