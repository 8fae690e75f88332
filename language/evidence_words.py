"""Sentences about orders, subscriptions and payments, each holding nothing but what the evidence holds.

Honest about age: an old scan is told with its date, and nothing is promised from it.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from domain.account import Account, Order, Payment, ShipmentEvent, Subscription
from domain.base import Noun
from domain.freshness import TELL, tracking_is_current
from language.formats import day, money, number, plural
from language.words import say, status_label

STALE_AFTER_DAYS = 3
LISTED_MAX = 5
_TITLES_MAX, _TITLE_CHARS_MAX = 2, 40
_ENDED_ORDER = frozenset({"cancelled", "canceled", "returned", "refunded", "lost"})
_ENDED_SUBSCRIPTION = frozenset({"cancelled", "canceled", "ended", "terminated"})
_UNTELLING = re.compile(r"[<>@{}\n\r]|https?:|www\.", re.IGNORECASE)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Teller(Noun):
    """Tells facts in one language, as of one moment."""

    language: str
    now: datetime

    def order_status(self, order: Order) -> tuple[str, ...]:
        """Return how an order stands: its status, and while it is under way its last scan."""
        delivered_at = _delivered_at(order)
        if _is_delivered(order):
            if delivered_at:
                return (self._say("delivered_on", order=order.id, date=self._day(delivered_at)),)
            return (self._say("delivered", order=order.id),)
        current = tracking_is_current(order, TELL, self.now)
        standing = self._standing(order, current=current)
        if order.status.casefold() in _ENDED_ORDER:
            return (standing,)
        scan = last_scan(order)
        if scan is None:
            return standing, self._say("no_scan")
        told = [standing, self._scan(scan)]
        if not current:
            told.append(self._say("as_of", date=self._day(_known_at(order) or scan.at)))
        elif is_stale(order, self.now):
            told.append(self._say("stale"))
        if order.shipment and telling(order.shipment.tracking_code):
            told.append(self._say("tracking", code=order.shipment.tracking_code or ""))
        return tuple(told)

    def orders(self, orders: Sequence[Order], in_all: int) -> str:
        """Return a list of at most `LISTED_MAX` orders with what they hold, how they stand and what was paid.

        `in_all` is how many orders the account has.
        """
        lines = [self._order_line(o) for o in orders[:LISTED_MAX]]
        return self._list(self._counted("orders", len(lines), in_all), lines)

    def subscriptions(self, subscriptions: Sequence[Subscription]) -> str:
        """Return a list of at most `LISTED_MAX` subscriptions."""
        lines = [
            self._say(
                "subscription_line",
                subscription=s.id,
                plan=s.plan,
                status=status_label(self.language, s.status, "subscription"),
                amount=money(s.price_minor, s.currency, self.language),
            )
            for s in subscriptions[:LISTED_MAX]
        ]
        return self._list(self._counted("subscriptions", len(lines), len(subscriptions)), lines)

    def payments(self, payments: Sequence[Payment]) -> str:
        """Return a list of at most `LISTED_MAX` payments with their days."""
        return self._list(self._say("payments"), [self._payment_line(p) for p in payments[:LISTED_MAX]])

    def nothing_left(self, thing: Order | Payment) -> str:
        """Return what was paid and given back."""
        if isinstance(thing, Order):
            paid, key, name = thing.captured_minor, "nothing_left", {"order": thing.id}
        else:
            paid, key, name = thing.amount_minor, "nothing_left_payment", {"payment": thing.id}
        back = money(thing.refunded_minor, thing.currency, self.language)
        return self._say(key, paid=money(paid, thing.currency, self.language), back=back, **name)

    def subscription_status(self, subscription: Subscription) -> str:
        """Return how a subscription stands."""
        key = "subscription_ended" if subscription.status.casefold() in _ENDED_SUBSCRIPTION else "subscription_is"
        values = {"subscription": subscription.id, "plan": subscription.plan}
        if key == "subscription_is":
            values["status"] = status_label(self.language, subscription.status, "subscription")
        return self._say(key, **values)

    def _standing(self, order: Order, *, current: bool) -> str:
        """How the order stands: by its parcel only where what is known of that is current."""
        ended = order.status.casefold() in _ENDED_ORDER
        status = order.shipment.status if order.shipment and current and not ended else order.status
        values = {"order": order.id, "status": status_label(self.language, status)}
        carrier = order.shipment.carrier if order.shipment else None
        if carrier and telling(carrier):
            return self._say("status_is_carrier", carrier=carrier, **values)
        return self._say("status_is", **values)

    def _scan(self, scan: ShipmentEvent) -> str:
        values = {"date": self._day(scan.at), "status": status_label(self.language, scan.status)}
        if scan.place and telling(scan.place):
            return self._say("last_scan_place", place=scan.place, **values)
        return self._say("last_scan", **values)

    def _order_line(self, order: Order) -> str:
        titles = [i.title for i in order.items if telling(i.title)][:_TITLES_MAX]
        status = "delivered" if _is_delivered(order) else order.status
        values = {
            "order": order.id,
            "status": status_label(self.language, status),
            "amount": money(order.captured_minor, order.currency, self.language),
        }
        return (
            self._say("order_line_items", items=", ".join(titles), **values)
            if titles
            else self._say("order_line", **values)
        )

    def _payment_line(self, payment: Payment) -> str:
        values = {"payment": payment.id, "amount": money(payment.amount_minor, payment.currency, self.language)}
        if payment.captured_at:
            return self._say("payment_line_date", date=self._day(payment.captured_at), **values)
        return self._say("payment_line", **values)

    def _counted(self, things: str, listed: int, in_all: int) -> str:
        """The heading that says how many there are, in the form that the number takes; of some, that there are more."""
        form = "among" if listed < in_all else plural(in_all, self.language)
        return self._say(f"{things}_{form}", count=number(in_all, self.language))

    def _list(self, heading: str, lines: Sequence[str]) -> str:
        return "\n".join([heading, *(f"– {line}" for line in lines)])

    def _day(self, at: datetime) -> str:
        return day(at, self.now, self.language)

    def _say(self, key: str, **values: str) -> str:
        return say(self.language, f"draft.{key}", **values)


def last_scan(order: Order) -> ShipmentEvent | None:
    """Return the latest scan of the order's parcel."""
    return max(order.shipment.events, key=lambda e: e.at, default=None) if order.shipment else None


