"""One tenant's books within a caller's transaction: what is whose, what paid for what, and where money goes back to.

The rules decide; a booking here either is made or raises a Refusal before it has changed anything.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NoReturn

from demo.shop.problems import Refusal
from demo.shop.shapes import stamp

REFUNDABLE_PAYMENTS = ("captured", "partially_refunded")
GIFT_CARD = "gift_card"

Table = Literal["orders", "payments", "subscriptions"]
OWNED: dict[Table, str] = {
    "orders": "SELECT * FROM orders WHERE tenant_id = ? AND id = ? AND customer_id = ?",
    "payments": "SELECT * FROM payments WHERE tenant_id = ? AND id = ? AND customer_id = ?",
    "subscriptions": "SELECT * FROM subscriptions WHERE tenant_id = ? AND id = ? AND customer_id = ?",
}
BOOK_ON_ORDER = "UPDATE orders SET refunded_minor = refunded_minor + ? WHERE tenant_id = ? AND id = ?"
BOOK_ON_PAYMENT = """
UPDATE payments SET refunded_minor = refunded_minor + :amount, version = version + 1, status =
  CASE WHEN refunded_minor + :amount = amount_minor THEN 'refunded' ELSE 'partially_refunded' END
WHERE tenant_id = :tenant AND id = :id"""
CHARGE = """
INSERT INTO payments (tenant_id, id, customer_id, order_id, amount_minor, refunded_minor, currency, status, captured_at,
  version, payment_method_id)
VALUES (?, ?, ?, ?, ?, 0, ?, 'captured', ?, 1, ?)"""
OLDEST_FIRST = "SELECT * FROM payments WHERE tenant_id = ? AND order_id = ? ORDER BY captured_at, rowid"

Json = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """What a change did to which resource; the amount is what moved, whichever way, or is to move."""

    resource_kind: Literal["order", "payment", "subscription", "account"]
    resource: str
    amount_minor: int
    currency: str


def refuse(error: str, title: str) -> NoReturn:
    """A definite no. Raises Refusal, with 422."""
    raise Refusal(422, error, title)


@dataclass(frozen=True)
class Books:
    """The tables of one tenant, as of `now`."""

    db: sqlite3.Connection
    tenant: str
    now: datetime

    def own(self, table: Table, ident: str, customer: str, version: int | None = None) -> sqlite3.Row:
        """The resource, if this customer owns it and it still is what the caller has seen. Raises Refusal."""
        row: sqlite3.Row | None = self.db.execute(OWNED[table], (self.tenant, ident, customer)).fetchone()
        if row is None:
            raise Refusal(404, "unknown_resource", f"This customer has nothing called {ident} among its {table}.")
        self._at_version(row, version)
        return row

    def customer(self, customer: str, version: int | None = None) -> sqlite3.Row:
        """The customer's own record. Raises Refusal."""
        query = "SELECT * FROM customers WHERE tenant_id = ? AND id = ?"
        row: sqlite3.Row | None = self.db.execute(query, (self.tenant, customer)).fetchone()
        if row is None:
            raise Refusal(404, "unknown_resource", f"There is no customer {customer}.")
        self._at_version(row, version)
        return row

    def payments(self, order: sqlite3.Row) -> list[sqlite3.Row]:
        """The payments of an order, oldest first."""
        return self.db.execute(OLDEST_FIRST, (self.tenant, order["id"])).fetchall()

    def method(self, customer: str, ident: str) -> Json:
        """The customer's own way to pay. Raises Refusal."""
        found = next((m for m in json.loads(self.customer(customer)["payment_methods"]) if m["id"] == ident), None)
        if found is None:
            refuse("unknown_payment_method", f"This customer has no way to pay called {ident}.")
        return dict(found)

    def method_that_covers(self, customer: str, ident: str, amount_minor: int) -> Json:
        """The same, where a gift card holds at least the amount. Raises Refusal."""
        found = self.method(customer, ident)
        if found["type"] == GIFT_CARD and (found["balance_minor"] or 0) < amount_minor:
            refuse("balance_too_low", f"Gift card {ident} does not cover {amount_minor} (minor units).")
        return found

    def change(self, table: Table | Literal["customers"], ident: str, **columns: str | int | None) -> None:
        """Sets columns of one resource, and raises its version."""
        sets = "".join(f"{name} = :{name}, " for name in columns)  # names and tables come from the code alone
        query = f"UPDATE {table} SET {sets}version = version + 1 WHERE tenant_id = :_t AND id = :_i"  # noqa: S608
        self.db.execute(query, {**columns, "_t": self.tenant, "_i": ident})

    def give_back(self, order: sqlite3.Row, amount_minor: int, method: str | None = None) -> None:
        """Books a refund on the order and on its payments, newest first; `method` gets it, else what paid does.

        The order's status and version are the caller's to change.
        """
        self.book_on_order(order, amount_minor)
        left = amount_minor
        for payment in reversed(self.payments(order)):
            part = min(left, payment["amount_minor"] - payment["refunded_minor"])
            if part and payment["status"] in REFUNDABLE_PAYMENTS:
                self.book_on_payment(payment, part, method)
                left -= part

    def book_on_order(self, order: sqlite3.Row, amount_minor: int) -> None:
        """Books a refund on an order alone."""
        self.db.execute(BOOK_ON_ORDER, (amount_minor, self.tenant, order["id"]))

    def book_on_payment(self, payment: sqlite3.Row, amount_minor: int, method: str | None = None) -> None:
        """Books a refund on one payment; `method` gets it, else the way that it was paid with."""
        self.db.execute(BOOK_ON_PAYMENT, {"amount": amount_minor, "tenant": self.tenant, "id": payment["id"]})
        self.load(payment["customer_id"], method or payment["payment_method_id"], amount_minor)

    def charge(self, order: sqlite3.Row, amount_minor: int, method: str) -> None:
        """Takes an amount for an order, as a payment of its own."""
        ident, at = f"pay_{secrets.token_hex(7)}", stamp(self.now)
        row = (self.tenant, ident, order["customer_id"], order["id"], amount_minor, order["currency"], at, method)
        self.db.execute(CHARGE, row)
        more = "UPDATE orders SET captured_minor = captured_minor + ? WHERE tenant_id = ? AND id = ?"
        self.db.execute(more, (amount_minor, self.tenant, order["id"]))
        self.load(order["customer_id"], method, -amount_minor)

    def load(self, customer: str, method: str | None, amount_minor: int) -> None:
        """Puts an amount on a gift card, or takes it off; other ways to pay keep their own books."""
        methods = json.loads(self.customer(customer)["payment_methods"])
        for known in methods:
            if known["id"] == method and known["type"] == GIFT_CARD:
                known["balance_minor"] = (known["balance_minor"] or 0) + amount_minor
                self._set_own(customer, "payment_methods", methods)

    def set_addresses(self, customer: str, addresses: list[Json]) -> None:
        """Replaces the customer's book of addresses."""
        self._set_own(customer, "addresses", addresses)

    def _set_own(self, customer: str, column: Literal["addresses", "payment_methods"], parts: list[Json]) -> None:
        query = f"UPDATE customers SET {column} = ? WHERE tenant_id = ? AND id = ?"  # noqa: S608
        self.db.execute(query, (json.dumps(parts), self.tenant, customer))

    @staticmethod
    def _at_version(row: sqlite3.Row, version: int | None) -> None:
        if version is not None and row["version"] != version:
            raise Refusal(409, "version_conflict", f"{row['id']} is at version {row['version']}, not {version}.")
