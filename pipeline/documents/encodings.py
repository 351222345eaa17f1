"""Which encoding bytes of text are in: what they are beats what they say they are, and a guess is the last resort."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.documents.letters import is_known, plausibility

# UTF-32 first: its little-endian mark starts with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What programs mean by a label, where that is more than the label's own standard has.
_MEANT = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "cp950",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
}
_ALIASES = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-mac-roman": "mac_roman",
}
_NO_TEXT = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"})
# In this order: of equally good readings the first wins, so a text of umlauts alone is Western.
_CANDIDATES = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1257", "cp1255", "cp1256", "cp874",
    "iso8859-15", "iso8859-2", "iso8859-5", "iso8859-6", "koi8-r", "koi8-u", "cp866", "cp850", "cp852", "mac_roman",
    "mac_cyrillic", "cp932", "euc_jp", "gb18030", "cp950", "cp949",
)  # fmt: skip
_EBCDIC = ("cp500", "cp1140", "cp273")
_SAMPLE_BYTES = 16_384
_HEAD_BYTES = 4096
_FOREIGN = re.compile(rb"[\x00-\x7f]{0,24}[\x80-\xff]+[\x00-\x7f]{0,24}")
_JAPANESE_MAIL = re.compile(rb"\x1b\$[@B].*\x1b\([BJ]", re.DOTALL)
_TEXT_CONTROLS = "\t\n\v\f\r\x1a\x1b\x85"
_GOOD_PER_BAD = 10  # a text in another encoding has few sequences that are valid UTF-8
_UNDECODABLE = -10.0
_TRUST = 0.75  # how much better than the declared encoding a guess must read, in points a letter


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the encoding it was in, and how that was found: by mark, bytes, declaration or guess."""

    text: str
    encoding: str
    found_by: str


def decode(raw: bytes, declared: str = "") -> Decoded:
    """The text of the bytes; what cannot be decoded becomes U+FFFD. Never raises.

    `declared` is the label in the document. It is believed only where the bytes do not contradict it.
    """
    marked = by_mark(raw)
    if marked:
        return Decoded(raw.decode(marked, "replace"), marked, "mark")
    certain = by_bytes(raw)
    if certain:
        return Decoded(raw.decode(certain, "replace"), certain, "bytes")
    label = known(declared)
    if raw.isascii() and label not in ("iso2022_jp", "hz"):
        return Decoded(raw.decode("ascii"), "ascii", "bytes")
    if _is_utf8(raw):
        return Decoded(raw.decode("utf-8", "replace"), "utf-8", "bytes")
    return _declared_or_guessed(raw, label)


def by_mark(raw: bytes) -> str | None:
    """The encoding of the byte order mark, None without one."""
    return next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), None)


def by_bytes(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, EBCDIC, or ISO-2022-JP, by the look of the first 4 KiB; None for all else."""
    head = head[:_HEAD_BYTES]
    if b"\x00" in head:
        return next((each for each in _wide(head) if _reads_as_text(head, each)), None)
    if _JAPANESE_MAIL.search(head) and head.isascii():
        return "iso2022_jp"
    if _looks_like_ebcdic(head):
        return max(_EBCDIC, key=lambda each: plausibility(head.decode(each, "replace"), "cp1252"))
    return None


def known(label: str) -> str | None:
    """The codec that programs mean by a label such as `ISO-8859-1`; None for none, and for what is no text encoding."""
    label = label.strip().strip("\"'").lower()[:40]
    try:
        name = _ALIASES.get(label) or codecs.lookup(label).name
        "a".encode(name)
    except (LookupError, ValueError):
        return None
    return None if name.replace("_", "-") in _NO_TEXT else _MEANT.get(name, name)


def _is_utf8(raw: bytes) -> bool:
    """Whether the bytes are UTF-8, but for one bad sequence in ten."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        bad = text.count("\N{REPLACEMENT CHARACTER}")
        return len(text) - len(text.encode("ascii", "ignore")) - bad > _GOOD_PER_BAD * bad
    return True


def _declared_or_guessed(raw: bytes, label: str | None) -> Decoded:
    sample = _sample(raw)
    scores = {each: _score(sample, each) for each in _CANDIDATES}
    best = max(_CANDIDATES, key=lambda each: scores[each])
    if label and not label.startswith("utf"):
        score = scores.get(label, _score(sample, label))
        if score > _UNDECODABLE and (score >= scores[best] - _TRUST or not is_known(label)):
            return Decoded(raw.decode(label, "replace"), label, "declaration")
    return Decoded(raw.decode(best, "replace"), best, "guess")


def _score(sample: bytes, encoding: str) -> float:
    try:
        return plausibility(sample.decode(encoding), encoding)
    except UnicodeDecodeError:
        return _UNDECODABLE - len(sample.decode(encoding, "replace").split("\N{REPLACEMENT CHARACTER}"))


def _sample(raw: bytes) -> bytes:
    """The parts that are not ASCII, with what stands around them."""
    if len(raw) <= _SAMPLE_BYTES:
        return raw
    pieces: list[bytes] = []
    size = 0
    for match in _FOREIGN.finditer(raw):
        pieces.append(match[0][:_SAMPLE_BYTES])
        size += len(pieces[-1])
        if size >= _SAMPLE_BYTES:
            break
    return b"\n".join(pieces)


def _wide(head: bytes) -> Iterator[str]:
    """UTF-16 and UTF-32 by where the zero bytes of common characters stand."""
    counts = [head[start::4].count(0) for start in range(4)]
    quarter = len(head) // 4
    if quarter and counts[2] + counts[3] >= 2 * quarter - 1 and not counts[0]:
        yield "utf-32-le"
    if quarter and counts[0] + counts[1] >= 2 * quarter - 1 and not counts[3]:
        yield "utf-32-be"
    even, odd = counts[0] + counts[2], counts[1] + counts[3]
    if odd > 4 * even and odd > len(head) // 30:
        yield "utf-16-le"
    if even > 4 * odd and even > len(head) // 30:
        yield "utf-16-be"


def _reads_as_text(head: bytes, encoding: str) -> bool:
    """Whether it decodes to printable characters of few scripts, as chance never does."""
    width = 4 if "32" in encoding else 2
    try:
        text = head[: len(head) // width * width - width * (len(head) == _HEAD_BYTES)].decode(encoding)
    except UnicodeDecodeError:
        return False
    odd = sum(not sign.isprintable() and sign not in _TEXT_CONTROLS for sign in text)
    blocks = {ord(sign) >> 8 for sign in text if ord(sign) < 0x2E80}
    return bool(text) and not odd and len(blocks) <= 6


def _looks_like_ebcdic(head: bytes) -> bool:
    """Letters above 0x80, blanks at 0x40 and hardly any ASCII blank, as in no other encoding."""
    blanks, letters = head.count(0x40), sum(1 for byte in head if 0x81 <= byte <= 0xA9 or 0xC1 <= byte <= 0xE9)
    if len(head) < 16 or blanks < len(head) // 25 or head.count(0x20) > blanks // 20 or letters < len(head) // 2:
        return False
    text = head.decode("cp500", "replace")
    good = sum(sign.isalnum() or sign in " \n\r\t\x85.,;:-/()'\"&%" for sign in text)
    return good >= 0.97 * len(text)
