"""Every kind of the catalogue is carried out once, by the shop's own rules, and refused otherwise with its own word."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.demo.conftest import Json, ShopProcess

MARKET, SAAS = "acme-market", "nimbus-saas"


class Stage:
    """One customer of a fresh world, and what is asked for them."""

    def __init__(self, shop: ShopProcess, tenant: str, customer: str) -> None:
        self.shop, self.tenant, self.customer = shop, tenant, customer

    @property
    def account(self) -> Json:
        return self.shop.account(self.tenant, self.customer)

    def change(self, kind: str, **fields: Any) -> tuple[int, Json]:
        body = {"operation_id": f"op-{uuid.uuid4()}", "customer_id": self.customer, **fields}
        answer = self.shop.write(f"/tenants/{self.tenant}/changes/{kind}", body)
        return answer.status_code, answer.json()

    def done(self, kind: str, **fields: Any) -> Json:
        status, told = self.change(kind, **fields)
        assert status == 201, told
        assert self.shop.lookup(self.tenant, told["operation_id"]).json()["effect"] == told
        return told

    def refused(self, error: str, kind: str, **fields: Any) -> None:
        before = {**self.account, "observed_at": ""}
        status, told = self.change(kind, **fields)
        assert (status, told["error"]) == (422, error)
        assert self.shop.lookup(self.tenant, told["operation_id"]).json()["error"] == error
        assert {**self.account, "observed_at": ""} == before

    def order(self, ident: str) -> Json:
        return found(self.account["orders"], ident)


def found(parts: list[Json], ident: str) -> Json:
    return next(part for part in parts if part["id"] == ident)


def somebody(shop: ShopProcess, tenant: str, fits: Any) -> Stage:
    """The first customer that `fits`."""
    kind = "marketplace" if tenant == MARKET else "saas"
    return Stage(shop, tenant, next(c["id"] for t, c in shop.customers(kind) if t == tenant and fits(c)))


def has(status: str, **more: Any) -> Any:
    """Whether a customer has an order of that status."""

    def fits(customer: Json) -> bool:
        kinds = {method["type"] for method in customer["payment_methods"]}
        wanted = all(kind in kinds for kind in more.get("pays", ()))
        return wanted and any(fitting(o, status, more.get("items", 1)) for o in customer["orders"])

    return fits


def fitting(order: Json, status: str, items: int = 1) -> bool:
    untouched = not order["refunded_minor"] or status == "cancelled"
    return bool(order["status"] == status and untouched and len(order["items"]) >= items)


def the(stage: Stage, status: str, items: int = 1) -> Json:
    return next(o for o in stage.account["orders"] if fitting(o, status, items))


def test_a_cancelled_order_gives_all_back_the_way_it_was_paid(shop: ShopProcess) -> None:
    stage = somebody(shop, MARKET, has("processing"))
    order = the(stage, "processing")
    paid = {"amount_minor": order["captured_minor"], "currency": order["currency"]}
    ask = {"order_id": order["id"], "reason": "no_longer_needed", "expected_version": 1, **paid}
    stage.refused("unknown_reason", "cancel_order", **{**ask, "reason": "why not"})
    stage.refused("wrong_amount", "cancel_order", **{**ask, "amount_minor": paid["amount_minor"] - 1})
    stage.refused("wrong_currency", "cancel_order", **{**ask, "currency": "JPY"})
    told = stage.done("cancel_order", **ask)
    assert (told["resource_kind"], told["amount_minor"]) == ("order", order["captured_minor"])
    now = stage.order(order["id"])
    assert (now["status"], now["refunded_minor"], now["version"]) == ("cancelled", order["captured_minor"], 2)
    assert now["requested"] == {"reason": "no_longer_needed"}
    stage.refused("wrong_status", "cancel_order", **{**ask, "expected_version": 2})


def test_money_goes_back_to_the_gift_card_that_paid(shop: ShopProcess) -> None:
    stage, order, card = next(
        (Stage(shop, tenant, customer["id"]), order, method)
        for tenant, customer in shop.customers("marketplace")
        for method in customer["payment_methods"]
        for order in customer["orders"]
        if method["type"] == "gift_card" and order["payment_method_id"] == method["id"] and fitting(order, "delivered")
    )
    ask = {"order_id": order["id"], "amount_minor": 100, "currency": order["currency"], "expected_version": 1}
    stage.done("refund", **ask)
    assert found(stage.account["payment_methods"], card["id"])["balance_minor"] == card["balance_minor"] + 100


def test_pieces_of_a_delivered_order_come_back_once_for_their_price(shop: ShopProcess) -> None:
    stage = somebody(shop, MARKET, has("delivered", items=2))
    order = the(stage, "delivered", 2)
    first = order["items"][0]
    ask = {
        "order_id": order["id"], "item_ids": [first["item_id"]], "amount_minor": first["price_minor"],
        "currency": order["currency"], "expected_version": order["version"],
    }  # fmt: skip
    stage.refused("unknown_item", "return_items", **{**ask, "item_ids": [first["item_id"]] * 2})
    stage.refused("wrong_amount", "return_items", **{**ask, "amount_minor": ask["amount_minor"] + 1})
    stage.refused("unknown_payment_method", "return_items", **ask, payment_method_id="pm_nobody")
    assert stage.done("return_items", **ask)["amount_minor"] == first["price_minor"]
    now = stage.order(order["id"])
    assert (now["status"], now["refunded_minor"], now["version"]) == ("return_requested", first["price_minor"], 2)
    stage.refused("wrong_status", "return_items", **{**ask, "expected_version": 2})


def test_tea_is_not_taken_back(shop: ShopProcess) -> None:
    stage, order, tea = next(
        (Stage(shop, tenant, customer["id"]), order, item)
        for tenant, customer in shop.customers("marketplace")
        for order in customer["orders"]
        for item in order["items"]
        if item["sku"] == "TEA-DARJ" and fitting(order, "delivered")
    )
    ask = {"order_id": order["id"], "item_ids": [tea["item_id"]], "expected_version": order["version"]}
    money = {"amount_minor": tea["price_minor"], "currency": order["currency"]}
    stage.refused("not_returnable", "return_items", **ask, **money)


def exchange(stage: Stage, order: Json, new: Json, method: str) -> Json:
    old = order["items"][0]
    return {
        "order_id": order["id"], "item_ids": [old["item_id"]], "new_item_ids": [new["item_id"]],
        "payment_method_id": method, "difference_minor": new["price_minor"] - old["price_minor"],
        "difference_currency": order["currency"], "expected_version": order["version"],
    }  # fmt: skip


def test_an_exchange_settles_the_difference_and_the_books_agree(shop: ShopProcess) -> None:
    stage = somebody(shop, MARKET, has("delivered", pays=("paypal",)))
    for order in [o for o in stage.account["orders"] if fitting(o, "delivered") and o["items"][0]["returnable"]]:
        account, old = stage.account, order["items"][0]
        method = next(m["id"] for m in account["payment_methods"] if m["type"] == "paypal")
        own = [v for v in account["variants"] if v["product_id"] == old["product_id"]]
        new = next(v for v in own if v["available"] and v["item_id"] != old["item_id"])
        ask = exchange(stage, order, new, method)
        stage.refused("wrong_amount", "exchange_items", **{**ask, "difference_minor": ask["difference_minor"] + 1})
        stage.refused("unchanged", "exchange_items", **{**ask, "new_item_ids": ask["item_ids"]})
        stage.refused("items_not_paired", "exchange_items", **{**ask, "new_item_ids": [new["item_id"]] * 2})
        stage.refused("unknown_variant", "exchange_items", **{**ask, "new_item_ids": ["BIKE-E1-1"]})
        assert stage.done("exchange_items", **ask)["amount_minor"] == abs(ask["difference_minor"])
        now, payments = stage.order(order["id"]), stage.account["payments"]
        paid = [p for p in payments if p["order_id"] == order["id"]]
        kept = now["captured_minor"] - now["refunded_minor"]
        assert kept == order["captured_minor"] + ask["difference_minor"]
        assert sum(p["amount_minor"] - p["refunded_minor"] for p in paid) == kept
        assert (now["status"], now["version"]) == ("exchange_requested", 2)


def test_what_is_not_available_or_not_covered_is_not_exchanged(shop: ShopProcess) -> None:
    seen = set()
    for tenant, customer in shop.customers("marketplace"):
        stage, card = Stage(shop, tenant, customer["id"]), low_gift_card(customer)
        variants = stage.account["variants"]
        for order in [o for o in customer["orders"] if fitting(o, "delivered") and o["items"][0]["returnable"]]:
            old = order["items"][0]
            for new in [v for v in variants if v["product_id"] == old["product_id"]]:
                ask = exchange(stage, order, new, card or customer["payment_methods"][0]["id"])
                dear = card and new["item_id"] != old["item_id"] and ask["difference_minor"] > 300
                error = "unavailable" if not new["available"] else "balance_too_low" if dear else None
                if error and error not in seen:
                    seen.add(error)
                    stage.refused(error, "exchange_items", **ask)
    assert seen == {"unavailable", "balance_too_low"}


def low_gift_card(customer: Json) -> str | None:
    return next((m["id"] for m in customer["payment_methods"] if m["balance_minor"] == 300), None)


def test_an_order_that_has_not_left_goes_to_a_verified_address_of_the_book(shop: ShopProcess) -> None:
    stage = somebody(shop, MARKET, lambda c: len(c["addresses"]) == 3 and has("processing")(c))
    order, account = the(stage, "processing"), stage.account
    home, office, unverified = ({"address_id": a["id"], "address": a["lines"]} for a in account["addresses"])
    ask = {"order_id": order["id"], "expected_version": 1}
    stage.refused("unchanged", "change_delivery_address", **ask, **home)
    stage.refused("not_verified", "change_delivery_address", **ask, **unverified)
    stage.refused("not_as_shown", "change_delivery_address", **ask, **{**office, "address": home["address"]})
    stage.refused("unknown_address", "change_delivery_address", **ask, **{**office, "address_id": "adr_nowhere"})
    assert stage.done("change_delivery_address", **ask, **office)["amount_minor"] == 0
    now = stage.order(order["id"])
    assert (now["address_id"], now["version"]) == (office["address_id"], 2)
    shipped = the(stage, "shipped")
    stage.refused("wrong_status", "change_delivery_address", **{**ask, "order_id": shipped["id"]}, **office)


def test_an_open_order_is_paid_another_way_and_gift_cards_follow(shop: ShopProcess) -> None:
    stage = somebody(shop, MARKET, has("processing", pays=("gift_card", "card")))
    order, methods = the(stage, "processing"), stage.account["payment_methods"]
    total = order["captured_minor"]
    card = next(m for m in methods if m["type"] == "gift_card")
    other = next(m for m in methods if m["id"] not in (card["id"], order["payment_method_id"]))
    version = 1
    for to in (card, other) if order["payment_method_id"] != card["id"] else (other, card):
        ask = {"order_id": order["id"], "payment_method_id": to["id"], "expected_version": version}
        stage.refused("not_as_shown", "change_payment_method", **ask, label="Somebody else's card")
        assert stage.done("change_payment_method", **ask, label=to["label"])["resource"] == order["id"]
        version += 1
        stage.refused("unchanged", "change_payment_method", **{**ask, "expected_version": version}, label=to["label"])
        paid_by_card = to["id"] == card["id"]
        balance = found(stage.account["payment_methods"], card["id"])["balance_minor"]
        began_with_card = order["payment_method_id"] == card["id"]
        assert balance == card["balance_minor"] - total * (int(paid_by_card) - int(began_with_card))


def test_a_subscription_moves_to_a_plan_that_is_offered_at_its_price(shop: ShopProcess) -> None:
    stage = somebody(shop, SAAS, lambda c: c["subscriptions"][0]["status"] == "active")
    held = stage.account["subscriptions"][0]
    plan = next(p for p in stage.account["plans"] if p["name"] != held["plan"])
    ask = {
        "subscription_id": held["id"], "plan": held["plan"], "new_plan": plan["name"], "expected_version": 1,
        "new_price_minor": plan["price_minor"], "new_price_currency": plan["currency"],
    }  # fmt: skip
    stage.refused("not_offered", "change_plan", **{**ask, "new_plan": "Free for ever"})
    stage.refused("not_as_shown", "change_plan", **{**ask, "new_price_minor": 1})
    stage.refused("not_as_shown", "change_plan", **{**ask, "plan": "Another"})
    stage.refused("unchanged", "change_plan", **{**ask, "new_plan": held["plan"]})
    stage.refused("wrong_currency", "change_plan", **{**ask, "new_price_currency": "JPY"})
    stage.done("change_plan", **ask)
    now = found(stage.account["subscriptions"], held["id"])
    assert (now["plan"], now["price_minor"], now["version"]) == (plan["name"], plan["price_minor"], 2)
    method = {"payment_method_id": held["payment_method_id"], "label": stage.account["payment_methods"][0]["label"]}
    ids = {"subscription_id": held["id"], "expected_version": 2}
    stage.refused("unchanged", "change_payment_method", **ids, **method)
    stage.done("cancel_subscription", **ids)
    stage.refused("already_cancelled", "change_plan", **{**ask, "expected_version": 3})


@pytest.mark.parametrize("tenant", [MARKET, SAAS])
def test_only_the_later_of_two_equal_charges_is_given_back_whole(shop: ShopProcess, tenant: str) -> None:
    stage, first, second = next(
        (Stage(shop, t, c["id"]), *pair)
        for t, c in (*shop.customers("marketplace"), *shop.customers("saas"))
        if t == tenant and (pair := charged_twice(c["payments"]))
    )
    order = stage.order(second["order_id"]) if second["order_id"] else None
    ask = {
        "payment_id": second["id"], "order_id": second["order_id"], "amount_minor": second["amount_minor"],
        "currency": second["currency"], "expected_version": (order or second)["version"],
    }  # fmt: skip
    once = next(p for p in stage.account["payments"] if p["order_id"] != second["order_id"] or not order)
    stage.refused("not_duplicate", "refund_duplicate_charge", **{**ask, "payment_id": first["id"]})
    stage.refused("wrong_amount", "refund_duplicate_charge", **{**ask, "amount_minor": ask["amount_minor"] - 1})
    if order:
        stage.refused("not_as_shown", "refund_duplicate_charge", **{**ask, "payment_id": once["id"]})
    told = stage.done("refund_duplicate_charge", **ask)
    assert (told["resource"], told["amount_minor"]) == ((order or second)["id"], second["amount_minor"])
    payments = stage.account["payments"]
    assert [found(payments, p["id"])["status"] for p in (first, second)] == ["captured", "refunded"]


def charged_twice(payments: list[Json]) -> tuple[Json, Json] | None:
    """The latest two equal charges for one thing within an hour."""
    for a in payments:
        for b in payments:
            same = all(a[k] == b[k] for k in ("order_id", "subscription_id", "amount_minor", "status"))
            if same and a["captured_at"] < b["captured_at"] and a["captured_at"][:10] == b["captured_at"][:10]:
                return a, b
    return None


def test_credit_is_given_for_a_reason_and_stands_in_the_record(shop: ShopProcess) -> None:
    stage = somebody(shop, MARKET, lambda c: c["profile"]["store_credit_minor"])
    before = stage.account["profile"]
    ask = {"amount_minor": 500, "currency": before["currency"], "reason": "goodwill", "expected_version": 1}
    stage.refused("unknown_reason", "store_credit", **{**ask, "reason": "nice"})
    stage.refused("wrong_currency", "store_credit", **{**ask, "currency": "JPY"})
    told = stage.done("store_credit", **ask)
    assert (told["resource_kind"], told["resource"], told["amount_minor"]) == ("account", stage.customer, 500)
    now = stage.account["profile"]
    assert (now["store_credit_minor"], now["version"]) == (before["store_credit_minor"] + 500, 2)
    assert stage.change("store_credit", **ask)[1]["error"] == "version_conflict"


def test_the_way_back_into_an_account_is_a_link_to_a_verified_address_and_one_at_a_time(shop: ShopProcess) -> None:
    ask = {"channel": "verified_email", "expected_version": 1}

    def of(access: str, verified: bool) -> Stage:
        wanted = {"access": access, "email_verified": verified}
        return somebody(shop, MARKET, lambda c: {k: c["profile"][k] for k in wanted} == wanted)

    of("ok", True).refused("not_locked", "restore_account_access", **ask)
    of("locked", False).refused("not_verified", "restore_account_access", **ask)
    stage = of("locked", True)
    stage.done("restore_account_access", **ask)
    now = stage.account["profile"]
    assert (now["access"], now["version"]) == ("locked", 2)
    assert now["reset_sent_at"]
    stage.refused("reset_already_sent", "restore_account_access", **{**ask, "expected_version": 2})
    assert stage.change("restore_account_access", channel="chat", expected_version=2)[0] == 422


def test_each_kind_has_faults_of_its_own_and_a_stranger_changes_nothing(shop: ShopProcess) -> None:
    promised = shop.http.get("/contract").json()["refusals"]
    kinds = shop.http.get("/").json()["operations"]
    assert len(kinds) == 11 + 7
    assert {"not_as_shown", "version_conflict", "wrong_status"} <= promised.keys()
    stage = somebody(shop, MARKET, lambda c: True)
    ask = {"amount_minor": 5, "currency": stage.account["profile"]["currency"], "reason": "goodwill"}
    shop.arm("reject", operation="store_credit")
    stage.refused("declined", "store_credit", **ask, expected_version=1)
    stranger = Stage(shop, MARKET, "cust-nobody").change("store_credit", **ask, expected_version=1)
    assert (stranger[0], stranger[1]["error"]) == (404, "unknown_resource")
    assert stage.change("become_rich")[1]["error"] == "unknown_kind"
    for path in ("changes", "retail"):
        for kind in kinds:
            body = {"operation_id": "op-1", "customer_id": "c", "arguments": {"order_id": 5}}
            assert 400 <= shop.write(f"/tenants/{MARKET}/{path}/{kind}", body).status_code < 500
    assert not shop.effects()
