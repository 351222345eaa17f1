"""An invoice as Factur-X: the XML (CII, profile EN 16931), and a PDF that carries it as its alternative."""

from __future__ import annotations

import io
from datetime import date
from decimal import Decimal
from xml.etree import ElementTree as ET

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, StreamObject, TextStringObject

from making.elements import Row, fill, written
from making.values import Company, Invoice, Order

NAME = "factur-x.xml"
_SPACES = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
}
_PROFILE = "urn:cen.eu:en16931:2017"
_UNITS = {"pièce": "H87", "heure": "HUR"}
_INVOICE, _TRANSFER, _STANDARD_RATE, _DAY = "380", "58", "S", "102"


def xml(invoice: Invoice, order: Order) -> bytes:
    """The invoice as XML; addresses end in street and in postcode and city."""
    root = ET.Element("rsm:CrossIndustryInvoice", {f"xmlns:{name}": uri for name, uri in _SPACES.items()})
    profile = "rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID"
    document = "rsm:ExchangedDocument"
    fill(
        root,
        [
            (profile, _PROFILE),
            (f"{document}/ram:ID", invoice.number),
            (f"{document}/ram:TypeCode", _INVOICE),
            _date(f"{document}/ram:IssueDateTime", invoice.issued),
        ],
    )
    trade = ET.SubElement(root, "rsm:SupplyChainTradeTransaction")
    for number, _ in enumerate(invoice.lines, 1):
        fill(ET.SubElement(trade, "ram:IncludedSupplyChainTradeLineItem"), _line(invoice, number))
    fill(trade, _agreement(invoice, order))
    ET.SubElement(trade, "ram:ApplicableHeaderTradeDelivery")
    fill(trade, _settlement(invoice))
    return written(root)


def carrying(page: bytes, content: bytes) -> bytes:
    """The PDF with the XML in it, named in its catalog as another form of the same document."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(page)))
    stream = StreamObject()
    stream.set_data(content)
    stream.update({NameObject("/Type"): NameObject("/EmbeddedFile"), NameObject("/Subtype"): NameObject("/text/xml")})
    name = TextStringObject(NAME)
    file = writer._add_object(stream.flate_encode())
    specification = writer._add_object(
        DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Filespec"),
                NameObject("/F"): name,
                NameObject("/UF"): name,
                NameObject("/AFRelationship"): NameObject("/Alternative"),
                NameObject("/EF"): DictionaryObject({NameObject("/F"): file, NameObject("/UF"): file}),
            }
        )
    )
    names = DictionaryObject({NameObject("/Names"): ArrayObject([name, specification])})
    writer.root_object[NameObject("/Names")] = DictionaryObject({NameObject("/EmbeddedFiles"): names})
    writer.root_object[NameObject("/AF")] = ArrayObject([specification])
    whole = io.BytesIO()
    writer.write(whole)
    return whole.getvalue()


def _agreement(invoice: Invoice, order: Order) -> list[Row]:
    agreement = "ram:ApplicableHeaderTradeAgreement"
    seller, buyer = f"{agreement}/ram:SellerTradeParty", f"{agreement}/ram:BuyerTradeParty"
    return [
        (f"{agreement}/ram:BuyerReference", order.buyer_reference),
        *_party(seller, invoice.seller),
        (f"{seller}/ram:SpecifiedTaxRegistration/ram:ID", invoice.seller.tax_id, {"schemeID": "VA"}),
        *_party(buyer, invoice.buyer),
    ]


def _party(path: str, company: Company) -> list[Row]:
    postcode, city = company.address[-1].split(" ", 1)
    return [
        (f"{path}/ram:Name", company.name),
        (f"{path}/ram:PostalTradeAddress/ram:PostcodeCode", postcode),
        (f"{path}/ram:PostalTradeAddress/ram:LineOne", company.address[-2]),
        (f"{path}/ram:PostalTradeAddress/ram:CityName", city),
        (f"{path}/ram:PostalTradeAddress/ram:CountryID", "FR"),
    ]


def _settlement(invoice: Invoice) -> list[Row]:
    settlement = "ram:ApplicableHeaderTradeSettlement"
    means = f"{settlement}/ram:SpecifiedTradeSettlementPaymentMeans"
    sums = f"{settlement}/ram:SpecifiedTradeSettlementHeaderMonetarySummation"
    return [
        (f"{settlement}/ram:InvoiceCurrencyCode", invoice.currency),
        (f"{means}/ram:TypeCode", _TRANSFER),
        (f"{means}/ram:PayeePartyCreditorFinancialAccount/ram:IBANID", invoice.iban.replace(" ", "")),
        (f"{settlement}/ram:ApplicableTradeTax/ram:CalculatedAmount", _plain(invoice.tax)),
        (f"{settlement}/ram:ApplicableTradeTax/ram:TypeCode", "VAT"),
        (f"{settlement}/ram:ApplicableTradeTax/ram:BasisAmount", _plain(invoice.net)),
        (f"{settlement}/ram:ApplicableTradeTax/ram:CategoryCode", _STANDARD_RATE),
        (f"{settlement}/ram:ApplicableTradeTax/ram:RateApplicablePercent", str(invoice.tax_percent)),
        _date(f"{settlement}/ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime", invoice.due),
        (f"{sums}/ram:LineTotalAmount", _plain(invoice.net)),
        (f"{sums}/ram:TaxBasisTotalAmount", _plain(invoice.net)),
        (f"{sums}/ram:TaxTotalAmount", _plain(invoice.tax), {"currencyID": invoice.currency}),
        (f"{sums}/ram:GrandTotalAmount", _plain(invoice.gross)),
        (f"{sums}/ram:DuePayableAmount", _plain(invoice.gross)),
    ]


def _line(invoice: Invoice, number: int) -> list[Row]:
    line = invoice.lines[number - 1]
    settlement = "ram:SpecifiedLineTradeSettlement"
    total = f"{settlement}/ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount"
    return [
        ("ram:AssociatedDocumentLineDocument/ram:LineID", str(number)),
        ("ram:SpecifiedTradeProduct/ram:Name", line.description),
        ("ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:ChargeAmount", _plain(line.price)),
        (
            "ram:SpecifiedLineTradeDelivery/ram:BilledQuantity",
            str(line.quantity),
            {"unitCode": _UNITS[line.unit]},
        ),
        (f"{settlement}/ram:ApplicableTradeTax/ram:TypeCode", "VAT"),
        (f"{settlement}/ram:ApplicableTradeTax/ram:CategoryCode", _STANDARD_RATE),
        (f"{settlement}/ram:ApplicableTradeTax/ram:RateApplicablePercent", str(invoice.tax_percent)),
        (total, _plain(line.amount)),
    ]


def _date(path: str, day: date) -> Row:
    return f"{path}/udt:DateTimeString", f"{day:%Y%m%d}", {"format": _DAY}


def _plain(amount: Decimal) -> str:
    return f"{amount:.2f}"
