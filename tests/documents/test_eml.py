"""A mail is its text and every file that is matter, however its sender or a gateway wrote it down."""

from __future__ import annotations

import base64
import binascii
import io
from contextlib import suppress
from email.message import EmailMessage

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.documents.contract import Means
from pipeline.documents.formats import discover
from pipeline.documents.formats.eml import format as eml
from pipeline.documents.identify import identify
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents import trees
from tests.documents.samples.eml import HEAD
from tests.documents.trees import unpack

PDF = trees.invoice_pdf("INV-1")
FIRST = "From: a@example.org\nTo: b@example.org\nSubject: s\nMIME-Version: 1.0\n"


def _mail(text: str = "see attached") -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "Invoice", "Anna <anna@example.org>", "books@example.org"
    mail.set_content(text)
    return mail


def _attach(mail: EmailMessage, content: bytes, kind: str, name: str | None, disposition: str = "attachment") -> None:
    main, _, sub = kind.partition("/")
    mail.add_attachment(content, maintype=main, subtype=sub, filename=name, disposition=disposition)


def _raw(content_type: str, body: str, more: str = "") -> bytes:
    return f"{FIRST}Content-Type: {content_type}\n{more}\n{body}".encode()


def _text(content: bytes) -> str:
    return "\f".join(unpack(eml, content)[0])


def test_the_text_says_who_wrote_whom_when_about_what_and_which_files_came() -> None:
    mail = _mail("Please pay.")
    mail["Cc"], mail["Date"] = "boss@example.org", "Mon, 02 Mar 2026 09:00:00 +0100"
    _attach(mail, PDF, "application/pdf", "invoice.pdf")
    text = _text(bytes(mail))
    for line in ("From: Anna <anna@example.org>", "To: books@example.org", "Cc: boss@example.org", "Subject: Invoice"):
        assert line in text.split("\n")
    assert "Date: Mon, 02 Mar 2026 09:00:00 +0100" in text
    assert "Please pay." in text
    assert text.endswith(f"Attachments:\ninvoice.pdf ({len(PDF):,} bytes)")


@pytest.mark.parametrize("disposition", ["attachment", "inline", "form-data"])
@pytest.mark.parametrize("kind", ["application/pdf", "application/octet-stream", "image/jpeg", "text/plain"])
def test_a_file_is_taken_whatever_its_sender_says_it_is(disposition: str, kind: str) -> None:
    mail = _mail()
    mail.make_mixed()
    part = EmailMessage()
    part["Content-Type"] = f'{kind}; name="invoice.pdf"'
    part["Content-Disposition"] = f'{disposition}; filename="invoice.pdf"'
    part["Content-Transfer-Encoding"] = "base64"
    part.set_payload(base64.encodebytes(PDF).decode())
    mail.attach(part)
    (found,) = unpack(eml, bytes(mail))[1]
    assert (found.name, found.content, found.left_out) == ("invoice.pdf", PDF, "")


def test_a_mail_in_a_mail_in_a_mail_is_one_file_of_each() -> None:
    inner, middle, outer = _mail("inner"), _mail("middle"), _mail("outer")
    _attach(inner, PDF, "application/octet-stream", "a.pdf")
    inner.replace_header("Subject", "The inner/one")
    middle.add_attachment(inner)
    outer.add_attachment(middle)
    _attach(outer, PDF, "application/pdf", "b.pdf")
    first, second = unpack(eml, bytes(outer))[1]
    assert (first.name, second.name) == ("Invoice.eml", "b.pdf")
    assert first.content is not None
    (deeper,) = unpack(eml, first.content)[1]
    assert deeper.name == "The inner-one.eml"
    assert deeper.content is not None
    assert unpack(eml, deeper.content)[1][0].content == PDF
    assert "inner" not in _text(bytes(outer)).replace("The inner", "")


def test_of_two_forms_of_the_text_the_plain_one_is_read() -> None:
    mail = _mail("the plain text")
    mail.add_alternative("<p>the <b>html</b> text</p>", subtype="html")
    pages, files = unpack(eml, bytes(mail))
    assert "the plain text" in pages[0]
    assert "html" not in pages[0]
    assert files == []


