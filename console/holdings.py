"""A customer's account as it was read: each thing that they have as a line with its facts, and what can be acted on.

Pure; values stand as the system of record gave them, amounts in words of their currency.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from console.wording import clock, label, moment, money, sentence

Json = dict[str, Any]


@dataclass(frozen=True)
class Holding:
    """One thing of the account: `resource` is what an action names (`order:A-1`), None where none can act on it."""

    resource: str | None
    title: str
    facts: tuple[tuple[str, str], ...]
    pieces: tuple[tuple[str, str], ...] = ()  # of an order: item id and title


@dataclass(frozen=True)
class Reading:
    """An account as read from `source` at `observed_at`; `stale`: a decision may not rest on it any more."""

    source: str
    observed_at: datetime
    max_age_s: int
    stale: bool
    holdings: tuple[Holding, ...] = ()
    account: Json = field(default_factory=dict)


def reading(evidence: Json, now: datetime) -> Reading:
    """Return what one piece of evidence says."""
    observed_at, account = moment(evidence["observed_at"]), evidence.get("account") or {}
    return Reading(
        source=evidence["source"],
        observed_at=observed_at,
        max_age_s=evidence["max_age_s"],
        stale=now - observed_at > timedelta(seconds=evidence["max_age_s"]),
        holdings=tuple(_holdings(account)),
        account=account,
    )


def _holdings(account: Json) -> list[Holding]:
    told = [_order(order) for order in account.get("orders", ())]
    told += [_subscription(one) for one in account.get("subscriptions", ())]
    told += [_payment(one) for one in account.get("payments", ())]
    profile = account.get("profile")
    return [*told, _profile(profile, account)] if profile else told


def also(things: list[Json]) -> list[Holding]:
    """Return what else a decision rests on, each as a line: payments, ways to pay, addresses, plans, variants."""
    return [_other(one) for one in things]


def _other(one: Json) -> Holding:
    if "captured_at" in one and "order_id" in one:
        return _payment(one)
    currency = one.get("currency", "")
    name = one.get("title") or one.get("label") or one.get("name") or one.get("id") or one.get("item_id") or ""
    facts = [(sentence(key.removesuffix("_minor")), _value(key, value, currency)) for key, value in one.items()]
    return Holding(resource=None, title=str(name), facts=_facts(*facts))


def _value(key: str, value: Any, currency: str) -> str:
    """One fact in words: an amount in its currency, a time by the clock, yes and no, lists as they stand."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.endswith("_minor") and isinstance(value, int):
        return money(value, currency)
    if key.endswith("_at") and isinstance(value, str):
        return clock(value)
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return "" if value is None or isinstance(value, dict) else str(value)


def _facts(*pairs: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in pairs if value)


def _order(order: Json) -> Holding:
    currency, shipment = order["currency"], order.get("shipment") or {}
    events: list[Json] = shipment.get("events") or [{}]
    last = max(events, key=lambda e: e.get("at", ""))
    return Holding(
        resource=f"order:{order['id']}",
        title=f"Order {order['id']}",
        facts=_facts(
            ("Status", label(order["status"])),
            ("Paid", money(order["captured_minor"], currency)),
            ("Given back", money(order["refunded_minor"], currency) if order["refunded_minor"] else ""),
            ("Placed", clock(order.get("placed_at"))),
            ("Delivered", clock(order.get("delivered_at"))),
            ("Items", ", ".join(_piece(item, currency) for item in order.get("items", ()))),
            ("Parcel", label(shipment.get("status", ""))),
            ("Carrier", " ".join(filter(None, (shipment.get("carrier"), shipment.get("tracking_code"))))),
            ("Last scan", f"{label(last['status'])}, {clock(last['at'])}" if last.get("at") else ""),
            ("Carrier asked", clock(shipment.get("observed_at"))),
        ),
        pieces=tuple((item["item_id"], item["title"]) for item in order.get("items", ()) if item.get("item_id")),
    )


def _piece(item: Json, currency: str) -> str:
    times = f"{item['quantity']} × " if item.get("quantity", 1) != 1 else ""
    return f"{times}{item['title']} ({money(item['price_minor'], currency)})"


def _subscription(one: Json) -> Holding:
    return Holding(
        resource=f"subscription:{one['id']}",
        title=f"Subscription {one['id']}",
        facts=_facts(
            ("Plan", one["plan"]),
            ("Status", label(one["status"])),
            ("Price", money(one["price_minor"], one["currency"])),
            ("Renews", clock(one.get("renews_at"))),
        ),
    )


def _payment(one: Json) -> Holding:
    return Holding(
        resource=f"payment:{one['id']}",
        title=f"Payment {one['id']}",
        facts=_facts(
            ("Amount", money(one["amount_minor"], one["currency"])),
            ("Given back", money(one["refunded_minor"], one["currency"]) if one["refunded_minor"] else ""),
            ("Status", label(one["status"])),
            ("For", one.get("order_id") or one.get("subscription_id") or ""),
            ("Taken", clock(one.get("captured_at"))),
        ),
    )


def _profile(profile: Json, account: Json) -> Holding:
    version = account.get("product_version")
    return Holding(
        resource=f"account:{profile['id']}",
        title=f"Account {profile['id']}",
        facts=_facts(
            ("Sign-in", label(profile["access"])),
            ("E-mail", "verified" if profile["email_verified"] else "not verified"),
            ("Store credit", money(profile["store_credit_minor"], profile["currency"])),
            ("Product version", str(version) if version else ""),
        ),
    )
