"""Signs that documents take from picture fonts, as characters that can be searched."""

from __future__ import annotations

_PICTURES = {
    0x6C: "\u25cf", 0x6E: "\u25a0", 0x6F: "\u2610", 0x71: "\u2610", 0x78: "\u2612", 0xA7: "\u25aa", 0xA8: "\u2610",
    0xD8: "\u27a2", 0xDF: "\u2190", 0xE0: "\u2192", 0xFB: "\u2717", 0xFC: "\u2713", 0xFD: "\u2612", 0xFE: "\u2611",
}  # fmt: skip
_SECOND_PICTURES = {0x50: "\u2713", 0x4F: "\u2717", 0x52: "\u2611", 0x53: "\u2612", 0x54: "\u2612", 0xA3: "\u2610"}
_SYMBOLS = {
    0xA3: "\u2264", 0xA5: "\u221e", 0xAB: "\u2194", 0xAC: "\u2190", 0xAE: "\u2192", 0xB0: "\u00b0", 0xB1: "\u00b1",
    0xB3: "\u2265", 0xB4: "\u00d7", 0xB5: "\u221d", 0xB7: "\u2022", 0xB8: "\u00f7", 0xB9: "\u2260", 0xBB: "\u2248",
    0xBC: "\u2026", 0xD2: "\u00ae", 0xD3: "\u00a9", 0xD4: "\u2122", 0xD6: "\u221a", 0xE2: "\u00ae", 0xE3: "\u00a9",
    0xE4: "\u2122", 0xA0: "\u20ac",
}  # fmt: skip
_GREEK = dict(
    zip(
        (*range(0x61, 0x7B), *range(0x41, 0x5B)),
        "αβχδεφγηιϕκλμνοπθρστυϖωξψζΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ",
        strict=True,
    )
)
_PRIVATE = 0xF000


def symbol(font: str, code: str) -> str:
    """The character that `code`, hexadecimal, shows in this font; nothing for a picture that has no character."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if not 0x20 <= number <= 0xFFFF or 0xD800 <= number < 0xE000:
        return ""
    plain = number - _PRIVATE if number >= _PRIVATE and number < _PRIVATE + 0x100 else number
    lowered = font.lower()
    if "wingdings 2" in lowered:
        return _SECOND_PICTURES.get(plain, "")
    if "wingdings" in lowered or "webdings" in lowered:
        return _PICTURES.get(plain, "")
    if lowered == "symbol":
        return _SYMBOLS.get(plain) or _GREEK.get(plain) or (chr(plain) if plain < 0x7F else "")
    return chr(plain) if plain < 0xE000 else ""
