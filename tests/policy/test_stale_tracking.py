"""Laws of what is known of a parcel: beyond its age it is told with its day, and passes no check as current."""

from datetime import timedelta

import pytest

from domain.account import Account
from domain.freshness import DECIDE, MAX_AGE_S, TELL, tracking_is_current
from domain.reply import Checks, Draft, Segment, Source
from policy.reply.checks import check
from tests.policy import worlds as w

OLD = timedelta(seconds=MAX_AGE_S["tracking", TELL] + 1)
STILL = timedelta(seconds=MAX_AGE_S["tracking", TELL])


def checked(text: str, asked_ago: timedelta) -> Checks:
    found = w.evidence(Account(orders=(w.shipped_order(asked_at=w.NOW - asked_ago),)))
    draft = Draft(language="en", segments=(Segment(text=text, source=Source.EVIDENCE, rests_on=found.evidence_id),))
    return check(draft, evidence=found, articles=(), actions=(), customer_id="cus_1", now=w.NOW)


@pytest.mark.parametrize("text", ["Order A-10482 is in transit.", "A-10482: in transit, Lyon."])
def test_a_parcel_is_told_as_current_only_while_what_is_known_of_it_is(text: str) -> None:
    assert checked(text, STILL).supported
    assert not checked(text, OLD).supported


def test_what_was_known_may_be_told_with_its_day() -> None:
    assert checked("The last scan of A-10482 is from 12 November 2026: in transit, Lyon.", OLD).supported
    assert not checked("The last scan of A-10482 is from 13 November 2026: in transit, Lyon.", OLD).supported


def test_the_shops_own_status_is_told_however_old_the_tracking_is() -> None:
    assert checked("Order A-10482 has the status: shipped.", OLD).supported


def test_what_decides_must_be_fresher_than_what_is_told_and_what_has_ended_grows_no_older() -> None:
    order = w.shipped_order(asked_at=w.NOW - timedelta(seconds=MAX_AGE_S["tracking", DECIDE] + 1))
    assert tracking_is_current(order, TELL, w.NOW)
    assert not tracking_is_current(order, DECIDE, w.NOW)
    assert order.shipment is not None
    arrived = order.model_copy(update={"shipment": order.shipment.model_copy(update={"status": "delivered"})})
    assert tracking_is_current(arrived, DECIDE, w.NOW + timedelta(days=400))
