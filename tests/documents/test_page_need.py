"""The decision on recognition, by figures alone: what a page is decides, not how long its text is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.pdf.legibility import Legibility, bad_share, legibility, reads_well
from pipeline.documents.pdf.page_need import Figures, is_doubtful, need

GOOD = Legibility(wordiness=0.97, common=0.3, likeness=0.95)
DIGITAL = Figures(characters=1800, objects=60, text_area=0.4, language=GOOD)
SCAN = Figures(objects=1, image_area=1.0)
STAMP = Figures(characters=60, objects=4, text_area=0.01, image_area=1.0, ink=0.4)

share = st.floats(0, 1)
anything = st.builds(
    Figures,
    characters=st.integers(0, 10_000),
    objects=st.integers(0, 3_000),
    invisible=share,
    text_area=share,
    image_area=share,
    bad=share,
    unmapped=share,
    strokes=st.integers(0, 10**6),
    ink=st.none() | share,
    plain=st.booleans(),
    language=st.builds(Legibility, wordiness=st.none() | share, common=st.none() | share, likeness=st.none() | share),
)

CASES = {
    "digital": (DIGITAL, False),
    "digital, accepted at sight": (Figures(characters=1800, objects=60, plain=True), False),
    "blank": (Figures(), False),
    "scan": (SCAN, True),
    "a page with a logo and nothing else": (replace(SCAN, image_area=0.02), True),
    "stamped scan": (STAMP, True),
    "scan with a long notice at its foot": (replace(STAMP, characters=420, text_area=0.06, language=GOOD), True),
    "scan that was recognised well": (replace(DIGITAL, invisible=1.0, image_area=1.0), False),
    "scan that was recognised badly": (
        replace(DIGITAL, invisible=1.0, image_area=1.0, language=Legibility(0.3, 0.0, 0.6)),
        True,
    ),
    "scan whose layer holds only a number": (replace(STAMP, characters=9, invisible=1.0), True),
    "scan whose one word was recognised": (replace(STAMP, characters=9, invisible=1.0, ink=0.002), False),
    "letter on tinted paper": (replace(DIGITAL, image_area=1.0), False),
    "short letter on a letterhead": (
        Figures(characters=200, text_area=0.05, objects=9, image_area=1.0, ink=0.02),
        False,
    ),
    "photograph with a caption": (Figures(characters=60, objects=4, text_area=0.01, image_area=0.7, ink=0.01), False),
    "private characters": (replace(DIGITAL, bad=0.7), True),
    "ligatures that are controls": (replace(DIGITAL, bad=0.02), False),
    "a font without a map whose codes are letters": (replace(DIGITAL, unmapped=1.0), False),
    "a font without a map": (replace(DIGITAL, unmapped=1.0, language=Legibility(0.5, 0.0, 0.5)), True),
    "shifted letters": (replace(DIGITAL, language=Legibility(0.6, 0.0, 0.5)), True),
    "part numbers": (replace(DIGITAL, language=Legibility(0.5, None, None)), False),
    "a script that nobody measures": (replace(DIGITAL, language=Legibility()), False),
    "outlined text": (Figures(objects=40, strokes=9_000, ink=0.3), True),
    "ruled paper": (Figures(objects=40, ink=0.0), False),
    "chart with labels": (Figures(characters=170, objects=900, text_area=0.07, strokes=600, ink=0.15), False),
}


@pytest.mark.parametrize("name", CASES)
def test_each_kind_of_page_is_decided_as_a_person_would(name: str) -> None:
    figures, wanted = CASES[name]
    decision = need(figures)
    assert (decision.ocr, bool(decision.why)) == (wanted, True)


@given(anything)
def test_every_page_gets_an_answer_with_a_reason(figures: Figures) -> None:
    decision = need(figures)
    assert decision.why
    assert isinstance(is_doubtful(figures), bool)
    assert all(isinstance(value, (int, float)) for value in figures.told().values())


@given(anything.filter(lambda figures: not figures.plain), share)
def test_more_print_beside_the_text_never_makes_recognition_less_needed(figures: Figures, ink: float) -> None:
    less, more = replace(figures, ink=ink), replace(figures, ink=1.0)
    assert need(more).ocr >= need(less).ocr


@given(anything.filter(lambda figures: not figures.plain and figures.characters > 0), share)
def test_more_bad_characters_never_make_recognition_less_needed(figures: Figures, bad: float) -> None:
    assert need(replace(figures, bad=1.0)).ocr >= need(replace(figures, bad=bad)).ocr


@given(anything)
def test_text_goes_with_recognition_only_if_it_can_be_read(figures: Figures) -> None:
    if need(figures).keep:
        assert figures.plain or figures.bad <= 0.08


ENGLISH = (
    "The supplier delivers the goods to the address of the buyer within thirty days and bears the cost of carriage. "
    "If the buyer does not pay in time, the supplier may ask for interest, and no change is valid unless in writing. "
)
LANGUAGES = {
    "German": "Der Verkäufer liefert die Ware innerhalb von dreißig Tagen an die Anschrift des Käufers und trägt die "
    "Kosten des Versandes. Zahlt der Käufer nicht rechtzeitig, so kann der Verkäufer Zinsen verlangen. ",
    "Polish": "Sprzedawca dostarcza towar na adres kupującego w ciągu trzydziestu dni od zamówienia i ponosi koszty "
    "przewozu. Jeżeli kupujący nie zapłaci w terminie, sprzedawca może żądać odsetek za opóźnienie. ",
    "Finnish": "Myyjä toimittaa tavaran ostajan osoitteeseen kolmenkymmenen päivän kuluessa tilauksesta ja vastaa "
    "kuljetuksen kuluista. Jos ostaja ei maksa ajoissa, myyjä voi vaatia korkoa eräpäivästä alkaen. ",
    "Russian": "Продавец доставляет товар по адресу покупателя в течение тридцати дней после заказа и несёт расходы на "
    "перевозку. Если покупатель не платит вовремя, продавец может требовать проценты за просрочку. ",
    "Greek": "Ο πωλητής παραδίδει τα εμπορεύματα στη διεύθυνση του αγοραστή μέσα σε τριάντα ημέρες από την παραγγελία "
    "και φέρει τα έξοδα της μεταφοράς. Αν ο αγοραστής δεν πληρώσει, ο πωλητής ζητά τόκους. ",
    "Arabic": "يسلم البائع البضاعة إلى عنوان المشتري خلال ثلاثين يوما من تاريخ الطلب ويتحمل تكاليف النقل وإذا لم يدفع "
    "المشتري في الموعد جاز للبائع أن يطلب الفائدة عن التأخير ",
    "Chinese": "卖方应在订单后三十天内将货物运至买方地址并承担运输费用。买方未按时付款的，卖方可以要求支付利息。",
    "Japanese": "売主は注文から三十日以内に買主の住所へ商品を届け、運送費用を負担する。買主が期限内に支払わない場合。",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_language_is_taken_for_a_broken_font(language: str) -> None:
    text = LANGUAGES[language] * 4
    figures = replace(DIGITAL, language=legibility(text), bad=bad_share(text))
    assert not need(figures).ocr


@pytest.mark.parametrize("shift", [1, 3, -29, 29, 0xE000])
def test_shifted_letters_are_no_language(shift: int) -> None:
    text = "".join(chr(abs(ord(sign) + shift)) if sign.isalpha() else sign for sign in ENGLISH * 4)
    assert not reads_well(text)
    figures = replace(DIGITAL, language=legibility(text), bad=bad_share("".join(text.split())))
    assert need(figures).ocr


def test_prose_reads_well_at_once_and_codes_do_not() -> None:
    assert reads_well(ENGLISH * 4)
    assert not reads_well("QX-4711/B ZK8812 TRW-09 " * 50)


@given(st.text())
def test_any_text_can_be_measured(text: str) -> None:
    found = legibility(text)
    assert 0 <= bad_share(text) <= 1
    for each in (found.wordiness, found.common, found.likeness):
        assert each is None or 0 <= each <= 1.0000001
    assert reads_well(text) in (True, False)
