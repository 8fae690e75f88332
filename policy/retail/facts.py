"""What Cedar cannot count: items against an order, new items against old ones, payments against a profile.

Pure; the sums are the shop's own, in its own arithmetic, and only then made whole minor units.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from operator import eq
from typing import Any

from policy.retail.world import HistoryEntry, OrderItem, Product, User


def history_facts(entries: Sequence[HistoryEntry], user: User | None) -> dict[str, Any]:
    """Return how an order was paid, as the rules read it."""
    first = entries[0] if entries else None
    profile = user.payment_methods if user else {}
    return {
        "entries": len(entries),
        "first": first.transaction_type if first else "",
        "first_method": first.payment_method_id if first else "",
        "first_minor": to_pay_minor(first.amount) if first else 0,
        "to_unknown_methods": sum(entry.payment_method_id not in profile for entry in entries),
    }


def method_facts(ident: str, user: User | None) -> dict[str, Any]:
    """Return what the user's own profile says of a payment method."""
    found = user.payment_methods.get(ident) if user else None
    return {
        "id": ident,
        "in_profile": found is not None,
        "source": found.source if found else "",
        "balance_minor": to_spend_minor(found.balance) if found else 0,
    }


def item_facts(named: Sequence[str], items: Sequence[OrderItem]) -> dict[str, Any]:
    """Return how many items are named, and how many of those the order does not hold so often."""
    held = Counter(item.item_id for item in items)
    return {"named": len(named), "not_in_order": sum((Counter(named) - held).values())}


def swap_facts(
    named: Sequence[str],
    new: Sequence[str],
    items: Sequence[OrderItem],
    products: Mapping[str, Product],
    *,
    rounded: bool,
) -> dict[str, Any]:
    """Return what comes of giving, for each named item, the new one in its place; `rounded`: the sum, to two decimals.

    Of an item that the order holds twice, the first one counts, as in the shop.
    """
    held = {item.item_id: item for item in reversed(items)}
    difference, of_another_product, unavailable = 0.0, 0, 0
    for old, wanted in zip(named, new, strict=False):
        if old not in held:
            continue
        product = products.get(held[old].product_id)
        variant = product.variants.get(wanted) if product else None
        if variant is None:
            of_another_product += 1
            continue
        unavailable += not variant.available
        difference += variant.price - held[old].price
    return {
        "new_items": len(new),
        "unchanged": sum(map(eq, named, new)),
        "of_another_product": of_another_product,
        "unavailable": unavailable,
        "difference_minor": to_pay_minor(round(difference, 2) if rounded else difference),
    }


def to_pay_minor(amount: float) -> int:
    """Return whole minor units that are no less than `amount`.

    A sum such as 12.340000000000002 is more than a card with 12.34 holds, for the shop and so here.
    """
    return int((Decimal(repr(amount)) * 100).to_integral_value(ROUND_CEILING))


def to_spend_minor(amount: float) -> int:
    """Return whole minor units that are no more than `amount`."""
    return int((Decimal(repr(amount)) * 100).to_integral_value(ROUND_FLOOR))
