"""What Cedar cannot count: items against an order, new items against old ones, payments against a profile.

Pure; the sums and what covers them are the shop's own, in its own arithmetic: no cent is rounded here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import eq
from typing import Any

from policy.retail.world import HistoryEntry, OrderItem, Product, User, Variant


def history_facts(entries: Sequence[HistoryEntry], user: User | None) -> dict[str, Any]:
    """Return how an order was paid, as the rules read it."""
    first = entries[0] if entries else None
    profile = user.payment_methods if user else {}
    return {
        "entries": len(entries),
        "first": first.transaction_type if first else "",
        "first_method": first.payment_method_id if first else "",
        "to_unknown_methods": sum(entry.payment_method_id not in profile for entry in entries),
    }


def first_amount(entries: Sequence[HistoryEntry]) -> float:
    """Return the original payment of an order, in major units; 0 where there is none."""
    return entries[0].amount if entries else 0.0


def method_facts(ident: str, user: User | None, amount: float) -> dict[str, Any]:
    """Return what the user's own profile says of a payment method that is to pay `amount`, in major units.

    A balance of 12.34 is less than a sum of 12.340000000000002, for the shop and so here.
    """
    found = user.payment_methods.get(ident) if user else None
    return {
        "id": ident,
        "in_profile": found is not None,
        "source": found.source if found else "",
        "balance_covers": found is not None and found.balance >= amount,
    }


def item_facts(named: Sequence[str], items: Sequence[OrderItem]) -> dict[str, Any]:
    """Return how many items are named, and how many of those the order does not hold so often."""
    held = Counter(item.item_id for item in items)
    return {"named": len(named), "not_in_order": sum((Counter(named) - held).values())}


def swap_facts(
    named: Sequence[str], new: Sequence[str], items: Sequence[OrderItem], products: Mapping[str, Product]
) -> dict[str, Any]:
    """Return what comes of giving, for each named item, the new one in its place."""
    variants = [variant for _, variant in _pairs(named, new, items, products)]
    return {
        "new_items": len(new),
        "unchanged": sum(map(eq, named, new)),
        "of_another_product": sum(variant is None for variant in variants),
        "unavailable": sum(variant is not None and not variant.available for variant in variants),
    }


def swap_difference(
    named: Sequence[str], new: Sequence[str], items: Sequence[OrderItem], products: Mapping[str, Product]
) -> float:
    """Return what the new items cost more, in major units, added as the shop adds it; below 0 where they cost less."""
    difference = 0.0
    for held, variant in _pairs(named, new, items, products):
        difference += variant.price - held.price if variant else 0.0
    return difference


def _pairs(
    named: Sequence[str], new: Sequence[str], items: Sequence[OrderItem], products: Mapping[str, Product]
) -> list[tuple[OrderItem, Variant | None]]:
    """Each named item that the order holds, with the variant of its product that is to take its place.

    Of an item that the order holds twice, the first one counts, as in the shop.
    """
    held = {item.item_id: item for item in reversed(items)}
    found = []
    for old, wanted in zip(named, new, strict=False):
        if item := held.get(old):
            product = products.get(item.product_id)
            found.append((item, product.variants.get(wanted) if product else None))
    return found
