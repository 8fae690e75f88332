"""The shop's own rules, stated a second time and apart from the bundle: what it accepts, and what that changes.

Written from the rules of the world's public source, for the tests alone: a write is refused whole or carried out whole.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

ADDRESS = ("address1", "address2", "city", "state", "country", "zip")
TAKES: dict[str, dict[str, type]] = {
    "cancel_pending_order": {"order_id": str, "reason": str},
    "modify_pending_order_address": {"order_id": str, **dict.fromkeys(ADDRESS, str)},
    "modify_pending_order_payment": {"order_id": str, "payment_method_id": str},
    "modify_pending_order_items": {"order_id": str, "item_ids": list, "new_item_ids": list, "payment_method_id": str},
    "return_delivered_order_items": {"order_id": str, "item_ids": list, "payment_method_id": str},
    "exchange_delivered_order_items": {
        "order_id": str,
        "item_ids": list,
        "new_item_ids": list,
        "payment_method_id": str,
    },
    "modify_user_address": {"user_id": str, **dict.fromkeys(ADDRESS, str)},
}  # fmt: skip
Json = dict[str, Any]


class Refused(Exception):
    """The shop does not do this."""


def need(holds: object, why: str) -> None:
    if not holds:
        raise Refused(why)


class Shop:
    """A world that plays writes: `plays` changes it where its rules accept, and says whether they did."""

    def __init__(self, world: Mapping[str, Any]) -> None:
        self.users: Json = deepcopy(world["users"])
        self.orders: Json = deepcopy(world["orders"])
        self.products: Json = world["products"]

    def copy(self) -> "Shop":
        """A shop that stands where this one does, and goes its own way."""
        return Shop({"users": self.users, "orders": self.orders, "products": self.products})

    def plays(self, principal: str, tool: str, arguments: Any) -> bool:
        writes: dict[str, Callable[..., None]] = {
            "cancel_pending_order": self._cancel,
            "modify_pending_order_address": self._readdress,
            "modify_pending_order_payment": self._repay,
            "modify_pending_order_items": self._reselect,
            "return_delivered_order_items": self._take_back,
            "exchange_delivered_order_items": self._exchange,
        }
        try:
            need(tool in TAKES, "no such tool")
            need(isinstance(arguments, dict) and _fits(arguments, TAKES[tool]), "not what the tool takes")
            if tool == "modify_user_address":
                need(principal in self.users and arguments["user_id"] == principal, "another user")
                self.users[principal]["address"] = {name: arguments[name] for name in ADDRESS}
                return True
            need(arguments["order_id"] in self.orders, "no such order")
            order = self.orders[arguments["order_id"]]
            need(principal in self.users and order["user_id"] == principal, "another user's order")
            writes[tool](order, **{name: value for name, value in arguments.items() if name != "order_id"})
        except Refused:
            return False
        return True

    def _cancel(self, order: Json, reason: str) -> None:
        need(order["status"] == "pending", "status")
        need(reason in ("no longer needed", "ordered by mistake"), "reason")
        paid = [(entry["amount"], self._method(order, entry["payment_method_id"])) for entry in _history(order)]
        for amount, method in paid:
            _credit(method, amount)
        back = [{**entry, "transaction_type": "refund"} for entry in _history(order)]
        order.update(status="cancelled", payment_history=[*_history(order), *back])

    def _readdress(self, order: Json, **address: str) -> None:
        need("pending" in order["status"], "status")
        order["address"] = address

    def _repay(self, order: Json, payment_method_id: str) -> None:
        need("pending" in order["status"], "status")
        method = self._method(order, payment_method_id)
        kinds = [entry["transaction_type"] for entry in _history(order)]
        need(kinds == ["payment"], "paid exactly once")
        first = _history(order)[0]
        need(first["payment_method_id"] != payment_method_id, "the same method")
        need(_covers(method, first["amount"]), "gift card too low")
        before = self._method(order, first["payment_method_id"])
        _credit(method, -first["amount"])
        _credit(before, first["amount"])
        new = {**first, "payment_method_id": payment_method_id}
        order["payment_history"] = [first, new, {**first, "transaction_type": "refund"}]

    def _reselect(self, order: Json, item_ids: list[str], new_item_ids: list[str], payment_method_id: str) -> None:
        need(order["status"] == "pending", "status")
        need(all(old != new for old, new in zip(item_ids, new_item_ids, strict=False)), "the same item")
        extra = self._priced(order, item_ids, new_item_ids)
        method = self._method(order, payment_method_id)
        need(_covers(method, extra), "gift card too low")
        _credit(method, -extra)
        kind = "payment" if extra > 0 else "refund"
        entry = {"transaction_type": kind, "amount": abs(extra), "payment_method_id": payment_method_id}
        order.update(status="pending (item modified)", payment_history=[*_history(order), entry])
        for old, new in zip(item_ids, new_item_ids, strict=True):
            _first(order, old)["item_id"] = new

    def _take_back(self, order: Json, item_ids: list[str], payment_method_id: str) -> None:
        need(order["status"] == "delivered", "status")
        method = self._method(order, payment_method_id)
        history = _history(order)
        original = bool(history) and history[0]["payment_method_id"] == payment_method_id
        need(original or method["source"] == "gift_card", "refund to another card")
        _holds(order, item_ids)
        order["status"] = "return requested"

    def _exchange(self, order: Json, item_ids: list[str], new_item_ids: list[str], payment_method_id: str) -> None:
        need(order["status"] == "delivered", "status")
        extra = self._priced(order, item_ids, new_item_ids)
        need(_covers(self._method(order, payment_method_id), round(extra, 2)), "gift card too low")
        order["status"] = "exchange requested"

    def _priced(self, order: Json, item_ids: list[str], new_item_ids: list[str]) -> float:
        """What the new items cost more, added as the shop adds it."""
        _holds(order, item_ids)
        need(len(item_ids) == len(new_item_ids), "as many new as old")
        extra = 0.0
        for old, new in zip(item_ids, new_item_ids, strict=True):
            item = _first(order, old)
            variants = self.products.get(item["product_id"], {"variants": {}})["variants"]
            need(new in variants, "another product")
            need(variants[new]["available"], "not available")
            extra += variants[new]["price"] - item["price"]
        return extra

    def _method(self, order: Json, ident: str) -> Json:
        methods: Json = self.users[order["user_id"]]["payment_methods"]
        need(ident in methods, "no such payment method")
        found: Json = methods[ident]
        return found


def _fits(arguments: Json, takes: Mapping[str, type]) -> bool:
    if set(arguments) != set(takes):
        return False
    lists = [value for value in arguments.values() if isinstance(value, list)]
    return all(isinstance(arguments[name], kind) for name, kind in takes.items()) and all(
        isinstance(part, str) for value in lists for part in value
    )


def _history(order: Json) -> list[Json]:
    found: list[Json] = order["payment_history"]
    return found


def _first(order: Json, item_id: str) -> Json:
    return next(item for item in order["items"] if item["item_id"] == item_id)


def _holds(order: Json, item_ids: list[str]) -> None:
    held = [item["item_id"] for item in order["items"]]
    need(all(item_ids.count(ident) <= held.count(ident) for ident in item_ids), "not so often in the order")


def _covers(method: Json, amount: float) -> bool:
    return bool(method["source"] != "gift_card" or method["balance"] >= amount)


def _credit(method: Json, amount: float) -> None:
    if method["source"] == "gift_card":
        method["balance"] = round(method["balance"] + amount, 2)
