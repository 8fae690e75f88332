"""A demo that is alive: finished conversations, waiting handoffs, approvals, and one unknown action with a person.

So that no page and no list is empty. Small delivered orders are left alone: they are what visitors try refunds on.
"""

from collections.abc import Callable
from datetime import timedelta
from itertools import cycle, islice
from typing import Any

from domain.base import Noun
from seeding.hand import Hand, manager_of, orders_of
from seeding.served import SERVED, draft, rate, serve
from store.database import Database
from store.provision import backdate

FINISHED = 30
SMALL_REFUND_MINOR = 5_000
LARGE_REFUND_MINOR = 50_000

_QUESTIONS = (
    "Hi, where is my order {order}?",
    "Hola, ¿dónde está mi pedido {order}?",
    "Hallo, wo ist meine Bestellung {order}?",
    "Bonjour, où est ma commande {order} ?",
    "Can you tell me when order {order} arrives?",
)
_ENDINGS = ("Thanks a lot!", "¡Gracias!", "Danke schön!", "Merci beaucoup !", "Thank you!")
_ASKING_FOR_A_PERSON = (
    "I want to talk to a person, please.",
    "Ich möchte bitte mit einem Mitarbeiter sprechen.",
    "Quiero hablar con una persona, por favor.",
)


class Alive(Noun):
    """How much of everything was made."""

    finished: int
    handoffs: int
    approvals: int
    served: int
    drafts: int
    unknown: int
    unknown_operation: str | None = None


async def bring_to_life(hand: Hand, owner: Database, world: dict[str, Any], progress: Callable[[str], None]) -> Alive:
    """Play the demo's past. Where the world has too few orders of a sort, the answer says how many there were."""
    shipped = [x for x in orders_of(world, "marketplace") if x[2]["status"] == "shipped"]
    large = [x for x in orders_of(world, "marketplace") if _needs_a_manager(x[2])]
    cases = list(islice(cycle(shipped), FINISHED))
    finished = [await _finished(hand, x, n, progress) for n, x in enumerate(cases)]
    await rate(hand, [(case, talk) for case, talk in zip(cases, finished, strict=True) if talk])
    done = [c for c in finished if c]
    for n, conversation_id in enumerate(done):
        await backdate(owner, [conversation_id], timedelta(hours=2 + 5 * n))
    for n, (tenant_id, customer_id, _) in enumerate(shipped[: len(_ASKING_FOR_A_PERSON)]):
        who, conversation_id = await hand.begin(tenant_id, customer_id)
        await hand.say(who, conversation_id, _ASKING_FOR_A_PERSON[n])
        await backdate(owner, [conversation_id], timedelta(minutes=4 + 9 * n))
    served = await serve(hand, owner, list(islice(cycle(shipped[len(_ASKING_FOR_A_PERSON) :]), SERVED)))
    drafts = await draft(hand, shipped[len(_ASKING_FOR_A_PERSON) :])
    waiting = [await _awaiting_a_manager(hand, x) for x in large[:2]]
    unknown = await _unknown(hand, large[2]) if len(large) > 2 else None
    return Alive(
        finished=len(done),
        handoffs=min(len(shipped), len(_ASKING_FOR_A_PERSON)),
        approvals=sum(w is not None for w in waiting),
        served=served,
        drafts=drafts,
        unknown=1 if unknown else 0,
        unknown_operation=unknown,
    )


def _needs_a_manager(order: dict[str, Any]) -> bool:
    left = order["captured_minor"] - order["refunded_minor"]
    return bool(order["status"] == "delivered" and SMALL_REFUND_MINOR < left <= LARGE_REFUND_MINOR)


async def _finished(
    hand: Hand, case: tuple[str, str, dict[str, Any]], n: int, progress: Callable[[str], None]
) -> str | None:
    tenant_id, customer_id, order = case
    who, conversation_id = await hand.begin(tenant_id, customer_id)
    await hand.say(who, conversation_id, _QUESTIONS[n % len(_QUESTIONS)].format(order=order["id"]))
    await hand.say(who, conversation_id, _ENDINGS[n % len(_ENDINGS)])
    progress("conversation")
    return conversation_id if await hand.close(tenant_id, conversation_id) else None


async def _awaiting_a_manager(hand: Hand, case: tuple[str, str, dict[str, Any]]) -> str | None:
    """A refund that the customer has confirmed and a manager has not decided yet."""
    tenant_id, customer_id, order = case
    who, conversation_id = await hand.begin(tenant_id, customer_id)
    operation_id = await hand.say(who, conversation_id, f"Order {order['id']} arrived broken. Please refund it.")
    if operation_id is not None:
        await hand.approve(who, operation_id)
    return operation_id


async def _unknown(hand: Hand, case: tuple[str, str, dict[str, Any]]) -> str | None:
    """A refund whose answer was lost, past its deadline: a person has it."""
    operation_id = await _awaiting_a_manager(hand, case)
    if operation_id is None:
        return None
    await hand.approve(manager_of(case[0]), operation_id)
    state = await hand.carry_out(case[0], operation_id, lose_the_answer=True)
    return operation_id if state is not None else None
