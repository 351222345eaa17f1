"""Office documents behind a password: the known passwords are tried, the document is decrypted in memory."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from pipeline.documents.office.compound import is_compound, opened, read_stream
from pipeline.documents.parsing import faults_are_corruption, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_WORKBOOK_DEFAULT = "VelvetSweatshop"  # what Excel takes when a workbook is locked for writing only
_MAX_DESCRIPTION_BYTES = 65_536
_MAX_SPINS = 1_000_000  # Office writes 100,000; each is a hash, for each password
_SPINS = re.compile(rb'spinCount\s*=\s*["\'](\d{1,12})["\']')
_PACKAGE, _DESCRIPTION = "EncryptedPackage", "EncryptionInfo"


def unlocked(file: BinaryIO, passwords: Sequence[str]) -> BinaryIO:
    """The document itself: `file`, or what was decrypted from it.

    Raises DocumentError: needs_password when none fits, corrupt, too_large, unsupported for other compound files.
    """
    head, _ = read_edges(file)
    if not is_compound(head):
        return file
    with opened(file) as found:
        if not found.exists(_PACKAGE) or not found.exists(_DESCRIPTION):
            raise DocumentError(Reason.UNSUPPORTED, "an old Office document; save it in the new format or as PDF")
        if found.get_size(_DESCRIPTION) > _MAX_DESCRIPTION_BYTES:
            raise DocumentError(Reason.CORRUPT, "the description of its encryption is too long")
        _check_effort(read_stream(found, _DESCRIPTION))
        read_stream(found, _PACKAGE)  # refuses what is too large to decrypt in memory
    return decrypted(file, passwords)


def decrypted(file: BinaryIO, passwords: Sequence[str]) -> BinaryIO:
    """What one of the passwords opens. Raises DocumentError(needs_password) when none does."""
    with faults_are_corruption("msoffcrypto"):
        found = next(_attempts(file, passwords), None)
    if found is None:
        raise DocumentError(
            Reason.NEEDS_PASSWORD, f"it is encrypted, and none of {len(passwords)} known passwords fits"
        )
    return found


def _attempts(file: BinaryIO, passwords: Sequence[str]) -> Iterator[BinaryIO]:
    import msoffcrypto  # type: ignore[import-untyped]  # noqa: PLC0415 - locked documents are rare
    from msoffcrypto import exceptions  # noqa: PLC0415

    for password in dict.fromkeys((_WORKBOOK_DEFAULT, *passwords)):
        plain = io.BytesIO()
        try:
            locked = msoffcrypto.OfficeFile(file)
            locked.load_key(password=password, verify_password=True)
            locked.decrypt(plain)
        except exceptions.InvalidKeyError:
            continue
        plain.seek(0)
        yield plain


def _check_effort(description: bytes) -> None:
    spins = _SPINS.search(description)
    if b"<!" in description or (spins and int(spins[1]) > _MAX_SPINS):
        raise DocumentError(
            Reason.BOMB, f"its encryption asks for more than {_MAX_SPINS:,} rounds a password, or declares entities"
        )
