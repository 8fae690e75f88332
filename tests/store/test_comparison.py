"""The ledger beside the business system's effects: what counts as a difference, and which ones stop dispatch."""

from datetime import UTC, datetime
from typing import Any

import pytest

from domain.action import (
    Action,
    ActionState,
    CancelOrderPayload,
    CancelSubscriptionPayload,
    Cause,
    ChangePlanPayload,
    ExchangeItemsPayload,
    Payload,
    RefundPayload,
    StoreCreditPayload,
    payload_digest,
)
from domain.base import Noun
from store.comparison import Difference, DifferenceKind, Effect, compare, same_money

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def action(operation_id: str, state: ActionState, amount_minor: int = 500) -> Action:
    payload = RefundPayload(
        customer_id="c", order_id=f"o-{operation_id}", amount_minor=amount_minor, currency="EUR", resource_version=1
    )
    return Action(
        operation_id=operation_id,
        tenant_id="t",
        conversation_id="k",
        customer_id="c",
        kind=payload.kind,
        state=state,
        cause=Cause.RESERVED,
        payload=payload,
        payload_digest=payload_digest(operation_id, payload),
        required_approvals=(),
        owner_epoch=1,
        policy_digest="p",
        evidence_digest="e",
        created_at=AT,
        expires_at=AT,
        send_count=1,
        sent_at=AT,
    )


def effect(operation_id: str, **other: Any) -> Effect:
    told = {
        "operation_id": operation_id,
        "external_id": "re_1",
        "kind": "refund",
        "resource": f"o-{operation_id}",
        "resource_kind": "order",
        "amount_minor": 500,
        "currency": "EUR",
        "at": AT,
    }
    return Effect.model_validate({**told, **other})


def cancelled(operation_id: str, state: ActionState) -> Action:
    """A cancellation, which moves no money whatever the business system says that it cost."""
    payload = CancelSubscriptionPayload(customer_id="c", subscription_id="S-1", resource_version=1)
    digest = payload_digest(operation_id, payload)
    return action(operation_id, state).model_copy(
        update={"kind": payload.kind, "payload": payload, "payload_digest": digest}
    )


def of(operation_id: str, payload: Payload) -> Action:
    """A confirmed action of another kind."""
    digest = payload_digest(operation_id, payload)
    made = {"kind": payload.kind, "payload": payload, "payload_digest": digest}
    return action(operation_id, ActionState.CONFIRMED).model_copy(update=made)


BASED = {"customer_id": "c", "resource_version": 1}
CREDIT = StoreCreditPayload(**BASED, amount_minor=500, currency="EUR", reason="goodwill")
UNPAID = CancelOrderPayload(**BASED, order_id="o-a", reason="no_longer_needed")
PLAN = ChangePlanPayload(
    **BASED, subscription_id="S-1", plan="a", new_plan="b", new_price_minor=900, new_price_currency="EUR"
)


def exchange(difference_minor: int) -> ExchangeItemsPayload:
    items = {"item_ids": ("1",), "new_item_ids": ("2",), "payment_method_id": "pm"}
    money = {"difference_minor": difference_minor, "difference_currency": "EUR"}
    return ExchangeItemsPayload(**BASED, **items, **money, order_id="o-a")


@pytest.mark.parametrize(
    ("payload", "amount_minor", "currency", "same"),
    [
        (CREDIT, 500, "EUR", True),
        (CREDIT, 501, "EUR", False),
        (CREDIT, 500, "USD", False),
        (CREDIT, -500, "EUR", False),
        (CREDIT, None, None, False),
        (UNPAID, 0, "EUR", True),  # nothing was paid, and nothing is given back
        (UNPAID, None, None, True),
        (UNPAID, 1, "EUR", False),
        (exchange(300), 300, "EUR", True),
        (exchange(-300), -300, "EUR", True),
        (exchange(-300), 300, "EUR", True),
        (exchange(300), 299, "EUR", False),
        (exchange(300), 300, "USD", False),
        (exchange(0), 0, "USD", True),
        (PLAN, 900, "EUR", True),  # of a change that moves no money, no amount is another one
    ],
)
def test_every_kind_that_moves_money_is_held_to_its_amount(
    payload: Payload, amount_minor: int | None, currency: str | None, same: bool
) -> None:
    assert same_money(of("a", payload), amount_minor, currency) is same


UNSENT = {"send_count": 0, "sent_at": None}
TWICE = (effect("a"), effect("a", external_id="re_2"))


