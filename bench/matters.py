"""What customers of the demo world ask in this bench, from what rules answer to what takes a model twice.

Everybody asks about an order of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from bench.customers import TOKEN_TTL_S
from bench.wire import BenchFault, Json, Wire
from stack import keys
from stack.layout import DataDir

REFUND_MINOR_MAX = 5_000  # what a customer's own word suffices for


class Matter(StrEnum):
    """What somebody wants."""

    SIMPLE = "simple"  # rules understand it, a template answers
    KNOWLEDGE = "knowledge"  # an article answers
    BOTH = "status_and_knowledge"
    VAGUE = "vague"  # nothing local is sure of it
    LETTER = "letter"  # long, with several needs: what a ticket looks like
    ACTION = "action"  # a refund, agreed to by its button


WORDS = {
    Matter.SIMPLE: "Where is my order {order}?",
    Matter.KNOWLEDGE: "How long does a refund take to reach my account?",
    Matter.BOTH: "Where is my order {order}, and how do I send it back if I don't like it?",
    Matter.VAGUE: "well the thing came, it is not quite what it looked like in the pictures tbh",
    Matter.LETTER: (
        "Hello, I hope that you are well. I ordered from you some time ago, the number is {order}, since a friend "
        "of mine had recommended you and the pictures looked lovely. First there was a mail that said it was on "
        "its way, then for many days there was nothing at all, and I stayed at home twice in vain. My neighbour "
        "says that a van was here on a morning when I was at work, but there was no card in my letter box. So I "
        "would like to know where it is now, and when I may count on it. Apart from that I am moving house at the "
        "end of the month, so what would I have to do for the next one to go to another address? And how does it "
        "work with sending something back, in case that it is not as I hope: who pays for the parcel, and how long"
        " do I wait for my money? Many thanks, and best wishes."
    ),
    Matter.ACTION: "Order {order} arrived damaged. Please refund it.",
}


@dataclass(frozen=True)
class Asker:
    """A customer with a token, what they say, and about what."""

    token: str
    text: str


def askers(world: Json, data_dir: Path, matter: Matter) -> Iterator[Asker]:
    """Everybody of the demo world who may ask about a matter, once for each of their orders.

    Raises BenchFault where there is nobody.
    """
    wanted = _refundable if matter is Matter.ACTION else _shipped
    found = [
        Asker(
            keys.mint(DataDir.at(data_dir), "customer", tenant["id"], customer["id"], TOKEN_TTL_S),
            WORDS[matter].format(order=order["id"]),
        )
        for tenant in world["tenants"]
        for customer in tenant["customers"]
        for order in customer["orders"]
        if wanted(order)
    ]
    if not found:
        raise BenchFault(f"nobody in the demo world can ask about: {matter}")
    return iter(found)


async def world_of(shop_url: str) -> Json:
    """Return the demo world."""
    return await Wire(shop_url).ask("GET", "/_world")


def _shipped(order: Json) -> bool:
    return bool(order["status"] == "shipped")


def _refundable(order: Json) -> bool:
    left: int = order["captured_minor"] - order["refunded_minor"]
    return order["status"] == "delivered" and 0 < left <= REFUND_MINOR_MAX
