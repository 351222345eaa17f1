"""UN/CEFACT's Cross Industry Invoice: Factur-X, XRechnung, ZUGFeRD 2, and ZUGFeRD 1 with its release candidate.

ZUGFeRD 1 has other names for the same elements; `A|B` asks for either.
"""

from __future__ import annotations

from pipeline.einvoices import model
from pipeline.einvoices.elements import Group
from pipeline.einvoices.profiles import profile_of
from pipeline.einvoices.reading import Syntax

_CONTEXT = "ExchangedDocumentContext|SpecifiedExchangedDocumentContext"
_DOCUMENT = "ExchangedDocument|HeaderExchangedDocument"
_TRADE = "SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction"
_AGREEMENT = "ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement"
_DELIVERY = "ApplicableHeaderTradeDelivery|ApplicableSupplyChainTradeDelivery"
_SETTLEMENT = "ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement"
_SUMS = "SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
_LINE = "IncludedSupplyChainTradeLineItem"
_LINE_AGREEMENT = "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement"
_LINE_DELIVERY = "SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery"
_LINE_SETTLEMENT = "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement"
_LINE_SUMS = "SpecifiedTradeSettlementLineMonetarySummation|SpecifiedTradeSettlementMonetarySummation"
_RATE = "RateApplicablePercent|ApplicablePercent"
_DATE = "DateTimeString|DateString|DateTime"
_REFERENCE = "IssuerAssignedID|ID"


def recognises(root: Group) -> bool:
    """By what stands in the root, whose name has changed: the release candidate of ZUGFeRD 1 calls it Invoice."""
    return root.has(_TRADE) and (root.has(_DOCUMENT) or root.has(_CONTEXT))


def read(root: Group) -> list[model.Invoice]:
    """The one invoice of the file."""
    trade = root.find(_TRADE)
    if trade is None:
        return []
    nothing = Group(trade.element.makeelement("none"), trade.place, trade.log)
    agreement, delivery, settlement = (trade.find(each) or nothing for each in (_AGREEMENT, _DELIVERY, _SETTLEMENT))
    specification = root.text("BT-24", f"{_CONTEXT}/GuidelineSpecifiedDocumentContextParameter/ID")
    currency = settlement.text("BT-5", "InvoiceCurrencyCode")
    accounting = settlement.text("BT-6", "TaxCurrencyCode")
    totals, counted = _totals(settlement, currency, accounting)
    charges = [_allowance(each) for each in settlement.all("SpecifiedTradeAllowanceCharge")]
    charges += [_logistics(each) for each in settlement.all("SpecifiedLogisticsServiceCharge")]
    return [
        model.Invoice(
            "cii",
            _profile(root, specification),
            specification,
            root.text("BT-23", f"{_CONTEXT}/BusinessProcessSpecifiedDocumentContextParameter/ID"),
            root.text("BT-1", f"{_DOCUMENT}/ID"),
            root.date("BT-2", f"{_DOCUMENT}/IssueDateTime/{_DATE}"),
            root.text("BT-3", f"{_DOCUMENT}/TypeCode"),
            currency,
            accounting,
            settlement.date("BT-7", f"ApplicableTradeTax/TaxPointDate/{_DATE}"),
            settlement.text("BT-8", "ApplicableTradeTax/DueDateTypeCode"),
            settlement.date("BT-9", f"SpecifiedTradePaymentTerms/DueDateDateTime/{_DATE}"),
            settlement.text("BT-20", "SpecifiedTradePaymentTerms/Description"),
            _references(agreement, delivery, settlement),
            _notes(root),
            _preceding(settlement),
            _party(agreement.find("SellerTradeParty"), _SELLER) or model.Party(),
            _party(agreement.find("BuyerTradeParty"), _BUYER) or model.Party(),
            _party(settlement.find("PayeeTradeParty"), _PAYEE),
            _party(agreement.find("SellerTaxRepresentativeTradeParty"), _REPRESENTATIVE),
            _delivery(delivery),
            _period(settlement.find("BillingSpecifiedPeriod"), "BT-73", "BT-74"),
            _payments(settlement),
            tuple(charges),
            totals,
            counted,
            tuple(_tax_row(each) for each in settlement.all("ApplicableTradeTax")),
            _supporting(agreement),
            tuple(_line(each) for each in trade.all(_LINE)),
            tuple(root.log.unread),
            root.log.places,
        )
    ]