def test_html_alone_is_read_as_it_is_seen() -> None:
    html = (
        "<style>p{}</style><script>x()</script><table><tr><td>Chairs</td><td>1&nbsp;234&euro;</td></tr></table><p>Bye"
    )
    lines = _text(_raw('text/html; charset="utf-8"', html)).split("\n")
    assert lines[-2:] == ["Chairs  1 234\u20ac", "Bye"]


def test_images_inside_of_html_take_no_room_from_its_text_and_too_much_html_is_told() -> None:
    image = f'<img src="data:image/png;base64,{"A" * 3_000_000}">'
    content = _raw("text/html", f"<p>before{image}<p>after")
    assert _text(content).endswith("before\nafter")
    with eml.open(io.BytesIO(content), Means()) as document:
        assert document.read_page(1).note == ""
    with eml.open(io.BytesIO(_raw("text/html", "<p>words\n" * 300_000)), Means()) as document:
        assert "only the first 2,000,000 characters" in document.read_page(1).note


def test_a_plain_text_that_only_points_at_the_html_is_not_the_text() -> None:
    mail = _mail("Your program cannot show HTML.")
    mail.add_alternative("<p>" + "The whole story of the invoice. " * 20 + "</p>", subtype="html")
    assert "The whole story" in _text(bytes(mail))


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("application/pkcs7-signature", "signature"),
        ("application/pgp-signature", "signature"),
        ("text/calendar", "calendar entry"),
        ("text/vcard", "visiting card"),
    ],
)
def test_what_is_no_document_is_left_out_with_its_reason(kind: str, reason: str) -> None:
    mail = _mail()
    _attach(mail, b"BEGIN", kind, "part.bin")
    _attach(mail, PDF, "application/pdf", "a.pdf")
    left, taken = unpack(eml, bytes(mail))[1]
    assert (left.left_out, left.content) == (reason, None)
    assert taken.content == PDF


def test_a_logo_is_left_out_with_its_figure_and_a_photo_in_the_text_is_read() -> None:
    logo, photo = trees.picture(200, 60), trees.picture(900, 1200, "JPEG")
    mail = _mail()
    mail.add_alternative('<p>Hello<img src="cid:logo@x"><img src="cid:photo@x"></p>', subtype="html")
    for name, content in (("logo", logo), ("photo", photo)):
        mail.add_attachment(content, maintype="image", subtype="png", cid=f"<{name}@x>", disposition="inline")
    first, second = unpack(eml, bytes(mail))[1]
    assert first.left_out == "decoration: an image of 200 x 60 pixels"
    assert second.content == photo


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('filename="../../etc/passwd"', "passwd"),
        (r'filename="C:\\Users\\x\\a.pdf"', "a.pdf"),
        ('filename="a\x00b.pdf"', "ab.pdf"),
        ('filename="a\u202efdp.exe"', "a\ufffdfdp.exe"),
        ('filename="=?UTF-8?Q?M=C3=A4rz.pdf?="', "M\u00e4rz.pdf"),
        ('filename="=?UTF-8?B?TcOk?= =?UTF-8?B?cnoucGRm?="', "M\u00e4rz.pdf"),
        ("filename*=UTF-8''M%C3%A4rz%20%E2%82%AC.pdf", "M\u00e4rz \u20ac.pdf"),
        ("filename*0*=utf-8''M%C3; filename*1*=%A4rz; filename*2=.pdf", "M\u00e4rz.pdf"),
        ('filename="=?x-nobody-knows?Q?a=2Epdf?="', "a.pdf"),
        ('filename="M\u00e4rz.pdf"', "M\u00e4rz.pdf"),
        ('filename=""', "attachment 1.pdf"),
        ('filename=".."', "attachment 1.pdf"),
        ("", "attachment 1.pdf"),
    ],
)
def test_names_are_shown_clean_and_are_never_paths(header: str, name: str) -> None:
    more = f"Content-Disposition: attachment; {header}\nContent-Transfer-Encoding: base64\n"
    (found,) = unpack(eml, _raw("application/pdf", base64.b64encode(PDF).decode(), more))[1]
    assert (found.name, found.content) == (name, PDF)


