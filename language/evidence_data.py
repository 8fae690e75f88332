"""What a model is given of an account to write from: few facts, as the checks will look for them, and no more.

Nobody's name, address or way to pay is among them; titles and places only where they are harmless words.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from domain.account import Account, Order, Payment, Subscription
from domain.freshness import TELL, tracking_is_current
from language.evidence_words import LISTED_MAX, newest_orders, newest_payments, telling
from language.formats import day, money


def account_data(account: Account, resource: str | None, language: str, now: datetime) -> str:
    """Return the facts as JSON: of `resource` (`order:ID` and the like), or of the newest things where none is meant.

    At most `LISTED_MAX` of each; amounts and days are written as the language writes them.
    """
    pen = _Pen(language, now)
    meant = account.resource(resource) if resource else None
    match meant:
        case Order():
            told: dict[str, Any] = {"orders": [pen.order(meant)], "payments": pen.payments(_of(account, meant.id))}
        case Subscription():
            told = {"subscriptions": [pen.subscription(meant)]}
        case Payment():
            told = {"payments": pen.payments([meant])}
        case _:
            told = {
                "orders_in_all": len(account.orders),
                "orders": [pen.order(o) for o in newest_orders(account, refundable=False)[:LISTED_MAX]],
                "subscriptions": [pen.subscription(s) for s in account.subscriptions[:LISTED_MAX]],
                "payments": pen.payments(newest_payments(account)),
                "plans_on_offer": [
                    {"name": p.name, "price": money(p.price_minor, p.currency, language)} for p in account.plans
                ][:LISTED_MAX],
            }
    return json.dumps(told, ensure_ascii=False, indent=1)


def order_data(account: Account, order_id: str, language: str, now: datetime) -> str | None:
    """Return the facts of one order of the account's own as JSON, or None where it has none of that id."""
    order = account.order(order_id)
    return account_data(account, f"order:{order.id}", language, now) if order else None


def _of(account: Account, order_id: str) -> list[Payment]:
    return [p for p in account.payments if p.order_id == order_id]


class _Pen:
    """Writes facts in one language, as of one moment."""

    def __init__(self, language: str, now: datetime) -> None:
        self._language, self._now = language, now

    def order(self, order: Order) -> dict[str, Any]:
        told: dict[str, Any] = {
            "id": order.id,
            "status": order.status,
            "paid": money(order.captured_minor, order.currency, self._language),
            "items": [{"title": i.title, "quantity": i.quantity} for i in order.items if telling(i.title)][:LISTED_MAX],
        }
        if order.refunded_minor:
            told["given_back"] = money(order.refunded_minor, order.currency, self._language)
        told |= {k: self._day(at) for k in ("placed_at", "delivered_at") if (at := getattr(order, k))}
        return told | self._parcel(order)

    def subscription(self, subscription: Subscription) -> dict[str, Any]:
        told = {
            "id": subscription.id,
            "plan": subscription.plan,
            "status": subscription.status,
            "price": money(subscription.price_minor, subscription.currency, self._language),
        }
        return told | ({"renews_at": self._day(subscription.renews_at)} if subscription.renews_at else {})

    def payments(self, payments: Sequence[Payment]) -> list[dict[str, Any]]:
        return [
            {"id": p.id, "amount": money(p.amount_minor, p.currency, self._language)}
            | ({"day": self._day(p.captured_at)} if p.captured_at else {})
            for p in payments[:LISTED_MAX]
        ]

    def _parcel(self, order: Order) -> dict[str, Any]:
        """Where the parcel is; of what is not current, as of which day it was so."""
        parcel = order.shipment
        if parcel is None:
            return {}
        current = tracking_is_current(order, TELL, self._now)
        told: dict[str, Any] = {"status": parcel.status}
        if not current and parcel.known_at:
            told["known_as_of"] = self._day(parcel.known_at)
        scan = max(parcel.events, key=lambda e: e.at, default=None)
        if scan is not None:
            told["last_scan"] = {"day": self._day(scan.at), "status": scan.status}
            told["last_scan"] |= {"place": scan.place} if scan.place and telling(scan.place) else {}
        told |= {k: v for k in ("carrier", "tracking_code") if (v := getattr(parcel, k)) and telling(v)}
        return {"parcel": told}

    def _day(self, at: datetime) -> str:
        return day(at, self._now, self._language)