_SELLER = ("BT-27", "BT-28", "BT-30", "BT-31", "BT-32", "BT-34", "BT-40")
_BUYER = ("BT-44", "BT-45", "BT-47", "BT-48", "", "BT-49", "BT-55")
_PAYEE = ("BT-59", "", "BT-61", "", "", "", "")
_REPRESENTATIVE = ("BT-62", "", "", "BT-63", "", "", "BT-69")


def _profile(root: Group, specification: str | None) -> model.Profile:
    old = root.name != "CrossIndustryInvoice"
    return model.Profile.ZUGFERD1 if old else profile_of(specification)


def _references(agreement: Group, delivery: Group, settlement: Group) -> model.References:
    others = agreement.all("AdditionalReferencedDocument")
    return model.References(
        agreement.text("BT-10", "BuyerReference"),
        agreement.text("BT-11", "SpecifiedProcuringProject/ID"),
        agreement.text("BT-12", f"ContractReferencedDocument/{_REFERENCE}"),
        agreement.text("BT-13", f"BuyerOrderReferencedDocument/{_REFERENCE}"),
        agreement.text("BT-14", f"SellerOrderReferencedDocument/{_REFERENCE}"),
        delivery.text("BT-15", f"ReceivingAdviceReferencedDocument/{_REFERENCE}"),
        delivery.text("BT-16", f"DespatchAdviceReferencedDocument/{_REFERENCE}"),
        next((each.text("BT-17", _REFERENCE) for each in others if each.text("", "TypeCode") == "50"), None),
        next((each.text("BT-18", _REFERENCE) for each in others if each.text("", "TypeCode") == "130"), None),
        settlement.text("BT-19", "ReceivableSpecifiedTradeAccountingAccount/ID"),
    )


def _notes(root: Group) -> tuple[model.Note, ...]:
    found = ((each.text("", "Content"), each) for each in root.all(f"{_DOCUMENT}/IncludedNote"))
    return tuple(model.Note(text, each.text("", "SubjectCode")) for text, each in found if text)


def _preceding(settlement: Group) -> tuple[model.Preceding, ...]:
    date = f"FormattedIssueDateTime|IssueDateTime/{_DATE}"
    found = settlement.all("InvoiceReferencedDocument")
    return tuple(model.Preceding(each.text("BT-25", _REFERENCE), each.date("BT-26", date)) for each in found)


def _party(group: Group | None, terms: tuple[str, ...]) -> model.Party | None:
    if group is None:
        return None
    name, trade, legal, vat, tax, endpoint, country = terms
    registered = {
        (each.attribute("ID", "schemeID") or "").upper(): each
        for each in reversed(group.all("SpecifiedTaxRegistration"))
    }
    vat_id, tax_id = (_registered(registered.get(key), term, group) for key, term in (("VA", vat), ("FC", tax)))
    return model.Party(
        group.text(name, "Name"),
        group.text(trade, "SpecifiedLegalOrganization/TradingBusinessName"),
        (*group.identifiers("ID"), *group.identifiers("GlobalID")),
        group.identifier(legal, "SpecifiedLegalOrganization/ID"),
        vat_id,
        tax_id,
        group.text("", "Description"),
        group.identifier(endpoint, "URIUniversalCommunication/URIID"),
        group.text("", "DefinedTradeContact/PersonName") or group.text("", "DefinedTradeContact/DepartmentName"),
        group.text("", "DefinedTradeContact/TelephoneUniversalCommunication/CompleteNumber"),
        group.text("", "DefinedTradeContact/EmailURIUniversalCommunication/URIID"),
        _address(group.find("PostalTradeAddress"), country),
    )


def _registered(found: Group | None, term: str, party: Group) -> str | None:
    if found is None:
        return None
    if term and found.text("", "ID"):
        party.log.places.setdefault(term, f"{found.place}/ID")
    return found.text("", "ID")


