"""Files of every kind that has an end, made here, each with the length from which its kind can tell that it is cut."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage

from PIL import Image

from tests.documents.samples import pdf

SECTOR = 512


@dataclass(frozen=True, slots=True)
class Ended:
    """A whole file. Cut to any length from `told_from` up to `needed`, without the latter, it is known to be cut.

    But for the lengths `whole_too`, at which it is another whole file.
    """

    content: bytes
    needed: int
    told_from: int = 1
    whole_too: frozenset[int] = frozenset()

    @classmethod
    def at_last_byte(cls, content: bytes, *, told_from: int = 1) -> Ended:
        """A file that is cut when a single byte is missing."""
        return cls(content, len(content), told_from)


def noise(byte_count: int) -> bytes:
    """Bytes that no packing makes smaller, the same every time."""
    return random.Random(7).randbytes(byte_count)  # noqa: S311 - no secret


def picture(side: int) -> Image.Image:
    """A picture of noise, so that its file grows with it."""
    return Image.frombytes("RGB", (side, side), noise(side * side * 3))


def image(kind: str, side: int, **options: object) -> Ended:
    """An image as Pillow writes it."""
    file = io.BytesIO()
    picture(side).save(file, kind, **options)
    return Ended.at_last_byte(file.getvalue())


def tiff_of_frames(side: int) -> Ended:
    """Three frames, each with its directory before its strips."""
    content = image("TIFF", side, save_all=True, append_images=[picture(side), picture(side)]).content
    return Ended(content, len(content) - 8)  # zeros behind the last strip


def big_tiff(side: int) -> Ended:
    """A frame whose directory has numbers of 8 bytes."""
    return image("TIFF", side, big_tiff=True)


def jpeg_with_preview(side: int) -> Ended:
    """A photo with a whole small JPEG in its header."""
    exif = Image.Exif()
    exif[0x9286] = image("JPEG", 8).content  # as a comment: what matters is that it has an end of its own
    return image("JPEG", side, exif=exif.tobytes())


def gif(side: int) -> Ended:
    """An image of a few colours."""
    file = io.BytesIO()
    picture(side).quantize(64).save(file, "GIF")
    return Ended.at_last_byte(file.getvalue())


def plain_pdf(byte_count: int) -> Ended:
    """A PDF whose text fills so many bytes."""
    content = pdf.build(["word " * 10 + "\n" + "\n".join(["more words"] * (byte_count // 100))])
    return Ended(content, content.rindex(b"%%EOF") + 5)


def revised_pdf(byte_count: int) -> Ended:
    """A PDF with a second revision behind its first end."""
    first = plain_pdf(byte_count).content
    body = b"9 0 obj\n<< /Note (%s) >>\nendobj\n" % (b"x" * (byte_count // 2))
    rest = body + b"xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Prev 9 >>\nstartxref\n%d\n%%%%EOF\n" % len(
        first + body
    )
    return Ended(first + rest, len(first + rest) - 1, whole_too=frozenset((len(first) - 1, len(first))))


def linearized_pdf(byte_count: int) -> Ended:
    """A PDF whose first page comes first, with a table and an end of its own."""
    front = b"%%PDF-1.4\n1 0 obj\n<< /Linearized 1 /L %010d /H [ 5 6 ] >>\nendobj\nstartxref\n0\n%%%%EOF\n"
    rest = b"2 0 obj\n(%s)\nendobj\nstartxref\n150\n%%%%EOF\n" % (b"x" * byte_count)
    length = len(front % 0) + len(rest)
    return Ended(front % length + rest, length - 1)


def archive(byte_count: int, *, comment: bytes = b"", compression: int = zipfile.ZIP_STORED) -> Ended:
    """A ZIP with a file and another ZIP in it, stored as it is."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr("inner.txt", noise(byte_count // 2))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w", compression) as packed:
        packed.writestr("a.bin", noise(byte_count // 2))
        packed.writestr("b.zip", inner.getvalue())
        packed.comment = comment
    return Ended.at_last_byte(outer.getvalue())


def zip64(byte_count: int) -> Ended:
    """A ZIP whose last record refers to larger ones, as writers of streams make it."""
    content = archive(byte_count).content
    end = content.rindex(b"PK\x05\x06")
    entries, size, offset = struct.unpack_from("<HII", content, end + 10)
    record = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, offset)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    last = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return Ended.at_last_byte(content[:end] + record + locator + last)


def compound(byte_count: int) -> Ended:
    """An old Office file: header, data, directory, and the table of what is in use right behind the header."""
    data = -(-byte_count // SECTOR)
    used = data + 2
    tables = -(-(used + 3) // 128)
    chain = [0xFFFFFFFD] * tables + list(range(tables + 1, tables + used)) + [0xFFFFFFFE]
    chain += [0xFFFFFFFF] * (tables * 128 - len(chain))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6)
    header += bytes(10) + struct.pack("<IIIIIIIII", tables, tables, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0)[:36]
    header = header[:76] + struct.pack("<109I", *(list(range(tables)) + [0xFFFFFFFF] * (109 - tables)))
    body = struct.pack(f"<{len(chain)}I", *chain) + noise(used * SECTOR)
    return Ended.at_last_byte(header.ljust(SECTOR, b"\x00") + body)


def heic(byte_count: int) -> Ended:
    """The boxes of a photo of a telephone."""
    boxes = ((b"ftyp", b"heic\x00\x00\x00\x00mif1heic"), (b"meta", noise(200)), (b"mdat", noise(byte_count)))
    content = b"".join(struct.pack(">I4s", 8 + len(body), kind) + body for kind, body in boxes)
    return Ended.at_last_byte(content, told_from=8)


def seven_zip(byte_count: int) -> Ended:
    """A 7-Zip archive: its header is at its end."""
    start = struct.pack("<6sBBIQQI", b"7z\xbc\xaf\x27\x1c", 0, 4, 0, byte_count, 40, 0)
    return Ended.at_last_byte(start + noise(byte_count + 40))


def xml(byte_count: int, encoding: str = "utf-8") -> Ended:
    """An electronic invoice with what else may stand before and behind its root."""
    lines = "\n".join(f"<cbc:Line id='{each}' note=\"a > b\">ü</cbc:Line>" for each in range(byte_count // 45))
    text = f'<?xml version="1.0"?>\n<!-- </i:Invoice> -->\n<i:Invoice a="/>">\n{lines}\n</i:Invoice>'
    content, behind = text.encode(encoding), "\n<!-- made by us -->\n".encode(encoding)
    # The last byte of a last letter of two bytes is a zero, which nobody misses.
    needed = len(content) - ("16" in encoding)
    return Ended(content + behind.removeprefix(b"\xff\xfe"), needed, told_from=len("<?xml ".encode(encoding)))


def html(byte_count: int) -> Ended:
    """A web page."""
    content = b"<!DOCTYPE html>\n<html><body>" + b"<p>words</p>\n" * (byte_count // 13) + b"</body></html>\n"
    return Ended(content, len(content) - 1, told_from=10)


def mail(byte_count: int) -> Ended:
    """An e-mail with an attachment."""
    message = EmailMessage()
    message["Message-ID"] = "<1@example.org>"
    message["Subject"] = "Invoice"
    message.set_content("See below.")
    message.add_attachment(noise(byte_count * 3 // 4), "application", "octet-stream", filename="a.bin")
    content = message.as_bytes()
    return Ended(content, len(content) - 1, told_from=content.index(b"\n", content.index(b"\n") + 1) + 1)


KINDS: dict[str, Callable[[int], Ended]] = {
    "pdf": plain_pdf,
    "pdf revised": revised_pdf,
    "pdf linearized": linearized_pdf,
    "zip": archive,
    "zip with a comment": lambda size: archive(size, comment=b"c" * min(size, 0xFFFF)),
    "zip64": zip64,
    "jpeg": lambda size: image("JPEG", _side(size)),
    "jpeg progressive": lambda size: image("JPEG", _side(size), progressive=True),
    "jpeg with a preview": lambda size: jpeg_with_preview(_side(size)),
    "png": lambda size: image("PNG", _side(size)),
    "gif": lambda size: gif(_side(size)),
    "webp": lambda size: image("WEBP", _side(size), lossless=True),
    "tiff": lambda size: image("TIFF", _side(size)),
    "tiff of three frames": lambda size: tiff_of_frames(_side(size) // 2),
    "tiff packed": lambda size: image("TIFF", _side(size), compression="tiff_deflate"),
    "big tiff": lambda size: big_tiff(_side(size)),
    "old office": compound,
    "heic": heic,
    "7z": seven_zip,
    "xml": xml,
    "xml in utf-16": lambda size: xml(size, "utf-16"),
    "html": html,
    "mail": mail,
}


def _side(byte_count: int) -> int:
    """Of a square picture of three bytes a point."""
    return int((byte_count / 3) ** 0.5)
