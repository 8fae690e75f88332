"""How a thing is spoken of: what was done is not wished for again, and how it works is not that it be done."""

import pytest

from domain.understanding import Intent, TurnContext
from language.routing import LocalUnderstander
from language.understanding import RulesUnderstander

UNDERSTANDER, RULES = LocalUnderstander(), RulesUnderstander()
DONE = frozenset({Intent.REFUND_REQUEST, Intent.CANCEL_ORDER, Intent.CANCEL_SUBSCRIPTION, Intent.CHANGE_ADDRESS})


@pytest.mark.parametrize(
    "text",
    [
        "Has A-33246 been cancelled?",
        "A-33246 was cancelled, thanks",
        "You refunded A-33246, but only half",
        "Thanks for changing the address of A-33246",
        "Haben Sie A-33246 schon erstattet?",
        "Wurde A-33246 storniert?",
        "¿Ya reembolsaron A-33246?",
        "Pourquoi A-33246 n'a pas encore été remboursé ?",
        "È stato annullato A-33246?",
        "Foi cancelado o pedido A-33246?",
    ],
)
def test_what_is_spoken_of_as_done_is_not_asked_for_whoever_reads_it(text: str) -> None:
    assert not DONE & set(UNDERSTANDER.understand([text], TurnContext()).every_intent)


@pytest.mark.parametrize(
    "text",
    [
        "I cancelled A-33246 last week, please refund it",
        "We were refunded for one item but please refund A-33246 too",
        "The order A-33246 was damaged and I want it refunded",
        "Ich möchte A-33246 erstattet haben",
        "Ich habe A-33246 bestellt und möchte es erstattet bekommen",
        "Je demande à être remboursé pour A-33246",
        "Vorrei essere rimborsato per A-33246",
    ],
)
def test_a_wish_beside_it_stays_one(text: str) -> None:
    told = UNDERSTANDER.understand([text], TurnContext())
    assert (told.intent, told.seeks_information) == (Intent.REFUND_REQUEST, False)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How do I return an item and where is A-33246?", True),
        ("Where is A-33246, and how long does a refund take?", True),
        ("How can I get a refund? Please refund A-33246.", False),
        ("Refund A-33246, and how do I change my address?", False),
    ],
)
def test_a_question_beside_a_plain_wish_takes_nothing_from_it(text: str, asks: bool) -> None:
    assert RULES.understand([text], TurnContext()).seeks_information is asks


def test_what_was_not_done_is_no_reason_for_thanks() -> None:
    told = RULES.understand(["A-33246 was never refunded, thanks"], TurnContext())
    assert told.intent is Intent.ACTION_STATUS
