"""Facts of an account: which thing an id names, what was charged twice, and when a parcel's place is known."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.account import Account, Item, Order, Payment, Plan, Shipment
from domain.catalogue.order_facts import tracking_facts
from domain.duplicates import charged_twice, twins
from domain.freshness import DECIDE, TELL, tracking_is_current

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def order(ident: str = "A-1", **more: Any) -> Order:
    given = {"status": "delivered", "currency": "EUR", "captured_minor": 6000, "refunded_minor": 0, "version": 1}
    return Order.model_validate({"id": ident, **given, **more})


def payment(ident: str, amount_minor: int, minutes_ago: int, **more: Any) -> Payment:
    given = {"order_id": "A-1", "refunded_minor": 0, "currency": "EUR", "status": "captured", "version": 1}
    at = NOW - timedelta(minutes=minutes_ago)
    return Payment.model_validate({"id": ident, "amount_minor": amount_minor, "captured_at": at, **given, **more})


# ---------------------------------------------------------------- ids
def test_an_id_names_the_thing_that_is_called_so_to_the_letter() -> None:
    account = Account(orders=(order("AB1"), order("ab1")))
    assert [account.resource(f"order:{i}") for i in ("AB1", "ab1")] == list(account.orders)


def test_an_id_that_fits_two_things_without_its_case_names_neither() -> None:
    two = Account(
        orders=(order("AB1"), order("aB1")),
        payments=(payment("PA", 1, 1), payment("pA", 1, 1)),
        plans=tuple(Plan(name=name, price_minor=1, currency="EUR") for name in ("TEAM", "Team")),
    )
    assert (two.order("ab1"), two.payment("pa"), two.plan("team")) == (None, None, None)
    one = Account(orders=two.orders[:1], payments=two.payments[:1], plans=two.plans[:1])
    assert [one.order("ab1"), one.payment("pa"), one.plan("team")] == [one.orders[0], one.payments[0], one.plans[0]]


# ---------------------------------------------------------------- charged twice
@pytest.mark.parametrize(
    ("price_minor", "amounts", "twice"),
    [
        (6000, (3000, 3000), False),  # two halves
        (6500, (3250, 3250), False),
        (6000, (6000, 6000), True),
        (3000, (3000, 3000), True),
        (6000, (2000, 2000, 2000), False),  # three thirds
        (6000, (3000, 3000, 3000), True),  # a half too many
    ],
)
def test_parts_of_one_price_are_no_double_charge(price_minor: int, amounts: tuple[int, ...], twice: bool) -> None:
    held = order(items=(Item(title="Lamp", quantity=2, price_minor=price_minor // 2),))
    paid = tuple(payment(f"p{n}", amount, 60 - n) for n, amount in enumerate(amounts))
    account = Account(orders=(held,), payments=paid)
    assert charged_twice(account, "order:A-1", amounts[0]) is twice
    assert bool(twins(account)) is twice


def test_what_was_given_back_no_longer_pays_for_the_order() -> None:
    held = order(items=(Item(title="Lamp", price_minor=6000),))
    spent = payment("p0", 3000, 60, refunded_minor=3000, status="refunded")
    account = Account(orders=(held,), payments=(spent, payment("p1", 3000, 9), payment("p2", 3000, 5)))
    assert not twins(account)


# ---------------------------------------------------------------- a parcel's place
@pytest.mark.parametrize(
    ("ahead_s", "known"), [(-60, True), (0, True), (5, True), (6, False), (3_600, False), (10**7, False)]
)
@pytest.mark.parametrize("status", ["in_transit", "delivered"])
def test_what_was_observed_in_the_future_is_not_known(ahead_s: int, known: bool, status: str) -> None:
    parcel = Shipment(status=status, observed_at=NOW + timedelta(seconds=ahead_s))
    facts = tracking_facts(parcel, NOW)
    assert (facts["age_s"] <= facts["max_age_s"]) is known
    assert [tracking_is_current(order(shipment=parcel), use, NOW) for use in (TELL, DECIDE)] == [known, known]


@pytest.mark.parametrize(
    ("told", "version"), [({}, None), ({"product_version": "2.4"}, "2.4"), ({"product_version": 2}, "2")]
)
def test_which_version_of_the_product_is_used_is_known_where_the_shop_tells_it(
    told: dict[str, Any], version: str | None
) -> None:
    assert Account.model_validate(told).product_version == version
