"""The books of calls to models: each written once as it ended, never changed; and what they come to.

No row holds a word of anybody.
"""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.model import ModelCall, ModelOutcome, ModelRole, Route, Spending, Spent
from domain.model_task import Occasion
from store import tables as t
from store.database import Database

_c = t.model_calls.c
_UNASKED = tuple(o.value for o in ModelOutcome if not o.was_asked)


class CostLine(Noun):
    """What one route of one role has taken of one model: over how many conversations, and how its calls ended."""

    tenant_id: str
    role: ModelRole
    route: Route
    endpoint: str
    model: str
    currency: str
    calls: int
    failed: int
    unasked: int
    conversations: int
    input_tokens: int
    output_tokens: int
    cost_micros: int
    duration_ms: int

    @property
    def cost_micros_per_conversation(self) -> int:
        """The mean over the conversations that it was asked in, rounded up."""
        return -(-self.cost_micros // max(1, self.conversations))


async def book_call(db: Database, occasion: Occasion, call: ModelCall) -> None:
    """Write one call. The same call again changes nothing."""
    row = call.model_dump(mode="json", exclude={"at"})
    statement = insert(t.model_calls).values(
        **row,
        at=call.at,
        tenant_id=occasion.tenant_id,
        conversation_id=occasion.conversation_id,
        answered_seq=occasion.answered_seq,
        step_id=occasion.step_id,
    )
    async with db.transaction(occasion.tenant_id) as tx:
        await tx.execute(statement.on_conflict_do_nothing())


async def spent(db: Database, occasion: Occasion) -> Spending:
    """Return what has been spent so far on this turn, and on the whole conversation."""
    of_turn = _c.answered_seq == occasion.answered_seq
    rows = sa.select(
        of_turn.label("of_turn"),
        sa.func.count().label("calls"),
        sa.func.sum(_c.input_tokens + _c.output_tokens).label("tokens"),
        sa.func.sum(_c.cost_micros).label("cost_micros"),
        sa.func.sum(_c.duration_ms).label("duration_ms"),
        sa.func.sum(_c.tool_steps).label("tool_steps"),
    ).where(_c.conversation_id == occasion.conversation_id, _c.outcome.not_in(_UNASKED))
    async with db.transaction(occasion.tenant_id) as tx:
        found = (await tx.execute(rows.group_by(of_turn))).mappings().all()
    parts = {row["of_turn"]: _spent(row) for row in found}
    turn, before = parts.get(True, Spent()), parts.get(False, Spent())
    return Spending(turn=turn, conversation=_together(turn, before))


async def calls_of(db: Database, tenant_id: str, conversation_id: str) -> list[ModelCall]:
    """Return every call that a conversation took, as it was booked, oldest first."""
    columns = [_c[name] for name in ModelCall.model_fields]
    rows = sa.select(*columns).where(_c.conversation_id == conversation_id).order_by(_c.at, _c.call_id)
    async with db.transaction(tenant_id) as tx:
        return [ModelCall.model_validate(dict(row)) for row in (await tx.execute(rows)).mappings()]


async def cost_lines(db: Database, tenants: Sequence[str], since: datetime | None) -> list[CostLine]:
    """Return what models have taken of these tenants, from `since` on, dearest first within each tenant."""
    grouped = (_c.tenant_id, _c.role, _c.route, _c.endpoint, _c.model, _c.currency)
    asked = _c.outcome.not_in(_UNASKED)
    query = (
        sa.select(
            *grouped,
            sa.func.count().filter(asked).label("calls"),
            sa.func.count().filter(asked, _c.outcome != ModelOutcome.OK.value).label("failed"),
            sa.func.count().filter(~asked).label("unasked"),
            sa.func.count(_c.conversation_id.distinct()).label("conversations"),
            *(
                sa.func.sum(c).label(c.name)
                for c in (_c.input_tokens, _c.output_tokens, _c.cost_micros, _c.duration_ms)
            ),
        )
        .group_by(*grouped)
        .order_by(sa.desc("cost_micros"), *grouped)
    )
    if since is not None:
        query = query.where(_c.at >= since)
    lines: list[CostLine] = []
    for tenant in tenants:
        async with db.transaction(tenant) as tx:
            lines += [CostLine.model_validate(dict(row)) for row in (await tx.execute(query)).mappings()]
    return lines


def _spent(row: sa.RowMapping) -> Spent:
    return Spent(
        calls=row["calls"],
        tokens=int(row["tokens"]),
        cost_micros=int(row["cost_micros"]),
        seconds=int(row["duration_ms"]) / 1000,
        tool_steps=int(row["tool_steps"]),
    )


def _together(one: Spent, other: Spent) -> Spent:
    return Spent(
        calls=one.calls + other.calls,
        tokens=one.tokens + other.tokens,
        cost_micros=one.cost_micros + other.cost_micros,
        seconds=one.seconds + other.seconds,
        tool_steps=one.tool_steps + other.tool_steps,
    )
