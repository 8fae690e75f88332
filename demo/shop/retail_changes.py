"""The seven writes of a retail world, with the arguments that its own clients send.

Shapes alone; the rules are in `retail_rules.py`.
"""

from __future__ import annotations

from typing import ClassVar

from demo.shop.changes import Change, Ids
from demo.shop.shapes import Id, Text


class CancelPending(Change):
    """End an order that has not been processed."""

    kind: ClassVar[str] = "cancel_pending_order"
    order_id: Id
    reason: Text


class Swap(Change):
    """Other variants for pieces of an order; the difference is paid with, or given back to, one way to pay."""

    order_id: Id
    item_ids: Ids
    new_item_ids: Ids
    payment_method_id: Id


class ModifyPendingItems(Swap):
    """Other variants before the order is processed: once, and the order can no longer be cancelled."""

    kind: ClassVar[str] = "modify_pending_order_items"


class ExchangeDelivered(Swap):
    """Other variants after delivery."""

    kind: ClassVar[str] = "exchange_delivered_order_items"


class ModifyPendingPayment(Change):
    """Pay a pending order another way."""

    kind: ClassVar[str] = "modify_pending_order_payment"
    order_id: Id
    payment_method_id: Id


class WrittenAddress(Change):
    """An address in its parts, as it was written."""

    address1: Text
    address2: Text
    city: Text
    state: Text
    country: Text
    zip: Text


class ModifyPendingAddress(WrittenAddress):
    """Send a pending order elsewhere."""

    kind: ClassVar[str] = "modify_pending_order_address"
    order_id: Id


class ReturnDelivered(Change):
    """Send pieces of a delivered order back."""

    kind: ClassVar[str] = "return_delivered_order_items"
    order_id: Id
    item_ids: Ids
    payment_method_id: Id


class ModifyUserAddress(WrittenAddress):
    """Another default address."""

    kind: ClassVar[str] = "modify_user_address"
    user_id: Id


RetailChange = (
    CancelPending | ModifyPendingItems | ModifyPendingPayment | ModifyPendingAddress
    | ReturnDelivered | ExchangeDelivered | ModifyUserAddress
)  # fmt: skip
RETAIL_CHANGES: tuple[type[RetailChange], ...] = (
    CancelPending, ModifyPendingItems, ModifyPendingPayment, ModifyPendingAddress,
    ReturnDelivered, ExchangeDelivered, ModifyUserAddress,
)  # fmt: skip
