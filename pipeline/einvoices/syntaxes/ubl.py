"""OASIS UBL 2: invoices and credit notes, as Peppol BIS Billing, XRechnung and national profiles have them."""

from __future__ import annotations

from decimal import Decimal

from pipeline.einvoices import model
from pipeline.einvoices.elements import Group
from pipeline.einvoices.profiles import profile_of
from pipeline.einvoices.reading import Syntax

_ROOTS = ("Invoice", "CreditNote", "DebitNote", "SelfBilledInvoice", "SelfBilledCreditNote")
_LINES = "InvoiceLine|CreditNoteLine|DebitNoteLine"
_QUANTITY = "InvoicedQuantity|CreditedQuantity|DebitedQuantity"
_SUMS = "LegalMonetaryTotal|RequestedMonetaryTotal"


def recognises(root: Group) -> bool:
    """By its name and by what a UBL document has inside; CII's release candidate has the name too."""
    return root.name in _ROOTS and any(root.has(each) for each in ("AccountingSupplierParty", _SUMS, _LINES))


def read(root: Group) -> list[model.Invoice]:
    """The one invoice of the file."""
    specification = root.text("BT-24", "CustomizationID")
    currency = root.text("BT-5", "DocumentCurrencyCode")
    accounting = root.text("BT-6", "TaxCurrencyCode")
    totals, counted = _totals(root, currency, accounting)
    return [
        model.Invoice(
            "ubl",
            profile_of(specification),
            specification,
            root.text("BT-23", "ProfileID"),
            root.text("BT-1", "ID"),
            root.date("BT-2", "IssueDate"),
            root.text("BT-3", "InvoiceTypeCode|CreditNoteTypeCode"),
            currency,
            accounting,
            root.date("BT-7", "TaxPointDate"),
            root.text("BT-8", "InvoicePeriod/DescriptionCode"),
            root.date("BT-9", "DueDate") or root.date("BT-9", "PaymentMeans/PaymentDueDate"),
            root.text("BT-20", "PaymentTerms/Note"),
            _references(root),
            _notes(root),
            _preceding(root),
            _party(root.find("AccountingSupplierParty/Party"), _SELLER) or model.Party(),
            _party(root.find("AccountingCustomerParty/Party"), _BUYER) or model.Party(),
            _party(root.find("PayeeParty"), _PAYEE),
            _party(root.find("TaxRepresentativeParty"), _REPRESENTATIVE),
            _delivery(root.find("Delivery")),
            _period(root.find("InvoicePeriod"), "BT-73", "BT-74"),
            _payments(root),
            tuple(_allowance(each) for each in root.all("AllowanceCharge")),
            totals,
            counted,
            tuple(_tax_row(each) for each in root.all("TaxTotal/TaxSubtotal")),
            _supporting(root),
            tuple(_line(each) for each in root.all(_LINES)),
            tuple(root.log.unread),
            root.log.places,
        )
    ]


_SELLER = ("BT-27", "BT-28", "BT-30", "BT-31", "BT-32", "BT-34", "BT-40")
_BUYER = ("BT-44", "BT-45", "BT-47", "BT-48", "", "BT-49", "BT-55")
_PAYEE = ("BT-59", "BT-59", "BT-61", "", "", "", "")
_REPRESENTATIVE = ("BT-62", "BT-62", "", "BT-63", "", "", "BT-69")


def _references(root: Group) -> model.References:
    others = root.all("AdditionalDocumentReference")
    return model.References(
        root.text("BT-10", "BuyerReference"),
        root.text("BT-11", "ProjectReference/ID"),
        root.text("BT-12", "ContractDocumentReference/ID"),
        root.text("BT-13", "OrderReference/ID"),
        root.text("BT-14", "OrderReference/SalesOrderID"),
        root.text("BT-15", "ReceiptDocumentReference/ID"),
        root.text("BT-16", "DespatchDocumentReference/ID"),
        root.text("BT-17", "OriginatorDocumentReference/ID"),
        next((each.text("BT-18", "ID") for each in others if each.text("", "DocumentTypeCode") == "130"), None),
        root.text("BT-19", "AccountingCost"),
    )


def _notes(root: Group) -> tuple[model.Note, ...]:
    return tuple(model.Note(text) for each in root.all("Note") if (text := each.text("", ".")))


def _preceding(root: Group) -> tuple[model.Preceding, ...]:
    found = root.all("BillingReference/InvoiceDocumentReference")
    return tuple(model.Preceding(each.text("BT-25", "ID"), each.date("BT-26", "IssueDate")) for each in found)


