"""Two things asked for in one message are both heard, in the order of saying; one thing said in two ways is one."""

import pytest

from domain.understanding import Intent, TurnContext
from language.clauses import CLAUSES_MAX, clauses_of
from language.understanding import RulesUnderstander

I = Intent  # noqa: E741 — the table reads better so
UNDERSTANDER = RulesUnderstander()


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("Where is my order A-10014? I also want a refund for order A-10011, please.",
         (I.ORDER_STATUS, I.REFUND_REQUEST)),
        ("I want a refund for order A-10011. And where is my order A-10014?", (I.REFUND_REQUEST, I.ORDER_STATUS)),
        ("Where is A-10014 and please cancel A-20001", (I.ORDER_STATUS, I.CANCEL_ORDER)),
        ("Please refund order A-10011 and change the delivery address of order A-20001 to my office",
         (I.REFUND_REQUEST, I.CHANGE_ADDRESS)),
        ("Wo ist meine Bestellung A-10014? Außerdem möchte ich mein Geld für Bestellung A-10011 zurück.",
         (I.ORDER_STATUS, I.REFUND_REQUEST)),
        ("¿Dónde está mi pedido A-10014? También quiero un reembolso del pedido A-10011.",
         (I.ORDER_STATUS, I.REFUND_REQUEST)),
    ],
)  # fmt: skip
def test_two_needs_are_heard_in_the_order_of_saying(text: str, intents: tuple[Intent, ...]) -> None:
    heard = UNDERSTANDER.understand([text], TurnContext())
    assert (heard.intent, heard.intents) == (intents[0], intents)


@pytest.mark.parametrize(
    "text",
    [
        "Where is my order A-10014 and when does it come?",
        "My mug and my plate arrived broken.",
        "I want a refund for order A-10011, and quickly please.",
        "I do not want a refund, and where is my order A-10014?",
    ],
)
def test_one_need_is_not_taken_for_two(text: str) -> None:
    assert UNDERSTANDER.understand([text], TurnContext()).intents == ()


def test_clauses_are_cut_at_whole_words_and_are_few() -> None:
    assert clauses_of("A hand and a stand. Also this; OK?") == ("A hand", "a stand", "this", "OK")
    assert len(clauses_of("yes. " * 100)) == CLAUSES_MAX
    assert clauses_of("12 / 34 !?") == ()
