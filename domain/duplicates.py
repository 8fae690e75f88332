"""What was charged twice: captured payments of one thing that equal an earlier one of the last three days.

Two halves of one price are no double charge: without the later payment, its order must still be paid for in full.
Pure; both the next step and the facts that policy judges on come from here.
"""

from collections import defaultdict
from datetime import timedelta
from itertools import pairwise

from domain.account import Account, Payment

TWIN_WINDOW = timedelta(days=3)
_CAPTURED = frozenset({"captured", "partially_refunded"})


def twins(account: Account) -> tuple[Payment, ...]:
    """Return the later payment of each double charge, oldest first, each once."""
    found = {later.id: later for _, later in _pairs(account)}
    return tuple(sorted(found.values(), key=_when))


def charged_twice(account: Account, resource: str, amount_minor: int) -> bool:
    """Return whether exactly `amount_minor` was captured twice for `resource` (`order:ID` or `payment:ID`)."""
    return bool(equal_charges(account, resource, amount_minor))


def equal_charges(account: Account, resource: str, amount_minor: int) -> tuple[Payment, ...]:
    """Return the payments that make `amount_minor` a double charge of `resource`, oldest first, else none."""
    found = {
        payment.id: payment
        for pair in _pairs(account)
        for payment in pair
        if pair[0].amount_minor == amount_minor
        and resource in (f"order:{pair[0].order_id}", f"payment:{pair[1].id}")  # the later one alone is too many
    }
    return tuple(sorted(found.values(), key=_when))


def _pairs(account: Account) -> list[tuple[Payment, Payment]]:
    """Every double charge as (earlier, later)."""
    alike: defaultdict[tuple[str | int | None, ...], list[Payment]] = defaultdict(list)
    for payment in sorted(filter(_untouched, account.payments), key=_when):
        alike[payment.order_id, payment.subscription_id, payment.amount_minor, payment.currency].append(payment)
    return [
        (earlier, later)
        for group in alike.values()
        for earlier, later in pairwise(group)
        if _when(later)[0] - _when(earlier)[0] <= TWIN_WINDOW.total_seconds() and _paid_without(later, account)
    ]


def _paid_without(later: Payment, account: Account) -> bool:
    """Whether what was paid for its order besides covers the price of all that was ordered."""
    order = account.order(later.order_id) if later.order_id else None
    if order is None:
        return True
    others = (p for p in account.payments if p.order_id == later.order_id and p.id != later.id)
    price_minor = sum(item.price_minor * item.quantity for item in order.items)
    return sum(p.refundable_minor for p in others if p.status in _CAPTURED) >= price_minor


def _untouched(payment: Payment) -> bool:
    belongs = payment.order_id is not None or payment.subscription_id is not None
    captured = payment.status == "captured" and payment.refunded_minor == 0 and payment.captured_at is not None
    return belongs and captured and payment.amount_minor > 0


def _when(payment: Payment) -> tuple[float, str]:
    """When it was captured, in seconds; the id settles ties."""
    return (payment.captured_at.timestamp() if payment.captured_at else 0.0, payment.id)
