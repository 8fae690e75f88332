"""What goes on record of a question that cannot be put: nothing, and a forbid."""

from typing import Any

import pytest

from domain.action import RefundPayload
from domain.verdict import VerdictKind
from policy.bundle import BASE, Bundle
from policy.engine import PolicyEngine
from policy.question import recorded
from tests.policy import worlds as w


class OfNoKnownType(RefundPayload):
    """A payload whose resource is of a type that the policy has no word for."""

    @property
    def resource(self) -> str:
        return "parcel:1"


@pytest.mark.parametrize(
    "odd",
    [
        {"payload": OfNoKnownType(**w.refund().model_dump())},
        {"now": w.NOW.replace(tzinfo=None)},
    ],
)
def test_a_question_that_cannot_be_put_is_recorded_as_nothing_and_forbidden(odd: dict[str, Any]) -> None:
    asked = w.question().model_copy(update=odd)
    assert recorded(asked) == {}
    assert PolicyEngine(Bundle.load(BASE)).judge(asked).kind is VerdictKind.FORBID
