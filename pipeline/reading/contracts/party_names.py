"""Whether words are the name of a company or a person, and where in a description the name ends."""

from __future__ import annotations

import re

FORM = re.compile(
    r",? ?\b(?:Limited Liability Company"
    r"|Inc|Incorporated|LLC|L\.L\.C|Ltd|Limited|LLP|L\.P|LP|Corp|Corporation|PLC|plc|Company|Co"
    r"|GmbH(?: & Co\.? KG)?|AG|KG|SE|B\.V|BV|N\.V|Aktiengesellschaft|Partnership"
    r"|S\.A\.S|S\.A|SA|(?-i:AB|ASA|Oyj)|KGaA|A/S|Pte\.? Ltd|Sdn\.? Bhd|Oy|Ltda|K\.K"
    r"|SAS|SARL|S\.L|S\.r\.l|S\.p\.A|S\.A\.R\.L|Pty\.? Ltd|N\.A|S/A|G\.I\.E"
    r"|e\. ?K|e\. ?V|OHG|GbR|UG(?: \(haftungsbeschränkt\))?)(?!\w)\.?(?:, (?:Inc|LLC|Ltd"
    r"|L\.P)\b\.?)?",
    re.IGNORECASE,
)
_DESCRIBED = re.compile(
    r",? (?:an? |a company|with (?:its|a|an|principal|offices?|registered)|having|located|whose|organized|organised"
    r"|incorporated (?:in|under|and|as)|acting|on behalf|duly"
    r"|existing|established|formed|registered|residing|through|by and through|of \d|of the city|at \d|represented"
    r"|vertreten|mit sitz|geschaftsansassig"
    r"|dont le|au capital|representee?|ayant|gevestigd|statutair|vertegenwoordigd|con (?:sede|domicilio)"
    r"|doing business|d/b/a|dba|f/k/a|formerly|c/o|address|tel|for services of|director"
    r"|and a subsidiary"
    r"|individually|as (?:of|the)|for itself|the (?:undersigned|sole)|is (?:made|entered)|dated|effective|successor"
    r"|together with|and (?:its|his|her|their)|"
    r"hereinafter|herein|hereafter|nachfolgend|im folgenden|ci-apres|hierna|en adelante|di seguito|collectively)\b"
    r"|\((?!haftungsbeschr|\w{2,12}\) ?(?:co|ltd|limited|inc|gmbh|llc)\b)|[;:\[_]|\bwhereas\b|  "
)
# What a contract calls its parties and itself; a name of such words alone is a term that is defined elsewhere.
_ROLES = re.compile(
    r"(?:(?:part(?:y|ies)|agreements?|effective|date|term|this|contract|the|execution|commencement|day|year|client"
    r"|customer|supplier|reseller|distributor|franchis(?:or|ee)|licens(?:or|ee)|less(?:or|ee)|contractor|consultant"
    r"|seller|buyer|purchaser|vendor|provider|lender|borrower|owner|agent|services?|landlord|tenant|employe[er]"
    r"|address|disclaimer|recipient|discloser|disclosing|receiving|master|developer|company|corporation|exhibit"
    r"|europe|america|north|england|wales)(?: |$))+",
    re.IGNORECASE,
)
_PARTICLES = re.compile(r"(?:of|and|the|d[aeiou]s?|del(?:la)?|l[ae]s?|et|und|der|die|das|für|for|in|on|van|von|y|e|a)$")
_NO_NAME = re.compile(
    r"^(?:an?|of|and|by|to|our|we|undersigned|this|each|once|such|all|any|if|in|it|its|the part(?:y|ies)|no|for"
    r"|as|assigns|both|that|trade register)\b",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(r"^[Yy]ou(?![A-Za-z])|^YOU$")
_SENTENCE_WORD = re.compile(
    r"\b(?:shall|will|may|agrees?|pays?|under|your|such|which|hereby|herein|this|these|any|contemplated|respect|reject"
    r"|reference|provides|with|therein|is|are|was|to|by reference)\b",
    re.IGNORECASE,
)
_PARTNERS = re.compile(r"[A-ZÀ-Þ][\w'’-]{1,25}(?:, [A-ZÀ-Þ][\w'’-]{1,25}){1,3},? (?:&|and) [A-ZÀ-Þ][\w'’-]{1,25}")
_TITLE_BEHIND = re.compile(r", ?(?:Jr|Sr|I{2,3}|M\.? ?D|N\.? ?D|Ph\.? ?D|Esq|CPA)\b\.?", re.IGNORECASE)
_NAME_ENDS = re.compile(r"(?<=[a-z]{3})(?<!\bInc)(?<!orp)(?<!Ltd)\. (?=[A-Z])")
_ADDRESS = re.compile(
    r"\b(?:unit|suite|floor|street|road|avenue|plaza|building|boulevard|drive|lane|box|attachment|exhibit)\b",
    re.IGNORECASE,
)
_KIND_ONLY = re.compile(r"[A-Z][\w ]{2,20} (?:corporation|company|partnership|limited liability company)")
_BLANK = re.compile(r"[\[\]_{}<>]|\.{3}|\b(?:name|insert|company name|date)\b$", re.IGNORECASE)


def is_name(name: str, *, formed: bool) -> bool:
    """Whether it may be a party's name; `formed` says that it has a legal form."""
    letters = sum(sign.isalpha() for sign in name)
    return (
        3 <= len(name) <= 100
        and letters >= 3
        and name.count(" ") <= 11
        and (name[0].isupper() or name[0].isdigit() or formed)
        and not _BLANK.search(name)
        and not _KIND_ONLY.fullmatch(name)
        and (formed or not _ADDRESS.search(name))
        and not _NO_NAME.search(name)
        and not _ADDRESSED.search(name)
        and len(FORM.sub("", name).strip(" .,")) >= 2
        and _ROLES.fullmatch(name) is None
        and not _SENTENCE_WORD.search(FORM.sub("", name))
        and (formed or all(not word.islower() or _PARTICLES.match(word) for word in name.split()[1:]))
    )


def name_end(piece: str) -> int:
    """Where a name ends: at its legal form if that comes before any description, else at comma or description."""
    folded = piece.lower()
    described = _DESCRIBED.search(folded)
    limit = described.start() if described else len(piece)
    ended = _NAME_ENDS.search(piece, 0, limit)
    limit = ended.start() if ended else limit
    forms = [match for match in FORM.finditer(piece[:limit]) if match.start() > 2]
    firm = _PARTNERS.match(piece[:limit])  # "Fern, Moss & Reed, Inc."
    comma = piece.find(",", firm.end() if firm else 0, limit)
    titled = _TITLE_BEHIND.match(piece, comma, limit) if comma > 0 else None
    comma = piece.find(",", titled.end(), limit) if titled else comma
    if forms and (comma < 0 or forms[0].start() <= comma + 1):
        last = forms[0]
        for form in forms[1:]:
            if form.start() <= last.end() + 1:
                last = form
        return min(limit, last.end())
    return comma if comma > 0 else limit