def test_a_name_of_any_length_is_shown_short_and_keeps_its_suffix() -> None:
    more = f'Content-Disposition: attachment; filename="{"x" * 5000}.pdf"\n'
    (found,) = unpack(eml, _raw("application/pdf", "x", more))[1]
    assert len(found.name) == 200
    assert found.name.endswith("\u2026.pdf")


@pytest.mark.parametrize(
    ("charset", "raw"),
    [
        ("utf-8", "M\u00e4rz".encode()),
        ("iso-8859-1", "M\u00e4rz".encode("latin-1")),
        ("x-unknown", "M\u00e4rz".encode()),
        ("utf-8", "M\u00e4rz".encode("cp1252")),
        ("hex", "M\u00e4rz".encode()),
    ],
)
def test_a_charset_that_is_wrong_or_unknown_costs_no_letter(charset: str, raw: bytes) -> None:
    assert "M\u00e4rz" in _text(
        _raw(f'text/plain; charset="{charset}"', "").rstrip() + b"\n\n" + raw + b" ist vorbei\n"
    )


def test_eight_bit_headers_are_read() -> None:
    assert "Subject: M\u00e4rz" in _text("From: a@x\nSubject: M\u00e4rz\nMIME-Version: 1.0\n\nx".encode())
    assert "Subject: M\u00e4rz" in _text("From: a@x\nSubject: M\u00e4rz\nMIME-Version: 1.0\n\nx".encode("cp1252"))


def test_base64_survives_what_gateways_do_to_it() -> None:
    whole = base64.b64encode(PDF).decode()
    third = len(PDF) // 9 * 3
    joined = base64.b64encode(PDF[: third + 1]).decode() + "\n" + base64.b64encode(PDF[third + 1 :]).decode()
    for body in (whole, whole + "\n\n-- \n", whole.replace("A", "A\n !"), joined, whole.rstrip("=")):
        (found,) = unpack(eml, _raw("application/pdf", body, "Content-Transfer-Encoding: BASE64\n"))[1]
        assert found.content is not None
        assert found.content[: len(PDF)] == PDF


def test_quoted_printable_is_decoded_across_pieces_of_any_length() -> None:
    body = "=E4" * 60_000 + "=\n" + "=E4" * 1_000
    content = _raw("application/x; name=a", body, "Content-Transfer-Encoding: quoted-printable\n")
    assert unpack(eml, content)[1][0].content == b"\xe4" * 61_000


def test_a_file_pasted_by_uuencode_is_a_file_and_the_text_around_it_stays() -> None:
    lines = b"".join(binascii.b2a_uu(PDF[start : start + 45]) for start in range(0, len(PDF), 45))
    pasted = b"before\nbegin 644 a.pdf\n" + lines + b"`\nend\nafter\n"
    pages, (found,) = unpack(eml, _raw("text/plain", "") + pasted)
    assert (found.name, found.content) == ("a.pdf", PDF)
    assert "before" in pages[0]
    assert "after" in pages[0]
    assert "begin 644" not in pages[0]
    assert "begin 644 words" in _text(_raw("text/plain", "begin 644 words\nof a poem\nend\n"))


def test_a_mail_without_its_end_has_what_came_before() -> None:
    mail = _mail("the text of it")
    _attach(mail, PDF, "application/pdf", "a.pdf")
    whole = bytes(mail)
    pages, (found,) = unpack(eml, whole[: len(whole) - 500])
    assert "the text of it" in pages[0]
    assert found.content is not None
    assert PDF.startswith(found.content[:200])


def test_a_boundary_that_never_comes_leaves_the_text() -> None:
    assert "the words" in _text(_raw('multipart/mixed; boundary="never"', "the words\n"))
    assert "the words" in _text(_raw("multipart/mixed", "the words\n"))


def test_a_boundary_that_begins_like_the_outer_one_is_not_it() -> None:
    body = "--b\nContent-Type: multipart/mixed; boundary=bb\n\n--bb\n\ninner\n--bb--\n--b\n\nlast\n--b--\nepilogue"
    text = _text(_raw("multipart/mixed; boundary=b", body))
    assert "inner" in text
    assert "last" in text
    assert "epilogue" not in text


