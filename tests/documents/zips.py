"""Archives as no program writes them: locked by hand, changed in their tables, holding themselves."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

# Both hold a.txt, "forty two chairs " 40 times, under the password Schluessel with an umlaut; written by pyzipper 0.4.
AES_128 = (
    "UEsDBBQAAQBjAKwDfl0AAAAALgAAAKgCAAAFAAsAYS50eHQBmQcAAgBBRQEIAG6Pnax9/f8y1h81CfmGfYGmAYD2ZOxJ034rr+EMwm+3CKuDbkbPfea+"
    "uylG+idQSwECFAMUAAEAYwCsA35dAAAAAC4AAACoAgAABQALAAAAAAAAAAAAgAEAAAAAYS50eHQBmQcAAgBBRQEIAFBLBQYAAAAAAQABAD4AAABcAAAA"
    "AAA="
)
AES_256 = (
    "UEsDBBQAAQBjAKwDfl0AAAAANgAAAKgCAAAFAAsAYS50eHQBmQcAAgBBRQMIANL4U0JuoszmHy2wkk2MVz9sb9wMx65wlVvZG7Q7YUAl28p5h6I7S4X7"
    "KaAOUly9OjfvMieQ4FBLAQIUAxQAAQBjAKwDfl0AAAAANgAAAKgCAAAFAAsAAAAAAAAAAACAAQAAAABhLnR4dAGZBwACAEFFAwgAUEsFBgAAAAABAAEA"
    "PgAAAGQAAAAAAA=="
)


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 2, 9, 0, 0)), content, compress_type=method)
    return file.getvalue()


def locked_zip(content: bytes, password: bytes) -> bytes:
    """An archive of a.pdf with the old lock."""
    plain = bytes(11) + bytes([zlib.crc32(content) >> 24]) + content
    keys = [0x12345678, 0x23456789, 0x34567890]

    def turn(byte: int) -> None:
        keys[0] = zlib.crc32(bytes([byte]), keys[0] ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = zlib.crc32(bytes([keys[1] >> 24]), keys[2] ^ 0xFFFFFFFF) ^ 0xFFFFFFFF

    for byte in password:
        turn(byte)
    locked = bytearray()
    for byte in plain:
        mixed = keys[2] & 0xFFFF | 2
        locked.append(byte ^ (mixed * (mixed ^ 1) >> 8 & 0xFF))
        turn(byte)
    whole = bytearray(zipped(("a.pdf", b"\0" * len(locked)), method=zipfile.ZIP_STORED))
    at = whole.index(b"\0" * len(locked))
    whole[at : at + len(locked)] = locked
    central = whole.rindex(b"PK\x01\x02")
    for start in (14, central + 16):
        whole[start : start + 4] = struct.pack("<I", zlib.crc32(content))
    for start in (22, central + 24):
        whole[start : start + 4] = struct.pack("<I", len(content))
    whole[6] |= 1
    whole[central + 8] |= 1
    return bytes(whole)


def changed(content: bytes, field: int, value: bytes) -> bytes:
    """The archive with something else in the last record of its table."""
    at = content.rindex(b"PK\x01\x02") + field
    return content[:at] + value + content[at + len(value) :]


def forged_crc(content: bytes) -> bytes:
    """The archive with its own checksum as that of its entry, and a comment that makes it come true."""
    at = content.rindex(b"PK\x01\x02") + 16
    wanted = 0x12345678
    return _ending_with(content[:at] + struct.pack("<I", wanted) + content[at + 4 :], wanted)


def _ending_with(body: bytes, crc: int) -> bytes:
    """The bytes with a four-byte comment that gives the whole this checksum."""
    start = body.rindex(b"PK\x05\x06")
    body = changed(body, 24, struct.pack("<I", len(body) + 4))[: start + 20] + b"\x04\x00"
    state = zlib.crc32(body) ^ 0xFFFFFFFF
    target = crc ^ 0xFFFFFFFF
    rows = [next(index for index in range(256) if _row(index) >> 24 == top) for top in range(256)]
    for _ in range(4):
        index = rows[target >> 24]
        target = ((target ^ _row(index)) << 8 | index) & 0xFFFFFFFF
    return body + struct.pack("<I", target ^ state)


def _row(index: int) -> int:
    for _ in range(8):
        index = index >> 1 ^ (0xEDB88320 if index & 1 else 0)
    return index
