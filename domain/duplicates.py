"""What was charged twice: captured payments of one thing that equal an earlier one of the last three days.

Pure; both the next step and the facts that policy judges on come from here.
"""

from collections import defaultdict
from datetime import timedelta
from itertools import pairwise

from domain.account import Account, Payment

TWIN_WINDOW = timedelta(days=3)


def twins(account: Account) -> tuple[Payment, ...]:
    """Return the later payment of each double charge, oldest first, each once."""
    found = {later.id: later for _, later in _pairs(account)}
    return tuple(sorted(found.values(), key=_when))


def charged_twice(account: Account, resource: str, amount_minor: int) -> bool:
    """Return whether exactly `amount_minor` was captured twice for `resource` (`order:ID` or `payment:ID`)."""
    return any(
        earlier.amount_minor == amount_minor
        and resource in (f"order:{earlier.order_id}", f"payment:{earlier.id}", f"payment:{later.id}")
        for earlier, later in _pairs(account)
    )


def _pairs(account: Account) -> list[tuple[Payment, Payment]]:
    """Every double charge as (earlier, later)."""
    alike: defaultdict[tuple[str | int | None, ...], list[Payment]] = defaultdict(list)
    for payment in sorted(filter(_untouched, account.payments), key=_when):
        alike[payment.order_id, payment.subscription_id, payment.amount_minor, payment.currency].append(payment)
    return [
        (earlier, later)
        for group in alike.values()
        for earlier, later in pairwise(group)
        if _when(later)[0] - _when(earlier)[0] <= TWIN_WINDOW.total_seconds()
    ]


def _untouched(payment: Payment) -> bool:
    belongs = payment.order_id is not None or payment.subscription_id is not None
    captured = payment.status == "captured" and payment.refunded_minor == 0 and payment.captured_at is not None
    return belongs and captured and payment.amount_minor > 0


def _when(payment: Payment) -> tuple[float, str]:
    """When it was captured, in seconds; the id settles ties."""
    return (payment.captured_at.timestamp() if payment.captured_at else 0.0, payment.id)
