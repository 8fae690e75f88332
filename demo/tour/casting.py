"""Who plays: orders and customers of the demo world that fit a scene and that no scene has used before.

Pure, given the world as the shop tells it; what an earlier run refunded is not refundable any more, so it never fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field

from demo.tour.doors import Json
from demo.tour.faults import SceneFault

REFUND_MINOR_MIN, REFUND_MINOR_MAX = 100, 5_000  # what a customer's own confirmation is enough for
KIND = "marketplace"

Fits = Callable[[Json], bool]


@dataclass(frozen=True)
class Case:
    """One order of one customer."""

    tenant: str
    customer: str
    order: str
    refundable_minor: int
    currency: str


@dataclass
class Cast:
    """Hands out cases, each once."""

    used: set[str] = field(default_factory=set)

    def shipped(self, world: Json) -> Case:
        """Return an order that is on its way. Raises SceneFault where none is left."""
        return self._take(world, 1, lambda order: order["status"] == "shipped", frozenset())[0]

    def refundable(self, world: Json, busy: Set[str]) -> Case:
        """Return a delivered order of which 1.00 to 50.00 can be given back. Raises SceneFault where none is left."""
        return self._take(world, 1, _refundable, busy)[0]

    def refundable_pair(self, world: Json, busy: Set[str]) -> tuple[Case, Case]:
        """Return two such orders of one customer. Raises SceneFault where there are none left."""
        first, second = self._take(world, 2, _refundable, busy)
        return first, second

    def _take(self, world: Json, count: int, fits: Fits, busy: Set[str]) -> list[Case]:
        """Take `count` cases of one customer, if possible of one who has not been on stage yet."""
        found = [cases[:count] for cases in _by_customer(world, fits, busy | self.used) if len(cases) >= count]
        fresh = [cases for cases in found if cases[0].customer not in self.used]
        if not found:
            raise SceneFault("the demo world has no such case left; `POST /_reset` at the shop makes a fresh one")
        chosen = (fresh or found)[0]
        self.used.update(case.order for case in chosen)
        self.used.add(chosen[0].customer)
        return chosen


def tenants(world: Json) -> list[str]:
    """Return the ids of the tenants that scenes play at."""
    return [tenant["id"] for tenant in world["tenants"] if tenant["kind"] == KIND]


def refundable_minor(order: Json) -> int:
    """Return how much of an order can still be given back, in minor units."""
    return int(order["captured_minor"]) - int(order["refunded_minor"])


def _refundable(order: Json) -> bool:
    return order["status"] == "delivered" and REFUND_MINOR_MIN <= refundable_minor(order) <= REFUND_MINOR_MAX


def _by_customer(world: Json, fits: Fits, taken: Set[str]) -> Iterator[list[Case]]:
    for tenant in world["tenants"]:
        if tenant["kind"] != KIND:
            continue
        for customer in tenant["customers"]:
            orders = [order for order in customer["orders"] if fits(order) and order["id"] not in taken]
            yield [
                Case(tenant["id"], customer["id"], order["id"], refundable_minor(order), order["currency"])
                for order in orders
            ]