def test_a_multipart_with_the_boundary_of_the_one_around_it_hides_nothing_behind_it() -> None:
    inner = "--b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b--\n"
    text = _text(_raw("multipart/mixed; boundary=b", inner + "--b\n\nlast\n--b--\n"))
    assert "first" in text
    assert "last" in text


def test_text_that_is_attached_is_a_file_also_without_a_name_and_ends_where_it_ends() -> None:
    part = "--b\nContent-Disposition: attachment\n\nnumber;amount\n1;2\n--b--\n"
    (found,) = unpack(eml, _raw("multipart/mixed; boundary=b", "--b\n\nthe body\n" + part))[1]
    assert (found.name, found.content) == ("attachment 1.txt", b"number;amount\n1;2")


def test_a_thousand_nested_multiparts_have_their_innermost_text() -> None:
    heads = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(1_000))
    content = f"{FIRST}{heads}\nthe innermost\n".encode()
    assert "the innermost" in _text(content)


def test_a_head_of_ten_megabytes_is_not_kept() -> None:
    content = f"{FIRST}X-Long: {'y' * 10_000_000}\nX-Many: {'z' * 70}\nDate: today\n\nthe text\n".encode()
    text = _text(content)
    assert "the text" in text
    assert len(text) < 1_000


def test_more_files_than_allowed_is_a_bomb_that_names_its_limit() -> None:
    body = "".join(f"--b\nContent-Type: application/pdf\n\n{n}\n" for n in range(6))
    with pytest.raises(DocumentError, match=r"limits\.max_children allows 5") as refusal:
        unpack(eml, _raw("multipart/mixed; boundary=b", body), trees.means(max_children=5))
    assert refusal.value.reason is Reason.BOMB


def test_hundreds_of_logos_beside_one_invoice_are_no_bomb() -> None:
    logo = base64.b64encode(trees.picture(20, 20)).decode()
    part = f"--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\n{logo}\n"
    found = unpack(eml, _raw("multipart/mixed; boundary=b", part * 40), trees.means(max_children=5))[1]
    assert {each.left_out for each in found} == {"decoration: an image of 20 x 20 pixels"}


@pytest.mark.parametrize(
    "content",
    [
        b"This is not a valid eml.",
        b"Dear Anna,\n\nFrom: is a word\n",
        b"Content-Type: text/html\nServer: x\n\n<html>",
        b"From: a\nno field\nTo: b\n\n",
    ],
)
def test_what_only_looks_like_a_mail_is_refused(content: bytes) -> None:
    assert eml.recognises(content, content, "a.eml") is None
    with pytest.raises(DocumentError) as refusal:
        unpack(eml, content)
    assert refusal.value.reason is Reason.UNSUPPORTED


@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n", "4711      \n"])
def test_what_programs_put_before_a_mail_does_not_hide_it(before: str) -> None:
    content = (before + HEAD + "\r\nthe text").encode()
    assert identify(io.BytesIO(content), "a", discover())[0] is eml
    assert "From: Anna" in _text(content)


def test_a_mailbox_of_one_that_is_named_a_mail_is_one() -> None:
    content = (f"From anna@example.org Mon Mar  2 09:00:00 2026\n{HEAD}\nthe text").encode()
    assert identify(io.BytesIO(content), "a.eml", discover())[0] is eml
    assert "Subject: Papers" in _text(content)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 800), st.integers(0, 60))
@example(b"--b", 400, 0)
def test_whatever_is_in_a_mail_nothing_but_a_named_refusal_leaves(junk: bytes, where: int, dropped: int) -> None:
    mail = _mail("<p>x")
    mail.add_alternative("<p>html", subtype="html")
    _attach(mail, PDF[:99], "application/octet-stream", "a.pdf")
    mail.add_attachment(_mail())
    whole = bytes(mail)
    with suppress(DocumentError):
        unpack(eml, whole[:where] + junk + whole[where + dropped :])
