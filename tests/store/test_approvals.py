"""INVARIANT 4: consent is one entitled person's, to exactly what was shown, in time, and recorded once."""

import asyncio

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from domain.action import ActionState, ApprovalDecision, ApprovalRole, Cause
from domain.conversation import EventKind
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.refusal import ApprovalNotAllowed, ApprovalStale, NotFound
from store.approvals import Decided, view_action
from store.ledger import load_progress
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.store.terms import LARGE, later
from tests.store.world import Talk

Staff = VerifiedPrincipal
APPROVE, REJECT = ApprovalDecision.APPROVE, ApprovalDecision.REJECT


async def given(talk: Talk) -> list[tuple[str, str]]:
    return await talk.all("SELECT role, decision FROM approvals WHERE voided_at IS NULL ORDER BY id")


async def test_an_approval_is_told_and_wakes_both_workflows(talk: Talk) -> None:
    operation_id = await talk.proposed()
    decided = await talk.decide(operation_id)
    assert (decided.role, decided.state) == (ApprovalRole.CUSTOMER, ActionState.AWAITING_APPROVAL)
    assert {w.operation_id for w in decided.wakes} == {operation_id, None}
    assert (await talk.log())[-1].body == {"operation_id": operation_id, "role": "customer", "decision": "approve"}
    assert (await load_progress(talk.db, talk.tenant, operation_id)).missing == ()


