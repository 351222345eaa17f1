"""Targets that take no document: what a child says to its parent, names, text, configuration, XML by itself."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.cli.output import json_line, neutral, safe
from pipeline.config import CONFIG_NAME
from pipeline.config_reading import load
from pipeline.documents.entries import shown_name
from pipeline.documents.inbox import is_ignored, is_own_note, rule_for
from pipeline.documents.markup import einvoice_text, einvoice_xml, xml_text
from pipeline.documents.office.xml import Attributes, read_xml
from pipeline.documents.text import Page, Source, clean, display_name, identifiers
from pipeline.errors import ConfigurationError, DocumentError
from pipeline.found import checked_result
from pipeline.intake.placing import numbered
from pipeline.worker.frames import (
    BrokenFrame,
    Decoder,
    encode,
    inspection_of,
    known_reason,
    page_count_of,
    page_fields,
    page_of,
    unpacked_of,
    usage_of,
)
from tests.fuzz import hostile
from tests.fuzz.oracle import require_finite, require_storable
from tests.handlers.pages import ENGLISH_INVOICE

ROOT = Path(__file__).resolve().parents[2]
Seeds = Callable[[], Sequence[bytes]]
Run = Callable[[bytes], str]


def _frames() -> list[bytes]:
    page = Page(1, "words", "w o r d s", Source.OCR, "engine 1", seconds=0.5, note="n", figures={"dpi": 200, "a": "b"})
    inspection = {"media_type": "application/pdf", "page_count": 3, "ocr_page_count": 1, "restricted": False}
    attachment = {"number": 1, "name": "a.pdf", "media_type": "", "left_out": "", "rendition_of": 0, "file": "a-1"}
    field = {"value": "12.50", "page": 1, "snippet": "s", "method": "label", "confidence": 0.5}
    result = {"document_type": "invoice", "scores": {"invoice": 0.9}, "fields": {"total_gross": [field]}, "gaps": [1]}
    return [
        encode({"kind": "opened", "page_count": 3}),
        encode({"kind": "page", "page": page_fields(page)}),
        encode({"kind": "inspected", **inspection}),
        encode(
            {"kind": "attachment", "attachment": {**attachment, "inspection": inspection, "reason": None, "error": ""}}
        ),
        encode({"kind": "refused", "reason": "corrupt", "error": "words"}),
        encode({"kind": "finished", "reason": "ok", "result": result, "cpu_seconds": 1.5, "peak_rss_bytes": 10**8}),
    ]


def _answered(data: bytes) -> str:
    """A child's answers, as its parent takes them: used, or known to be nonsense."""
    decoder = Decoder()
    decoder.feed(data)
    try:
        while (frame := decoder.next()) is not None:
            _believed(frame)
    except BrokenFrame:
        return "broken"
    return "ok"


def _believed(frame: dict[str, Any]) -> None:
    for take in (_take_page, _take_inspection, _take_part, _take_end):
        try:
            take(frame)
        except BrokenFrame:
            continue


def _take_page(frame: dict[str, Any]) -> None:
    page = page_of(frame.get("page", {})).storable()
    require_storable(page.text, page.layout, page.error, page.note)
    require_storable(*(clean(name) for name in page.figures))


def _take_inspection(frame: dict[str, Any]) -> None:
    found = inspection_of(frame)
    require_storable(clean(found.media_type))
    require_finite(min(found.page_count, 2**31), min(found.ocr_page_count, 2**31))


def _take_part(frame: dict[str, Any]) -> None:
    unpacked = unpacked_of(frame.get("attachment", {}))
    assert 1 <= unpacked.number < 2**31
    assert 0 <= (unpacked.rendition_of or 0) < 2**31
    require_storable(clean(unpacked.name), clean(unpacked.left_out), clean(unpacked.error))
    assert len(unpacked.name) <= 1000


def _take_end(frame: dict[str, Any]) -> None:
    require_finite(*usage_of(frame))
    known_reason(frame.get("reason"))
    text = json.dumps(checked_result(frame.get("result")), allow_nan=False, ensure_ascii=False)
    require_storable(text, json.loads(text).get("document_type"))
    assert "\\u0000" not in text
    page_count_of(frame)


