"""The kinds of change that Interlock may propose in a business system: a closed list.

The names are those of the ledger, the policy and the HTTP contract.
"""

from enum import StrEnum


class ActionKind(StrEnum):
    """What may be proposed."""

    REFUND = "refund"
    CANCEL_SUBSCRIPTION = "cancel_subscription"
    STORE_CREDIT = "store_credit"
    CANCEL_ORDER = "cancel_order"
    RETURN_ITEMS = "return_items"
    EXCHANGE_ITEMS = "exchange_items"
    CHANGE_DELIVERY_ADDRESS = "change_delivery_address"
    CHANGE_PAYMENT_METHOD = "change_payment_method"
    CHANGE_PLAN = "change_plan"
    REFUND_DUPLICATE_CHARGE = "refund_duplicate_charge"
    RESTORE_ACCOUNT_ACCESS = "restore_account_access"
