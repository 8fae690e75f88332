"""What words name: with the very words, in one form, and nothing where it could be read in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.understanding import EntityKind, RiskMark
from language.amounts import minor_units
from language.entities import entities_in
from language.mentions import mentions_of
from language.risk import is_urgent, risks_in


def named(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(e.kind.value, e.value) for e in entities_in(text, mentions_of(text), language)]


@pytest.mark.parametrize(
    ("written", "currency", "minor"),
    [
        ("20.50", "USD", 2050),
        ("20,5", "EUR", 2050),
        ("1.200,50", "EUR", 120_050),
        ("1,200.50", "USD", 120_050),
        ("1 200", "PLN", 120_000),
        ("1'200.00", "CHF", 120_000),
        ("1.200", "EUR", 120_000),
        ("1500", "JPY", 1500),
        ("15.5", "JPY", None),
    ],
)
def test_an_amount_is_read_as_it_is_written_there(written: str, currency: str, minor: int | None) -> None:
    assert minor_units(written, currency) == minor


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        (
            "refund $20.50 of order A-10482 from 12 March 2025",
            "en",
            [("amount", "2050 USD"), ("order", "A-10482"), ("date", "2025-03-12")],
        ),
        ("el 5 de mayo me cobraron 1.200,50 €", "es", [("date", "--05-05"), ("amount", "120050 EUR")]),
        ("am 3.4.2025 doppelt abgebucht, Zahlung 445566", "de", [("date", "2025-04-03"), ("payment", "445566")]),
        ("le 7 août, abonnement sub_8f3kq2", "fr", [("date", "--08-07"), ("subscription", "sub_8f3kq2")]),
        ("R$ 45 no segundo pedido", "pt", [("amount", "4500 BRL"), ("position", "2")]),
        ("l'ultimo", "it", [("position", "-1")]),
        ("03/04/2025", "en", []),  # the third of April, or the fourth of March
        ("31/02/2025", "de", []),  # no such day
        ("last week, the first time", "en", []),
        ("the second one please", "en", [("position", "2")]),
        ("Please send it to 14 Elm Row", "en", [("address", "14 Elm Row")]),
    ],
)
def test_things_are_named(text: str, language: str, expected: list[tuple[str, str]]) -> None:
    assert named(text, language) == expected


@given(st.text(max_size=400), st.sampled_from(["en", "de", "ja"]))
def test_every_entity_stands_in_the_text(text: str, language: str) -> None:
    for entity in entities_in(text, mentions_of(text), language):
        assert entity.words.casefold() in text.casefold()
        assert entity.value or entity.kind is EntityKind.AMOUNT


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("my lawyer will write to you", RiskMark.LEGAL),
        ("Ich schalte die Verbraucherzentrale ein", RiskMark.LEGAL),
        ("the charger caught fire", RiskMark.SAFETY),
        ("alguien usa mi cuenta", RiskMark.FRAUD),
        ("supprimez toutes mes données", RiskMark.PRIVACY),
        ("sono una giornalista", RiskMark.PRESS),
        ("I will do a chargeback", RiskMark.CHARGEBACK),
    ],
)
def test_a_risk_is_marked(text: str, mark: RiskMark) -> None:
    assert risks_in(text) == (mark,)


@pytest.mark.parametrize(
    "text",
    ["where is my order", "the fire pit I ordered", "cut the price", "a lawyer costume in M?", "press the button"],
)
def test_plain_words_mark_no_risk(text: str) -> None:
    assert risks_in(text) == ()


@pytest.mark.parametrize("text", ["it's URGENT", "dringend bitte", "lo antes posible", "至急お願いします"])
def test_haste_is_heard(text: str) -> None:
    assert is_urgent(text)
    assert EntityKind.DATE not in {e.kind for e in entities_in(text, (), "en")}
