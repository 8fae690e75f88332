"""A proposal by a person: what a kind of action needs, what of the account can be chosen, the wish that comes of it.

Pure: what may be proposed is the contract's to say; here is only how it is asked for.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from babel.numbers import get_currency_precision
from starlette.datastructures import FormData

from console.holdings import Reading
from console.wording import label, money, sentence

Json = dict[str, Any]
Choice = tuple[str, str]
_AMOUNT = re.compile(r"([0-9]{1,9})(?:[.,]([0-9]{1,4}))?")


@dataclass(frozen=True)
class Needs:
    """What a kind acts on (types of resource), and what it names besides."""

    on: tuple[str, ...]
    also: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


NEEDS = {
    "refund": Needs(("order", "payment"), ("amount",)),
    "refund_duplicate_charge": Needs(("payment",)),
    "store_credit": Needs(
        ("account",), ("amount", "reason"), ("goodwill", "late_delivery", "damaged_item", "missing_item")
    ),
    "cancel_order": Needs(("order",), ("reason",), ("no_longer_needed", "ordered_by_mistake")),
    "return_items": Needs(("order",), ("items", "method_or_first")),
    "exchange_items": Needs(("order",), ("exchanges", "method")),
    "change_delivery_address": Needs(("order",), ("address",)),
    "change_payment_method": Needs(("order", "subscription"), ("method",)),
    "cancel_subscription": Needs(("subscription",)),
    "change_plan": Needs(("subscription",), ("plan",)),
    "restore_account_access": Needs(("account",)),
}


class Unclear(ValueError):
    """The form does not say something that the kind needs; the message says what would be right."""


@dataclass(frozen=True)
class Offer:
    """What the form shows for one kind and one resource; without a reading, `resources` is empty and one types it."""

    kind: str
    needs: Needs
    resources: tuple[Choice, ...]
    resource: str
    currency: str
    pieces: tuple[Choice, ...] = ()
    exchanges: tuple[tuple[str, str, tuple[Choice, ...]], ...] = ()
    addresses: tuple[Choice, ...] = ()
    methods: tuple[Choice, ...] = ()
    plans: tuple[Choice, ...] = ()


def offer(kind: str, resource: str, read: Reading | None) -> Offer:
    """Return what can be chosen for a kind of action; a resource that is not offered gives way to the first."""
    needs, account = NEEDS[kind], read.account if read else {}
    holdings = [h for h in (read.holdings if read else ()) if h.resource and h.resource.split(":")[0] in needs.on]
    resources = tuple((str(h.resource), f"{h.title} ({_hint(h.facts)})") for h in holdings)
    chosen = resource if resource in dict(resources) else resources[0][0] if resources else ""
    found = _found(chosen, account)
    return Offer(
        kind=kind,
        needs=needs,
        resources=resources,
        resource=chosen,
        currency=str(found.get("currency", "")),
        pieces=tuple((i["item_id"], i["title"]) for i in found.get("items", ()) for _ in range(i.get("quantity", 1))),
        exchanges=tuple(_exchange(i, account) for i in found.get("items", ()) for _ in range(i.get("quantity", 1))),
        addresses=tuple((a["id"], f"{a['label']}: {', '.join(a['lines'])}") for a in account.get("addresses", ())),
        methods=tuple((m["id"], m["label"] or label(m["type"])) for m in account.get("payment_methods", ())),
        plans=tuple(
            (p["name"], f"{p['name']}, {money(p['price_minor'], p['currency'])}") for p in account.get("plans", ())
        ),
    )


def _hint(facts: tuple[Choice, ...]) -> str:
    return ", ".join(value for name, value in facts if name in {"Status", "Paid", "Amount", "Plan", "Sign-in"})


def _found(resource: str, account: Json) -> Json:
    kind, _, ident = resource.partition(":")
    if kind == "account":
        return account.get("profile") or {}
    return next((one for one in account.get(f"{kind}s", ()) if one["id"] == ident), {})


def _exchange(item: Json, account: Json) -> tuple[str, str, tuple[Choice, ...]]:
    variants = [
        (v["item_id"], f"{v['title'] or v['item_id']}, {money(v['price_minor'], account_currency(account))}")
        for v in account.get("variants", ())
        if v["product_id"] == item["product_id"] and v["available"] and v["item_id"] != item["item_id"]
    ]
    return item["item_id"], item["title"], tuple(variants)


def account_currency(account: Json) -> str:
    """Return the currency that an account is kept in."""
    return str((account.get("profile") or {}).get("currency", "EUR"))


def minor_of(written: str, currency: str) -> int:
    """Return an amount that a person wrote (`12.50`) in minor units of `currency`, exactly. Raises Unclear."""
    found = _AMOUNT.fullmatch(written.strip())
    places = get_currency_precision(currency) if currency else 2
    if not re.fullmatch(r"[A-Z]{3}", currency):
        raise Unclear("The currency is three capital letters, such as EUR.")
    if found is None or len(found[2] or "") > places:
        raise Unclear(f"An amount is written as in {Decimal('12.5'):.{places}f}, with at most {places} decimals.")
    return int(Decimal(f"{found[1]}.{found[2] or '0'}").scaleb(places))


def wish_of(form: FormData) -> Json:
    """Return the body of a proposal, without its ids, from the form. Raises Unclear."""
    kind, resource = str(form.get("kind", "")), str(form.get("resource", "")).strip()
    if kind not in NEEDS:
        raise Unclear("Choose what is to be done.")
    if not resource:
        raise Unclear(f"Choose the {' or the '.join(NEEDS[kind].on)} that it is about.")
    wish: Json = {"kind": kind, "resource": resource}
    for need in NEEDS[kind].also:
        wish |= _named(need, form)
    return wish


def _named(need: str, form: FormData) -> Json:
    match need:
        case "amount":
            currency = str(form.get("currency", "")).strip().upper()
            return {"amount_minor": minor_of(str(form.get("amount", "")), currency), "currency": currency}
        case "items":
            return {"item_ids": _some([str(i) for i in form.getlist("item")], "Choose at least one piece.")}
        case "exchanges":
            pairs = [str(one).partition(">") for one in form.getlist("exchange") if ">" in str(one)]
            pairs = _some(pairs, "Choose for at least one piece what it becomes.")
            return {"item_ids": [old for old, _, _ in pairs], "new_item_ids": [new for _, _, new in pairs]}
        case "method_or_first":
            return {"payment_method_id": str(form["method"])} if form.get("method") else {}
        case "method":
            return {"payment_method_id": _one(form, "method", "Choose the way to pay.")}
        case "address":
            return {"address_id": _one(form, "address", "Choose an address.")}
        case _:
            return {need: _one(form, need, f"Choose the {need}.")}


def _one(form: FormData, name: str, else_said: str) -> str:
    given = str(form.get(name, "")).strip()
    if not given:
        raise Unclear(else_said)
    return given


def _some(given: list[Any], else_said: str) -> list[Any]:
    if not given:
        raise Unclear(else_said)
    return given


def told(wish: Json) -> list[Choice]:
    """Return a wish as label and value, exactly as it would be sent."""
    rows = [("What", sentence(wish["kind"])), ("On", str(wish["resource"]).replace(":", " "))]
    if "amount_minor" in wish:
        amount = money(wish["amount_minor"], wish["currency"])
        rows.append(("Amount", f"{amount} ({wish['amount_minor']} minor units, {wish['currency']})"))
    names = {
        "item_ids": "Pieces",
        "new_item_ids": "Become",
        "payment_method_id": "Way to pay",
        "address_id": "Address",
        "plan": "Plan",
        "reason": "Reason",
    }
    for name, words in names.items():
        if wish.get(name):
            value = wish[name]
            rows.append((words, ", ".join(value) if isinstance(value, list) else label(value)))
    return rows
