"""Which rule carries out which change.

A change either returns what it did or raises a Refusal before it has changed anything.
"""

from __future__ import annotations

from typing import assert_never

from demo.shop import changes as c
from demo.shop import retail_changes as r
from demo.shop import retail_rules, rules_accounts, rules_money, rules_orders
from demo.shop.books import Books, Done


def carry_out(books: Books, change: c.AccountChange | r.RetailChange) -> Done:
    """Applies the change. Raises Refusal."""
    match change:
        case c.Refund():
            return rules_money.refund(books, change)
        case c.StoreCredit():
            return rules_money.store_credit(books, change)
        case c.RefundDuplicateCharge():
            return rules_money.refund_duplicate(books, change)
        case c.CancelOrder():
            return rules_orders.cancel_order(books, change)
        case c.ReturnItems():
            return rules_orders.return_items(books, change)
        case c.ExchangeItems():
            return rules_orders.exchange_items(books, change)
        case c.ChangeDeliveryAddress():
            return rules_orders.change_address(books, change)
        case c.ChangePaymentMethod():
            return rules_accounts.change_payment_method(books, change)
        case c.CancelSubscription():
            return rules_accounts.cancel_subscription(books, change)
        case c.ChangePlan():
            return rules_accounts.change_plan(books, change)
        case c.RestoreAccountAccess():
            return rules_accounts.restore_access(books, change)
        case r.CancelPending():
            return retail_rules.cancel_pending(books, change)
        case r.ModifyPendingItems():
            return retail_rules.modify_items(books, change)
        case r.ModifyPendingPayment():
            return retail_rules.modify_payment(books, change)
        case r.ModifyPendingAddress():
            return retail_rules.modify_order_address(books, change)
        case r.ReturnDelivered():
            return retail_rules.return_delivered(books, change)
        case r.ExchangeDelivered():
            return retail_rules.exchange_delivered(books, change)
        case r.ModifyUserAddress():
            return retail_rules.modify_user_address(books, change)
        case _:
            assert_never(change)
