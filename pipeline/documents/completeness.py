"""Whether a file has its end, told by its kind from its first bytes, its last bytes and its size alone.

Nothing is parsed: each kind is asked whether what it says of its own extent fits the file. Where a structure points
beyond the end, the file is cut; where the answer lies out of sight, or the kind has no end that can be told, the file
counts as complete. A wrong "cut" costs a wait, a wrong "complete" an early failure; neither costs a byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pipeline.documents import extents

HEAD_BYTES = 16_384  # the header lines of a much forwarded e-mail fit
TAIL_BYTES = 65_536 + 1024  # a ZIP may end in a comment of 64 KB, behind its last record

_PDF_END = re.compile(rb"startxref\s+\d+\s+%%EOF")
_PDF_GOES_ON = re.compile(rb"\s*\d|.*?\b(?:endobj|endstream|x?ref|startxref|trailer)\b", re.DOTALL)
_LINEARIZED = re.compile(rb"<<[^>]*/Linearized\b[^>]*>>")
_PDF_LENGTH = re.compile(rb"/L\s+(\d{1,15})\b")
_PNG_END = b"\x00\x00\x00\x00IEND\xaeB\x60\x82"
_MARKUP = re.compile(rb"\s*<(?:\?xml\b|!doctype\b|!--|[a-z_][\w.:-]*[\s/>])", re.IGNORECASE)
_PROLOGUE = re.compile(
    rb"(?:\s|(?><\?.*?\?>)|(?><!--.*?-->)|(?><!doctype[^\[>]*(?:\[.*?\]\s*)?>))*+", re.IGNORECASE | re.DOTALL
)
_EPILOGUE = re.compile(rb"\s*>(?:\s|(?><\?.*?\?>)|(?><!--.*?-->))*+", re.DOTALL)
_ROOT = re.compile(rb"<([A-Za-z_\x80-\xff][\w.:\x80-\xff-]*)((?:[^>\"']|\"[^\"]*\"|'[^']*')*+)>")
_HTML = re.compile(rb"\s*(?:<!doctype\s+html|<html[\s>])", re.IGNORECASE)
_MAIL = re.compile(rb"(?:[a-z][a-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*+){2}", re.IGNORECASE)
_MAIL_ONLY = re.compile(
    rb"^(?:mime-version|message-id|received|return-path|delivered-to):", re.IGNORECASE | re.MULTILINE
)
_CONTENT_TYPE = re.compile(rb"^content-type:\s*(multipart/[^\n]*(?:\n[ \t][^\n]*)*)", re.IGNORECASE | re.MULTILINE)
_BOUNDARY = re.compile(rb"\bboundary\s*=\s*(?:\"([^\"\n]+)\"|([^\s;\"]+))", re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\n\r?\n")


def is_complete(head: bytes, tail: bytes, byte_count: int) -> bool:
    """Whether a file of that size has its end, as far as its kind can tell. Never raises.

    `head` are its first HEAD_BYTES, `tail` its last TAIL_BYTES, or the whole file where it is shorter.
    """
    seen = extents.Seen(head, tail, byte_count)
    if 0 < byte_count < _LONGEST_MAGIC and any(magic.startswith(head) for magic, _ in _MAGIC):
        return False
    judge = _judge_of(head)
    if judge is None:
        return True
    try:
        return judge(seen)
    except extents.BeyondEnd:
        return False
    except extents.OutOfSight:
        return True


def _judge_of(head: bytes) -> Judge | None:
    for magic, judge in _MAGIC:
        if head.startswith(magic):
            return judge
    if head[4:8] == b"ftyp":
        return extents.boxes
    if _MARKUP.match(_plain(head)):
        return _markup
    if _MAIL.match(head) and _MAIL_ONLY.search(head):
        return _mail
    return _pdf if b"%PDF-" in head[:2048] else None


def _pdf(seen: extents.Seen) -> bool:
    """The last thing is where its table is; a linearized file also says its length in front."""
    linearized = _LINEARIZED.search(seen.head[:2048])
    length = linearized and _PDF_LENGTH.search(linearized[0])
    if length and int(length[1]) > seen.byte_count:
        return False
    ends = [found.end() for found in _PDF_END.finditer(seen.tail)]
    # Behind the end of an earlier revision a later one may be under way; what mail gateways append is none.
    return bool(ends) and not _PDF_GOES_ON.match(seen.tail, ends[-1])


def _png(seen: extents.Seen) -> bool:
    return _PNG_END in seen.tail


def _gif(seen: extents.Seen) -> bool:
    """An empty block and the trailer; what pads it may follow."""
    return seen.tail.rstrip(b"\x00").endswith(b"\x00;")


def _gzip(seen: extents.Seen) -> bool:
    """How long it is stands nowhere in it; the shortest one has header, an empty block, and sums."""
    return seen.byte_count >= 20


def _mail(seen: extents.Seen) -> bool:
    """A message of several parts ends with a boundary that says so."""
    blank = _BLANK_LINE.search(seen.head)
    if blank is None:
        return seen.byte_count > len(seen.head)
    content_type = _CONTENT_TYPE.search(seen.head, 0, blank.start() + 1)
    boundary = content_type and _BOUNDARY.search(content_type[1])
    return not boundary or b"--" + (boundary[1] or boundary[2]) + b"--" in seen.tail


def _markup(seen: extents.Seen) -> bool:
    """The root that was opened is closed, and only comments follow; HTML may have anything behind."""
    head, tail = _plain(seen.head), _plain(seen.tail)
    if _HTML.match(head):
        return re.search(rb"</html\s*>", tail, re.IGNORECASE) is not None
    prologue = _PROLOGUE.match(head)
    root = _ROOT.match(head, prologue.end() if prologue else 0)
    if root is None:
        return seen.byte_count > len(seen.head)  # its opening may be longer than what is seen
    if root[2].endswith(b"/"):
        return True
    at = tail.rfind(b"</" + root[1])
    return at >= 0 and _EPILOGUE.fullmatch(tail, at + 2 + len(root[1])) is not None


def _plain(text: bytes) -> bytes:
    """Markup in single bytes, whichever Unicode encoding it has: what is ASCII in it stays comparable."""
    return text.removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").replace(b"\x00", b"")


Judge = Callable[[extents.Seen], bool]
_MAGIC: tuple[tuple[bytes, Judge], ...] = (
    (b"%PDF-", _pdf),
    (b"PK\x03\x04", extents.zip_records),
    (b"PK\x05\x06", extents.zip_records),
    (b"\xff\xd8\xff", extents.jpeg_segments),
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"GIF87a", _gif),
    (b"GIF89a", _gif),
    (b"RIFF", extents.riff_chunk),
    (b"II*\x00", extents.tiff_directories),
    (b"MM\x00*", extents.tiff_directories),
    (b"II+\x00", extents.tiff_directories),
    (b"MM\x00+", extents.tiff_directories),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", extents.compound_sectors),
    (b"7z\xbc\xaf\x27\x1c", extents.seven_zip_header),
    (b"\x1f\x8b", _gzip),
)
_LONGEST_MAGIC = max(len(magic) for magic, _ in _MAGIC)
