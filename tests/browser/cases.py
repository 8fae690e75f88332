"""What a test needs to find in the house: orders of a size that nobody has had, conversations that wait for somebody.

All of it is made over HTTP as customers make it; no page is needed for that.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.browser.world import MARKED
from tests.whole.running import Chat, Product

WAIT_S = 40.0
SMALL_MINOR = range(100, 5_001)  # the customer's own consent is enough
BATCHED = "80 EUR"  # needs a manager, and is small enough to be decided together with its like
MANAGED_MINOR = range(10_001, 50_001)  # needs a manager's look at each


@dataclass(frozen=True)
class Order:
    """A delivered order with something left to refund."""

    tenant: str
    customer: str
    id: str


def fresh(product: Product, left: range = SMALL_MINOR, count: int = 1) -> list[Order]:
    """Return so many orders in euros of one customer whom no test has had. Raises LookupError where nobody is left."""
    for tenant in product.shop("GET", "/_world")["tenants"]:
        for customer in reversed(tenant["customers"]):  # the demo's own past is that of the first ones
            found = [Order(tenant["id"], customer["id"], o["id"]) for o in customer["orders"] if _fits(o, left)]
            if len(found) >= count and customer["id"] not in {MARKED, *product.used}:
                product.used.add(customer["id"])
                return found[:count]
    raise LookupError(f"nobody is left who has {count} orders with {left} to refund")


def _fits(order: dict[str, Any], left: range) -> bool:
    minor = order["captured_minor"] - order["refunded_minor"]
    return order["status"] == "delivered" and order["currency"] == "EUR" and minor in left


def proposed(chat: Chat, text: str) -> str:
    """Have the customer say what leads to a proposal; return its operation id, once it waits for somebody's consent."""
    chat.say(text)
    operation_id = str(until(lambda: chat.view()["actions"])[0]["operation_id"])
    until(lambda: chat.action(operation_id)["required_approvals"])
    return operation_id


def awaiting_staff(product: Product, order: Order, amount: str = "") -> str:
    """Have the customer ask for a refund and consent to it; return the operation that now waits for the staff."""
    chat = Chat(product, order.tenant, order.customer)
    wanted = f"a refund of {amount}" if amount else "a refund"
    operation_id = proposed(chat, f"I want {wanted} for order {order.id}, please")
    answer = chat.decide(operation_id, "approve")
    assert answer.is_success, answer.text
    token = product.token("staff", order.tenant, "manager-1")
    until(lambda: operation_id in {i["operation_id"] for i in product.call("GET", "/approvals", token).json()["items"]})
    return operation_id


def until(holds: Callable[[], Any]) -> Any:
    """Return what `holds` returns, once that is something."""
    end = time.monotonic() + WAIT_S
    while not (found := holds()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
    return found
