"""Makes new inputs from known ones, knowing something of their structure: numbers, lengths, tokens, packed parts."""

from __future__ import annotations

import io
import random
import re
import warnings
import zipfile
from collections.abc import Callable, Sequence

MOST_BYTES = 400_000
MOST_STEPS = 6
_NUMBER = re.compile(rb"\d{1,12}")
_TAG = re.compile(rb"<[^<>]{1,200}>")
_NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 1 << 63)
_FIGURES = (b"0", b"-1", b"1", b"65536", b"2147483648", b"4294967295", b"99999999999999999999", b"1e309", b"NaN", b"")
_TOKENS = (
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",  # half a surrogate pair
    b"\xe2\x80\xae",  # turns the direction of what follows
    b"\x1b]52;c;AAAA\x07",
    b"\r\n\r\n",
    b"%s%n",
    b"../../../etc/passwd",
    b"<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>",
    b"&e;",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"=CMD()",
    b"/Kids [1 0 R]",
    b"/Filter [/FlateDecode /FlateDecode /ASCIIHexDecode]",
    b"/Length 99999999",
    b"endstream",
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"\\bin99999999 ",
    b"{\\object",
    b"Content-Type: multipart/mixed; boundary=b\r\n",
    b"--b\r\n",
    b"=?utf-16?b?2AA=?=",
    b"\nFrom ",
)


class Mutator:
    """Changes inputs, the same way for the same chance. `others` are inputs to take pieces from."""

    def __init__(self, chance: random.Random, others: Sequence[bytes]) -> None:
        self._chance = chance
        self._others = others
        self._ways: tuple[Callable[[bytes], bytes], ...] = (
            self._bits,
            self._number,
            self._number,
            self._cut,
            self._lost,
            self._twice,
            self._swapped,
            self._token,
            self._figure,
            self._figure,
            self._tag,
            self._spliced,
        )

    def mutate(self, data: bytes) -> bytes:
        """A changed input, of at most 400 KB. Of a package, one part is changed as often as its shell."""
        if data.startswith(b"PK") and self._chance.random() < 0.6:
            return self._repacked(data)[:MOST_BYTES]
        return self._steps(data)[:MOST_BYTES]

    def _steps(self, data: bytes) -> bytes:
        for _ in range(self._chance.randint(1, MOST_STEPS)):
            data = self._chance.choice(self._ways)(data) or data
        return data

    def _place(self, data: bytes, room: int = 0) -> int:
        return self._chance.randrange(max(len(data) - room, 0) + 1)

    def _slice(self, data: bytes) -> tuple[int, int]:
        start = self._place(data)
        return start, min(start + self._chance.choice((1, 4, 16, 100, 2000)), len(data))

    def _bits(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._chance.randint(1, 8)):
            if changed:
                changed[self._chance.randrange(len(changed))] ^= 1 << self._chance.randrange(8)
        return bytes(changed)

    def _number(self, data: bytes) -> bytes:
        """A binary number, perhaps a length or a count, becomes an extreme one."""
        width = self._chance.choice((1, 2, 4, 8))
        value = (self._chance.choice(_NUMBERS) + self._chance.choice((0, 0, 1, -1))) % (1 << 8 * width)
        at = self._place(data, width)
        order = "little" if self._chance.random() < 0.5 else "big"
        return data[:at] + value.to_bytes(width, "little" if order == "little" else "big") + data[at + width :]

    def _cut(self, data: bytes) -> bytes:
        return data[: self._place(data)]

    def _lost(self, data: bytes) -> bytes:
        start, end = self._slice(data)
        return data[:start] + data[end:]

    def _twice(self, data: bytes) -> bytes:
        start, end = self._slice(data)
        return data[:end] + data[start:end] * self._chance.choice((1, 1, 2, 50)) + data[end:]

    def _swapped(self, data: bytes) -> bytes:
        start, end = self._slice(data)
        at = self._place(data[:start])
        return data[:at] + data[start:end] + data[at:start] + data[end:]

    def _token(self, data: bytes) -> bytes:
        at = self._place(data)
        return data[:at] + self._chance.choice(_TOKENS) * self._chance.choice((1, 1, 1, 300)) + data[at:]

    def _figure(self, data: bytes) -> bytes:
        """A number in digits becomes an extreme one."""
        found = list(_NUMBER.finditer(data))
        if not found:
            return data
        one = self._chance.choice(found)
        return data[: one.start()] + self._chance.choice(_FIGURES) + data[one.end() :]

    def _tag(self, data: bytes) -> bytes:
        """A tag is put where another one is, or many times."""
        found = list(_TAG.finditer(data))
        if len(found) < 2:
            return data
        one, another = self._chance.choice(found), self._chance.choice(found)
        return data[: one.start()] + another[0] * self._chance.choice((1, 2, 3000)) + data[one.end() :]

    def _spliced(self, data: bytes) -> bytes:
        other = self._chance.choice(self._others) if self._others else data
        return data[: self._place(data)] + other[self._place(other) :]

    def _repacked(self, data: bytes) -> bytes:
        """The same package with one part changed, so that the change comes past the checks of the shell."""
        try:
            with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(data)) as package:
                warnings.simplefilter("ignore")
                parts = [(each.filename, package.read(each)) for each in package.infolist()]
            chosen = self._chance.randrange(len(parts))
            name, content = parts[chosen]
            parts[chosen] = (name, self._steps(content)[:MOST_BYTES])
            return _packed(parts)
        except Exception:  # noqa: BLE001 - what cannot be read as a package is changed as bytes
            return self._steps(data)


def _packed(parts: Sequence[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as package:
        warnings.simplefilter("ignore")  # a name may be there twice
        for name, content in parts:
            how = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            package.writestr(zipfile.ZipInfo(name), content, compress_type=how)
    return file.getvalue()
