"""The two locks of ZIP archives, undone: the old one that nearly everybody writes, and AES as WinZip writes it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator
from functools import partial

from pipeline.errors import DocumentError
from pipeline.reasons import Reason

OLD_HEADER_BYTES = 12
_SALT_BYTES = {1: 8, 2: 12, 3: 16}
_VERIFIER_BYTES = 2
_SEAL_BYTES = 10
_ROUNDS = 1_000  # of key derivation, as WinZip has it
_BLOCK = 16

Unlock = Callable[[Iterator[bytes]], Iterator[bytes]]


def header_bytes(aes: int) -> int:
    """How many bytes stand before the locked content; `aes` is 0 for the old lock."""
    return _SALT_BYTES.get(aes, 16) + _VERIFIER_BYTES if aes else OLD_HEADER_BYTES


def trailer_bytes(aes: int) -> int:
    """How many bytes stand behind it."""
    return _SEAL_BYTES if aes else 0


def old_lock(header: bytes, password: bytes, check: int) -> Unlock | None:
    """What opens content locked in the old way; None when the password is surely wrong, as 255 of 256 are."""
    keys = _Keys(password)
    return keys.undone if len(header) == OLD_HEADER_BYTES and keys.undo(header)[-1] == check else None


def aes_lock(header: bytes, password: bytes, aes: int, seal: bytes) -> Unlock | None:
    """What opens content locked by AES; None when the password is wrong."""
    salt_bytes = _SALT_BYTES.get(aes)
    if salt_bytes is None or len(header) != salt_bytes + _VERIFIER_BYTES:
        return None
    size = salt_bytes * 2
    derived = hashlib.pbkdf2_hmac("sha1", password, header[:salt_bytes], _ROUNDS, 2 * size + _VERIFIER_BYTES)
    if derived[-_VERIFIER_BYTES:] != header[salt_bytes:]:
        return None
    return partial(_aes_undone, derived[:size], derived[size : 2 * size], seal)


class _Keys:
    """The three running keys of the old lock."""

    def __init__(self, password: bytes) -> None:
        self._table = [_crc_of(byte) for byte in range(256)]
        self._state = (0x12345678, 0x23456789, 0x34567890)
        for byte in password:
            self._state = _stepped(self._table, self._state, byte)

    def undone(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces unlocked; takes a second for some megabytes."""
        return map(self.undo, pieces)

    def undo(self, piece: bytes) -> bytes:
        """The next piece unlocked. The loop is flat: it runs once for every byte."""
        table = self._table
        first, second, third = self._state
        plain = bytearray(piece)
        for at, byte in enumerate(piece):
            mixed = third | 2
            sign = byte ^ ((mixed * (mixed ^ 1)) >> 8 & 0xFF)
            plain[at] = sign
            first = table[(first ^ sign) & 0xFF] ^ first >> 8
            second = ((second + (first & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
            third = table[(third ^ second >> 24) & 0xFF] ^ third >> 8
        self._state = (first, second, third)
        return bytes(plain)


def _crc_of(byte: int) -> int:
    """A byte's entry in the table of CRC-32, which zlib keeps to itself."""
    for _ in range(8):
        byte = byte >> 1 ^ (0xEDB88320 if byte & 1 else 0)
    return byte


def _stepped(table: list[int], state: tuple[int, int, int], byte: int) -> tuple[int, int, int]:
    first = table[(state[0] ^ byte) & 0xFF] ^ state[0] >> 8
    second = ((state[1] + (first & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
    return first, second, table[(state[2] ^ second >> 24) & 0xFF] ^ state[2] >> 8


def _aes_undone(key: bytes, seal_key: bytes, seal: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Counter mode with WinZip's counter, which begins at 1 and has its lowest byte first."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415 - few are locked

    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - the counters are made here
    sealed = hmac.new(seal_key, digestmod=hashlib.sha1)
    block, kept = 1, b""
    for piece in pieces:
        sealed.update(piece)
        count = -(-max(len(piece) - len(kept), 0) // _BLOCK)
        counters = b"".join(number.to_bytes(_BLOCK, "little") for number in range(block, block + count))
        stream = kept + encryptor.update(counters)
        block += count
        mask = stream[: len(piece)]
        kept = stream[len(piece) :]
        yield (int.from_bytes(piece, "big") ^ int.from_bytes(mask, "big")).to_bytes(len(piece), "big")
    if not hmac.compare_digest(sealed.digest()[:_SEAL_BYTES], seal):
        raise DocumentError(Reason.CORRUPT, "damaged: its seal does not fit its bytes")
