"""The seven writes of the shop and the arguments that each takes.

Pure; what is missing, of another type or more than the tool takes is no call of that tool.
"""

from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from domain.base import Noun
from policy.retail.world import Text


class Tool(StrEnum):
    """What an agent of the shop can change."""

    CANCEL = "cancel_pending_order"
    MODIFY_ADDRESS = "modify_pending_order_address"
    MODIFY_PAYMENT = "modify_pending_order_payment"
    MODIFY_ITEMS = "modify_pending_order_items"
    RETURN = "return_delivered_order_items"
    EXCHANGE = "exchange_delivered_order_items"
    MODIFY_USER_ADDRESS = "modify_user_address"


class Address(Noun):
    """Where things are sent."""

    address1: Text
    address2: Text
    city: Text
    state: Text
    country: Text
    zip: Text


class Cancel(Noun):
    """An order, and why it is cancelled."""

    order_id: Text
    reason: Text


class OrderAddress(Address):
    """An order and its new address."""

    order_id: Text


class OrderPayment(Noun):
    """An order and what is to pay for it instead."""

    order_id: Text
    payment_method_id: Text


class Swap(OrderPayment):
    """Items of an order, the new item for each, and what pays or receives the difference in price."""

    item_ids: tuple[Text, ...]
    new_item_ids: tuple[Text, ...]


class Return(OrderPayment):
    """Items of an order, and what receives the refund."""

    item_ids: tuple[Text, ...]


class UserAddress(Address):
    """A user and the new default address."""

    user_id: Text


Arguments = Cancel | OrderAddress | OrderPayment | Swap | Return | UserAddress

TAKES: dict[Tool, type[Arguments]] = {
    Tool.CANCEL: Cancel,
    Tool.MODIFY_ADDRESS: OrderAddress,
    Tool.MODIFY_PAYMENT: OrderPayment,
    Tool.MODIFY_ITEMS: Swap,
    Tool.RETURN: Return,
    Tool.EXCHANGE: Swap,
    Tool.MODIFY_USER_ADDRESS: UserAddress,
}
_NOTHING: dict[Tool, Arguments] = {
    tool: takes.model_validate({name: () if name.endswith("item_ids") else "" for name in takes.model_fields})
    for tool, takes in TAKES.items()
}


def arguments_of(tool: Tool, given: Any) -> tuple[Arguments, bool]:
    """Return the arguments that `given` makes and True; or arguments that name nothing, and False."""
    try:
        return TAKES[tool].model_validate(given), True
    except ValidationError:
        return _NOTHING[tool], False
