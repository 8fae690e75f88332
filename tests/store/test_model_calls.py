"""Laws of the books of model calls: they only grow, hold no impossible number, and add up by turn and conversation."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from domain.model import ModelCall, ModelOutcome, ModelRole, Route, Spent
from domain.model_task import Occasion
from store.model_calls import book_call, cost_lines, spent
from store.tables import metadata
from tests.store.world import Talk

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def occasion(talk: Talk, answered_seq: int = 0) -> Occasion:
    return Occasion(tenant_id=talk.tenant, conversation_id=talk.id, answered_seq=answered_seq, step_id="s", ends_at_s=0)


def call(outcome: ModelOutcome = ModelOutcome.OK, **fields: Any) -> ModelCall:
    told = {"role": ModelRole.DRAFT, "route": Route.SMALL, "endpoint": "here", "model": "m", "prompt": "p@1"}
    used = {"input_tokens": 100, "output_tokens": 10, "cost_micros": 7} if outcome.was_asked else {}
    numbers = {"currency": "EUR", "duration_ms": 500, "at": AT, **used}
    return ModelCall.model_validate({"call_id": str(uuid4()), "outcome": outcome, **told, **numbers, **fields})


async def test_turn_and_conversation_add_up_and_what_was_not_asked_counts_for_nothing(talk: Talk) -> None:
    for answered_seq, outcome in [
        (0, ModelOutcome.OK),
        (0, ModelOutcome.TIMEOUT),
        (0, ModelOutcome.CIRCUIT_OPEN),
        (4, ModelOutcome.OK),
        (4, ModelOutcome.OVER_BUDGET),
    ]:
        await book_call(talk.db, occasion(talk, answered_seq), call(outcome, tool_steps=1))
    both = await spent(talk.db, occasion(talk, 0))
    assert both.turn == Spent(calls=2, tokens=220, cost_micros=14, seconds=1.0, tool_steps=2)
    assert both.conversation == Spent(calls=3, tokens=330, cost_micros=21, seconds=1.5, tool_steps=3)
    later = await spent(talk.db, occasion(talk, 9))
    assert (later.turn, later.conversation) == (Spent(), both.conversation)


@pytest.mark.parametrize("outcome", ModelOutcome)
async def test_every_outcome_can_be_booked(outcome: ModelOutcome, talk: Talk) -> None:
    await book_call(talk.db, occasion(talk), call(outcome, label="http_500"))
    assert (await spent(talk.db, occasion(talk))).turn.calls == int(outcome.was_asked)


async def test_a_booked_call_is_neither_changed_nor_deleted(talk: Talk) -> None:
    await book_call(talk.db, occasion(talk), call())
    changes = [f"UPDATE model_calls SET {c.name} = {c.name}" for c in metadata.tables["model_calls"].columns]
    for statement in ("DELETE FROM model_calls", *changes):
        with pytest.raises(DBAPIError) as raised:
            async with talk.db.transaction(talk.tenant) as tx:
                await tx.execute(sa.text(statement))
        assert isinstance(raised.value.orig, psycopg.errors.InsufficientPrivilege)


@pytest.mark.parametrize(
    "fields",
    [{"cost_micros": -1}, {"input_tokens": -1}, {"currency": "euro"}, {"route": Route.RULES}, {"duration_ms": -1}],
)
async def test_a_number_that_cannot_be_is_refused(fields: dict[str, Any], talk: Talk) -> None:
    with pytest.raises(DBAPIError) as raised:
        await book_call(talk.db, occasion(talk), call(**fields))
    assert isinstance(raised.value.orig, psycopg.errors.CheckViolation)
    with pytest.raises(DBAPIError):
        await book_call(talk.db, occasion(talk), call(ModelOutcome.CIRCUIT_OPEN, cost_micros=1))


async def test_costs_are_told_by_route_and_model_and_for_each_conversation(talk: Talk) -> None:
    await book_call(talk.db, occasion(talk), call())
    await book_call(talk.db, occasion(talk), call(ModelOutcome.MALFORMED))
    await book_call(talk.db, occasion(talk), call(ModelOutcome.CIRCUIT_OPEN))
    await book_call(talk.db, occasion(talk), call(route=Route.LARGE, cost_micros=1_000))
    await book_call(talk.db, occasion(talk), call(route=Route.LARGE, cost_micros=5, at=AT - timedelta(days=2)))
    large, small = await cost_lines(talk.db, [talk.tenant], None)
    assert (large.route, large.cost_micros, large.calls) == (Route.LARGE, 1_005, 2)
    assert (small.calls, small.failed, small.unasked, small.conversations) == (2, 1, 1, 1)
    assert (small.input_tokens, small.output_tokens, small.cost_micros_per_conversation) == (200, 20, 14)
    (since, *_) = await cost_lines(talk.db, [talk.tenant], AT - timedelta(days=1))
    assert since.cost_micros == 1_000
