"""What the words of a receipt's head say: a company, a street, a place, or something else that tills print there."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from pipeline.reading.receipts import misread
from pipeline.reading.rows import Row, fold

_REGISTERED_ROW = re.compile(
    r"\bco(?:mpany)?\b.{0,8}\b(?:reg|no)\b|\breg\b.{0,4}\bno\b|^\W{0,3}[a-z]{0,3}\d{5,12} ?-? ?[a-z]{0,2}\W{0,3}$"
)
_PHONE_ROW = re.compile(r"^\W{0,2}(?:\+?\d{1,3}[- ]?)?\(?\d{2,4}\)?[- ]?\d{3,4} ?-? ?\d{3,5}(?:\W.{0,30})?$")
_BRANCH = re.compile(r"^\(?\d{3,4} ?[-:] ?[a-z]")
FORM = re.compile(
    r"\b(?:s[dno0]{0,2}n[. ]{0,2}[bdeh8]h[do0b]|s/b|bhd|berhad|ltd|limited|inc|llc|gmbh|pte|plc|corp|plt"
    r"|s\.?a\.?r\.?l|s\.?r\.?l|b\.?v|kg|ohg|e\.? ?k)\b"
)
TRADE = re.compile(
    r"\b(?:enterprise|trading|perniagaan|syarikat|restora\w{1,3}|restaurant|cafe|coffee|mart|market|supermarket|store"
    r"|shop|hardware|stationer\w{1,3}|bakery|books?|house|pharmacy|hotel|kedai|pasar|mini ?market|hypermarket"
    r"|gift|deco|seafood|kitchen|bistro|center|centre|company|sons|apotheke|backerei|markt|boulangerie|librairie|bakkerij)\b"
)
STREET = re.compile(
    r"\b(?:jalan|jln|jl|lot|no\.? ?\d|lorong|taman|tmn|persiaran|lebuh|bandar|seksyen|block|blok|kawasan|ground floor"
    r"|level|unit|street|st|road|rd|avenue|ave|lane|drive|square|way|rue|via|calle|plaza|place|strasse"
    r"|\w{3,20}str(?:asse)?|weg|platz|straat|laan|medan|pusat|wisma|menara|mall|batu|kampung|kg|off|floor|bangunan)\b"
    r"|\b(?:jalan|taman|lorong|persiaran|bandar)(?=[a-z])|^\W?\d{1,5}[a-z]?[-,. ]"
)
PLACE = re.compile(
    r"\b(?:kuala ?lumpur|k\.? ?l|selangor|johor|penang|pulau ?pinang|perak|melaka|pahang|sabah|sarawak|kedah|klang"
    r"|petaling|shah ?alam|ipoh|puchong|seremban|negeri ?sembilan|malaysia|ehsan|d\.e|wilayah|london|singapore"
    r"|usa|uk)\b"
)
POSTCODE = re.compile(r"\b\d{5}(?!\d)|\b[a-z]{1,2}\d{1,2}[a-z]? \d[a-z]{2}\b|\b\d{4} ?[a-z]{2}\b")
OTHER = re.compile(
    r"\b(?:tel|fax|phone|gst|tax|invoice|receipt|cash(?! ?(?:&|and|n) ?carry)|bill"
    r"|date|time|email|www|http|cashier|table|sst|vat|doc|welcome"
    r"|description|item|qty|branch|original|copy|reprint|hotline|customer|order|ust|tva|btw"
    r"|thanks?|tq|please|goods|return\w{0,5}|reg|company no|duplicate)\b|@|\.com|\d[.,]\d\d\b|%"
)
_ALMOST_SDN_BHD = re.compile(
    r"(?<![^\W\d_])(s[dno0]{0,2}n)([. ]{0,2})([bdeh8]h[do0b])\b(?=[ .)]{0,3}$|[ .]{0,2}\()", re.IGNORECASE
)
_LONG_WORDS = "enterprise|trading|restaurant|restoran|stationery|hardware|perniagaan|pharmacy|bakery|malaysia"
_RUN_TOGETHER = re.compile(
    rf"(?<=[^\W\d_]{{2}})(?=(?:{_LONG_WORDS})\b)|(?<=trading)(?=co\b)|(?<=[^\W\d_]{{2}})(?=sdn[. ]?bhd\b)",
    re.IGNORECASE,
)
_PLAIN_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_])")
_PREFIX = re.compile(r"^(?:(?:hq )?add(?:ress)?|own(?:ed)? by|operated by|dimiliki(?: oleh)?|alamat)\b ?[:.] ?")
_VOCABULARY = (
    "jalan taman lorong persiaran bandar seksyen kawasan bangunan menara wisma street avenue square kuala lumpur"
    " selangor johor penang pinang perak melaka pahang sabah sarawak kedah klang petaling puchong seremban malaysia"
    " enterprise trading perniagaan syarikat restoran restaurant coffee market supermarket hardware stationery bakery"
    " pharmacy hotel kedai hypermarket seafood kitchen bistro centre company berhad limited invoice receipt cashier"
    " phone welcome table customer branch"
)
_KNOWN = frozenset(_VOCABULARY.split())


class Witness(enum.Enum):
    """What a receipt says of a candidate that the model alone does not know how far to trust."""

    FOR = "for"
    NONE = "none"
    AGAINST = "against"


@dataclass(frozen=True, slots=True)
class Span:
    """A text of one or more rows that follow each other.

    `trust`: how much of it was not repaired, 0 to 1. `proved`: other amounts of the receipt make this one. `witness`:
    what else speaks, beside its probability.
    """

    value: str
    row: Row
    trust: float = 1.0
    proved: bool = False
    witness: Witness = Witness.NONE


@dataclass(frozen=True, slots=True)
class Said:
    """What a row's words say, each True or False."""

    form: bool
    trade: bool
    street: bool
    place: bool
    postcode: bool
    other: bool
    phone: bool
    registration: bool
    branch: bool


