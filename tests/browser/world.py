"""The shop's world for these laws: a market where every test finds a customer of its own, and one full of markup.

The demo's past happens to the first customers, the one with markup foremost; tests take them from the other end.
"""

import json
from itertools import count
from pathlib import Path
from typing import Any

MARKET = "acme-market"
PEOPLE = 39  # with the one of markup, all that the entrance of the chat lists
SMALL_MINOR, MANAGED_MINOR = (2_000, 3_000), 20_000
MARKUP = "<img src=x onerror='window.hit=1'><script>window.hit=1</script>"
MARKED = "c-marked"

_numbers = count(10_001)


def write_world(path: Path) -> Path:
    """Write it down for the demo shop; return where."""
    people = [_customer(n) for n in range(1, PEOPLE + 1)]
    market = {"id": MARKET, "name": "Acme Market", "kind": "marketplace", "customers": [_marked(), *people]}
    path.write_text(json.dumps({"tenants": [market]}), "utf-8")
    return path


def _customer(n: int) -> dict[str, Any]:
    orders = [_order("delivered", minor, "Mug") for minor in (*SMALL_MINOR, MANAGED_MINOR)]
    return {"id": f"c-{n}", "name": f"Customer {n}", "orders": [*orders, _order("shipped", 4_000, "Teapot")]}


def _marked() -> dict[str, Any]:
    address = {"id": "home", "label": MARKUP, "lines": [MARKUP, "Town"], "verified": True}
    orders = [_order("delivered", minor, MARKUP) for minor in (*SMALL_MINOR, MANAGED_MINOR)]
    shipped = _order("shipped", 4_000, MARKUP)
    return {"id": MARKED, "name": MARKUP, "addresses": [address], "orders": [*orders, shipped]}


def _order(status: str, captured_minor: int, title: str) -> dict[str, Any]:
    scan = {"status": status if status == "delivered" else "in_transit", "at": "2026-01-02T10:00:00Z", "place": title}
    return {
        "id": f"A-{next(_numbers)}",
        "status": status,
        "currency": "EUR",
        "captured_minor": captured_minor,
        "items": [{"title": title, "price_minor": captured_minor}],
        "shipment": {"status": scan["status"], "events": [scan]},
    }
