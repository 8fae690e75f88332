"""From a step that proposes to the typed payload that is judged, approved and sent.

Pure; the payload carries the resource's version as the account shows it.
"""

from domain.account import Account, Order, Payment, Subscription
from domain.action import ActionKind, CancelSubscriptionPayload, Payload, RefundPayload
from domain.step import Propose


class NotProposable(ValueError):
    """A defect: a step proposes what the account does not hold, or a change that does not fit the resource."""


def payload_for(step: Propose, account: Account, customer_id: str) -> Payload:
    """Return the payload of `step`. Raises NotProposable."""
    match step.kind, account.resource(step.resource):
        case ActionKind.CANCEL_SUBSCRIPTION, Subscription() as found:
            return CancelSubscriptionPayload(
                customer_id=customer_id, subscription_id=found.id, plan=found.plan, resource_version=found.version
            )
        case ActionKind.REFUND, Order() | Payment() as found:
            return _refund(step, found, customer_id)
        case _:
            raise NotProposable(f"a {step.kind.value} of {step.resource.partition(':')[0]!r} cannot be proposed")


def _refund(step: Propose, found: Order | Payment, customer_id: str) -> RefundPayload:
    if step.amount_minor is None or step.amount_minor < 1 or step.currency is None:
        raise NotProposable("a refund needs an amount of at least one minor unit, and its currency")
    return RefundPayload(
        customer_id=customer_id,
        order_id=found.id if isinstance(found, Order) else None,
        payment_id=found.id if isinstance(found, Payment) else None,
        amount_minor=step.amount_minor,
        currency=step.currency,
        resource_version=found.version,
    )