def _names() -> list[bytes]:
    names = [
        "Rechnung 42.pdf",
        "a" * 255,
        "\u202egpj.exe",
        "..",
        "e\u0301.PDF",
        "~$a.docx",
        "a.error.txt",
        *hostile.BAD_NAMES,
    ]
    return [name.encode() for name in names] + [b"\xff\xfe.pdf", b"a/\xc3/b.pdf", b"\n[2026] ERROR\r"]


def _named(data: bytes) -> str:
    shown = display_name(data)
    require_storable(shown)
    assert not any(unicodedata.category(sign) in ("Cc", "Cf", "Cs") for sign in shown)
    assert safe(shown).isprintable() or " " in safe(shown) or not safe(shown).isascii()
    is_ignored(data)
    is_own_note(data)
    rule_for(data, {})
    last = data.rpartition(b"/")[2].replace(b"\x00", b"") or b"a"
    assert len(numbered(last[:255], 12)) <= 255
    shown_name(data.decode("utf-8", "surrogateescape"), otherwise="file")
    os.fsdecode(data)
    return "ok"


def _cleaned(data: bytes) -> str:
    for text in (data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace"), data.decode("latin-1")):
        done = clean(text)
        require_storable(done, identifiers(done))
        assert clean(done) == done, "cleaning again changes the text"
        assert "\x1b" not in safe(text, lines=True)
        json.loads(json_line({"cell": text}))
        assert not neutral(text).startswith(("=", "@"))
    return "ok"


def _decodable(data: bytes) -> str:
    try:
        return _cleaned(data)
    except UnicodeDecodeError:
        return "broken"


def _configurations() -> list[bytes]:
    return [
        (ROOT / CONFIG_NAME).read_bytes(),
        b"lease:\n  base_seconds: 5\n",
        b"inbox:\n  rules:\n    urgent: {priority: urgent}\n",
        b"a: &a [*a, 2001-99-99, !!python/object/apply:os.system ['true']]\n",
        b"limits: {max_pages: 1e309}\n",
        b"? [1, 2]\n: 3\n",
        b"[" * 5000,
        b"limits: {max_pages: " + b"9" * 5000 + b"}\n",
    ]


def _configured(data: bytes) -> str:
    home = Path.cwd()
    path = home / CONFIG_NAME
    path.write_bytes(data)
    try:
        load(home, environment={})
        load(home, environment={"DOCLEASE_LEASE__BASE_SECONDS": data.decode("utf-8", "replace").replace("\x00", "")})
    except ConfigurationError:
        return "refused"
    finally:
        path.unlink()
    return "ok"


def _xml_seeds() -> list[bytes]:
    return [*hostile.corpus()["xml"], b"<?xml version='1.0'?><a b='c'>words<d/></a>"]


class _Silent:
    """Listens to a part and keeps nothing."""

    def start(self, tag: str, attributes: Attributes) -> None:
        """Nothing."""

    def end(self, tag: str) -> None:
        """Nothing."""

    def text(self, data: str) -> None:
        """Nothing."""


def _parsed(data: bytes) -> str:
    """Through every reader of XML there is."""
    einvoice_xml.kind_of(data)
    einvoice_xml.invoice_number(data)
    outcome = "ok"
    lines, tree = xml_text.Lines(), einvoice_text.ElementTree()
    readers: tuple[Callable[[], object], ...] = (
        lambda: xml_text.walk(data, lines),
        lambda: xml_text.walk(data, tree),
        lambda: read_xml([data], _Silent(), "part"),
    )
    for reader in readers:
        try:
            reader()
        except DocumentError as refusal:
            outcome = str(refusal.reason)
    if tree.root:
        for kind in (einvoice_xml.UBL, einvoice_xml.CII, einvoice_xml.FATTURAPA):
            require_storable(*map(clean, einvoice_text.pages(tree.root, kind)))
    return outcome


PLAIN: Mapping[str, tuple[Seeds, Run]] = {
    "frames": (_frames, _answered),
    "names": (_names, _named),
    "text": (lambda: [ENGLISH_INVOICE.encode(), *hostile.corpus()["plain"], *_names()], _decodable),
    "config": (_configurations, _configured),
    "xml": (_xml_seeds, _parsed),
}