def _party(group: Group | None, terms: tuple[str, ...]) -> model.Party | None:
    """The name is that of the register; payee and representative have only the one they trade under."""
    if group is None:
        return None
    name, trade, legal, vat, tax, endpoint, country = terms
    vat_id, tax_id = _registered(group, vat, tax)
    traded = group.text(trade, "PartyName/Name")
    return model.Party(
        group.text(name, "PartyLegalEntity/RegistrationName") or (traded if trade == name else None),
        traded,
        group.identifiers("PartyIdentification/ID"),
        group.identifier(legal, "PartyLegalEntity/CompanyID"),
        vat_id,
        tax_id,
        group.text("", "PartyLegalEntity/CompanyLegalForm"),
        group.identifier(endpoint, "EndpointID"),
        group.text("", "Contact/Name"),
        group.text("", "Contact/Telephone"),
        group.text("", "Contact/ElectronicMail"),
        _address(group.find("PostalAddress"), country),
    )


def _registered(party: Group, vat: str, tax: str) -> tuple[str | None, str | None]:
    """The VAT identifier, and the one of any other tax."""
    found: dict[bool, str] = {}
    for each in party.all("PartyTaxScheme"):
        value = each.text("", "CompanyID")
        is_vat = (each.text("", "TaxScheme/ID") or "").upper() == "VAT"
        if value and is_vat not in found:
            found[is_vat] = value
            party.log.places.setdefault(vat if is_vat else tax or "BT-32", f"{each.place}/CompanyID")
    return found.get(True), found.get(False)


def _address(group: Group | None, country: str) -> model.Address | None:
    if group is None:
        return None
    lines = (group.text("", each) for each in ("StreetName", "AdditionalStreetName", "AddressLine/Line"))
    return model.Address(
        tuple(line for line in lines if line),
        group.text("", "CityName"),
        group.text("", "PostalZone"),
        group.text("", "CountrySubentity"),
        group.text(country, "Country/IdentificationCode"),
    )


def _delivery(group: Group | None) -> model.Delivery | None:
    if group is None:
        return None
    return model.Delivery(
        group.text("BT-70", "DeliveryParty/PartyName/Name"),
        group.identifier("BT-71", "DeliveryLocation/ID"),
        group.date("BT-72", "ActualDeliveryDate"),
        _address(group.find("DeliveryLocation/Address"), "BT-80"),
    )


def _period(group: Group | None, start: str, end: str) -> model.Period | None:
    """A period that has neither date but a code (BT-8) is none."""
    if group is None or (group.has("DescriptionCode") and not (group.has("StartDate") or group.has("EndDate"))):
        return None
    return model.Period(group.date(start, "StartDate"), group.date(end, "EndDate"))


def _payments(root: Group) -> tuple[model.PaymentMeans, ...]:
    return tuple(
        model.PaymentMeans(
            each.text("BT-81", "PaymentMeansCode"),
            each.attribute("PaymentMeansCode", "name"),
            each.text("BT-83", "PaymentID"),
            tuple(_account(account) for account in each.all("PayeeFinancialAccount", noted=True)),
            each.text("BT-87", "CardAccount/PrimaryAccountNumberID"),
            each.text("BT-88", "CardAccount/HolderName"),
            each.text("BT-89", "PaymentMandate/ID"),
            _creditor(root),
            each.text("BT-91", "PaymentMandate/PayerFinancialAccount/ID"),
        )
        for each in root.all("PaymentMeans", noted=True)
    )


def _account(group: Group) -> model.Account:
    return model.Account(
        group.text("BT-84", "ID"), group.text("BT-85", "Name"), group.text("BT-86", "FinancialInstitutionBranch/ID")
    )


def _creditor(root: Group) -> str | None:
    for path in ("PayeeParty/PartyIdentification/ID", "AccountingSupplierParty/Party/PartyIdentification/ID"):
        for each in root.all(path):
            if each.attribute(".", "schemeID") == "SEPA":
                return each.text("BT-90", ".")
    return None


def _allowance(group: Group) -> model.AllowanceCharge:
    percent = group.amount("BT-94", "MultiplierFactorNumeric")
    return model.AllowanceCharge(
        group.text("", "ChargeIndicator") in ("true", "1"),
        group.amount("BT-92", "Amount"),
        group.amount("BT-93", "BaseAmount"),
        percent,
        group.text("BT-95", "TaxCategory/ID"),
        group.amount("BT-96", "TaxCategory/Percent"),
        group.text("BT-97", "AllowanceChargeReason"),
        group.text("BT-98", "AllowanceChargeReasonCode"),
    )


