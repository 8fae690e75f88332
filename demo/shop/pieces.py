"""Pieces of an order, and what they may be exchanged for.

Reads only; whatever does not fit raises a Refusal.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from demo.shop.books import Books, Json, refuse


def pieces(order: sqlite3.Row, item_ids: Sequence[str]) -> list[Json]:
    """The item of each id, one piece each. Raises Refusal where the order does not hold so many."""
    items: list[Json] = json.loads(order["items"])
    left = one_by_one(items)
    found = []
    for item_id in item_ids:
        piece = next((item for item in left if item["item_id"] == item_id), None)
        if piece is None:
            refuse("unknown_item", f"Order {order['id']} does not hold {item_id}, or not so often.")
        left.remove(piece)
        found.append(piece)
    return found


def one_by_one(items: Sequence[Json]) -> list[Json]:
    """The same goods, a line for each piece."""
    return [{**item, "quantity": 1} for item in items for _ in range(item["quantity"])]


def merged(items: Sequence[Json]) -> list[Json]:
    """The same goods, one line for equal pieces, in the order in which they first come."""
    lines: dict[tuple[str, int], Json] = {}
    for item in items:
        key = (item["item_id"], item["price_minor"])
        lines[key] = {**item, "quantity": item["quantity"] + (lines[key]["quantity"] if key in lines else 0)}
    return list(lines.values())


def price_minor(parts: Sequence[Json]) -> int:
    """What these cost together."""
    return sum(part["price_minor"] for part in parts)


def variants_for(books: Books, parts: Sequence[Json], new_item_ids: Sequence[str]) -> list[Json]:
    """For each piece the available variant of its own product that is wanted. Raises Refusal."""
    if len(parts) != len(new_item_ids):
        refuse("items_not_paired", f"{len(parts)} pieces cannot be exchanged for {len(new_item_ids)}.")
    return [_variant(books, part["product_id"], new_id) for part, new_id in zip(parts, new_item_ids, strict=True)]


def _variant(books: Books, product_id: str, item_id: str) -> Json:
    query = "SELECT variants FROM products WHERE tenant_id = ? AND id = ?"
    row = books.db.execute(query, (books.tenant, product_id)).fetchone()
    found: Json | None = next((v for v in json.loads(row[0]) if v["item_id"] == item_id), None) if row else None
    if found is None:
        refuse("unknown_variant", f"{item_id} is no variant of product {product_id}.")
    if not found["available"]:
        refuse("unavailable", f"{item_id} is not available.")
    return found


def request(order: sqlite3.Row, **fields: object) -> str:
    """The order's `requested`, with these added, as its column holds it."""
    return json.dumps({**json.loads(order["requested"]), **fields})