def _address(group: Group | None, country: str) -> model.Address | None:
    if group is None:
        return None
    lines = (group.text("", each) for each in ("LineOne", "LineTwo", "LineThree"))
    return model.Address(
        tuple(line for line in lines if line),
        group.text("", "CityName"),
        group.text("", "PostcodeCode"),
        group.text("", "CountrySubDivisionName"),
        group.text(country, "CountryID"),
    )


def _delivery(group: Group) -> model.Delivery | None:
    date = group.date("BT-72", f"ActualDeliverySupplyChainEvent/OccurrenceDateTime/{_DATE}")
    place = group.find("ShipToTradeParty")
    if place is None:
        return model.Delivery(date=date) if date else None
    location = next(iter((*place.identifiers("ID"), *place.identifiers("GlobalID"))), None)
    return model.Delivery(
        place.text("BT-70", "Name"), location, date, _address(place.find("PostalTradeAddress"), "BT-80")
    )


def _period(group: Group | None, start: str, end: str) -> model.Period | None:
    if group is None:
        return None
    return model.Period(group.date(start, f"StartDateTime/{_DATE}"), group.date(end, f"EndDateTime/{_DATE}"))


def _payments(settlement: Group) -> tuple[model.PaymentMeans, ...]:
    remittance = settlement.text("BT-83", "PaymentReference")
    creditor = settlement.text("BT-90", "CreditorReferenceID")
    mandate = settlement.text("BT-89", "SpecifiedTradePaymentTerms/DirectDebitMandateID")
    found = settlement.all("SpecifiedTradeSettlementPaymentMeans", noted=True)
    if not found and (remittance or mandate):
        return (model.PaymentMeans(remittance=remittance, mandate=mandate, creditor=creditor, stated=False),)
    return tuple(
        model.PaymentMeans(
            each.text("BT-81", "TypeCode"),
            each.text("BT-82", "Information"),
            remittance,
            _accounts(each),
            each.text("BT-87", "ApplicableTradeSettlementFinancialCard/ID"),
            each.text("BT-88", "ApplicableTradeSettlementFinancialCard/CardholderName"),
            mandate,
            creditor,
            each.text("BT-91", "PayerPartyDebtorFinancialAccount/IBANID"),
        )
        for each in found
    )


def _accounts(means: Group) -> tuple[model.Account, ...]:
    bic = means.text("BT-86", "PayeeSpecifiedCreditorFinancialInstitution/BICID")
    return tuple(
        model.Account(
            each.text("BT-84", "IBANID") or each.text("BT-84", "ProprietaryID"), each.text("BT-85", "AccountName"), bic
        )
        for each in means.all("PayeePartyCreditorFinancialAccount", noted=True)
    )


def _allowance(group: Group) -> model.AllowanceCharge:
    return model.AllowanceCharge(
        (group.text("", "ChargeIndicator/Indicator") or group.text("", "ChargeIndicator")) in ("true", "1"),
        group.amount("BT-92", "ActualAmount"),
        group.amount("BT-93", "BasisAmount"),
        group.amount("BT-94", "CalculationPercent"),
        group.text("BT-95", "CategoryTradeTax/CategoryCode"),
        group.amount("BT-96", f"CategoryTradeTax/{_RATE}"),
        group.text("BT-97", "Reason"),
        group.text("BT-98", "ReasonCode"),
    )


def _logistics(group: Group) -> model.AllowanceCharge:
    """A charge for freight, of the EXTENDED profile and of ZUGFeRD 1."""
    return model.AllowanceCharge(
        charge=True,
        amount=group.amount("BT-99", "AppliedAmount"),
        category=group.text("BT-102", "AppliedTradeTax/CategoryCode"),
        rate=group.amount("BT-103", f"AppliedTradeTax/{_RATE}"),
        reason=group.text("BT-104", "Description"),
    )


