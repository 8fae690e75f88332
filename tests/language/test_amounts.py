"""Amounts: read where they can be read in one way; a part that was named is never passed over in silence."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.understanding import EntityKind
from language.amounts import amounts_in
from language.entities import entities_in
from language.mentions import mentions_of


def amounts(text: str) -> list[str]:
    return [e.value for e in entities_in(text, mentions_of(text), "en") if e.kind is EntityKind.AMOUNT]


@pytest.mark.parametrize(
    "part",
    [
        "20,-", "1.000", "half", "50%", "twenty percent", "-5 EUR", "1e2 EUR", "5k EUR", "10 cents", "5 quid", "(4.95)",
        "5ユーロ", "5 евро", "five euros", ".50 EUR", "5-10 EUR", "Rs 500", "0.001 EUR", "5€50", "3 x 2 EUR",
        "all but 5 euros", "20 EUR 50", "at least 5 EUR", "20", "fifty", "a third", "5 euros each", "the shipping",
        "the difference", "one euro", "not 5 EUR", "1/2",
    ],
)  # fmt: skip
def test_a_part_that_cannot_be_read_is_marked_as_unread(part: str) -> None:
    assert amounts(f"refund {part} of A-33246") == [""]


@pytest.mark.parametrize(
    "text",
    [
        "Erstatten Sie mir die Hälfte von A-33246",
        "Bitte 20 von A-33246 zurück",
        "reembolse la mitad de A-33246",
        "remboursez-moi la moitié de A-33246",
        "rimborsate metà di A-33246",
        "reembolse metade de A-33246",
        "Erstatten Sie mindestens 5 EUR von A-33246",
        "между прочим, 5-10 евро за A-33246",
        "退款A-33246 一半",
        "make it 7",
        "refund 5 EUR of A-33246, or 7%",  # what the rest is of cannot be told
    ],
)
def test_that_holds_in_other_languages_and_places(text: str) -> None:
    assert amounts(text) == [""]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("refund 20 EUR of A-33246", "2000 EUR"),
        ("refund $20.50 of A-33246 from 12 March 2025 at 10:30", "2050 USD"),
        ("Erstatten Sie mir 12,50 € von A-33246", "1250 EUR"),
        ("refund €5, please. My number is +44 20 7946 0958", "500 EUR"),
        ("no, 6.50 €", "650 EUR"),
        ("请退款20€订单A-33246", "2000 EUR"),
    ],
)
def test_what_can_be_read_in_one_way_is_read(text: str, value: str) -> None:
    assert amounts(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "refund A-33246 and A-33246",
        "My 2 mugs from A-33246 arrived broken, refund please",
        "I ordered A-33246 3 weeks ago and want a refund within 14 days",
        "the 2nd order, refund it please",
        "refund order A-33246 from 03/04/2025",
        "Please refund one of my orders",
        "Ich möchte mein Geld für ein Paket zurück",
        "Only two of the three cups came from A-33246, refund please",
        "My mug from A-33246 broke in half, I want a refund",
        "I waited half an hour. Refund A-33246",
        "I'm a real person and I want my refund",
        "size 42 was too small, refund A-33246",
        "Please refund A-33246 to my card ending 4242",
    ],
)
def test_a_count_a_date_an_id_or_a_position_is_no_amount(text: str) -> None:
    assert amounts(text) == []


@given(st.text(alphabet="0123456789.,-xk%€ (EURrefundhalf", max_size=60))
def test_an_unread_amount_stands_alone_and_its_words_stand_in_the_text(text: str) -> None:
    found = [entity for _, entity in amounts_in(text, ())]
    assert len(found) == 1 or all(e.value for e in found)
    assert all(e.words in text for e in found)


@pytest.mark.parametrize("text", ["refund " * 570, "1." * 2000, "5 x " * 1000, "one two " * 500, "refund 1,- " * 360])
def test_no_text_takes_long(text: str) -> None:
    began = time.perf_counter()
    amounts(text)
    assert time.perf_counter() - began < 1.0
