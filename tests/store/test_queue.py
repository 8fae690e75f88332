"""What waits for people is all there, the most urgent first, with everything that the person needs."""

import pytest

from domain.action import ApprovalRole
from domain.conversation import EventKind
from domain.desk import Urgency
from domain.handoff import HandoffReason, QueueStatus
from domain.principal import VerifiedPrincipal
from domain.refusal import NotFound
from domain.waiting import WaitingKind
from store import ownership
from store.approval_queue import pending_approvals
from store.bundle import handoff_bundle
from store.log import append, append_behind, lock_conversation
from store.queue import look
from tests.conftest import MakeStaff, MakeTenant
from tests.store.terms import LARGE, now
from tests.store.world import Talk

Staff = VerifiedPrincipal


async def test_what_is_open_is_all_there_and_its_urgency_was_judged_when_it_opened(talk: Talk, ann: Staff) -> None:
    asked = await talk.beside()
    await asked.ask_for_person()
    out_of_scope = await talk.beside()
    await out_of_scope.say()
    await out_of_scope.hand_off()
    risky = await talk.beside()
    await risky.say()
    await ownership.hand_off(talk.db, await risky.fence(), HandoffReason.HIGH_RISK, talk.words, now())
    operation_id = await talk.unknown()
    await talk.open_case(operation_id)
    items = (await look(talk.db, talk.tenant, now())).waiting
    assert [(i.reason, i.conversation_id, i.urgency) for i in items] == [
        ("high_risk", risky.id, Urgency.URGENT),
        ("unknown_outcome", talk.id, Urgency.URGENT),
        ("customer_requested", asked.id, Urgency.HIGH),
        ("out_of_scope", out_of_scope.id, Urgency.NORMAL),
        ("unknown_action", talk.id, Urgency.URGENT),
    ]
    assert (items[-1].kind, items[-1].operation_id) == (WaitingKind.CASE, operation_id)
    assert [i.urgency_why for i in items[:2]] == ["reason:high_risk", "money:unknown"]


async def test_what_somebody_has_is_shown_as_theirs_and_what_is_done_is_not_shown(talk: Talk, ann: Staff) -> None:
    await talk.ask_for_person()
    taken = await talk.take_over(ann)
    (item,) = (await look(talk.db, talk.tenant, now())).waiting
    assert (item.status, item.taken_by) == (QueueStatus.CLAIMED, "ann")
    await talk.release(ann, taken.owner_epoch)
    assert (await look(talk.db, talk.tenant, now())).waiting == []


async def test_approvals_wait_with_what_is_missing_and_those_that_expire_first_come_first(
    talk: Talk, manager: Staff
) -> None:
    later = await talk.proposed(LARGE, "A-1", ttl_s=3_600)
    sooner = await talk.proposed(LARGE, "A-2", ttl_s=60)
    await talk.decide(sooner)
    items = await pending_approvals(talk.db, manager, now())
    assert [i.operation_id for i in items] == [sooner, later]
    assert items[0].missing == (ApprovalRole.MANAGER,)
    assert items[1].missing == (ApprovalRole.CUSTOMER, ApprovalRole.MANAGER)
    await talk.take_over(manager)
    assert await pending_approvals(talk.db, manager, now()) == []


async def test_the_bundle_tells_what_is_open_confirmed_and_in_flight(talk: Talk, ann: Staff) -> None:
    confirmed, unknown = await talk.claimed("A-1"), await talk.unknown("A-2")
    await talk.settle(confirmed)
    await talk.say("And where is my parcel?")
    async with talk.db.transaction(talk.tenant) as tx:
        row = await lock_conversation(tx, talk.id)
        await append(tx, row, EventKind.NOTICE, "bot:interlock", {"text": "One moment."})
        await append_behind(tx, row, [(EventKind.UNDERSTANDING, {"intent": "order_status"})])
    change = await talk.take_over(ann)
    assert change.handoff_id is not None
    bundle = await handoff_bundle(talk.db, ann, change.handoff_id)
    assert (bundle.goal, bundle.open_questions) == ("order_status", ("And where is my parcel?",))
    assert [a["operation_id"] for a in bundle.confirmed_actions] == [confirmed]
    assert bundle.confirmed_actions[0]["external_id"] == "re_1"
    assert [(a["operation_id"], a["state"]) for a in bundle.pending_actions] == [(unknown, "unknown")]
    assert bundle.evidence[0]["observed_at"]
    assert (bundle.owner, bundle.reason) == ("staff:ann", "staff_takeover")
    assert "Establish whether an action" in bundle.next_step


async def test_a_bundle_of_another_tenant_does_not_exist(
    talk: Talk, ann: Staff, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    change = await talk.take_over(ann)
    assert change.handoff_id is not None
    stranger = make_staff(make_tenant())
    with pytest.raises(NotFound):
        await handoff_bundle(talk.db, stranger, change.handoff_id)
    assert (await look(talk.db, stranger.tenant_id, now())).waiting == []
    assert await pending_approvals(talk.db, stranger, now()) == []
