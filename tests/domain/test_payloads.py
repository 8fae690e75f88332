"""What a payload says of money: whose it is, where it goes, what is at stake, and what an approval of it rests on."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.account import (
    Account,
    Address,
    Item,
    Order,
    Payment,
    PaymentMethod,
    Plan,
    Profile,
    Subscription,
    Variant,
)
from domain.action import CATALOGUE, ActionKind, Payload, RefundPayload, evidence_digest, payload_of
from domain.catalogue.payload import Label
from domain.catalogue.wish import Wish

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CARD = PaymentMethod(id="card", type="card", label="Visa 4242")
GIFT = PaymentMethod(id="gift", type="gift_card", label="Gift card", balance_minor=2900, currency="EUR")
LAMP = Item(item_id="lamp-1", product_id="lamp", title="Lamp", price_minor=7350, returnable=True)
PAID: dict[str, Any] = {"amount_minor": 7350, "refunded_minor": 0, "currency": "EUR", "status": "captured"}
FIRST = Payment(id="pay_1", order_id="A-1", captured_at=NOW - timedelta(minutes=9), version=4, **PAID)
AGAIN = Payment(id="pay_2", order_id="A-1", captured_at=NOW - timedelta(minutes=5), version=5, **PAID)
ORDER = Order(
    id="A-1",
    status="delivered",
    currency="EUR",
    captured_minor=14700,
    refunded_minor=0,
    items=(LAMP,),
    delivered_at=NOW - timedelta(days=3),
    version=7,
    payment_method_id="card",
)
OPEN = ORDER.model_copy(update={"id": "A-2", "status": "processing", "captured_minor": 3000, "delivered_at": None})
SUBSCRIPTION = Subscription(id="sub_1", plan="Team", status="active", price_minor=2900, currency="EUR", version=2)
ACCOUNT = Account(
    orders=(ORDER, OPEN),
    subscriptions=(SUBSCRIPTION,),
    payments=(FIRST, AGAIN),
    profile=Profile(id="c", access="locked", email_verified=True),
    addresses=(Address(id="adr", lines=("Street 7",), verified=True),),
    payment_methods=(CARD, GIFT),
    plans=(Plan(name="Business", price_minor=14900, currency="EUR"),),
    variants=tuple(
        Variant(item_id=f"lamp-{n}", product_id="lamp", price_minor=price, available=True)
        for n, price in ((2, 2350), (3, 10250))
    ),
)


def wished(kind: ActionKind, resource: str, account: Account = ACCOUNT, **more: Any) -> Payload:
    return payload_of(Wish(kind=kind, resource=resource, **more), account, "c")


def refund(resource: str, account: Account = ACCOUNT) -> RefundPayload:
    made = wished(ActionKind.REFUND, resource, account, amount_minor=7350, currency="EUR")
    assert isinstance(made, RefundPayload)
    return made


def exchange(new: str, method: str = "card") -> Payload:
    more: dict[str, Any] = {"item_ids": ("lamp-1",), "new_item_ids": (new,), "payment_method_id": method}
    return wished(ActionKind.EXCHANGE_ITEMS, "order:A-1", **more)


def returned(account: Account = ACCOUNT, **more: Any) -> Payload:
    return wished(ActionKind.RETURN_ITEMS, "order:A-1", account, item_ids=("lamp-1",), **more)


def with_method(method: PaymentMethod) -> Account:
    others = tuple(m for m in ACCOUNT.payment_methods if m.id != method.id)
    return ACCOUNT.model_copy(update={"payment_methods": (*others, method)})


# ---------------------------------------------------------------- one order, one resource
def test_all_money_of_one_order_meets_on_the_order() -> None:
    ways = [
        refund("order:A-1"),
        refund("payment:pay_1"),
        refund("payment:pay_2"),
        wished(ActionKind.REFUND_DUPLICATE_CHARGE, "payment:pay_2"),
        returned(),
        exchange("lamp-2"),
    ]
    assert {(p.resource, p.resource_version) for p in ways} == {("order:A-1", 7)}


def test_a_refund_of_a_payment_names_it_with_its_own_version() -> None:
    made = refund("payment:pay_2")
    assert (made.payment_id, made.payment_version, made.effect_on) == ("pay_2", 5, "payment:pay_2")


def test_a_payment_without_an_order_stands_for_itself_as_it_always_did() -> None:
    alone = FIRST.model_copy(update={"order_id": None})
    made = refund("payment:pay_1", Account(payments=(alone,)))
    assert (made.resource, made.effect_on, made.resource_version) == ("payment:pay_1", "payment:pay_1", 4)
    stored = {"kind": "refund", "customer_id": "c", "payment_id": "pay_1", "resource_version": 4}
    assert RefundPayload.model_validate({**stored, "amount_minor": 7350, "currency": "EUR"}) == made


@pytest.mark.parametrize("left_minor", [0, 100, 7350])
def test_no_more_is_left_of_a_payment_than_of_it_and_of_its_order(left_minor: int) -> None:
    spent = AGAIN.model_copy(update={"refunded_minor": 7350 - left_minor})
    of_payment = ACCOUNT.model_copy(update={"payments": (FIRST, spent)})
    of_order = ACCOUNT.model_copy(
        update={"orders": (ORDER.model_copy(update={"refunded_minor": 14700 - left_minor}), OPEN)}
    )
    for account in (of_payment, of_order):
        assert refund("payment:pay_2").facts(account, NOW)["target"]["refundable_minor"] == left_minor


@pytest.mark.parametrize(
    "payload",
    [refund("order:A-1"), refund("payment:pay_2"), wished(ActionKind.REFUND_DUPLICATE_CHARGE, "payment:pay_2")],
)
@pytest.mark.parametrize("of", ["pay_1", "pay_2"])
def test_an_approval_of_what_was_charged_twice_rests_on_both_charges(payload: Payload, of: str) -> None:
    given_back = tuple(
        p.model_copy(update={"status": "refunded", "refunded_minor": 7350}) if p.id == of else p
        for p in ACCOUNT.payments
    )
    after = ACCOUNT.model_copy(update={"payments": given_back})
    assert payload.facts(ACCOUNT, NOW)["target"]["charged_twice"]
    assert evidence_digest("shop", payload, after) != evidence_digest("shop", payload, ACCOUNT)


# ---------------------------------------------------------------- what moves, and what is at stake
def test_an_exchange_that_gives_money_back_has_it_as_its_amount() -> None:
    back, even, more = exchange("lamp-2"), returned(), exchange("lamp-3")
    assert (back.amount_minor, back.currency) == (5000, "EUR")
    assert (more.amount_minor, more.currency) == (None, None)
    assert [p.facts(ACCOUNT, NOW)["amount_minor"] for p in (back, more, even)] == [5000, 0, 7350]


def test_the_stake_is_what_moves_or_is_to_be_paid() -> None:
    credit: dict[str, Any] = {"amount_minor": 300, "currency": "EUR", "reason": "goodwill"}
    stakes = [
        (refund("order:A-1"), 7350),
        (wished(ActionKind.REFUND_DUPLICATE_CHARGE, "payment:pay_2"), 7350),
        (wished(ActionKind.STORE_CREDIT, "account:c", **credit), 300),
        (wished(ActionKind.CANCEL_ORDER, "order:A-2", reason="no_longer_needed"), 3000),
        (returned(), 7350),
        (exchange("lamp-2"), 5000),
        (exchange("lamp-3"), 2900),
        (wished(ActionKind.CHANGE_PAYMENT_METHOD, "order:A-2", payment_method_id="gift"), 3000),
        (wished(ActionKind.CHANGE_PAYMENT_METHOD, "subscription:sub_1", payment_method_id="card"), 2900),
        (wished(ActionKind.CHANGE_PLAN, "subscription:sub_1", plan="Business"), 14900),
        (wished(ActionKind.CANCEL_SUBSCRIPTION, "subscription:sub_1"), 0),
        (wished(ActionKind.CHANGE_DELIVERY_ADDRESS, "order:A-2", address_id="adr"), 0),
        (wished(ActionKind.RESTORE_ACCOUNT_ACCESS, "account:c"), 0),
    ]
    assert {p.kind for p, _ in stakes} == set(CATALOGUE)
    assert [(p.stake_minor, p.stake_currency) for p, _ in stakes] == [(n, "EUR" if n else "") for _, n in stakes]


# ---------------------------------------------------------------- where it goes
def test_what_is_given_back_or_charged_names_the_way_to_pay() -> None:
    told = [p.told()["method"] for p in (returned(), returned(payment_method_id="gift"), exchange("lamp-2"))]
    assert told == ["Visa 4242", "Gift card", "Visa 4242"]
    bare = ACCOUNT.model_copy(update={"payment_methods": ()})
    assert returned(bare).told()["method"] == Label(key="return_items.original")


@pytest.mark.parametrize("payload", [returned(), exchange("lamp-2")])
def test_an_approval_rests_on_the_way_to_pay(payload: Payload) -> None:
    other = with_method(CARD.model_copy(update={"label": "Visa 9999"}))
    assert evidence_digest("shop", payload, other) != evidence_digest("shop", payload, ACCOUNT)


@pytest.mark.parametrize(
    ("change", "order_of_2900", "exchange_of_2900"),
    [
        ({}, True, True),
        ({"balance_minor": 2899}, False, False),
        ({"balance_minor": None}, False, False),
        ({"currency": "USD"}, False, False),
        ({"currency": None}, False, False),
        ({"type": "card", "balance_minor": None, "currency": None}, True, True),
    ],
)
def test_a_gift_card_covers_what_it_is_known_to_hold_in_that_currency(
    change: dict[str, Any], order_of_2900: bool, exchange_of_2900: bool
) -> None:
    account = with_method(GIFT.model_copy(update=change))
    pays = wished(ActionKind.CHANGE_PAYMENT_METHOD, "subscription:sub_1", payment_method_id="gift")
    covers = [p.facts(account, NOW)["method"]["covers"] for p in (pays, exchange("lamp-3", "gift"))]
    assert covers == [order_of_2900, exchange_of_2900]


@pytest.mark.parametrize(("currency", "takes"), [("EUR", True), ("USD", False), (None, False)])
def test_money_is_given_back_to_a_gift_card_of_its_own_currency(currency: str | None, takes: bool) -> None:
    account = with_method(GIFT.model_copy(update={"balance_minor": 0, "currency": currency}))
    assert exchange("lamp-2", "gift").facts(account, NOW)["method"]["covers"] is takes
    assert returned(payment_method_id="gift").facts(account, NOW)["refund_to"]["covers"] is takes


# ---------------------------------------------------------------- what was left out
def test_what_a_provider_leaves_out_allows_nothing() -> None:
    told = {
        "addresses": [{"id": "adr", "lines": ["Street 7"]}],
        "variants": [{"item_id": "lamp-2", "product_id": "lamp", "price_minor": 2350}],
        "orders": [{**ORDER.model_dump(), "items": [{"item_id": "lamp-1", "title": "Lamp", "price_minor": 7350}]}],
    }
    bare = Account.model_validate(ACCOUNT.model_dump() | told)
    elsewhere = wished(ActionKind.CHANGE_DELIVERY_ADDRESS, "order:A-2", address_id="adr")
    assert elsewhere.facts(bare, NOW)["address"]["verified"] is False
    items = exchange("lamp-2").facts(bare, NOW)["items"]
    assert (items["not_returnable"], items["unavailable"]) == (1, 1)
