"""Limits with memory look back on when money moved, not on when it was proposed; what may yet move always counts."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from domain.action import RefundPayload
from store.circumstances import Circumstances, circumstances, tenant_row
from tests.store.terms import SMALL, now
from tests.store.world import Talk

Owner = psycopg.Connection[Any]
NEXT = RefundPayload(customer_id="c", order_id="A-2", amount_minor=SMALL, currency="EUR", resource_version=1)


async def in_days(talk: Talk, days: float) -> Circumstances:
    """How things stand for the next refund of the same customer, so many days from now."""
    at = now() + timedelta(days=days)
    async with talk.db.transaction(talk.tenant) as tx:
        return await circumstances(tx, await tenant_row(tx), talk.customer.id, talk.id, NEXT, at)


def counted(found: Circumstances) -> tuple[int, int, int]:
    return found.refunds_30d_count, found.refunds_30d_minor, found.tenant_refunds_24h_minor


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, (1, SMALL, SMALL)),
        (0.99, (1, SMALL, SMALL)),
        (1.01, (1, SMALL, 0)),
        (29.9, (1, SMALL, 0)),
        (30.1, (0, 0, 0)),
    ],
)
async def test_a_refund_counts_from_when_it_was_settled_however_long_ago_it_was_proposed(
    days: float, expected: tuple[int, int, int], talk: Talk, owner: Owner
) -> None:
    operation_id = await talk.claimed()
    await talk.settle(operation_id)
    owner.execute("UPDATE actions SET created_at = now() - interval '90 days' WHERE operation_id = %s", (operation_id,))
    assert counted(await in_days(talk, days)) == expected


@pytest.mark.parametrize("days", [0, 31, 400])
async def test_what_may_yet_move_money_counts_however_long_ago_it_was_sent(days: int, talk: Talk) -> None:
    await talk.unknown()
    await (await talk.beside()).reserved("A-2")
    assert counted(await in_days(talk, days)) == (2, 2 * SMALL, 2 * SMALL)


async def test_what_was_refused_counts_for_nothing(talk: Talk) -> None:
    await talk.proposed()
    assert counted(await in_days(talk, 0)) == (0, 0, 0)