def _totals(root: Group, currency: str | None, accounting: str | None) -> tuple[model.Totals, int]:
    group = root.find(_SUMS)
    taxes = root.all("TaxTotal/TaxAmount", noted=True)
    own = [each for each in taxes if each.attribute(".", "currencyID") in (None, currency)]
    others = [each for each in taxes if accounting and each.attribute(".", "currencyID") == accounting != currency]
    if group is None:
        return model.Totals(tax=own[0].amount("BT-110", ".") if own else None), len(own)
    totals = model.Totals(
        group.amount("BT-106", "LineExtensionAmount"),
        group.amount("BT-107", "AllowanceTotalAmount"),
        group.amount("BT-108", "ChargeTotalAmount"),
        group.amount("BT-109", "TaxExclusiveAmount"),
        own[0].amount("BT-110", ".") if own else None,
        others[0].amount("BT-111", ".") if others else None,
        group.amount("BT-112", "TaxInclusiveAmount"),
        group.amount("BT-113", "PrepaidAmount"),
        group.amount("BT-114", "PayableRoundingAmount"),
        group.amount("BT-115", "PayableAmount"),
    )
    return totals, len(own)


def _tax_row(group: Group) -> model.TaxRow:
    return model.TaxRow(
        group.amount("BT-116", "TaxableAmount"),
        group.amount("BT-117", "TaxAmount"),
        group.text("BT-118", "TaxCategory/ID"),
        _percent(group, "BT-119", "TaxCategory/Percent"),
        group.text("BT-120", "TaxCategory/TaxExemptionReason"),
        group.text("BT-121", "TaxCategory/TaxExemptionReasonCode"),
        group.place,
    )


def _percent(group: Group, term: str, path: str) -> Decimal | None:
    return group.amount(term, path) if group.has(path) else group.amount(term, "Percent")


def _supporting(root: Group) -> tuple[model.Supporting, ...]:
    return tuple(
        model.Supporting(
            each.text("BT-122", "ID"),
            each.text("BT-123", "DocumentDescription"),
            each.text("BT-124", "Attachment/ExternalReference/URI"),
            each.attribute("Attachment/EmbeddedDocumentBinaryObject", "filename"),
        )
        for each in root.all("AdditionalDocumentReference")
        if each.text("", "DocumentTypeCode") != "130"
    )


def _line(group: Group) -> model.Line:
    return model.Line(
        group.text("BT-126", "ID"),
        group.text("BT-127", "Note"),
        group.amount("BT-129", _QUANTITY),
        group.attribute(_QUANTITY, "unitCode"),
        group.amount("BT-131", "LineExtensionAmount"),
        group.text("BT-132", "OrderLineReference/LineID"),
        group.text("BT-133", "AccountingCost"),
        _period(group.find("InvoicePeriod"), "BT-134", "BT-135"),
        tuple(_allowance(each) for each in group.all("AllowanceCharge")),
        group.amount("BT-146", "Price/PriceAmount"),
        group.amount("BT-147", "Price/AllowanceCharge/Amount"),
        group.amount("BT-148", "Price/AllowanceCharge/BaseAmount"),
        group.amount("BT-149", "Price/BaseQuantity"),
        group.text("BT-151", "Item/ClassifiedTaxCategory/ID"),
        group.amount("BT-152", "Item/ClassifiedTaxCategory/Percent"),
        _item(group.find("Item")),
        group.place,
    )


def _item(group: Group | None) -> model.Item:
    if group is None:
        return model.Item()
    return model.Item(
        group.text("BT-153", "Name"),
        group.text("BT-154", "Description"),
        group.text("BT-155", "SellersItemIdentification/ID"),
        group.text("BT-156", "BuyersItemIdentification/ID"),
        group.identifier("BT-157", "StandardItemIdentification/ID"),
        group.identifiers("CommodityClassification/ItemClassificationCode", "listID"),
        group.text("BT-159", "OriginCountry/IdentificationCode"),
        tuple(
            (each.text("BT-160", "Name"), each.text("BT-161", "Value")) for each in group.all("AdditionalItemProperty")
        ),
    )


syntax: Syntax = Syntax("ubl", recognises, read)