def _known_at(order: Order) -> datetime | None:
    return order.shipment.known_at if order.shipment else None


def is_stale(order: Order, now: datetime) -> bool:
    """Whether an order is under way and its last scan is older than `STALE_AFTER_DAYS`."""
    scan = last_scan(order)
    under_way = not _is_delivered(order) and order.status.casefold() not in _ENDED_ORDER
    return under_way and scan is not None and now - scan.at > timedelta(days=STALE_AFTER_DAYS)


def newest_orders(account: Account, *, refundable: bool) -> tuple[Order, ...]:
    """Return the account's orders, newest first; with `refundable` only those with something left, if there are any."""
    ordered = sorted(account.orders, key=lambda o: (_moved_at(o), o.id), reverse=True)
    left = [o for o in ordered if o.refundable_minor > 0]
    return tuple(left if refundable and left else ordered)


def newest_payments(account: Account) -> tuple[Payment, ...]:
    """Return the account's payments, newest first."""
    return tuple(sorted(account.payments, key=lambda p: (p.captured_at or _LONG_AGO, p.id), reverse=True))


def _moved_at(order: Order) -> datetime:
    scan = last_scan(order)
    return max((at for at in (order.placed_at, order.delivered_at, scan.at if scan else None) if at), default=_LONG_AGO)


def _is_delivered(order: Order) -> bool:
    arrived = order.shipment is not None and order.shipment.status.casefold() == "delivered"
    return order.status.casefold() == "delivered" or (arrived and order.status.casefold() not in _ENDED_ORDER)


def _delivered_at(order: Order) -> datetime | None:
    if order.delivered_at:
        return order.delivered_at
    scan = last_scan(order)
    return scan.at if scan and scan.status.casefold() == "delivered" else None


def telling(text: str | None) -> bool:
    """Whether a text from outside may stand in a reply: short, on one line, without markup and links."""
    return bool(text and text.strip()) and len(text or "") <= _TITLE_CHARS_MAX and not _UNTELLING.search(text or "")
