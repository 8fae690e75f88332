"""The law that what keeps an action waiting for news of a parcel is what the base would forbid it for."""

from datetime import timedelta
from itertools import product

import pytest

from domain.account import Shipment
from domain.action import ActionKind
from domain.freshness import DECIDE, MAX_AGE_S
from domain.parcels import rests_on_stale_tracking
from policy.bundle import Bundle
from policy.engine import PolicyEngine
from policy.examining.cases import load_cases

ENGINE = PolicyEngine(Bundle.load())
QUESTIONS = {q.payload.kind: q for case in load_cases() if (q := case.question) is not None}
LIMIT_S = MAX_AGE_S["tracking", DECIDE]


@pytest.mark.parametrize("kind", list(ActionKind))
def test_the_base_forbids_for_tracking_exactly_what_waits_for_news_of_it(kind: ActionKind) -> None:
    asked = QUESTIONS[kind]
    for age_s, parcel, status in product(
        (0, LIMIT_S, LIMIT_S + 1), ("label_created", "in_transit", "delivered"), ("processing", "shipped", "delivered")
    ):
        at = asked.now - timedelta(seconds=age_s)
        change = {"status": status, "shipment": Shipment(status=parcel, observed_at=at)}
        orders = tuple(order.model_copy(update=change) for order in asked.account.orders)
        account = asked.account.model_copy(update={"orders": orders})
        verdict = ENGINE.judge(asked.model_copy(update={"account": account}))
        forbidden = "tracking-too-old" in verdict.rule_ids
        assert rests_on_stale_tracking(asked.payload, account, asked.now) is forbidden, (age_s, parcel, status)