class Case(Noun):
    """One pair of books, and what they amount to: the kind of difference and whether it violates an invariant."""

    name: str
    ledger: tuple[Action, ...] = ()
    effects: tuple[Effect, ...] = ()
    differs: DifferenceKind | None = None
    violates: bool = False


S = ActionState
CASES = (
    Case(name="both have it", ledger=(action("a", S.CONFIRMED),), effects=(effect("a"),)),
    Case(name="neither has it", ledger=(action("a", S.REJECTED),)),
    Case(name="unknown is being established", ledger=(action("a", S.UNKNOWN),), effects=(effect("a"),)),
    Case(name="unknown without an effect", ledger=(action("a", S.UNKNOWN),)),
    Case(
        name="confirmed without an effect",
        ledger=(action("a", S.CONFIRMED),),
        differs=DifferenceKind.ROW_WITHOUT_EFFECT,
        violates=True,
    ),
    Case(
        name="rejected with an effect",
        ledger=(action("a", S.REJECTED),),
        effects=(effect("a"),),
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(name="somebody else's effect", effects=(effect("x"),), differs=DifferenceKind.EFFECT_WITHOUT_ROW),
    Case(
        name="another amount",
        ledger=(action("a", S.CONFIRMED),),
        effects=(effect("a", amount_minor=501),),
        differs=DifferenceKind.OTHER_AMOUNT,
        violates=True,
    ),
    Case(
        name="another currency",
        ledger=(action("a", S.CONFIRMED),),
        effects=(effect("a", currency="USD"),),
        differs=DifferenceKind.OTHER_AMOUNT,
        violates=True,
    ),
    Case(
        name="two effects of one operation",
        ledger=(action("a", S.CONFIRMED),),
        effects=TWICE,
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(
        name="two effects of one unknown operation",
        ledger=(action("a", S.UNKNOWN),),
        effects=TWICE,
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(
        name="two effects of an operation that the ledger has forgotten",
        effects=TWICE,
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(
        name="an effect of another kind",
        ledger=(action("a", S.CONFIRMED),),
        effects=(effect("a", kind="cancel_subscription"),),
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(
        name="an effect on another order",
        ledger=(action("a", S.CONFIRMED),),
        effects=(effect("a", resource="o-b"),),
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(
        name="an effect on a payment of the same id",
        ledger=(action("a", S.UNKNOWN),),
        effects=(effect("a", resource_kind="payment"),),
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(name="submitted and sent, with its effect", ledger=(action("a", S.SUBMITTED),), effects=(effect("a"),)),
    Case(
        name="an effect of what was never sent",
        ledger=(action("a", S.SUBMITTED).model_copy(update=UNSENT),),
        effects=(effect("a"),),
        differs=DifferenceKind.EFFECT_WITHOUT_ROW,
        violates=True,
    ),
    Case(
        name="a cancellation and its effect",
        ledger=(cancelled("a", S.CONFIRMED),),
        effects=(
            effect("a", kind="cancel_subscription", resource="S-1", resource_kind="subscription", amount_minor=0),
        ),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_books_differ_exactly_where_they_disagree(case: Case) -> None:
    found: list[Difference] = compare(case.ledger, case.effects, case.ledger)
    assert [(d.kind, d.violates) for d in found] == ([(case.differs, case.violates)] if case.differs else [])


def test_several_effects_of_one_operation_are_one_difference_that_tells_them_all() -> None:
    (found,) = compare((), TWICE, (action("a", S.CONFIRMED),))
    assert found.effect == "2 effects: refund order:o-a 500 EUR, refund order:o-a 500 EUR"
    assert found.ledger == "confirmed refund order:o-a 500 EUR"


def test_an_action_confirmed_after_the_effects_were_read_is_not_accused() -> None:
    assert compare(sent=[], effects=[], named=[]) == []
    late = action("late", S.CONFIRMED)
    assert compare(sent=[], effects=[effect("late")], named=[late]) == []


def test_the_refund_of_one_payment_of_an_order_is_told_of_that_payment() -> None:
    more: dict[str, Any] = {"order_id": "A-1", "payment_id": "p-1", "payment_version": 1, "resource_version": 2}
    refund = RefundPayload(customer_id="c", amount_minor=500, currency="EUR", **more)
    done = of("op", refund)
    assert compare([done], [effect("op", resource="p-1", resource_kind="payment")], [done]) == []
    (found,) = compare([done], [effect("op", resource="p-2", resource_kind="payment")], [done])
    assert (found.kind, found.violates) == (DifferenceKind.EFFECT_WITHOUT_ROW, True)
