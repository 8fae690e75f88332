"""The ledger beside the business system's effects: what counts as a difference, and which ones stop dispatch."""

from datetime import UTC, datetime

import pytest

from domain.action import Action, ActionState, Cause, RefundPayload, payload_digest
from domain.base import Noun
from store.comparison import Difference, DifferenceKind, Effect, compare

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


def effect(operation_id: str, amount_minor: int = 500, currency: str = "EUR") -> Effect:
    return Effect(
        operation_id=operation_id,
        external_id="re_1",
        kind="refund",
        resource="o",
        amount_minor=amount_minor,
        currency=currency,
        at=AT,
    )


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
)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_books_differ_exactly_where_they_disagree(case: Case) -> None:
    found: list[Difference] = compare(case.ledger, case.effects, case.ledger)
    assert [(d.kind, d.violates) for d in found] == ([(case.differs, case.violates)] if case.differs else [])


def test_an_action_confirmed_after_the_effects_were_read_is_not_accused() -> None:
    assert compare(sent=[], effects=[], named=[]) == []
    late = action("late", S.CONFIRMED)
    assert compare(sent=[], effects=[effect("late")], named=[late]) == []
