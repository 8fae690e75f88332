"""What an action would change, in words and in exact numbers, from its payload alone.

Pure: every value is one of the payload's; nothing of it comes from what a model has written.
"""

from typing import Any

from console.wording import label, money, sentence

Rows = list[tuple[str, str]]

_PLAIN = (
    ("subscription_id", "Subscription"),
    ("plan", "Plan now"),
    ("new_plan", "New plan"),
    ("address_id", "Address"),
    ("payment_method_id", "Way to pay"),
    ("channel", "Sent to"),
    ("reason", "Reason"),
)
_AMOUNTS = (
    ("amount", "Amount"),
    ("new_price", "New price"),
    ("difference", "Difference"),
    ("due", "Due"),
)


def _amount(payload: dict[str, Any], name: str) -> str:
    if name == "amount":
        return money(payload.get("amount_minor"), payload.get("currency"))
    return money(payload.get(f"{name}_minor"), payload.get(f"{name}_currency"))


def thing(payload: dict[str, Any]) -> str:
    """Return what the action is about: `order A-10482`."""
    for name in ("payment", "order", "subscription"):
        if payload.get(f"{name}_id"):
            return f"{name} {payload[f'{name}_id']}"
    return f"the account of {payload['customer_id']}"


def deed(payload: dict[str, Any]) -> str:
    """Return what would happen, as one line: `Refund €25.90 on order A-10482`."""
    about, amount = thing(payload), _amount(payload, "amount")
    match payload["kind"]:
        case "refund":
            return f"Refund {amount} on {about}"
        case "refund_duplicate_charge":
            return f"Give back the duplicate {about}: {amount}"
        case "store_credit":
            return f"Give {amount} of store credit to {payload['customer_id']}"
        case "cancel_order":
            return f"Cancel {about} and give back {amount}" if amount else f"Cancel {about}"
        case "return_items":
            return f"Take back {_count(payload)} of {about} and give back {amount}"
        case "exchange_items":
            return f"Exchange {_count(payload)} of {about}"
        case "change_delivery_address":
            return f"Send {about} to another address"
        case "change_payment_method":
            return f"Let {about} be paid with {payload.get('label') or payload['payment_method_id']}"
        case "cancel_subscription":
            return f"End {about}"
        case "change_plan":
            return f"Move {about} from {payload['plan']} to {payload['new_plan']}"
        case "restore_account_access":
            return f"Send a link that resets the sign-in of {payload['customer_id']}"
        case kind:
            return f"{sentence(kind)}: {about}"


def rows(payload: dict[str, Any]) -> Rows:
    """Return the payload's facts as label and value, the weightiest first."""
    told: Rows = [("What", deed(payload)), ("Customer", str(payload["customer_id"]))]
    told += [(name, _exact(payload, key)) for key, name in _AMOUNTS if _amount(payload, key)]
    if payload.get("order_id"):
        told.append(("Order", str(payload["order_id"])))
    if payload.get("payment_id"):
        told.append(("Payment", str(payload["payment_id"])))
    told += [("Piece", str(shown)) for shown in payload.get("shown") or payload.get("item_ids") or ()]
    told += [("Becomes", str(item)) for item in payload.get("new_item_ids") or ()]
    told += [("To", line) for line in payload.get("address") or ()]
    labelled = payload.get("label") or payload.get("method_label")
    told += [("Paid by", labelled)] if labelled else []
    told += [(name, label(payload[key])) for key, name in _PLAIN if payload.get(key)]
    return [*told, ("Based on version", str(payload["resource_version"]))]


def _exact(payload: dict[str, Any], name: str) -> str:
    minor, currency = payload.get(f"{name}_minor"), payload.get("currency" if name == "amount" else f"{name}_currency")
    return f"{_amount(payload, name)} ({minor} minor units, {currency})"


def _count(payload: dict[str, Any]) -> str:
    count = len(payload.get("item_ids") or ())
    return f"{count} {'piece' if count == 1 else 'pieces'}"
