"""How much a text looks like writing: which letters a language uses, and that words keep to one script and case."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import pairwise

_SIGNS = "€£§°–—’‘“”„…«»·\u00a0®©№"
_CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґў"
_GREEK = "αοιετσνηυρπκμλςωδγθφχβξζψάέήίόύώϊϋ"
_HANZI = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家"
    "事成方多经去法学如都同现当没动面起看定天分还进好小部其主样理心本前开但因只从想实日者意无力它与长机十民第公此"
    "已工使情明性知全三又关点正业外将两高间由问很最重并物手应向文体相见利二等产新制身加月合回特代内信表化给位次度"
    "任常先通教原提立及比员解水名真处各入口条平系更别打四总何电数安少报结反受目太量建务接必件计管期市直德资"
    "金指许统区保至社便空科司五基书非则达放即权设式路记南品住告类求程北交规万取共确清今票额税号码单价款"
    "這個們來為國說時會對過發後裡經學當沒動還進樣開從實無與長機關點業將兩間問應體見產東聲員號碼單價額稅總電報"
    "請書貨證據訂購買賣廠區市縣路樓付款項備註開立統編"
)
# What the languages of an encoding write beyond ASCII, the commonest letters first.
_WRITTEN = {
    "cp1252": "äöüßéèêàâçñóíáúãîôëïìòùæøåœÿÄÖÜÉÈÀÇÑØÅÓÍÁÚÂÊÎÔ¿¡²³½ªº•™õþð",
    "cp1250": "ąćęłńóśźżáčďéěíňřšťúůýžőűöüäđôľĺŕăâîşţßĄĆĘŁŃÓŚŹŻÁČĎÉĚÍŇŘŠŤÚŮÝŽŐŰÖÜÄĐÂÎŞŢĽ•™",
    "cp1251": _CYRILLIC,
    "cp1253": _GREEK,
    "cp1254": "ıişğüöçİŞĞÜÖÇâî",
    "cp1257": "āčēģīķļņšūžąęėįųõäöüĀČĒĢĪĶĻŅŠŪŽĄĘĖĮŲÕÄÖÜ",
    "cp1255": "יוהלאמרתנבשםעדפחקכסטזגצןךץף₪",
    "cp1256": "المينرتوبسعدةهقكفحجأشطصخزضغذثىإءظئآؤ،؛؟پچژگ",
    "cp874": "".join(map(chr, range(0x0E01, 0x0E4F))),
    "cp932": _HANZI,
    "gb18030": _HANZI,
    "cp950": _HANZI,
}
_ALIKE = {
    "iso8859-15": "cp1252", "cp850": "cp1252", "mac_roman": "cp1252", "iso8859-2": "cp1250", "cp852": "cp1250",
    "iso8859-5": "cp1251", "koi8-r": "cp1251", "koi8-u": "cp1251", "cp866": "cp1251", "mac_cyrillic": "cp1251",
    "iso8859-6": "cp1256", "iso8859-7": "cp1253", "iso8859-8": "cp1255", "iso8859-4": "cp1257", "iso8859-13": "cp1257",
    "cp1125": "cp1251", "cp855": "cp1251", "cp437": "cp1252", "cp858": "cp1252",
    "euc_jp": "cp932", "cp949": "cp932",
}  # fmt: skip
_HANGUL = (
    "의이다는가을에하한고기사지로정도자인시를대어서수아부일해전제보리장상동과나원주구요그만공우계금액합번호세산급받회"
    "여스적들으라니있면진조위것성경였선미물생소신국내청건용품단납입출거래명비관련안무실행중분천백십월년"
)
# Letters that another encoding has in their place more often.
_RARER = {"cp1252": "ûýÞÐÝ", "cp1251": "ъщэфцюшж", "cp1253": "ϊϋξψ", "cp1250": "ŕĺăđţ"}
_PRIOR = {
    "cp1252": 0.0, "cp1250": -0.06, "cp1251": 0.0, "cp1257": -0.1, "iso8859-15": -0.1, "iso8859-2": -0.07,
    "iso8859-5": -0.25, "koi8-u": -0.1, "koi8-r": -0.08, "cp850": -0.4, "cp852": -0.4, "mac_roman": -0.4,
    "mac_cyrillic": -0.4, "cp874": -0.4, "cp1255": 0.0,
}  # fmt: skip
_RARE_ENCODING = -0.2
_INSIDE = re.compile("[^\\W\\d_][€£§°“”„…«»®©№][^\\W\\d_]")
_LAST = "ךםןףץς"  # letters that only end words
_THAI_MARKS = "ัิีึืฺุู"  # of which a consonant carries one
_COMMONEST = 12
_JAPANESE = ("cp932", "euc_jp")
_EASTERN = (*_JAPANESE, "gb18030", "cp950", "cp949")
_OPENING = "€£§°–—’‘“”„…«»·\u00a0№¿¡•™"  # a word may touch them
_MIXED, _CASE, _STUCK = -4.0, -2.5, -2.0


def plausibility(text: str, encoding: str) -> float:
    """How much the text looks like what people write in this encoding: points a letter, about -5 to 2; 0 for ASCII."""
    signs = Counter(sign for sign in text if sign > "\x7f")
    if not signs:
        return 0.0
    total = sum(_weight(sign, encoding) * count for sign, count in signs.items())
    pairs = Counter(pair for pair in pairwise(text) if max(pair) > "\x7f")
    total += sum(_fit(*pair) * count for pair, count in pairs.items())
    total += _STUCK * len(_INSIDE.findall(text))
    return total / sum(signs.values()) + _PRIOR.get(encoding, _RARE_ENCODING)


def is_known(encoding: str) -> bool:
    """Whether anything is known of what people write in this encoding."""
    return _ALIKE.get(encoding, encoding) in _WRITTEN or encoding == "cp949"


@cache
def _written(encoding: str) -> dict[str, float]:
    family = _ALIKE.get(encoding, encoding)
    letters = _WRITTEN.get(family, "")
    ranked = dict.fromkeys(letters, 1.0)
    if family in ("cp1251", "cp1253", "cp1255", "cp1256"):
        ranked |= dict.fromkeys(letters.upper(), 0.5) | dict.fromkeys(letters[:_COMMONEST], 2.0)
    ranked |= dict.fromkeys("ışğİŞĞ", 1.3) if family == "cp1254" else {}
    if family == "cp1252":
        ranked |= {"õ": 0.8, "þ": 0.6}
    return ranked | dict.fromkeys(_RARER.get(family, ""), 0.4) | dict.fromkeys(_SIGNS, 0.9)


@cache
def _weight(sign: str, encoding: str) -> float:
    """Points for one sign that is not ASCII."""
    known = _written(encoding).get(sign)
    if known is not None:
        return known
    category = unicodedata.category(sign)
    if category in ("Cc", "Co", "Cn", "Cs") or sign == "\N{REPLACEMENT CHARACTER}":
        return -6.0
    if encoding in _EASTERN:
        return _eastern(sign, encoding)
    return -0.8 if category[0] in "LM" else -1.5


def _eastern(sign: str, encoding: str) -> float:
    script = _script(sign)
    if script in ("HIRAGANA", "KATAKANA"):
        return 1.6 if encoding in _JAPANESE else -0.5
    if script == "HANGUL":
        return (1.5 if sign in _HANGUL else 0.1) if encoding == "cp949" else -1.5
    if script in ("CJK", "IDEOGRAPHIC", "FULLWIDTH"):
        return 0.3 if encoding != "cp949" else -0.6
    return -2.0


@cache
def _script(sign: str) -> str:
    if not sign.isalpha() and unicodedata.category(sign) != "Mn":
        return "IDEOGRAPHIC" if "\u3000" <= sign <= "\u303f" else ""
    name = unicodedata.name(sign, "").split(" ", 1)[0]
    return "CYRILLIC" if name == "UKRAINIAN" else name


@cache
def _fit(first: str, second: str) -> float:
    """Points for two neighbours: a word has one script, no capital after a small letter, no sign stuck in it."""
    if (first in _LAST and second.isalpha()) or (first in _THAI_MARKS and second in _THAI_MARKS):
        return _MIXED
    if first == "õ" and second == "e":  # Portuguese; Hungarian has another letter in its place
        return 1.0
    scripts = _script(first), _script(second)
    if all(scripts):
        if scripts[0] != scripts[1] and not (_is_eastern(scripts[0]) and _is_eastern(scripts[1])):
            return _MIXED
        return _CASE if first.islower() and second.isupper() else 0.0
    sign, letter = (first, second) if scripts[1] else (second, first)
    if letter.isalpha() and sign > "\x7f" and sign not in _OPENING:
        return _STUCK
    return 0.0


def _is_eastern(script: str) -> bool:
    return script in ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC", "FULLWIDTH", "KATAKANA-HIRAGANA")
