"""The control words of RTF that matter for its text: characters, code pages, and groups that are no text."""

from __future__ import annotations

import codecs

CHARACTERS = {
    "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "\u2014", "endash": "\u2013", "lquote": "\u2018",
    "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d", "bullet": "\u2022", "emspace": " ",
    "enspace": " ", "qmspace": " ", "zwj": "", "zwnj": "",
}  # fmt: skip
SYMBOLS = {b"~": " ", b"_": "-", b"-": "", b"\\": "\\", b"{": "{", b"}": "}", b"\t": "\t"}
NO_TEXT = frozenset(
    {
        "colortbl", "stylesheet", "info", "pict", "filetbl", "listtable", "listoverridetable", "revtbl", "generator",
        "themedata", "colorschememapping", "datastore", "latentstyles", "xmlnstbl", "rsidtbl", "fldinst", "sn", "sv",
        "shprslt", "nonshppict", "nonesttables", "objdata", "bkmkstart", "bkmkend", "ftnsep", "ftnsepc", "aftnsep",
        "aftnsepc", "xe", "tc", "tcn", "rxe", "private", "template", "comment", "pntxtb", "pntxta", "mmathPr",
        "atnid", "atnauthor", "atntime", "atndate", "atnref", "atrfstart", "atrfend", "objclass", "objname", "fontemb",
        "fontfile", "panose", "falt", "keycode", "docvar", "userprops", "ffname", "ffdeftext", "formfield", "datafield",
    }
)  # fmt: skip
KNOWN_AFTER_STAR = frozenset({"shpinst", "shptxt", "nesttableprops", "annotation", "footnote"})
MARGINS = frozenset({"header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf"})
_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 78: "cp932", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
SYMBOL_CHARSET = 2
_PAGES = {10000: "mac_roman", 65001: "utf-8", 936: "gbk", 708: "iso8859_6", 1361: "johab"}
DEFAULT_CODEC = "cp1252"


def codec_of_charset(charset: int | None) -> str | None:
    """The codec of a font's character set; None where the document's own applies."""
    return None if charset is None else _CHARSETS.get(charset)


def codec_of_page(number: int) -> str:
    """The codec of a code page; Windows-1252 for one that Python does not know."""
    name = _PAGES.get(number, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return DEFAULT_CODEC
    return name