async def test_a_large_refund_waits_for_customer_and_manager(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    assert (await load_progress(talk.db, talk.tenant, operation_id)).missing == ("manager",)
    await talk.decide(operation_id, manager)
    assert (await load_progress(talk.db, talk.tenant, operation_id)).missing == ()


async def test_a_repeated_decision_gets_the_first_answer_and_is_recorded_once(talk: Talk) -> None:
    operation_id = await talk.proposed()
    answers = await asyncio.gather(*(talk.decide(operation_id) for _ in range(6)))
    assert {a.model_copy(update={"wakes": ()}) for a in answers} == {answers[0].model_copy(update={"wakes": ()})}
    assert len([a for a in answers if a.wakes]) == 1
    assert (len(await given(talk)), len(await talk.log(EventKind.APPROVAL))) == (1, 1)
    await talk.reserve(operation_id)
    assert (await talk.decide(operation_id)).state is ActionState.SUBMITTED


async def test_a_decision_is_not_changed_by_a_second_one(talk: Talk) -> None:
    operation_id = await talk.approved()
    with pytest.raises(ApprovalStale):
        await talk.decide(operation_id, decision=REJECT)
    assert (await talk.action(operation_id)).state is ActionState.AWAITING_APPROVAL


async def test_a_rejection_ends_the_action_and_says_so(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    decided = await talk.decide(operation_id, manager, REJECT)
    assert decided.state is ActionState.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.DECLINED
    assert (await talk.log())[-1].body["state"] == "rejected"
    assert (await talk.decide(operation_id, manager, REJECT)).state is ActionState.REJECTED
    with pytest.raises(ApprovalStale):
        await talk.decide(operation_id)


async def test_another_digest_approves_nothing(talk: Talk) -> None:
    operation_id = await talk.proposed()
    with pytest.raises(ApprovalStale) as refused:
        await talk.decide(operation_id, digest="0" * 64)
    assert refused.value.fields["payload_digest"] == (await talk.action(operation_id)).payload_digest
    assert await given(talk) == []


@pytest.mark.parametrize("role", [StaffRole.AGENT, StaffRole.FINANCE, StaffRole.ADMIN, StaffRole.MANAGER])
async def test_staff_decide_only_what_needs_their_role(role: StaffRole, talk: Talk, make_staff: MakeStaff) -> None:
    small, large = await talk.proposed(order_id="A-1"), await talk.proposed(LARGE, "A-2")
    staff = make_staff(talk.tenant, role)
    with pytest.raises(ApprovalNotAllowed):
        await talk.decide(small, staff)
    if role is StaffRole.AGENT:
        with pytest.raises(ApprovalNotAllowed):
            await talk.decide(large, staff)
    else:
        assert (await talk.decide(large, staff)).role is ApprovalRole.MANAGER


async def test_a_service_decides_nothing(talk: Talk) -> None:
    operation_id = await talk.proposed()
    service = VerifiedPrincipal(tenant_id=talk.tenant, kind=PrincipalKind.SERVICE, id="relay")
    with pytest.raises(ApprovalNotAllowed):
        await talk.decide(operation_id, service)


async def test_for_anybody_else_the_action_does_not_exist(
    talk: Talk, make_customer: MakeCustomer, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.proposed()
    digest = (await talk.action(operation_id)).payload_digest
    for stranger in (make_customer(talk.tenant), make_staff(make_tenant(), StaffRole.MANAGER)):
        with pytest.raises(NotFound):
            await talk.decide(operation_id, stranger, digest=digest)
        with pytest.raises(NotFound):
            await view_action(talk.db, stranger, operation_id)
    assert (await view_action(talk.db, talk.customer, operation_id)).action.operation_id == operation_id


async def test_nobody_approves_what_they_asked_for_themselves(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    async with talk.db.transaction(talk.tenant) as tx:
        await tx.execute(
            sa.text(
                "INSERT INTO actions (operation_id, tenant_id, conversation_id, customer_id, kind, resource, payload,"
                " payload_digest, required_approvals, requested_by, owner_epoch, policy_digest, evidence_id,"
                " evidence_digest, expires_at) SELECT 'own-' || :o, tenant_id, conversation_id, customer_id, kind,"
                " resource, payload, payload_digest, required_approvals, :me, owner_epoch, policy_digest, evidence_id,"
                " evidence_digest, expires_at FROM actions WHERE operation_id = :o"
            ),
            {"o": operation_id, "me": manager.key},
        )
    with pytest.raises(ApprovalNotAllowed):
        await talk.decide(f"own-{operation_id}", manager)


async def test_after_its_time_nothing_is_approved(talk: Talk) -> None:
    operation_id = await talk.proposed(ttl_s=60)
    with pytest.raises(ApprovalStale):
        await talk.decide(operation_id, at=later(61))


async def test_an_approval_that_ran_out_makes_room_for_another(
    talk: Talk, manager: Staff, other_manager: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id, manager, staff_ttl_s=10)
    with pytest.raises(ApprovalStale):
        await talk.decide(operation_id, other_manager)
    renewed = await talk.decide(operation_id, other_manager, at=later(11))
    assert renewed.role is ApprovalRole.MANAGER
    assert await given(talk) == [("manager", "approve")]


async def test_of_two_managers_at_once_one_approves(talk: Talk, manager: Staff, other_manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)

    async def approve(who: Staff) -> Decided | None:
        try:
            return await talk.decide(operation_id, who)
        except ApprovalStale:
            return None

    answers = await asyncio.gather(approve(manager), approve(other_manager))
    assert [a is None for a in answers].count(True) == 1
    assert await given(talk) == [("manager", "approve")]


async def test_a_rejection_is_heard_before_and_after_an_approval(
    talk: Talk, manager: Staff, other_manager: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    said = await asyncio.gather(
        talk.decide(operation_id, manager),
        talk.decide(operation_id, other_manager, REJECT),
        return_exceptions=True,
    )
    assert all(isinstance(s, Decided | ApprovalStale) for s in said)
    assert (await talk.action(operation_id)).state is ActionState.REJECTED


async def test_what_is_superseded_or_withdrawn_is_approved_no_more(talk: Talk, ann: Staff) -> None:
    old = await talk.proposed()
    new = await talk.proposed()
    with pytest.raises(ApprovalStale):
        await talk.decide(old)
    await talk.take_over(ann)
    with pytest.raises(ApprovalStale):
        await talk.decide(new)


@pytest.mark.parametrize("other", ["payload_digest", "policy_digest", "evidence_digest"])
async def test_the_database_takes_no_approval_of_anything_else(other: str, talk: Talk) -> None:
    operation_id = await talk.proposed()
    columns = ["payload_digest", "policy_digest", "evidence_digest"]
    values = ", ".join("'else'" if c == other else c for c in columns)
    statement = (
        f"INSERT INTO approvals (tenant_id, operation_id, approver, role, decision, {', '.join(columns)}, expires_at)"
        f" SELECT tenant_id, operation_id, 'c', 'customer', 'approve', {values}, expires_at FROM actions"
        " WHERE operation_id = :o"
    )
    with pytest.raises(IntegrityError, match="does not fit the action"):
        async with talk.db.transaction(talk.tenant) as tx:
            await tx.execute(sa.text(statement), {"o": operation_id})
