"""The facts of an account that a sentence may state: ids, names, amounts, times, counts and statuses.

Pure; a sentence that names some of the customer's things may state the facts of those alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from domain.account import Account, Order, Payment, Subscription
from domain.freshness import TELL, tracking_is_current
from policy.reply.status_words import IMPLIED

Thing = Order | Payment | Subscription


@dataclass(frozen=True)
class Facts:
    """What may be said, in the forms in which it is compared."""

    ids: frozenset[str]
    names: frozenset[str]
    amounts: frozenset[tuple[str, int]]
    times: tuple[datetime, ...]
    counts: frozenset[int]
    statuses: frozenset[str]  # of now
    statuses_then: frozenset[str] = frozenset()  # of a parcel not asked about for long: true beside their day alone


def facts_of(account: Account, now: datetime, named: Iterable[str] = ()) -> Facts:
    """Return the facts of the things whose ids are `named` (folded) and of what is theirs; of all where none is."""
    wanted = set(named)
    everything: tuple[Thing, ...] = (*account.orders, *account.subscriptions, *account.payments)
    things = [t for t in everything if not wanted or wanted & _family(t)]
    orders = [t for t in things if isinstance(t, Order)]
    plans = () if wanted else account.plans  # what may be chosen is no fact of what has an id
    offers = {(p.currency, p.price_minor) for p in plans}
    choices = {*(p.name for p in plans), *(a.label for a in (() if wanted else account.addresses))}
    counts = {len(orders), len(account.orders), len(account.subscriptions), len(account.payments)}
    return Facts(
        ids=own_ids(account),
        names=frozenset(n for n in chain(choices, *map(_names, things)) if n.strip()),
        amounts=frozenset(chain(offers, *map(_amounts, things))),
        times=tuple(at for t in things for at in _times(t) if at is not None),
        counts=frozenset(counts | {i.quantity for o in orders for i in o.items}),
        statuses=frozenset(chain.from_iterable(_statuses(t, now) for t in things)),
        statuses_then=frozenset(chain.from_iterable(_tracked(o) for o in orders)),
    )


def own_ids(account: Account) -> frozenset[str]:
    """Return every id of the customer's own things, tracking codes among them, as written."""
    ids = {o.id for o in account.orders} | {s.id for s in account.subscriptions} | {p.id for p in account.payments}
    ids |= {o.shipment.tracking_code for o in account.orders if o.shipment and o.shipment.tracking_code}
    return frozenset(ids | {i.sku for o in account.orders for i in o.items if any(c.isdigit() for c in i.sku)})


def _family(thing: Thing) -> set[str]:
    """The ids under which a thing is spoken of: its own, and of what it belongs to."""
    related: tuple[str | None, ...] = (thing.id,)
    if isinstance(thing, Payment):
        related = (thing.id, thing.order_id, thing.subscription_id)
    elif isinstance(thing, Order) and thing.shipment:
        related = (thing.id, thing.shipment.tracking_code)
    return {r.casefold() for r in related if r}


def _names(thing: Thing) -> list[str]:
    match thing:
        case Order():
            shipment = thing.shipment
            scans = [e.place or "" for e in shipment.events] if shipment else []
            carrier = [shipment.carrier or ""] if shipment else []
            return [*(i.title for i in thing.items), *(i.sku for i in thing.items), *carrier, *scans]
        case Subscription():
            return [thing.plan]
        case Payment():
            return []


def _amounts(thing: Thing) -> list[tuple[str, int]]:
    minors: tuple[int, ...]
    match thing:
        case Order():
            minors = (thing.captured_minor, thing.refunded_minor, thing.refundable_minor)
            minors += tuple(p for i in thing.items for p in (i.price_minor, i.price_minor * i.quantity))
        case Payment():
            minors = (thing.amount_minor, thing.refunded_minor, thing.refundable_minor)
        case _:
            minors = (thing.price_minor,)
    return [(thing.currency, minor) for minor in minors]


def _times(thing: Thing) -> list[datetime | None]:
    match thing:
        case Order():
            scans = [e.at for e in thing.shipment.events] if thing.shipment else []
            known_at = thing.shipment.known_at if thing.shipment else None
            return [thing.placed_at, thing.delivered_at, known_at, *scans]
        case Subscription():
            return [thing.renews_at]
        case Payment():
            return [thing.captured_at]


def _statuses(thing: Thing, now: datetime) -> set[str]:
    """What may be said to be so: of a parcel, only where what is known of it is current (INVARIANT 9)."""
    told = {thing.status}
    if isinstance(thing, Order | Payment) and thing.refunded_minor > 0:
        told.add("refunded")
    current = isinstance(thing, Order) and tracking_is_current(thing, TELL, now)
    return _implied(told) | (_tracked(thing) if isinstance(thing, Order) and current else set())


def _tracked(order: Order) -> set[str]:
    if order.shipment is None:
        return set()
    return _implied({order.shipment.status, *(e.status for e in order.shipment.events)})


def _implied(told: set[str]) -> set[str]:
    plain = {status.casefold().replace(" ", "_").replace("-", "_") for status in told}
    return {implied for status in plain for implied in (status, *IMPLIED.get(status, ()))}