def _totals(settlement: Group, currency: str | None, accounting: str | None) -> tuple[model.Totals, int]:
    group = settlement.find(_SUMS)
    if group is None:
        return model.Totals(), 0
    taxes = group.all("TaxTotalAmount", noted=True)
    # Without an attribute, or with the same currency for both, the first is the invoice's.
    own = [each for each in taxes if each.attribute(".", "currencyID") in (None, currency)]
    others = [each for each in taxes if accounting != currency and each.attribute(".", "currencyID") == accounting]
    totals = model.Totals(
        group.amount("BT-106", "LineTotalAmount"),
        group.amount("BT-107", "AllowanceTotalAmount"),
        group.amount("BT-108", "ChargeTotalAmount"),
        group.amount("BT-109", "TaxBasisTotalAmount"),
        own[0].amount("BT-110", ".") if own else None,
        others[0].amount("BT-111", ".") if others and accounting else None,
        group.amount("BT-112", "GrandTotalAmount"),
        group.amount("BT-113", "TotalPrepaidAmount"),
        group.amount("BT-114", "RoundingAmount"),
        group.amount("BT-115", "DuePayableAmount"),
    )
    return totals, len(own)


def _tax_row(group: Group) -> model.TaxRow:
    return model.TaxRow(
        group.amount("BT-116", "BasisAmount"),
        group.amount("BT-117", "CalculatedAmount"),
        group.text("BT-118", "CategoryCode"),
        group.amount("BT-119", _RATE),
        group.text("BT-120", "ExemptionReason"),
        group.text("BT-121", "ExemptionReasonCode"),
        group.place,
    )


def _supporting(agreement: Group) -> tuple[model.Supporting, ...]:
    return tuple(
        model.Supporting(
            each.text("BT-122", _REFERENCE),
            each.text("BT-123", "Name"),
            each.text("BT-124", "URIID"),
            each.attribute("AttachmentBinaryObject", "filename"),
        )
        for each in agreement.all("AdditionalReferencedDocument")
        if each.text("", "TypeCode") not in ("50", "130")
    )


def _line(group: Group) -> model.Line:
    settlement = group.find(_LINE_SETTLEMENT) or Group(group.element.makeelement("none"), group.place, group.log)
    net, gross = (f"{_LINE_AGREEMENT}/{each}ProductTradePrice" for each in ("NetPrice", "GrossPrice"))
    return model.Line(
        group.text("BT-126", "AssociatedDocumentLineDocument/LineID"),
        group.text("BT-127", "AssociatedDocumentLineDocument/IncludedNote/Content"),
        group.amount("BT-129", f"{_LINE_DELIVERY}/BilledQuantity"),
        group.attribute(f"{_LINE_DELIVERY}/BilledQuantity", "unitCode"),
        settlement.amount("BT-131", f"{_LINE_SUMS}/LineTotalAmount"),
        group.text("BT-132", f"{_LINE_AGREEMENT}/BuyerOrderReferencedDocument/LineID"),
        settlement.text("BT-133", "ReceivableSpecifiedTradeAccountingAccount/ID"),
        _period(settlement.find("BillingSpecifiedPeriod"), "BT-134", "BT-135"),
        tuple(_allowance(each) for each in settlement.all("SpecifiedTradeAllowanceCharge")),
        group.amount("BT-146", f"{net}/ChargeAmount"),
        group.amount("BT-147", f"{gross}/AppliedTradeAllowanceCharge/ActualAmount"),
        group.amount("BT-148", f"{gross}/ChargeAmount"),
        group.amount("BT-149", f"{net}/BasisQuantity"),
        settlement.text("BT-151", "ApplicableTradeTax/CategoryCode"),
        settlement.amount("BT-152", f"ApplicableTradeTax/{_RATE}"),
        _item(group.find("SpecifiedTradeProduct")),
        group.place,
    )


def _item(group: Group | None) -> model.Item:
    if group is None:
        return model.Item()
    return model.Item(
        group.text("BT-153", "Name"),
        group.text("BT-154", "Description"),
        group.text("BT-155", "SellerAssignedID"),
        group.text("BT-156", "BuyerAssignedID"),
        group.identifier("BT-157", "GlobalID"),
        group.identifiers("DesignatedProductClassification/ClassCode", "listID"),
        group.text("BT-159", "OriginTradeCountry/ID"),
        tuple(
            (each.text("BT-160", "Description"), each.text("BT-161", "Value"))
            for each in group.all("ApplicableProductCharacteristic")
        ),
    )


syntax: Syntax = Syntax("cii", recognises, read)