def said(text: str) -> Said:
    """What a text, as `known` gives it, says: each pattern is tried on it once."""
    return Said(
        form=FORM.search(text) is not None,
        trade=TRADE.search(text) is not None,
        street=STREET.search(text) is not None,
        place=PLACE.search(text) is not None,
        postcode=POSTCODE.search(text) is not None,
        other=OTHER.search(text) is not None,
        phone=_PHONE_ROW.search(text) is not None,
        registration=_REGISTERED_ROW.search(text) is not None,
        branch=_BRANCH.search(text) is not None,
    )


def known(text: str) -> str:
    """The text folded, words of the head that are misread by a sign put right; as long as it was."""
    return misread.words(fold(text), _KNOWN)


def unprefixed(text: str) -> str:
    """The text without what announces an address or an owner before it."""
    match = _PREFIX.match(fold(text))
    return text[match.end() :] if match else text


def is_wordy(row: Row) -> bool:
    """Whether a row says something: it has a word of three letters or more, and letters are half of its signs.

    What is written on a receipt by hand, and what recognition makes of the print of its back, mostly does not.
    """
    letters = sum(map(str.isalpha, row.text))
    return 2 * letters > len(row.text.replace(" ", "")) and _PLAIN_WORD.search(row.text) is not None


def restored(name: str) -> str:
    """A name with its legal form, letters and spaces as they must have been: `J0YTRADINGCO SDN DHD`, for example."""

    def form(match: re.Match[str]) -> str:
        return _as_printed(match[1], "sdn") + (match[2] or " ") + _as_printed(match[3], "bhd")

    return _ALMOST_SDN_BHD.sub(form, _RUN_TOGETHER.sub(" ", misread.letters(name)))


def _as_printed(read: str, form: str) -> str:
    return form.upper() if read[-1:].isupper() or read.isupper() else form.title()
