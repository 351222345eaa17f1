"""Which XML is an electronic invoice: roots and namespaces of UBL, CII and FatturaPA, and where the number stands."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.documents.markup.xml_text import Enough, walk
from pipeline.errors import DocumentError

UBL, CII, FATTURAPA = "ubl", "cii", "fatturapa"
_UBL_NAMESPACE = "urn:oasis:names:specification:ubl:schema:xsd:"
_UBL_ROOTS = ("Invoice", "CreditNote", "DebitNote", "SelfBilledInvoice", "SelfBilledCreditNote")
_FERD_NAMESPACE = "urn:ferd:CrossIndustryDocument:"  # ZUGFeRD 1
_CII_NAMESPACE = "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:"
_NUMBER_MOST_BYTES = 4_000_000  # signatures may come before the number, attachments come after it
_NUMBERS = {
    UBL: (("ID",),),
    CII: (("ExchangedDocument", "ID"), ("HeaderExchangedDocument", "ID")),
    FATTURAPA: (("FatturaElettronicaBody", "DatiGenerali", "DatiGeneraliDocumento", "Numero"),),
}


def kind_of(head: bytes) -> str | None:
    """`ubl`, `cii`, `fatturapa`, or None, by the root element; the beginning of the file is enough. Never raises.

    None as well when the root does not begin within `head`: comments may come before it.
    """
    root = _Root()
    _walk(head, root)
    return root.kind


def invoice_number(content: bytes) -> str | None:
    """The number of the (first) invoice as written, None when it is no electronic invoice or has none. Never raises.

    Reads only as far as the number; cheap enough for every attachment of a mail.
    """
    finder = _Number()
    _walk(content[:_NUMBER_MOST_BYTES], finder)
    return finder.number


def kind_of_root(name: str, attributes: Mapping[str, str]) -> str | None:
    """The same by the name of the root element, without its prefix, and its attributes."""
    namespaces = [value for key, value in attributes.items() if key == "xmlns" or key.startswith("xmlns:")]
    if name in _UBL_ROOTS and f"{_UBL_NAMESPACE}{name}-2" in namespaces:
        return UBL
    if name == "CrossIndustryInvoice" and any(each.startswith(_CII_NAMESPACE) for each in namespaces):
        return CII
    if name == "CrossIndustryDocument" and any(each.startswith(_FERD_NAMESPACE) for each in namespaces):
        return CII
    # Its namespace has changed with each version, and many senders write it wrong; no other format has the name.
    return FATTURAPA if name in ("FatturaElettronica", "FatturaElettronicaSemplificata") else None


def _walk(content: bytes, receiver: _Root) -> None:
    try:
        walk(content, receiver)
    except DocumentError:
        pass  # a beginning has no end, and what is broken further on is not asked for


class _Root:
    """Takes in the root element only."""

    def __init__(self) -> None:
        self.kind: str | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """The root, and that is enough."""
        self.kind = kind_of_root(name, attributes)
        raise Enough

    def text(self, text: str) -> None:
        """Nothing comes before the root."""

    def end(self) -> None:
        """The root does not end."""


class _Number(_Root):
    """Takes in everything up to the invoice's number."""

    def __init__(self) -> None:
        super().__init__()
        self.number: str | None = None
        self._path: list[str] = []
        self._text: list[str] = []
        self._wanted: tuple[tuple[str, ...], ...] = ()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Follow the path below the root."""
        if self.kind is None:
            self.kind = kind_of_root(name, attributes)
            if self.kind is None:
                raise Enough
            self._wanted = _NUMBERS[self.kind]
            return
        self._path.append(name)
        self._text.clear()

    def text(self, text: str) -> None:
        """Collect the text of the innermost element."""
        if tuple(self._path) in self._wanted:
            self._text.append(text)

    def end(self) -> None:
        """The number is complete where its element ends."""
        if tuple(self._path) in self._wanted:
            self.number = " ".join("".join(self._text).split()) or None
            raise Enough
        if self._path:
            self._path.pop()
