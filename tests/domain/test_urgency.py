"""How urgent something is: the most urgent of all that speaks for it, with the one thing that made it so."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.desk import Urgency, UrgencyRules
from domain.handoff import HandoffReason
from domain.understanding import Intent, RiskMark
from domain.urgency import Marks, urgency_of

RULES = UrgencyRules()


@pytest.mark.parametrize(
    ("reason", "marks", "urgency", "why"),
    [
        ("high_risk", {}, Urgency.URGENT, "reason:high_risk"),
        ("unknown_outcome", {}, Urgency.URGENT, "reason:unknown_outcome"),
        ("out_of_scope", {"money_unknown": True}, Urgency.URGENT, "money:unknown"),
        ("customer_requested", {}, Urgency.HIGH, "reason:customer_requested"),
        ("out_of_scope", {"urgent": True}, Urgency.HIGH, "mark:urgent"),
        ("out_of_scope", {"risks": (RiskMark.SAFETY,)}, Urgency.URGENT, "risk:safety"),
        ("out_of_scope", {"risks": (RiskMark.PRESS,)}, Urgency.HIGH, "risk:press"),
        ("out_of_scope", {"intent": "duplicate_charge"}, Urgency.HIGH, "intent:duplicate_charge"),
        ("out_of_scope", {"intent": "order_status"}, Urgency.NORMAL, "default"),
    ],
)
def test_the_most_urgent_counts(reason: str, marks: dict[str, Any], urgency: Urgency, why: str) -> None:
    judged = urgency_of(RULES, reason, Marks(**marks))
    assert (judged.urgency, judged.why) == (urgency, why)


def test_a_tenant_may_call_a_reason_low_and_unknown_money_stays_urgent() -> None:
    rules = UrgencyRules(by_reason={"out_of_scope": Urgency.LOW}, by_intent={})
    assert urgency_of(rules, "out_of_scope", Marks(intent="order_status")).urgency is Urgency.LOW
    assert urgency_of(rules, "out_of_scope", Marks(money_unknown=True)).urgency is Urgency.URGENT


@given(
    st.sampled_from(list(HandoffReason)),
    st.builds(Marks, intent=st.sampled_from([i.value for i in Intent]), risks=st.just(())),
    st.sampled_from(list(RiskMark)),
)
def test_more_that_speaks_for_it_never_makes_it_less_urgent(
    reason: HandoffReason, marks: Marks, risk: RiskMark
) -> None:
    with_more = marks.model_copy(update={"risks": (risk,), "urgent": True})
    before, after = urgency_of(RULES, reason.value, marks), urgency_of(RULES, reason.value, with_more)
    assert after.urgency.rank <= before.urgency.rank


def test_marks_are_read_from_an_understanding_of_any_age() -> None:
    told = {"urgent": True, "risks": ["fraud", "of_a_later_release"], "intent": "refund_request"}
    assert Marks.of(told, "refund_request") == Marks(intent="refund_request", urgent=True, risks=(RiskMark.FRAUD,))
    assert Marks.of({}, None) == Marks()
