"""What can be asked of the shop to change, one shape for each kind.

A shape says what a request may hold; whether the shop does it is for its rules.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from demo.shop.shapes import Currency, Id, Minor, Text, Version

Amount = Annotated[int, Field(ge=1, le=10**12)]
Difference = Annotated[int, Field(ge=-(10**12), le=10**12)]
Ids = Annotated[list[Id], Field(min_length=1, max_length=200)]
Lines = Annotated[list[Text], Field(max_length=10)]


class Change(BaseModel):
    """One change of one customer's, based on the version of the resource that its author has seen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    kind: ClassVar[str]
    customer_id: Id


class Versioned(Change):
    """A change of a resource that its author has seen."""

    expected_version: Version


class Refund(Versioned):
    """Give back `amount_minor` of an order, or of a payment; exactly one of the two is named."""

    kind: ClassVar[str] = "refund"
    order_id: Id | None = None
    payment_id: Id | None = None
    amount_minor: Amount
    currency: Currency

    @model_validator(mode="after")
    def _one_is_named(self) -> Self:
        if (self.order_id is None) == (self.payment_id is None):
            raise ValueError("exactly one of order_id and payment_id must be given")
        return self


class CancelSubscription(Versioned):
    """End a subscription: no further renewal, nothing given back."""

    kind: ClassVar[str] = "cancel_subscription"
    subscription_id: Id


class StoreCredit(Versioned):
    """Put an amount to the customer's credit with the shop; the version is that of the customer's record."""

    kind: ClassVar[str] = "store_credit"
    amount_minor: Amount
    currency: Currency
    reason: Text


class CancelOrder(Versioned):
    """End an order that has not left, and give back what is left of it: `amount_minor`, None where that is nothing."""

    kind: ClassVar[str] = "cancel_order"
    order_id: Id
    reason: Text
    amount_minor: Minor | None = None
    currency: Currency | None = None


class ReturnItems(Versioned):
    """Take back pieces of an order, each named once, and give back `amount_minor` for them."""

    kind: ClassVar[str] = "return_items"
    order_id: Id
    item_ids: Ids
    payment_method_id: Id | None = None
    amount_minor: Amount
    currency: Currency


class ExchangeItems(Versioned):
    """Exchange each piece for the variant at the same place; `difference_minor` is what those cost more, or less."""

    kind: ClassVar[str] = "exchange_items"
    order_id: Id
    item_ids: Ids
    new_item_ids: Ids
    payment_method_id: Id
    difference_minor: Difference
    difference_currency: Currency


class ChangeDeliveryAddress(Versioned):
    """Send an order to another address of the customer's book, whose lines are `address`."""

    kind: ClassVar[str] = "change_delivery_address"
    order_id: Id
    address_id: Id
    address: Lines


class ChangePaymentMethod(Versioned):
    """Let an order or a subscription be paid another way that is on file; exactly one of the two is named."""

    kind: ClassVar[str] = "change_payment_method"
    order_id: Id | None = None
    subscription_id: Id | None = None
    payment_method_id: Id
    label: Text

    @model_validator(mode="after")
    def _one_is_named(self) -> Self:
        if (self.order_id is None) == (self.subscription_id is None):
            raise ValueError("exactly one of order_id and subscription_id must be given")
        return self


class ChangePlan(Versioned):
    """Move a subscription from `plan` to `new_plan`, at the price that is offered."""

    kind: ClassVar[str] = "change_plan"
    subscription_id: Id
    plan: Text
    new_plan: Text
    new_price_minor: Minor
    new_price_currency: Currency


class RefundDuplicateCharge(Versioned):
    """Give back the whole of a payment that repeats another; the version is the order's, where one was charged."""

    kind: ClassVar[str] = "refund_duplicate_charge"
    payment_id: Id
    order_id: Id | None = None
    amount_minor: Amount
    currency: Currency


class RestoreAccountAccess(Versioned):
    """Send the link that starts a reset to the customer's verified address."""

    kind: ClassVar[str] = "restore_account_access"
    channel: Literal["verified_email"]


AccountChange = (
    Refund | CancelSubscription | StoreCredit | CancelOrder | ReturnItems | ExchangeItems
    | ChangeDeliveryAddress | ChangePaymentMethod | ChangePlan | RefundDuplicateCharge | RestoreAccountAccess
)  # fmt: skip
ACCOUNT_CHANGES: tuple[type[AccountChange], ...] = (
    Refund, CancelSubscription, StoreCredit, CancelOrder, ReturnItems, ExchangeItems,
    ChangeDeliveryAddress, ChangePaymentMethod, ChangePlan, RefundDuplicateCharge, RestoreAccountAccess,
)  # fmt: skip
