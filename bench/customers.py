"""Who asks in a measurement: customers of the demo world with a shipped order, each with a token.

The question is always about their own order, so that every turn reads and changes nothing.
"""

from dataclasses import dataclass
from pathlib import Path

from bench.wire import BenchFault, Wire
from stack import keys
from stack.layout import DataDir

TOKEN_TTL_S = 7_200


@dataclass(frozen=True)
class Customer:
    """One customer, and the question that they ask."""

    id: str
    token: str
    question: str


async def customers_of(shop: Wire, data_dir: Path) -> list[Customer]:
    """Return every customer that has a shipped order. Raises BenchFault where there is none."""
    world = await shop.ask("GET", "/_world")
    found = [
        Customer(
            id=customer["id"],
            token=keys.mint(DataDir.at(data_dir), "customer", tenant["id"], customer["id"], TOKEN_TTL_S),
            question=f"Where is my order {order['id']}?",
        )
        for tenant in world["tenants"]
        for customer in tenant["customers"]
        for order in [o for o in customer["orders"] if o["status"] == "shipped"][:1]
    ]
    if not found:
        raise BenchFault("the demo world has no customer with a shipped order")
    return found
