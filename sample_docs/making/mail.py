"""A mail as a program sends it: plain text and HTML, a logo in the signature, an invoice shown inline and its XML."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

from PIL import Image, ImageDraw

_LOGO_SIZE = (132, 44)  # pixels
_GREEN, _WHITE = (46, 96, 72), (255, 255, 255)
LOGO = "logo.png"
_LOGO_ID = "logo@eibenbrueck.example"
# A PDF that is shown inline is sent as Apple's mail program and many invoicing programs send it.
_KINDS = {
    "png": ("image/png", "inline"),
    "pdf": ("application/pdf", "inline"),
    "xml": ("application/xml", "attachment"),
}
_TOP = """\
From: =?utf-8?Q?Papierwerk_Eibenbr=C3=BCck?= <rechnung@eibenbrueck.example>
To: einkauf@stadtbibliothek-gruenstedt.example
Date: Fri, 12 Jun 2026 08:41:07 +0200
Subject: {subject}
Message-ID: <20260612064107.4417@eibenbrueck.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="=_files"

"""


def mail(subject: str, text: str, files: Mapping[str, bytes]) -> bytes:
    """The whole mail; `files` are the logo and what is sent, in this order. The subject is plain ASCII."""
    parts = {name: _file(name, content) for name, content in files.items()}
    shown = _multipart("related", "=_shown", [_text("html", _html(text)), parts.pop(LOGO)])
    body = _multipart("alternative", "=_text", [_text("plain", text), shown])
    whole = _TOP.format(subject=subject) + _joined("=_files", [body, *parts.values()])
    return whole.replace("\n", "\r\n").encode("ascii")


def logo() -> bytes:
    """A small picture of two leaves of paper, as PNG."""
    image = Image.new("RGB", _LOGO_SIZE, _WHITE)
    pen = ImageDraw.Draw(image)
    pen.rectangle((2, 2, 129, 41), outline=_GREEN, width=2)
    for left in (14, 34):
        pen.polygon([(left, 10), (left + 22, 10), (left + 28, 16), (left + 28, 34), (left, 34)], _WHITE, _GREEN)
    for top in (14, 20, 26):
        pen.line((74, top, 118, top), _GREEN, 2)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _html(text: str) -> str:
    paragraphs = "\n".join(f"<p>{part}</p>".replace("\n", "<br>\n") for part in text.strip().split("\n\n"))
    return f'<html><body>\n{paragraphs}\n<p><img src="cid:{_LOGO_ID}" alt="Logo"></p>\n</body></html>\n'


def _text(kind: str, text: str) -> str:
    return f'Content-Type: text/{kind}; charset="utf-8"\nContent-Transfer-Encoding: base64\n\n' + _base64(text.encode())


def _file(name: str, content: bytes) -> str:
    media_type, disposition = _KINDS[name.rpartition(".")[2]]
    head = (
        f'Content-Type: {media_type}; name="{name}"',
        f'Content-Disposition: {disposition}; filename="{name}"',
        "Content-Transfer-Encoding: base64",
        *([f"Content-ID: <{_LOGO_ID}>"] if name == LOGO else []),
    )
    return "\n".join(head) + "\n\n" + _base64(content)


def _multipart(kind: str, boundary: str, parts: list[str]) -> str:
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n' + _joined(boundary, parts)


def _joined(boundary: str, parts: list[str]) -> str:
    return "".join(f"--{boundary}\n{part}\n" for part in parts) + f"--{boundary}--\n"


def _base64(content: bytes) -> str:
    return base64.encodebytes(content).decode("ascii")
