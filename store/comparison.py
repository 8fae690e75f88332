"""The ledger beside the business system's effects, both ways: what differs becomes a case with a person (design §5).

A difference that violates an invariant stops that tenant's dispatch until a person has looked.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.action import Action, ActionKind, ActionState
from domain.base import Noun
from store import tables as t
from store.database import Database, Tx
from store.ledger import to_action


class DifferenceKind(StrEnum):
    """How ledger and business system can disagree."""

    EFFECT_WITHOUT_ROW = "effect_without_row"
    ROW_WITHOUT_EFFECT = "row_without_effect"
    OTHER_AMOUNT = "other_amount"


class Effect(Noun):
    """One committed effect, as the business system tells it."""

    operation_id: str
    external_id: str
    kind: str
    resource: str
    amount_minor: int
    currency: str | None
    at: datetime


class Difference(Noun):
    """One disagreement, and whether it violates an invariant."""

    kind: DifferenceKind
    operation_id: str
    violates: bool
    ledger: str | None
    effect: str | None


def compare(sent: Sequence[Action], effects: Sequence[Effect], named: Sequence[Action]) -> list[Difference]:
    """Return every disagreement. Pure; what is in flight is being established and is no disagreement yet.

    `sent` was read before the effects, `named` (the actions that they name) after: nobody is accused for being quick.
    """
    by_operation = {a.operation_id: a for a in named}
    done = {e.operation_id: e for e in effects}
    found = [d for e in effects if (d := _of_effect(e, by_operation.get(e.operation_id))) is not None]
    missing = [a for a in sent if a.state is ActionState.CONFIRMED and a.operation_id not in done]
    return found + [_difference(DifferenceKind.ROW_WITHOUT_EFFECT, a.operation_id, True, a, None) for a in missing]


def _of_effect(effect: Effect, action: Action | None) -> Difference | None:
    if action is None:  # somebody else's change, perhaps: a person looks, nothing of ours is proved wrong
        return _difference(DifferenceKind.EFFECT_WITHOUT_ROW, effect.operation_id, False, None, effect)
    if action.state is ActionState.REJECTED or action.state.unexecuted:
        return _difference(DifferenceKind.EFFECT_WITHOUT_ROW, effect.operation_id, True, action, effect)
    moves_money = action.kind is ActionKind.REFUND
    if moves_money and (effect.amount_minor, effect.currency) != (action.payload.amount_minor, action.payload.currency):
        return _difference(DifferenceKind.OTHER_AMOUNT, effect.operation_id, True, action, effect)
    return None


def _difference(
    kind: DifferenceKind, operation_id: str, violates: bool, action: Action | None, effect: Effect | None
) -> Difference:
    ledger = None if action is None else f"{action.state.value} {action.payload.amount_minor} {action.payload.currency}"
    told = None if effect is None else f"{effect.kind} {effect.amount_minor} {effect.currency}"
    return Difference(kind=kind, operation_id=operation_id, violates=violates, ledger=ledger, effect=told)


async def sent_since(db: Database, tenant_id: str, since: datetime) -> list[Action]:
    """Return the tenant's actions that were first sent since then."""
    return await _actions(db, tenant_id, sa.select(t.actions).where(t.actions.c.sent_at >= since))


async def named_by(db: Database, tenant_id: str, effects: Sequence[Effect]) -> list[Action]:
    """Return the tenant's actions that the effects name."""
    named = [e.operation_id for e in effects]
    return await _actions(db, tenant_id, sa.select(t.actions).where(t.actions.c.operation_id.in_(named)))


async def _actions(db: Database, tenant_id: str, query: sa.Select[Any]) -> list[Action]:
    async with db.transaction(tenant_id) as tx:
        return [to_action(r) for r in (await tx.execute(query)).all()]


async def open_cases(db: Database, tenant_id: str, differences: Sequence[Difference]) -> int:
    """Give each difference to a person, once; stop dispatch when one violates an invariant. Return how many are new."""
    async with db.transaction(tenant_id) as tx:
        new = sum([await _open_case(tx, tenant_id, d) for d in differences])
        if any(d.violates for d in differences):
            await tx.execute(sa.update(t.tenants).where(t.tenants.c.id == tenant_id).values(dispatch_halted=True))
    return new


async def hold_dispatch(db: Database, tenant_id: str, *, held: bool) -> None:
    """Stop a tenant's dispatch, or let it go on: the kill switch that every reservation and claim locks."""
    async with db.transaction(tenant_id) as tx:
        await tx.execute(sa.update(t.tenants).where(t.tenants.c.id == tenant_id).values(dispatch_halted=held))


async def _open_case(tx: Tx, tenant_id: str, difference: Difference) -> int:
    a, k = t.actions.c, t.cases.c
    conversation = sa.select(a.conversation_id).where(a.operation_id == difference.operation_id).scalar_subquery()
    known = sa.exists().where(k.operation_id == difference.operation_id, k.kind == difference.kind.value)
    if (await tx.execute(sa.select(known))).scalar_one():
        return 0
    values: dict[str, Any] = {
        "id": str(uuid4()),
        "tenant_id": tenant_id,
        "conversation_id": conversation,
        "operation_id": difference.operation_id,
        "kind": difference.kind.value,
        "detail": difference.model_dump(mode="json"),
    }
    added = await tx.execute(insert(t.cases).values(**values).on_conflict_do_nothing().returning(k.id))
    return len(added.all())


async def all_tenants(relay_db: Database) -> list[str]:
    """Return the id of every tenant; under the relay's role."""
    async with relay_db.across_tenants() as tx:
        return list((await tx.execute(sa.select(t.tenants.c.id).order_by(t.tenants.c.id))).scalars())
