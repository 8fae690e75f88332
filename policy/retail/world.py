"""The shop's world as its own file tells it: users, orders and products, as far as a rule looks at them.

Reads nothing itself; what a record says besides is left out.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, Strict, StrictBool, ValidationError

# Text that can be written down again: a length that no id, status or street reaches, and no half of a character.
Text = Annotated[str, Strict(), Field(max_length=10_000)]
Amount = Annotated[float, Strict(), Field(ge=-1e9, le=1e9, allow_inf_nan=False)]  # in major units, as the shop has it

WHOLE = "one object: users, orders, products"


class WorldInvalid(ValueError):
    """A world, or a record of one, cannot be read; the message says where, and what is wrong."""


class Record(BaseModel):
    """A frozen record of the shop; the fields that no rule looks at are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PaymentMethod(Record):
    """One of a user's ways to pay; only a gift card has a balance."""

    source: Text
    balance: Amount = 0


class User(Record):
    """A user, by the payment methods of the profile."""

    payment_methods: Mapping[str, PaymentMethod]


class OrderItem(Record):
    """One thing that was ordered; the same item may be in an order more than once."""

    item_id: Text
    product_id: Text
    price: Amount


class HistoryEntry(Record):
    """A payment or a refund of an order."""

    transaction_type: Text
    amount: Amount
    payment_method_id: Text


class Order(Record):
    """An order; the first entry of its history is the original payment."""

    user_id: Text
    status: Text
    items: tuple[OrderItem, ...]
    payment_history: tuple[HistoryEntry, ...]


class Variant(Record):
    """One item that a product comes as."""

    available: StrictBool
    price: Amount


class Product(Record):
    """A product by its variants' item ids."""

    variants: Mapping[str, Variant]


class World(Record):
    """All that the shop knows, each record by its id."""

    users: Mapping[str, User]
    orders: Mapping[str, Order]
    products: Mapping[str, Product]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the world that `text` (JSON) tells. Raises WorldInvalid."""
        try:
            told = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise WorldInvalid(f"it is not JSON ({error}); it should be {WHOLE}") from None
        if not isinstance(told, dict):
            raise WorldInvalid(f"it is no JSON object; it should be {WHOLE}")
        try:
            return cls.model_validate(told)
        except ValidationError as error:
            raise WorldInvalid(_told(error)) from None

    def overridden(self, users: Mapping[str, Any], orders: Mapping[str, Any]) -> Self:
        """Return this world with the given fields of the given records instead. Raises WorldInvalid."""
        if not users and not orders:
            return self
        return self.model_copy(
            update={
                "users": {**self.users, **_records(User, "users", self.users, users)},
                "orders": {**self.orders, **_records(Order, "orders", self.orders, orders)},
            }
        )


def _records(kind: type[Record], name: str, known: Mapping[str, Record], given: Mapping[str, Any]) -> dict[str, Record]:
    made = {}
    for ident, fields in given.items():
        if not isinstance(fields, Mapping):
            raise WorldInvalid(f"{name}.{ident} is not an object; it should be a record of the shop, or fields of it")
        before = known[ident].model_dump() if ident in known else {}
        try:
            made[ident] = kind.model_validate({**before, **fields})
        except ValidationError as error:
            raise WorldInvalid(f"{name}.{ident}: {_told(error)}") from None
    return made


def _told(error: ValidationError) -> str:
    """The first thing that is wrong, where it is, and how many more there are."""
    first, *others = error.errors(include_input=False, include_url=False)
    place = ".".join(map(str, first["loc"])) or "the whole"
    more = f" (and {len(others)} more)" if others else ""
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}{more}"
