"""Decisions as a busy tenant would have them on record: made from a seed, judged under the base bundle, and written.

Written by the product's own function, so that the record is what it would be.
"""

import asyncio
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from domain.account import Account, Evidence, Order, Subscription
from domain.action import ApprovalRole, CancelSubscriptionPayload, Payload, RefundPayload
from domain.verdict import BOT, Judgement, PolicyQuestion
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from policy.question import request_of
from store.audit import Use, record_verdict
from store.database import Database

BATCH_ROWS, WRITERS = 250, 4
USES: tuple[Use, Use] = ("propose", "reserve")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Made(NamedTuple):
    """What making them took: seconds of plain judging, on one core, and of writing."""

    judging_s: float
    writing_s: float


def questions(number: int, seed: int) -> Iterator[PolicyQuestion]:
    """Yield questions of all sorts: amounts on both sides of every threshold, most of them in order, some not."""
    chance = random.Random(seed)  # noqa: S311 — it has to be the same every time
    for _ in range(number):
        account = _account(chance)
        age = timedelta(seconds=chance.choice([1, 5, 20, 59, 61]))
        yield PolicyQuestion(
            tenant_id="bench",
            tenant_kind="marketplace",
            customer_id="cus_1",
            customer_status=chance.choices(["active", "blocked"], [19, 1])[0],
            payload=_payload(chance),
            account=account,
            evidence_observed_at=NOW - age,
            evidence_max_age_s=60,
            now=NOW,
            granted=chance.choice([(), (ApprovalRole.CUSTOMER,), (ApprovalRole.CUSTOMER, ApprovalRole.MANAGER)]),
        )


def judged(asked: list[PolicyQuestion], engine: PolicyEngine) -> tuple[list[Judgement], float]:
    """Return what the engine says to each, and the seconds that it took."""
    requests = [request_of(question) for question in asked]
    began_at = time.perf_counter()
    verdicts = [engine.judge_request(request, q.granted) for request, q in zip(requests, asked, strict=True)]
    took_s = time.perf_counter() - began_at
    parts = zip(verdicts, requests, asked, strict=True)
    return [Judgement(verdict=v, request=r, granted=q.granted) for v, r, q in parts], took_s


async def record(db: Database, tenant_id: str, number: int, seed: int) -> Made:
    """Judge and write `number` decisions of one tenant, in transactions of many."""
    asked = list(questions(number, seed))
    said, judging_s = judged(asked, PolicyEngine(Bundle.load()))
    parts = [list(zip(asked, said, strict=True))[n : n + BATCH_ROWS] for n in range(0, number, BATCH_ROWS)]
    began_at = time.perf_counter()
    todo = iter(enumerate(parts))

    async def write() -> None:
        for batch, part in todo:
            async with db.transaction(tenant_id) as tx:
                for place, (question, judgement) in enumerate(part):
                    await _record(tx, tenant_id, batch * BATCH_ROWS + place, question, judgement)

    await asyncio.gather(*(write() for _ in range(WRITERS)))
    return Made(judging_s, time.perf_counter() - began_at)


async def _record(tx: Any, tenant_id: str, number: int, question: PolicyQuestion, said: Judgement) -> None:
    found = Evidence(
        evidence_id=f"ev-{number}", source="shop", account=Account(), observed_at=question.evidence_observed_at,
        max_age_s=question.evidence_max_age_s,
    )  # fmt: skip
    # Every operation is judged twice, as it is proposed and as it is reserved.
    operation, use = f"op-{number // 2}", USES[number % 2]
    await record_verdict(tx, tenant_id, f"conv-{number // 6}", operation, use, BOT, said, found, "0" * 64)


def _payload(chance: random.Random) -> Payload:
    if chance.random() < 0.2:
        return CancelSubscriptionPayload(customer_id="cus_1", subscription_id="sub_1", resource_version=2)
    amount = int(min(chance.lognormvariate(8, 1.2), 200_000)) + 1
    return RefundPayload(
        customer_id="cus_1", order_id="A-1", amount_minor=amount, currency="EUR",
        resource_version=chance.choices([3, 2], [19, 1])[0],
    )  # fmt: skip


def _account(chance: random.Random) -> Account:
    status = chance.choices(["delivered", "shipped"], [9, 1])[0]
    order = Order(id="A-1", status=status, currency="EUR", captured_minor=100_000, refunded_minor=0, version=3)
    plan = Subscription(id="sub_1", plan="Team", status="active", price_minor=2_900, currency="EUR", version=2)
    return Account(orders=(order,), subscriptions=(plan,))
