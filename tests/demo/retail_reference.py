"""A retail world's rules once more, over the plain file and written apart from the shop: what is accepted, and its end.

Small on purpose: a world of a few invented people, and a reference that answers yes or no and changes the file's world.
"""

from __future__ import annotations

import copy
from collections import Counter
from decimal import Decimal
from typing import Any

Json = dict[str, Any]


def address(n: int) -> Json:
    return {
        "address1": f"{n} Elm Row",
        "address2": "",
        "city": "Tulsa",
        "state": "OK",
        "country": "USA",
        "zip": "74103",
    }


def small_world() -> Json:
    """Two products of three variants, two people, six orders in all statuses."""
    products = {}
    for p, name, prices in (("p1", "Lamp", (20.0, 25.5, 30.0)), ("p2", "Rug", (100.0, 90.25, 400.0))):
        variants = {
            f"{p}v{n}": {"item_id": f"{p}v{n}", "options": {"size": str(n)}, "available": n != 2, "price": price}
            for n, price in enumerate(prices)
        }
        products[p] = {"name": name, "product_id": p, "variants": variants}
    users = {}
    for n, balance in ((1, 12.0), (2, 300.0)):
        methods = {
            f"gift_card_{n}": {"source": "gift_card", "id": f"gift_card_{n}", "balance": balance},
            f"credit_card_{n}": {"source": "credit_card", "id": f"credit_card_{n}", "brand": "visa", "last_four": "1"},
            f"paypal_{n}": {"source": "paypal", "id": f"paypal_{n}"},
        }
        users[f"ann_bee_{n}"] = {
            "user_id": f"ann_bee_{n}", "name": {"first_name": "Ann", "last_name": "Bee"}, "address": address(n),
            "email": f"ann{n}@example.com", "payment_methods": methods, "orders": [],
        }  # fmt: skip
    world: Json = {"products": products, "users": users, "orders": {}}
    statuses = ("pending", "delivered", "processed", "cancelled", "pending", "delivered")
    for n, status in enumerate(statuses):
        _add_order(world, n, status)
    return world


def _add_order(world: Json, n: int, status: str) -> None:
    user, ident = f"ann_bee_{n % 2 + 1}", f"#W{n}"
    items = [_bought(world, "p1", "p1v0"), _bought(world, "p1", "p1v0"), _bought(world, "p2", "p2v0")]
    total = sum(item["price"] for item in items)
    method = ("credit_card_{}", "gift_card_{}", "paypal_{}")[n % 3].format(n % 2 + 1)
    history = [{"transaction_type": "payment", "amount": total, "payment_method_id": method}]
    if status == "cancelled":
        history.append({**history[0], "transaction_type": "refund"})
    shipped = status in ("processed", "delivered")
    world["users"][user]["orders"].append(ident)
    world["orders"][ident] = {
        "order_id": ident, "user_id": user, "address": address(n % 3), "items": items, "status": status,
        "fulfillments": [{"tracking_id": [f"10{n}"], "item_ids": ["p1v0", "p2v0"]}] if shipped else [],
        "payment_history": history,
    }  # fmt: skip


def _bought(world: Json, product: str, item: str) -> Json:
    variant = world["products"][product]["variants"][item]
    return {"name": world["products"][product]["name"], "product_id": product, **variant}


def cents(amount: float) -> int:
    return int(Decimal(str(amount)) * 100)


class Reference:
    """The world as its own rules leave it."""

    def __init__(self, world: Json) -> None:
        self.world = copy.deepcopy(world)

    def accepts(self, customer: str, write: str, args: Json) -> bool:
        """Whether this customer's write is accepted; if so it is applied."""
        if write == "modify_user_address":
            return bool(args["user_id"] == customer)
        order = self.world["orders"].get(args["order_id"])
        if order is None or order["user_id"] != customer:
            return False
        accepted: bool = getattr(self, f"_{write}")(order, args)
        return accepted

    def balance(self, customer: str, method: str) -> int | None:
        """What a gift card holds, in cents."""
        held = self.world["users"][customer]["payment_methods"][method].get("balance")
        return None if held is None else cents(held)

    def _methods(self, order: Json) -> Json:
        methods: Json = self.world["users"][order["user_id"]]["payment_methods"]
        return methods

    def _load(self, order: Json, method: str, amount: int) -> None:
        known = self._methods(order)[method]
        if known["source"] == "gift_card":
            known["balance"] = (cents(known["balance"]) + amount) / 100

    def _covers(self, order: Json, method: str, amount: int) -> bool:
        known = self._methods(order).get(method)
        return known is not None and (known["source"] != "gift_card" or cents(known["balance"]) >= amount)

    def _holds(self, order: Json, item_ids: list[str]) -> bool:
        return not Counter(item_ids) - Counter(item["item_id"] for item in order["items"])

    def _difference(self, order: Json, args: Json) -> int | None:
        """What the new ones cost more; None where they do not fit."""
        old, new = args["item_ids"], args["new_item_ids"]
        if not self._holds(order, old) or len(old) != len(new):
            return None
        difference = 0
        for old_id, new_id in zip(old, new, strict=True):
            item = next(item for item in order["items"] if item["item_id"] == old_id)
            variant = self.world["products"][item["product_id"]]["variants"].get(new_id)
            if variant is None or not variant["available"]:
                return None
            difference += cents(variant["price"]) - cents(item["price"])
        return difference

    def _cancel_pending_order(self, order: Json, args: Json) -> bool:
        if order["status"] != "pending" or args["reason"] not in ("no longer needed", "ordered by mistake"):
            return False
        for paid in order["payment_history"]:
            sign = 1 if paid["transaction_type"] == "payment" else -1
            self._load(order, paid["payment_method_id"], sign * cents(paid["amount"]))
        order["status"] = "cancelled"
        return True

    def _modify_pending_order_items(self, order: Json, args: Json) -> bool:
        difference = self._difference(order, args)
        same = any(a == b for a, b in zip(args["item_ids"], args["new_item_ids"], strict=False))
        if order["status"] != "pending" or difference is None or same:
            return False
        if not self._covers(order, args["payment_method_id"], difference):
            return False
        self._load(order, args["payment_method_id"], -difference)
        order["payment_history"].append({})
        order["status"] = "pending (item modified)"
        return True

    def _exchange_delivered_order_items(self, order: Json, args: Json) -> bool:
        difference = self._difference(order, args)
        if order["status"] != "delivered" or difference is None:
            return False
        if not self._covers(order, args["payment_method_id"], difference):
            return False
        order["status"] = "exchange requested"
        return True

    def _return_delivered_order_items(self, order: Json, args: Json) -> bool:
        method = self._methods(order).get(args["payment_method_id"])
        if order["status"] != "delivered" or method is None or not self._holds(order, args["item_ids"]):
            return False
        if method["source"] != "gift_card" and method["id"] != order["payment_history"][0]["payment_method_id"]:
            return False
        order["status"] = "return requested"
        return True

    def _modify_pending_order_payment(self, order: Json, args: Json) -> bool:
        history = order["payment_history"]
        if "pending" not in order["status"] or len(history) != 1 or history[0]["transaction_type"] != "payment":
            return False
        was, new, amount = history[0]["payment_method_id"], args["payment_method_id"], cents(history[0]["amount"])
        if was == new or not self._covers(order, new, amount):
            return False
        self._load(order, new, -amount)
        self._load(order, was, amount)
        history.append({**history[0], "payment_method_id": new})
        history.append({**history[0], "transaction_type": "refund"})
        return True

    def _modify_pending_order_address(self, order: Json, args: Json) -> bool:
        return "pending" in order["status"]
