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

from domain.action import MONEY_KINDS, Action, ActionState, ExchangeItemsPayload
from domain.base import Noun
from store import tables as t
from store.database import Database, Tx
from store.ledger import to_action
from store.switches import stop_everything

EFFECTS_TOLD_MAX = 5  # of one operation, in the words of a case
_COMPARER = "books:interlock"


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
    resource_kind: str
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
    done: dict[str, list[Effect]] = {}
    for effect in effects:
        done.setdefault(effect.operation_id, []).append(effect)
    found = [d for o, of in done.items() if (d := _of_effects(of, by_operation.get(o))) is not None]
    missing = [a for a in sent if a.state is ActionState.CONFIRMED and a.operation_id not in done]
    return found + [_difference(DifferenceKind.ROW_WITHOUT_EFFECT, a.operation_id, True, a) for a in missing]


def _of_effects(effects: Sequence[Effect], action: Action | None) -> Difference | None:
    """What the effects of one operation say against its row; a row stands for one effect, and for no other."""
    first = effects[0]
    if len(effects) > 1:  # INVARIANT 2, whoever made them
        return _difference(DifferenceKind.EFFECT_WITHOUT_ROW, first.operation_id, True, action, *effects)
    if action is None:  # somebody else's change, perhaps: a person looks, nothing of ours is proved wrong
        return _difference(DifferenceKind.EFFECT_WITHOUT_ROW, first.operation_id, False, None, first)
    if action.state is ActionState.REJECTED or action.unsent or not _same_change(first, action):
        return _difference(DifferenceKind.EFFECT_WITHOUT_ROW, first.operation_id, True, action, first)
    if not same_money(action, first.amount_minor, first.currency):
        return _difference(DifferenceKind.OTHER_AMOUNT, first.operation_id, True, action, first)
    return None


def _same_change(effect: Effect, action: Action) -> bool:
    resource = f"{effect.resource_kind}:{effect.resource}"
    return (effect.kind, resource) == (action.kind.value, action.payload.effect_on)


def same_money(action: Action, amount_minor: int | None, currency: str | None) -> bool:
    """Whether that is what the action was to move; a change that moves no money of ours agrees with any amount.

    Where nothing is to move, an effect of 0 agrees, whatever currency it names. An exchange moves the difference,
    one way or the other, and business systems tell it with or without its sign.
    """
    if action.kind not in MONEY_KINDS:
        return True
    payload, told = action.payload, amount_minor or 0
    if isinstance(payload, ExchangeItemsPayload):
        told, due, due_in = abs(told), abs(payload.difference_minor), payload.difference_currency
    else:
        due, due_in = payload.amount_minor or 0, payload.currency or ""
    return told == due and (due == 0 or currency == due_in)


def _difference(
    kind: DifferenceKind, operation_id: str, violates: bool, action: Action | None, *effects: Effect
) -> Difference:
    ledger = None
    if action is not None:
        payload = action.payload
        ledger = (
            f"{action.state.value} {action.kind.value} {payload.resource} {payload.amount_minor} {payload.currency}"
        )
    told = [
        f"{e.kind} {e.resource_kind}:{e.resource} {e.amount_minor} {e.currency}" for e in effects[:EFFECTS_TOLD_MAX]
    ]
    if len(effects) > 1:
        told = [f"{len(effects)} effects: {', '.join(told)}"]
    return Difference(
        kind=kind, operation_id=operation_id, violates=violates, ledger=ledger, effect=told[0] if told else None
    )


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
    """Give each difference to a person, once; a new one that violates an invariant stops dispatch.

    Return how many are new. What a person knows of already, or has closed, stops nothing again.
    """
    async with db.transaction(tenant_id) as tx:
        return await record(tx, tenant_id, differences)


async def record(tx: Tx, tenant_id: str, differences: Sequence[Difference]) -> int:
    """The same inside the transaction that found them; after the locks on conversation and action."""
    new = [d for d in differences if await _open_case(tx, tenant_id, d)]
    if violations := [d for d in new if d.violates]:
        why = ", ".join(f"{d.kind.value} {d.operation_id}" for d in violations[:EFFECTS_TOLD_MAX])
        await stop_everything(tx, tenant_id, _COMPARER, f"the books differ: {why}")
    return len(new)


async def _open_case(tx: Tx, tenant_id: str, difference: Difference) -> bool:
    a, k = t.actions.c, t.cases.c
    conversation = sa.select(a.conversation_id).where(a.operation_id == difference.operation_id).scalar_subquery()
    known = sa.exists().where(k.operation_id == difference.operation_id, k.kind == difference.kind.value)
    if (await tx.execute(sa.select(known))).scalar_one():
        return False
    values: dict[str, Any] = {
        "id": str(uuid4()),
        "tenant_id": tenant_id,
        "conversation_id": conversation,
        "operation_id": difference.operation_id,
        "kind": difference.kind.value,
        "detail": difference.model_dump(mode="json"),
    }
    added = await tx.execute(insert(t.cases).values(**values).on_conflict_do_nothing().returning(k.id))
    return bool(added.all())


async def all_tenants(relay_db: Database) -> list[str]:
    """Return the id of every tenant; under the relay's role."""
    async with relay_db.across_tenants() as tx:
        return list((await tx.execute(sa.select(t.tenants.c.id).order_by(t.tenants.c.id))).scalars())
