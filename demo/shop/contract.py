"""What the shop promises about its writes, as it is published at `GET /contract`.

A connector may rely on every line of it, and the shop keeps to it.
"""

from __future__ import annotations

from demo.shop.tracking import ASK_EVERY_S
from demo.shop.writes import Contract

#: each definite no of a write and what it means; all are kept under the key
REFUSALS = {
    "already_cancelled": "the subscription has ended",
    "balance_too_low": "the gift card does not cover what is to be paid",
    "declined": "the shop declines this operation",
    "exceeds_captured": "more than is left of what was paid",
    "items_not_paired": "another number of new pieces than of old ones",
    "not_as_shown": "what the request shows of the resource is not, or no longer, so",
    "not_duplicate": "the payment repeats no earlier charge of the last three days",
    "not_locked": "the account is not locked",
    "not_offered": "no such plan is offered",
    "not_original": "neither the way it was paid nor a gift card of the customer's",
    "not_refundable": "the order or the payment has a status that gives nothing back",
    "not_returnable": "a piece that is not taken back",
    "not_verified": "the address, or the customer's mail address, has not been verified",
    "reset_already_sent": "a link of the last hour can still be used",
    "too_late": "the request was in the shop for longer than the late-commit bound",
    "unavailable": "the variant is not available",
    "unchanged": "it is so already",
    "unknown_address": "not in the customer's book",
    "unknown_item": "the order does not hold this piece, or not so often",
    "unknown_payment_method": "not one of the customer's ways to pay",
    "unknown_reason": "not one of the reasons that the shop takes",
    "unknown_resource": "the customer has nothing of that id",
    "unknown_variant": "no variant of the product that the piece is of",
    "version_conflict": "the resource has changed since",
    "wrong_amount": "another amount than the one that is due",
    "wrong_currency": "another currency than the resource's",
    "wrong_status": "the order's status does not allow it",
}
NOT_KEPT = (
    "key_in_use", "key_reuse", "key_missing", "key_mismatch", "malformed_json", "invalid_request", "unknown_kind",
)  # fmt: skip
#: what the amount of an effect is, by its kind; where nothing is said it is 0
AMOUNTS = {
    "refund, refund_duplicate_charge, store_credit, cancel_order, return_items": "given back, or credited",
    "exchange_items, modify_pending_order_items": "the difference, whichever way it went",
    "exchange_delivered_order_items": "the difference, whichever way it will go when the parcel is there",
    "return_delivered_order_items": "what will be given back when the parcel is there",
    "cancel_pending_order, modify_pending_order_payment": "given back to the first way to pay",
}


def published(contract: Contract) -> dict[str, object]:
    """The contract that a connector may rely on, and that the shop enforces."""
    return {
        "idempotency_key_window_s": contract.key_window_s,
        "refusals_kept": True,
        "lookup_by_operation_id": True,
        "lookup_lag_s": 0,
        "late_commit_bound_s": contract.late_commit_bound_s,
        "refusals": REFUSALS,
        "amounts": AMOUNTS,
        "tracking_asked_once_in_s": ASK_EVERY_S,
        "not_kept": NOT_KEPT,
    }
