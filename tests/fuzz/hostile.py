"""Hostile files, built here: what attackers send, and what broken programs write. Each is a seed for its format."""

from __future__ import annotations

import base64
import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping

from tests.documents.packing import packed
from tests.documents.samples import docx, odt, pptx, xlsx

Corpus = Mapping[str, tuple[bytes, ...]]

PRIVATE_FILE = "/etc/passwd"
EXTERNAL = f'<!DOCTYPE a [<!ENTITY e SYSTEM "file://{PRIVATE_FILE}">]>'
PARAMETER = '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p.dtd"> %p;]>'
LAUGHS = (
    '<!DOCTYPE a [<!ENTITY e "ha">'
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1 or str()};" * 10}">' for n in range(1, 10))
    + "]>"
)
QUADRATIC = f'<!DOCTYPE a [<!ENTITY e "{"a" * 50_000}">]>'
OUTSIDE = '<!DOCTYPE a PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://127.0.0.1:9/a.dtd">'
INCLUDE = f'<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="file://{PRIVATE_FILE}" parse="text"/>'
PROLOGUES = (EXTERNAL, PARAMETER, LAUGHS, QUADRATIC, OUTSIDE)
BAD_NAMES = (
    "../../up.txt",
    "/absolute.txt",
    "C:\\dos.txt",
    "..\\up.txt",
    "nul\x00l.txt",
    "CON",
    "a/../../b",
    "\x1b[2J",
)


def corpus() -> Corpus:
    """Hostile files by the name of the format that is going to read them."""
    return {
        "xml": tuple(_xml()),
        "docx": tuple(_with_prologue(docx.build(["words"]), "word/document.xml")),
        "xlsx": tuple(_with_prologue(xlsx.build(["words"]), "xl/worksheets/sheet1.xml")),
        "pptx": tuple(_with_prologue(pptx.build(["words"]), "ppt/slides/slide0.xml")),
        "odt": tuple(_with_prologue(odt.build(["words"]), "content.xml")),
        "zip": tuple(_zip()),
        "pdf": tuple(_pdf()),
        "eml": tuple(_eml()),
        "html": tuple(_html()),
        "rtf": tuple(_rtf()),
        "png": (_png(60_000, 60_000), _png(0, 0), _png(5, 5) + b"\x00" * 100),
        "plain": ("\u202egpj.exe\x1b]0;x\x07\x9b31m".encode(), b"\xff\xfe" + b"\x00\xd8" * 50, b"\x00" * 1000),
        "tiff": (_tiff_loop(),),
        "mbox": (b"From a\n" * 3000, b"From a Mon Jan 1 00:00:00 2026\n\n" + b">From \n" * 100),
        "p7m": (b"\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80" + b"\x30\x80" * 3000,),
    }


def package_with(package: bytes, part: str, content: bytes) -> bytes:
    """The package with one part replaced."""
    with zipfile.ZipFile(io.BytesIO(package)) as old:
        parts: dict[str, str | bytes] = {each: old.read(each) for each in old.namelist()}
    return packed(parts | {part: content})


def with_prologue(package: bytes, part: str, prologue: str) -> bytes:
    """The package with a document type in a part, and its entity used wherever the part begins an element's text."""
    with zipfile.ZipFile(io.BytesIO(package)) as old:
        text = old.read(part).decode()
    declaration, end, rest = text.partition("?>") if text.startswith("<?xml") else ("", "", text)
    return package_with(package, part, f"{declaration}{end}{prologue}{rest.replace('words', '&e;')}".encode())


def _with_prologue(package: bytes, part: str) -> Iterator[bytes]:
    for prologue in PROLOGUES:
        yield with_prologue(package, part, prologue)
    yield package_with(package, part, b"<a>" * 5000)
    yield package_with(package, part, b"<a " + b"b" * 300_000)


def _xml() -> Iterator[bytes]:
    for prologue in PROLOGUES:
        yield f"<?xml version='1.0'?>{prologue}<a>&e;&e9;{INCLUDE}</a>".encode()
    yield f"<?xml version='1.0'?><a>{INCLUDE}</a>".encode()
    yield b"<?xml version='1.0' encoding='utf-7'?><a>+ADw-b+AD4-</a>"
    yield b"<?xml version='1.0'?><?xml-stylesheet href='http://127.0.0.1:9/'?>" + b"<a>" * 300
    yield b"<?xml version='1.0'?><a>" + b"a" * 40_000 + b"!</a>"  # nearly a file in base64
    yield "<?xml version='1.0' encoding='utf-16'?><a>\ud7ff</a>".encode("utf-16")


