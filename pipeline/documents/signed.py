"""CMS envelopes: who signed which bytes. Signatures are shown, not verified: that takes knowing whom to trust."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from asn1crypto import cms  # type: ignore[import-untyped]  # it has no types

from pipeline.documents.parsing import faults_are_corruption
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_SIGNED = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
_ENVELOPED = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"
_WITHIN = 16  # bytes: behind the length of the sequence around it
_BASE64 = re.compile(rb"\s*(?:-----BEGIN (?:PKCS7|CMS)-----\s*)?(M[A-Za-z0-9+/=\r\n]+)")
_MOST_SIGNERS = 100


@dataclass(frozen=True, slots=True)
class Signed:
    """The bytes that are signed, None when they are not in the file; a line a signer; whether their digests match."""

    content: bytes | None
    signers: tuple[str, ...]
    digests_match: bool | None


def is_envelope(head: bytes) -> bool:
    """Whether the file begins as signed or encrypted CMS does, in DER, BER or base64."""
    begin = _der(head[:512])
    return begin[:1] == b"\x30" and any(mark in begin[: _WITHIN + len(mark)] for mark in (_SIGNED, _ENVELOPED))


def read(raw: bytes) -> Signed:
    """What is signed and by whom. Raises DocumentError: needs_password when it is encrypted, truncated, corrupt."""
    content = _der(raw)
    if _ENVELOPED in content[: _WITHIN + len(_ENVELOPED)]:
        raise DocumentError(
            Reason.NEEDS_PASSWORD, "it is encrypted for the owner of a certificate; decrypt it and drop what is in it"
        )
    _check_length(content)
    with faults_are_corruption("asn1crypto"):
        data: Any = cms.ContentInfo.load(content)["content"]
        inner: Any = data["encap_content_info"]["content"]
        signed = bytes(inner.native) if isinstance(getattr(inner, "native", None), bytes) else None
        infos = list(data["signer_infos"])[:_MOST_SIGNERS]
        names = _names(data)
        return Signed(signed, tuple(_signer(info, names) for info in infos), _digests_match(infos, signed))


def _der(raw: bytes) -> bytes:
    """The bytes as they are, or out of base64."""
    found = None if raw[:1] == b"\x30" else _BASE64.match(raw)
    if not found:
        return raw
    characters = b"".join(found[1].split())
    try:
        return base64.b64decode(characters[: len(characters) // 4 * 4])
    except binascii.Error:
        return b""


def _check_length(content: bytes) -> None:
    """Raises DocumentError(truncated) when less is there than the first length says."""
    if len(content) < 2 or content[1] <= 0x80 or content[1] > 0x88:
        return  # short, or without a length
    size = content[1] & 0x7F
    claimed = int.from_bytes(content[2 : 2 + size], "big") + 2 + size
    if claimed > len(content):
        raise DocumentError(
            Reason.TRUNCATED, f"it should have {claimed:,} bytes and has {len(content):,}: the end is missing"
        )


def _names(data: Any) -> dict[int, str]:
    """Names of the certificates in the file by serial number: who, of what, certified by whom."""
    names: dict[int, str] = {}
    for choice in data["certificates"] or ():
        certificate = choice.chosen
        if isinstance(certificate, cms.Certificate):
            who, whose = certificate.subject.native, certificate.issuer.native
            names[certificate.serial_number] = f"{_called(who)}, certified by {_called(whose)}"
    return names


def _called(name: Any) -> str:
    parts = [name.get(key) for key in ("common_name", "organization_name", "country_name")]
    return ", ".join(str(part) for part in parts if part) or "somebody without a name"


def _signer(info: Any, names: dict[int, str]) -> str:
    serial = (
        getattr(info["sid"].chosen["serial_number"], "native", None) if info["sid"].name.startswith("issuer") else None
    )
    who = names.get(serial or -1, f"the certificate with serial number {serial}")
    times = [value for value in _attribute(info, "signing_time") if value]
    return f"Signed by: {who}" + (f", at {times[0]:%Y-%m-%d %H:%M:%S} UTC" if times else "")


def _attribute(info: Any, name: str) -> Iterator[Any]:
    for attribute in info["signed_attrs"] or ():
        if attribute["type"].native == name:
            yield from attribute["values"].native


def _digests_match(infos: list[Any], content: bytes | None) -> bool | None:
    """Whether the bytes are those that were signed; None when nothing tells."""
    if content is None:
        return None
    told = []
    for info in infos:
        algorithm = info["digest_algorithm"]["algorithm"].native
        if algorithm in hashlib.algorithms_available:
            digest = hashlib.new(algorithm, content, usedforsecurity=False).digest()
            told += [expected == digest for expected in _attribute(info, "message_digest")]
    return all(told) if told else None
