"""The nouns of a retail world as its file names them: {products, users, orders}, the shape of a public benchmark.

What is beside them in a file is left aside.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from demo.shop.shapes import Id, Shape, Text

Money = Annotated[Decimal, Field(ge=0, le=10**10, decimal_places=2)]


class RetailVariant(Shape):
    """One form of a product."""

    item_id: Id
    options: dict[str, Text] = Field(default_factory=dict)
    available: bool
    price: Money


class RetailProduct(Shape):
    """What is sold."""

    product_id: Id
    name: Text
    variants: dict[str, RetailVariant]


class RetailAddress(Shape):
    """An address in its parts."""

    address1: Text
    address2: Text
    city: Text
    state: Text
    country: Text
    zip: Text


class RetailName(Shape):
    """What somebody is called."""

    first_name: Text
    last_name: Text


class RetailMethod(Shape):
    """One way to pay."""

    source: Literal["credit_card", "gift_card", "paypal"]
    id: Id
    brand: Text = ""
    last_four: Text = ""
    balance: Money | None = None


class RetailUser(Shape):
    """A customer."""

    user_id: Id
    name: RetailName
    address: RetailAddress
    email: Text
    payment_methods: dict[str, RetailMethod]


class RetailItem(Shape):
    """One piece of an order."""

    name: Text
    product_id: Id
    item_id: Id
    price: Money
    options: dict[str, Text] = Field(default_factory=dict)


class Fulfillment(Shape):
    """A parcel."""

    tracking_id: Annotated[list[Id], Field(min_length=1)]


class Transaction(Shape):
    """Money that went one way or the other."""

    transaction_type: Literal["payment", "refund"]
    amount: Money
    payment_method_id: Id


class RetailOrder(Shape):
    """What was bought."""

    order_id: Id
    user_id: Id
    address: RetailAddress
    items: list[RetailItem]
    status: Text
    fulfillments: list[Fulfillment] = Field(default_factory=list)
    payment_history: list[Transaction] = Field(default_factory=list)
    cancel_reason: Text | None = None
    return_items: list[Id] | None = None
    exchange_items: list[Id] | None = None
    exchange_new_items: list[Id] | None = None


class RetailWorld(Shape):
    """All of it; the keys are the ids."""

    products: dict[str, RetailProduct]
    users: dict[str, RetailUser]
    orders: dict[str, RetailOrder]
