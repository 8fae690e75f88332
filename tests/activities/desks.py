"""A desk over a raw endpoint and a real database, with a book of two models whose budgets a test may tighten."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from activities.model_desk import ModelDesk
from connectors.model_endpoints.book import ModelBook
from connectors.model_endpoints.endpoints import ModelEndpoints
from domain.model_task import Occasion
from store.database import Database
from tests.connectors.raw_endpoint import Act, RawEndpoint, endpoint
from tests.postgres import Postgres
from tests.workflows.shop_world import MARKET

WIDE = {"calls_max": 50, "tokens_max": 90_000, "cost_micros_max": 900_000, "seconds_max": 60, "tool_steps_max": 4}
SMALL = {"endpoint": "here", "model": "m-1", "input_per_million": 1, "output_per_million": 2}
LARGE = {"endpoint": "here", "model": "m-2", "input_per_million": 10, "output_per_million": 20}
SIZES = {"context_tokens_max": 60_000, "output_tokens_max": 500}


def book_of(turn: dict[str, Any] | None = None, conversation: dict[str, Any] | None = None) -> ModelBook:
    def use(*chain: str) -> dict[str, Any]:
        return {"chain": chain, "prompts": ["understand@1"], "answer_tokens_max": 400, "call_timeout_s": 2}

    return ModelBook.model_validate(
        {
            "currency": "EUR",
            "endpoints": {"here": {"failures_to_open": 50}},
            "models": {"cheap": SMALL | SIZES, "dear": LARGE | SIZES},
            "roles": {"understand": {"small": use("cheap"), "large": use("dear", "cheap")}},
            "budgets": {"turn": WIDE | (turn or {}), "conversation": WIDE | (conversation or {})},
        }
    )


@asynccontextmanager
async def desk_over(
    db: Database, answers: Sequence[Act], book: ModelBook | None = None
) -> AsyncIterator[tuple[ModelDesk, RawEndpoint]]:
    async with endpoint(answers) as there:
        found = book or book_of()
        desk = ModelDesk(db, found, ModelEndpoints(found, {"here": there.address}))
        try:
            yield desk, there
        finally:
            await desk.close()


def occasion(conversation_id: str, answered_seq: int = 0, within_s: float = 5) -> Occasion:
    return Occasion(
        tenant_id=MARKET,
        conversation_id=conversation_id,
        answered_seq=answered_seq,
        step_id="step-1",
        ends_at_s=time.monotonic() + within_s,
    )


def booked(database: Postgres, conversation_id: str) -> list[tuple[Any, ...]]:
    """Model, outcome, label, tokens and cost of every call of a conversation, in the order of asking."""
    query = (
        "SELECT model, outcome, label, input_tokens + output_tokens, cost_micros FROM model_calls"
        " WHERE conversation_id = %s ORDER BY at"
    )
    with psycopg.connect(database.owner_url) as connection:
        return connection.execute(query, (conversation_id,)).fetchall()
