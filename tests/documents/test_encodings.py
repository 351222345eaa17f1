"""Text in any encoding comes out as it was written; what bytes are beats what they are said to be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.encodings import decode, known

WRITTEN = {
    "Sehr geehrte Damen und Herren, für die Bürostühle berechnen wir 1.234,50 €": ("cp1252", "iso8859-15"),
    "Müller": ("cp1252", "cp850"),
    "Société": ("cp1252", "cp850"),
    "Società": ("cp1252",),
    "Straße 5, Öl": ("cp1252",),
    "Facture n° 12 : prestation réalisée, le montant dû s’élève à 1 200 €": ("cp1252", "mac_roman"),
    "Factura número 5: señor Núñez, dirección, ¿cuánto?": ("cp1252", "cp850"),
    "Fatura número 7, condições de pagamento, emissão": ("cp1252", "cp850"),
    "Faktura til Søren på Ålborg, beløb": ("cp1252",),
    "The price is £ 20 – “as agreed” – it’s due": ("cp1252",),
    "Faktura: sprzedawca Łódź, należność płatna, dziękujemy za współpracę": ("cp1250", "iso8859-2", "cp852"),
    "Dodavatel Přemysl Žižka, částka k úhradě, děkujeme": ("cp1250", "iso8859-2"),
    "Счёт-фактура 12: Поставщик, Покупатель, Сумма": ("cp1251", "koi8-r", "cp866", "iso8859-5"),
    "Привет": ("cp1251", "koi8-r", "cp866"),
    "Рахунок на оплату, Київ, сума, її ціна": ("cp1251", "koi8-u"),
    "Τιμολόγιο αριθμός 12, πωλητής, σύνολο πληρωμής": ("cp1253", "iso8859-7"),
    "Fatura: alıcı, satıcı, ödeme koşulları, şirket, İstanbul": ("cp1254",),
    "Sąskaita faktūra, pardavėjas, pirkėjas, žemė, įmonė": ("cp1257",),
    "חשבונית מס מספר 12, לקוח, סכום לתשלום": ("cp1255",),
    "فاتورة رقم 12، المبلغ المستحق، العميل": ("cp1256",),
    "ใบกำกับภาษี เลขที่ 12 จำนวนเงิน": ("cp874",),
    "請求書番号12、お支払い期限は来月末です。ありがとうございます": ("cp932", "euc_jp", "iso2022_jp"),
    "请在三十天内付款，发票号码12，公司名称，金额合计": ("gb18030",),
    "發票號碼12，公司名稱，金額總計，請於三十天內付款": ("cp950",),
    "세금계산서 번호 12, 공급자, 합계 금액": ("cp949",),
    "Invoice 12 for the delivery of chairs, total 1,234.50": ("cp500", "utf-16-le", "utf-16-be", "utf-32-le"),
}
CASES = [(text, encoding) for text, encodings in WRITTEN.items() for encoding in encodings]


@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_text_is_read_as_it_was_written(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("declared", ["", "koi8-r", "shift_jis", "utf-16", "no such encoding", "hex", "unicode_escape"])
def test_what_is_utf8_is_read_as_utf8_whatever_it_is_said_to_be(declared: str) -> None:
    found = decode("Größe über alles".encode(), declared)
    assert (found.text, found.encoding, found.found_by) == ("Größe über alles", "utf-8", "bytes")


def test_a_declaration_is_believed_where_the_bytes_allow_it_and_not_where_they_do_not() -> None:
    assert decode("Übung".encode("mac_roman"), "x-mac-roman").text == "Übung"
    assert decode("Größe für Möbel".encode("cp1252"), "iso-8859-5").text == "Größe für Möbel"
    assert decode("Größe".encode("cp1252"), "utf-8").text == "Größe"


def test_a_label_means_what_programs_mean_by_it() -> None:
    labels = ("ISO-8859-1", "us-ascii", "GB2312", "Shift_JIS", "ks_c_5601-1987")
    assert [known(label) for label in labels] == ["cp1252", "cp1252", "gb18030", "cp932", "cp949"]
    assert [known(label) for label in ("", "hex", "rot13", "idna", "unicode_escape", "utf-7", "a\0b")] == [None] * 7


def test_one_bad_byte_does_not_spoil_a_long_utf8_text() -> None:
    found = decode("Größe ".encode() * 20 + b"\xff")
    assert (found.encoding, found.text.count("Größe")) == ("utf-8", 20)


def test_the_end_of_a_long_text_decides_when_only_that_is_foreign() -> None:
    text = "plain words and figures 1234\n" * 20_000 + "Größe für Möbel\n" * 3
    assert decode(text.encode("cp1252")).text == text


@given(st.binary(max_size=500), st.text(max_size=20))
def test_any_bytes_are_some_text(raw: bytes, declared: str) -> None:
    found = decode(raw, declared)
    assert isinstance(found.text, str)
    assert found.found_by in ("mark", "bytes", "declaration", "guess")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf8_is_never_mistaken(text: str) -> None:
    assert decode(("- " + text).encode()).text.removeprefix("- ") in (text, text.removeprefix("\ufeff"))
