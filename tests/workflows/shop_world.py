"""The shop's world for these laws: two tenants with so many customers that every scene has one to itself.

Names and addresses are odd on purpose, so that any of them in a history is found.
"""

import json
from itertools import count
from pathlib import Path
from typing import Any

from domain.base import Noun

MARKET, SAAS = "bazaar", "cloudly"
CUSTOMERS = 400
NAME, MAIL = "Zebulon", "quxley.example"


class Person(Noun):
    """One customer: orders of 20.00, 30.00 and 200.00, one on its way, and two subscriptions in the other tenant."""

    n: int

    @property
    def id(self) -> str:
        return f"c-{self.n}"

    def order(self, k: int = 1) -> str:
        return f"A-{10_000 + self.n * 10 + k}"

    def subscription(self, k: int = 1) -> str:
        return f"S-{20_000 + self.n * 10 + k}"


_people = count(1)


def somebody() -> Person:
    """A customer whom no other scene has."""
    n = next(_people)
    assert n <= CUSTOMERS, "make more customers"
    return Person(n=n)


def write_world(path: Path) -> Path:
    people = [Person(n=n) for n in range(1, CUSTOMERS + 1)]
    market = {"id": MARKET, "kind": "marketplace", "customers": [_buyer(p) for p in people]}
    saas = {"id": SAAS, "kind": "saas", "customers": [_subscriber(p) for p in people]}
    path.write_text(json.dumps({"tenants": [market, saas]}))
    return path


def _named(p: Person) -> dict[str, Any]:
    return {"id": p.id, "name": f"{NAME} Quxley {p.n}", "email": f"zeb{p.n}@{MAIL}"}


def _buyer(p: Person) -> dict[str, Any]:
    amounts = {1: 2_000, 2: 3_000, 3: 20_000}
    orders = [_order(p.order(k), "delivered", amount) for k, amount in amounts.items()]
    return {**_named(p), "orders": [*orders, _order(p.order(4), "shipped", 4_000, "out_for_delivery")]}


def _order(ident: str, status: str, captured_minor: int, scanned: str = "") -> dict[str, Any]:
    scan = {"status": scanned or status, "at": "2026-01-02T10:00:00Z"}
    return {
        "id": ident,
        "status": status,
        "captured_minor": captured_minor,
        "items": [{"title": "Mug", "price_minor": captured_minor}],
        "shipment": {"status": scanned or status, "events": [scan]},
    }


def _subscriber(p: Person) -> dict[str, Any]:
    plans = [{"id": p.subscription(k), "plan": f"plan-{k}", "status": "active", "price_minor": 900} for k in (1, 2)]
    return {**_named(p), "subscriptions": plans}
