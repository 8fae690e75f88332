"""Which tokens are taken for ids, and which are not."""

import pytest

from language.mentions import MENTIONS_MAX, mentions_of, plans_named


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hi, where is my order A-10482?", ("A-10482",)),
        ("order a-10482, and sub_8h2k.", ("a-10482", "sub_8h2k")),
        ("pay_9xk2 was charged twice", ("pay_9xk2",)),
        ("cancel sub_GrJkdDTrOgSeRH", ("sub_GrJkdDTrOgSeRH",)),
        ("#1234 please", ("#1234",)),
        ("w1234567!", ("w1234567",)),
        ("order a 10482", ("a 10482",)),
        ("order number: 12345", ("12345",)),
        ("pedido nº 12345", ("12345",)),
        ("Bestellung Nr. A-10482 und a-10482", ("A-10482",)),
        ("A-10482/A-10483", ("A-10482", "A-10483")),
        ("(A‑10482)", ("A‑10482",)),
        ("order 123e4567-e89b-12d3-a456-426614174000", ("123e4567-e89b-12d3-a456-426614174000",)),
        ("I paid €160 or 160 dollars on 19/11/2024 at 10:30", ()),
        ("call me on +44 20 7946 0958 or my phone 020 7946 0958", ()),
        ("the 3rd of 2 boxes, 24-hour, 10gb, iphone15, 1.234,50 €", ()),
        ("mail a1b2@x.com or https://x.test/A-10482", ()),
        ("my card is 4453 4585 7458 9654", ()),
        ("我的订单A-73191在哪里？", ("A-73191",)),
        ("คำสั่งซื้อA-29398อยู่ที่ไหน", ("A-29398",)),
        ("أين الطلبA-16536", ("A-16536",)),
        ("주문 A-87636는", ("A-87636",)),
        ("größeA-73191", ()),  # of one script with the id: part of a word
        ("CANARY-X9", ()),
        ("refund for A-1", ("A-1",)),
        ("order is 3 days late, zip 90210, in 2024, note 7", ()),
    ],
)
def test_ids_are_found_as_written_and_nothing_else(text: str, found: tuple[str, ...]) -> None:
    assert mentions_of(text) == found


def test_very_many_ids_are_cut_off() -> None:
    assert len(mentions_of(" ".join(f"A-{n}" for n in range(10_000, 10_100)))) == MENTIONS_MAX


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Cancel my Team subscription", ("Team",)),
        ("Please cancel the Business plan", ("Business",)),
        ("no wait, the Team one", ("Team",)),
        ("unsubscribe me from Starter", ("Starter",)),
        ("Bitte kündigen Sie mein Team-Abo", ("Team",)),
        ("résilier mon abonnement Business", ("Business",)),
        ("Cancel my subscription", ()),
        ("Please cancel my subscription. My plan is too expensive.", ()),
        ("i want to stop my plan", ()),
    ],
)
def test_a_plan_is_named_by_a_word_with_a_capital_beside_its_noun(text: str, found: tuple[str, ...]) -> None:
    assert plans_named(text) == found