def _zip() -> Iterator[bytes]:
    yield packed({name: b"content" for name in BAD_NAMES if "\x00" not in name})
    linked = io.BytesIO()
    with zipfile.ZipFile(linked, "w") as archive:
        for number, kind in enumerate((0o120777, 0o010644, 0o020644, 0o060644, 0o140644)):
            entry = zipfile.ZipInfo(f"special-{number}")
            entry.create_system, entry.external_attr = 3, kind << 16
            archive.writestr(entry, PRIVATE_FILE)
    yield linked.getvalue()
    yield packed({"zeros.txt": b"\x00" * 3_000_000})
    inner = packed({"zeros.txt": b"\x00" * 500_000})
    for _ in range(8):
        inner = packed({f"{n}.zip": inner for n in range(3)})[:200_000]
    yield inner
    whole = bytearray(packed({"a.txt": b"first", "b.txt": b"second"}))
    struct.pack_into("<I", whole, whole.rindex(b"PK\x05\x06") + 16, 0)  # where the directory begins
    yield bytes(whole)
    yield gzip.compress(b"x" * 1000)


def pdf(*objects: bytes, root: int = 1) -> bytes:
    """A PDF of these objects, numbered from 1, with a true table of them."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, root, start)
    return bytes(out)


def stream(data: bytes, more: bytes = b"") -> bytes:
    """A stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), more, data)


CATALOGUE = b"<< /Type /Catalog /Pages 2 0 R >>"
ONE_PAGE = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>"
WORDS = stream(b"BT /F1 12 Tf 72 700 Td (words) Tj ET")


def _pdf() -> Iterator[bytes]:
    yield pdf(CATALOGUE, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>")
    yield pdf(CATALOGUE, b"<< /Type /Pages /Kids [3 0 R] /Count 999999999 >>", PAGE, WORDS)
    yield pdf(CATALOGUE, b"<< /Type /Pages /Kids [3 0 R] /Count -1 >>", PAGE, WORDS)
    yield pdf(CATALOGUE, ONE_PAGE, PAGE.replace(b"842", b"1e38"), WORDS)
    packed_twice = zlib.compress(zlib.compress(b"\x00" * 3_000_000))
    yield pdf(CATALOGUE, ONE_PAGE, PAGE, stream(packed_twice, b"/Filter [/FlateDecode /FlateDecode]"))
    yield pdf(CATALOGUE, ONE_PAGE, PAGE, stream(b"q " * 50_000 + b"[" * 50_000))
    yield pdf(CATALOGUE, ONE_PAGE, PAGE, b"<< /Length 4 0 R >>\nstream\nx\nendstream")
    launch = b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /Launch /F (/bin/sh) >> /AcroForm << /XFA 5 0 R >> >>"
    yield pdf(launch, ONE_PAGE, PAGE, WORDS, stream(f"<?xml version='1.0'?>{EXTERNAL}<xdp>&e;</xdp>".encode()))
    names = b"<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(../../up.xml) 5 0 R] >> >> >>"
    spec = b"<< /Type /Filespec /F (../../up.xml) /UF (/etc/cron.d/up) /EF << /F 6 0 R >> >>"
    yield pdf(names, ONE_PAGE, PAGE, WORDS, spec, stream(f"<?xml version='1.0'?>{LAUGHS}<a>&e9;</a>".encode()))
    yield b"%PDF-1.7\nstartxref\n9\n%%EOF" + b"\n1 0 obj << /Prev 9 >>" * 500


def _eml() -> Iterator[bytes]:
    head = b"From: a@example.org\r\nSubject: =?utf-8?q?=1b=5d0;x=07?=\r\nMIME-Version: 1.0\r\n"
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(300))
    yield head + deep
    yield head + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\n" * 3000
    yield head + b"Content-Type: text/plain; charset=utf-7\r\n\r\n+AAA-"
    yield head + b"Content-Type: text/plain; charset=idna\r\n\r\n" + b"a" * 300
    bad = base64.b64encode(packed({"../up": b"x"}))
    named = b'Content-Disposition: attachment; filename="../../etc/cron.d/up"\r\n'
    yield (head + b"Content-Type: application/zip\r\n" + named + b"Content-Transfer-Encoding: base64\r\n\r\n" + bad)
    yield head + b"References: " + b"<a@b> " * 20_000 + b"\r\n\r\nx"


def _html() -> Iterator[bytes]:
    yield b"<html><body>" + b"<div>" * 30_000 + b"words"
    yield b"<html><table>" + b"<tr><td colspan=99999999>a" * 2000
    yield b"<html><iframe src='file:///etc/passwd'></iframe><img src='http://127.0.0.1:9/x'><body>words"
    yield b"<html><!--" + b"<!--" * 30_000
    yield b"<html><body>&#0;&#xd800;&#99999999999;&" + b"a" * 30_000


def _rtf() -> Iterator[bytes]:
    yield b"{\\rtf1 " + b"{" * 30_000 + b"words"
    yield b"{\\rtf1\\bin2147483647 words}"
    yield b"{\\rtf1\\uc99999\\u-1 \\u55296 \\'zz words}"
    yield b"{\\rtf1{\\object\\objdata " + b"41" * 5000 + b"}}"


def _png(width: int, height: int) -> bytes:
    """A picture that claims this size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def _tiff_loop() -> bytes:
    """A picture whose list of frames leads back to its beginning."""
    entry = struct.pack("<HHII", 256, 4, 1, 10)
    return b"II*\x00" + struct.pack("<I", 8) + struct.pack("<H", 1) + entry + struct.pack("<I", 8)
