"""A text signed by somebody whose name is the first text: the page of a signed file names the signer."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs7
from cryptography.x509.oid import NameOID

MOST_PAGES = 1
_DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def build(pages: Sequence[str]) -> bytes:
    """DER with one signature."""
    return sign(b"words that are signed", pages[0])


def sign(content: bytes, signer: str, *, detached: bool = False) -> bytes:
    """The content, signed, in DER."""
    key = ec.derive_private_key(int.from_bytes(hashlib.sha256(signer.encode()).digest(), "big") >> 8, ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, signer)])
    certificate = (x509.CertificateBuilder(name, name, key.public_key(), 4711, _DAY, _DAY + dt.timedelta(days=9))).sign(
        key, hashes.SHA256()
    )
    options = [pkcs7.PKCS7Options.Binary, *([pkcs7.PKCS7Options.DetachedSignature] if detached else [])]
    builder = pkcs7.PKCS7SignatureBuilder().set_data(content).add_signer(certificate, key, hashes.SHA256())
    return builder.sign(serialization.Encoding.DER, options)
