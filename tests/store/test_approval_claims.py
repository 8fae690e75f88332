"""Laws of claims and reminders: one person decides at a time, the customer never waits for it, nothing is forgotten."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from domain.action import ActionState, ApprovalDecision, ApprovalRole
from domain.approving import reminder_due_at
from domain.permission import Tool, ToolQuestion
from domain.principal import StaffRole, VerifiedPrincipal
from domain.refusal import ApprovalClaimed, ApprovalNotAllowed, ApprovalStale, NotAllowedReason, NotFound, StaleReason
from store.approval_claims import ApprovalClaim, claim_approval, give_back
from store.approval_queue import pending_approvals
from store.approvals import Decided
from store.ledger import load_progress
from store.reminders import remind
from tests.conftest import MakeStaff, MakeTenant
from tests.store.terms import LARGE, later, now
from tests.store.world import Talk

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]
TTL_S = 3_600


async def claim(talk: Talk, who: Staff, operation_id: str, at: datetime | None = None) -> ApprovalClaim:
    return await claim_approval(talk.db, who, operation_id, 5, at or now())


async def test_a_claim_keeps_others_from_deciding_and_claiming_and_says_who_has_it(
    talk: Talk, manager: Staff, other_manager: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    held = await claim(talk, manager, operation_id)
    for attempt in (talk.decide(operation_id, other_manager), claim(talk, other_manager, operation_id)):
        with pytest.raises(ApprovalClaimed) as refused:
            await attempt
        assert refused.value.fields == {"staff": manager.id, "until": held.until.isoformat()}
    with pytest.raises(ApprovalClaimed):
        await give_back(talk.db, other_manager, operation_id, now())
    (item,) = await pending_approvals(talk.db, other_manager, now())
    assert item.claim is not None
    assert (item.claim.staff, item.claim.until) == (manager.id, held.until)
    assert (await talk.decide(operation_id, manager)).role is ApprovalRole.MANAGER


async def test_the_customer_decides_whoever_has_claimed_it(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    await claim(talk, manager, operation_id)
    assert (await talk.decide(operation_id)).role is ApprovalRole.CUSTOMER


async def test_a_claim_ends_by_itself_when_given_back_with_the_decision_and_with_its_holder(
    talk: Talk, manager: Staff, other_manager: Staff, make_staff: MakeStaff, owner: Owner
) -> None:
    operation_id = await talk.proposed(LARGE, ttl_s=TTL_S)
    first = await claim(talk, manager, operation_id)
    longer = await claim(talk, manager, operation_id, now() + timedelta(minutes=3))
    assert longer.until > first.until
    ended = longer.until + timedelta(seconds=1)
    assert (await claim(talk, other_manager, operation_id, ended)).staff == other_manager.id
    await give_back(talk.db, other_manager, operation_id, ended)
    await give_back(talk.db, other_manager, operation_id, ended)
    await claim(talk, manager, operation_id)
    owner.execute("UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)", (talk.tenant, manager.id))
    assert (await claim(talk, other_manager, operation_id)).staff == other_manager.id
    await talk.decide(operation_id, other_manager)
    assert await talk.all("SELECT * FROM approval_claims") == []


async def test_only_who_could_decide_it_and_only_what_waits_is_claimed(
    talk: Talk, manager: Staff, ann: Staff, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.proposed(LARGE)
    with pytest.raises(ApprovalNotAllowed):
        await claim(talk, ann, operation_id)
    with pytest.raises(NotFound):
        await claim(talk, make_staff(make_tenant(), StaffRole.MANAGER), operation_id)
    await talk.decide(operation_id, decision=ApprovalDecision.REJECT)
    with pytest.raises(ApprovalStale) as refused:
        await claim(talk, manager, operation_id)
    assert refused.value.reason is StaleReason.NOT_WAITING
    await talk.take_over(manager)
    own = (await talk.act(manager, LARGE)).operation_id
    with pytest.raises(ApprovalNotAllowed) as mine:
        await claim(talk, manager, own)
    assert mine.value.reason is NotAllowedReason.OWN_PROPOSAL


async def test_of_many_who_claim_and_decide_at_once_one_does_and_the_others_are_told_who(
    talk: Talk, make_staff: MakeStaff
) -> None:
    operation_id = await talk.proposed(LARGE)
    people = [make_staff(talk.tenant, StaffRole.MANAGER) for _ in range(12)]

    async def hurry(who: Staff) -> Decided | ApprovalClaimed | ApprovalStale:
        try:
            await claim(talk, who, operation_id)
            return await talk.decide(operation_id, who)
        except (ApprovalClaimed, ApprovalStale) as told:
            return told

    answers = await asyncio.gather(*(hurry(who) for who in people))
    assert len([a for a in answers if isinstance(a, Decided)]) == 1
    winners = await talk.all("SELECT approver FROM approvals WHERE role = 'manager'")
    assert len(winners) == 1
    ident = winners[0][0].removeprefix("staff:")
    for told in answers:
        match told:
            case ApprovalClaimed():
                assert told.fields["staff"] == ident
            case ApprovalStale():
                assert told.fields["approver"] == f"staff:{ident}"
            case Decided():
                pass


# ------------------------------------------------------------ reminders
async def test_a_reminder_then_an_escalation_then_only_the_end_is_due(talk: Talk) -> None:
    operation_id = await talk.proposed(LARGE, ttl_s=TTL_S)
    events = await talk.log()
    assert not await remind(talk.db, talk.tenant, operation_id, later(TTL_S / 3 - 60))
    assert await remind(talk.db, talk.tenant, operation_id, later(TTL_S / 3))
    assert not await remind(talk.db, talk.tenant, operation_id, later(TTL_S / 3))
    action = await talk.action(operation_id)
    assert (action.reminded_at is not None, action.escalated_at) == (True, None)
    due_at = (await load_progress(talk.db, talk.tenant, operation_id)).remind_at
    assert due_at == reminder_due_at(action)
    assert await remind(talk.db, talk.tenant, operation_id, later(TTL_S * 2 / 3))
    assert (await talk.action(operation_id)).escalated_at is not None
    assert (await load_progress(talk.db, talk.tenant, operation_id)).remind_at is None
    assert not await remind(talk.db, talk.tenant, operation_id, later(TTL_S * 2))
    assert await talk.log() == events  # the customer hears nothing of it
    assert (await talk.action(operation_id)).state is ActionState.AWAITING_APPROVAL  # and a timer consents to nothing


async def test_nobody_is_reminded_of_what_waits_for_the_customer_alone_or_for_nobody(
    talk: Talk, manager: Staff
) -> None:
    small, large = await talk.proposed(order_id="A-1", ttl_s=60), await talk.proposed(LARGE, "A-2", ttl_s=60)
    await talk.decide(large, manager)
    for operation_id in (small, large):
        assert (await load_progress(talk.db, talk.tenant, operation_id)).remind_at is None
        assert not await remind(talk.db, talk.tenant, operation_id, later(59))


async def test_what_is_escalated_comes_first_and_whoever_is_trusted_with_more_decides_it(
    talk: Talk, manager: Staff, make_staff: MakeStaff
) -> None:
    def managers_only(digest: str, question: ToolQuestion) -> bool:
        pairs = {(Tool.APPROVE_AS_MANAGER, "manager"), (Tool.APPROVE_AS_FINANCE, "finance")}
        return (question.tool, question.role) in pairs

    sooner = await talk.proposed(LARGE, "A-1", ttl_s=60)
    operation_id = await talk.proposed(LARGE, "A-2", ttl_s=TTL_S)
    finance, admin = make_staff(talk.tenant, StaffRole.FINANCE), make_staff(talk.tenant, StaffRole.ADMIN)
    for who in (finance, admin):
        with pytest.raises(ApprovalNotAllowed):
            await talk.decide(operation_id, who, allows=managers_only)
    for part in (1 / 3, 2 / 3):
        await remind(talk.db, talk.tenant, operation_id, later(TTL_S * part))
    items = await pending_approvals(talk.db, manager, now())
    assert [(i.operation_id, i.escalated) for i in items] == [(operation_id, True), (sooner, False)]
    with pytest.raises(ApprovalNotAllowed):
        await talk.decide(operation_id, admin, allows=managers_only)
    assert (await talk.decide(operation_id, finance, allows=managers_only)).role is ApprovalRole.MANAGER
