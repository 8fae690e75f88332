"""INVARIANT 4 by mutation: an approval with anything changed is refused, with its own reason, by the database too."""

import asyncio
from collections.abc import Awaitable
from datetime import datetime
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from domain.action import ActionState, ApprovalDecision, ApprovalRole
from domain.approving import Allows, by_table
from domain.permission import Tool, ToolQuestion
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.refusal import ApprovalClaimed, ApprovalNotAllowed, ApprovalStale, NotAllowedReason, StaleReason
from domain.turn import ReserveResult
from store.approval_claims import claim_approval
from store.ledger import load_progress
from tests.conftest import MakeStaff, MakeTenant, put_in_force
from tests.postgres import Postgres
from tests.store.terms import LARGE, later, now, order
from tests.store.world import Talk

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]
REJECT = ApprovalDecision.REJECT


async def why_stale(attempt: Awaitable[Any]) -> StaleReason:
    with pytest.raises(ApprovalStale) as refused:
        await attempt
    assert refused.value.fields["reason"] == refused.value.reason.value
    return refused.value.reason


async def why_not(attempt: Awaitable[Any]) -> NotAllowedReason:
    with pytest.raises(ApprovalNotAllowed) as refused:
        await attempt
    assert refused.value.fields["reason"] == refused.value.reason.value
    return refused.value.reason


def other_byte(digest: str, at: int) -> str:
    return digest[:at] + ("0" if digest[at] != "0" else "1") + digest[at + 1 :]


def publish(owner: Owner, make_tenant: MakeTenant, talk: Talk, digest: str = "newer-bundle") -> None:
    make_tenant(policy_digest=digest)
    put_in_force(owner, talk.tenant, digest)


# ------------------------------------------------------------ what the code says
async def test_a_digest_with_any_byte_changed_approves_nothing(talk: Talk) -> None:
    operation_id = await talk.proposed()
    digest = (await talk.action(operation_id)).payload_digest
    for wrong in [*(other_byte(digest, at) for at in range(len(digest))), digest[:-1], digest + "0", digest.upper()]:
        if wrong != digest:
            assert await why_stale(talk.decide(operation_id, digest=wrong)) is StaleReason.DIGEST_CHANGED
    await talk.decide(operation_id)
    assert await why_stale(talk.decide(operation_id, digest=other_byte(digest, 0))) is StaleReason.DIGEST_CHANGED


async def test_late_and_after_the_workflow_has_expired_it_the_reason_is_the_same(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE, ttl_s=60)
    assert await why_stale(talk.decide(operation_id, at=later(61))) is StaleReason.EXPIRED
    assert await why_stale(talk.decide(operation_id, manager, at=later(61))) is StaleReason.EXPIRED
    await talk.reserve(operation_id, at=later(61), found=await talk.read(observed_at=later(61)))
    assert (await talk.action(operation_id)).state is ActionState.REJECTED
    assert await why_stale(talk.decide(operation_id)) is StaleReason.EXPIRED


async def test_twice_by_oneself_or_by_two_people_is_decided_already(
    talk: Talk, manager: Staff, other_manager: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id, manager)
    assert await why_stale(talk.decide(operation_id, manager, REJECT)) is StaleReason.ALREADY_DECIDED
    with pytest.raises(ApprovalStale) as refused:
        await talk.decide(operation_id, other_manager)
    assert (refused.value.reason, refused.value.fields["approver"]) == (StaleReason.ALREADY_DECIDED, manager.key)


async def test_after_it_was_used_an_approval_is_consumed_and_after_a_no_it_is_not_waited_for(
    talk: Talk, manager: Staff
) -> None:
    used, declined = await talk.reserved("A-1"), await talk.proposed(LARGE, "A-2")
    assert await why_stale(talk.decide(used, decision=REJECT)) is StaleReason.CONSUMED
    await talk.decide(declined, manager, REJECT)
    assert await why_stale(talk.decide(declined)) is StaleReason.NOT_WAITING
    large = await talk.proposed(LARGE, "A-2")
    await talk.decide(large)
    await talk.decide(large, manager)
    assert await talk.reserve(large, await talk.read(order("A-2"))) is ReserveResult.RESERVED
    assert await why_stale(talk.decide(large, talk.customer, REJECT)) is StaleReason.CONSUMED


async def test_of_the_wrong_role_each_has_its_reason(talk: Talk, make_staff: MakeStaff, manager: Staff) -> None:
    small, large = await talk.proposed(order_id="A-1"), await talk.proposed(LARGE, "A-2")
    agent = make_staff(talk.tenant, StaffRole.AGENT)
    service = VerifiedPrincipal(tenant_id=talk.tenant, kind=PrincipalKind.SERVICE, id="relay")
    assert await why_not(talk.decide(small, manager)) is NotAllowedReason.WRONG_ROLE
    assert await why_not(talk.decide(large, agent)) is NotAllowedReason.WRONG_ROLE
    assert await why_not(talk.decide(large, service)) is NotAllowedReason.NOT_ENTITLED
    for who, role, reason in (
        (agent, ApprovalRole.MANAGER, NotAllowedReason.NOT_ENTITLED),
        (manager, ApprovalRole.FINANCE, NotAllowedReason.WRONG_ROLE),
        (manager, ApprovalRole.CUSTOMER, NotAllowedReason.NOT_ENTITLED),
        (talk.customer, ApprovalRole.MANAGER, NotAllowedReason.WRONG_ROLE),
    ):
        assert await why_not(talk.decide(large, who, role=role)) is reason


async def test_the_bundle_says_who_is_entitled(talk: Talk, manager: Staff) -> None:
    def only_finance(digest: str, question: ToolQuestion) -> bool:
        return question.tool is Tool.CONFIRM_OWN or question.role == "finance"

    def no_confirmation(digest: str, question: ToolQuestion) -> bool:
        return question.tool is not Tool.CONFIRM_OWN

    operation_id = await talk.proposed(LARGE)
    assert await why_not(talk.decide(operation_id, manager, allows=only_finance)) is NotAllowedReason.WRONG_ROLE
    assert await why_not(talk.decide(operation_id, allows=no_confirmation)) is NotAllowedReason.NOT_ENTITLED
    await talk.decide(operation_id, talk.customer, REJECT, allows=no_confirmation)  # a no is always heard


async def test_the_bundle_is_asked_by_its_digest_for_the_kind_and_the_amount(talk: Talk, manager: Staff) -> None:
    asked: list[tuple[str, ToolQuestion]] = []

    def listening(digest: str, question: ToolQuestion) -> bool:
        asked.append((digest, question))
        return by_table(digest, question)

    await talk.decide(await talk.proposed(LARGE), manager, allows=listening)
    digest, question = asked[0]
    assert (digest, question.kind, question.amount_minor, question.currency) == ("test-bundle", "refund", LARGE, "EUR")
    assert (question.tenant_id, question.stage) == (talk.tenant, "approval_required")


async def test_ones_own_proposal_is_somebody_elses_to_decide(talk: Talk, manager: Staff, other_manager: Staff) -> None:
    await talk.take_over(manager)
    operation_id = (await talk.act(manager, LARGE)).operation_id
    assert await why_not(talk.decide(operation_id, manager)) is NotAllowedReason.OWN_PROPOSAL
    assert (await talk.decide(operation_id, other_manager)).role is ApprovalRole.MANAGER


async def test_after_a_policy_change_it_is_refused_judged_again_and_asked_anew(
    talk: Talk, owner: Owner, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.proposed()
    publish(owner, make_tenant, talk)
    with pytest.raises(ApprovalStale) as refused:
        await talk.decide(operation_id)
    assert refused.value.reason is StaleReason.POLICY_CHANGED
    assert [wake.operation_id for wake in refused.value.wakes] == [operation_id]
    assert await talk.all("SELECT count(*) FROM outbox WHERE operation_id IS NOT NULL") == [(1,)]
    await asked_anew(talk, operation_id)


async def test_after_new_evidence_it_is_refused_judged_again_and_asked_anew(talk: Talk) -> None:
    operation_id = await talk.proposed()
    await talk.read(order())  # the same again changes nothing
    assert not (await load_progress(talk.db, talk.tenant, operation_id, now())).overtaken
    changed = order(refunded=100)
    await talk.read(changed)
    assert await why_stale(talk.decide(operation_id)) is StaleReason.EVIDENCE_CHANGED
    await asked_anew(talk, operation_id, await talk.read(changed))


async def asked_anew(talk: Talk, operation_id: str, found: Any = None) -> None:
    """It is bound to what holds now and shown again, under the same digest, though nobody had approved it yet."""
    before = await talk.action(operation_id)
    assert (await load_progress(talk.db, talk.tenant, operation_id, now())).overtaken
    assert await talk.reserve(operation_id, found or await talk.read()) is ReserveResult.ASK_AGAIN
    progress = await load_progress(talk.db, talk.tenant, operation_id, now())
    assert (progress.overtaken, progress.missing) == (False, ("customer",))
    last = (await talk.log())[-1].body
    assert (last["operation_id"], last["payload_digest"]) == (operation_id, before.payload_digest)
    assert (await talk.decide(operation_id)).role is ApprovalRole.CUSTOMER
    assert await talk.reserve(operation_id, found or await talk.read()) is ReserveResult.RESERVED


async def test_a_no_is_heard_whatever_has_changed_meanwhile(talk: Talk, owner: Owner, make_tenant: MakeTenant) -> None:
    operation_id = await talk.proposed()
    publish(owner, make_tenant, talk)
    assert (await talk.decide(operation_id, decision=REJECT)).state is ActionState.REJECTED


async def test_who_is_demoted_makes_room_for_somebody_else(
    talk: Talk, owner: Owner, manager: Staff, other_manager: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager)
    owner.execute("UPDATE staff SET role = 'agent' WHERE (tenant_id, id) = (%s, %s)", (talk.tenant, manager.id))
    assert (await load_progress(talk.db, talk.tenant, operation_id)).missing == ("manager",)
    assert await talk.reserve(operation_id) is ReserveResult.ASK_AGAIN
    await talk.decide(operation_id, other_manager)
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED


async def test_two_roles_of_one_action_need_two_people(talk: Talk, make_staff: MakeStaff) -> None:
    roles = (ApprovalRole.MANAGER, ApprovalRole.FINANCE)
    made = await talk.proposal(LARGE)
    both = made.judged.model_copy(
        update={"verdict": made.verdict.model_copy(update={"required": roles, "missing": roles})}
    )
    await talk.say()
    await talk.propose(made.model_copy(update={"judged": both}))
    first, second = make_staff(talk.tenant, StaffRole.FINANCE), make_staff(talk.tenant, StaffRole.FINANCE)
    assert (await talk.decide(made.operation_id, first)).role is ApprovalRole.MANAGER
    assert (await talk.decide(made.operation_id, first)).role is ApprovalRole.MANAGER  # again: the first answer
    assert (await talk.decide(made.operation_id, second)).role is ApprovalRole.FINANCE
    assert await why_not(talk.decide(made.operation_id)) is NotAllowedReason.WRONG_ROLE  # the customer's is not asked


async def test_a_role_may_be_named(talk: Talk, make_staff: MakeStaff) -> None:
    roles = (ApprovalRole.MANAGER, ApprovalRole.FINANCE)
    made = await talk.proposal(LARGE)
    both = made.judged.model_copy(
        update={"verdict": made.verdict.model_copy(update={"required": roles, "missing": roles})}
    )
    await talk.say()
    await talk.propose(made.model_copy(update={"judged": both}))
    finance = make_staff(talk.tenant, StaffRole.FINANCE)
    assert (await talk.decide(made.operation_id, finance, role=ApprovalRole.FINANCE)).role is ApprovalRole.FINANCE
    again = talk.decide(made.operation_id, finance, role=ApprovalRole.MANAGER)
    assert await why_stale(again) is StaleReason.ALREADY_DECIDED


async def test_while_somebody_else_decides_it_is_claimed_and_says_by_whom(
    talk: Talk, manager: Staff, other_manager: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    taken = await claim_approval(talk.db, manager, operation_id, 5, now())
    with pytest.raises(ApprovalClaimed) as refused:
        await talk.decide(operation_id, other_manager)
    assert refused.value.fields == {"staff": manager.id, "until": taken.until.isoformat()}


# ------------------------------------------------------------ what the database says when the code is bypassed
COLUMNS = (
    "tenant_id",
    "operation_id",
    "approver",
    "role",
    "staff_role",
    "decision",
    "payload_digest",
    "policy_digest",
    "evidence_digest",
    "decided_at",
    "expires_at",
    "said_seq",
)


async def row_of(talk: Talk, operation_id: str, approver: str, role: str, staff_role: str | None) -> dict[str, Any]:
    action = await talk.action(operation_id)
    return {
        "tenant_id": talk.tenant,
        "operation_id": operation_id,
        "approver": approver,
        "role": role,
        "staff_role": staff_role,
        "decision": "approve",
        "payload_digest": action.payload_digest,
        "policy_digest": action.policy_digest,
        "evidence_digest": action.evidence_digest,
        "decided_at": now(),
        "expires_at": action.expires_at,
        "said_seq": None,
    }


async def taken(talk: Talk, row: dict[str, Any]) -> bool:
    """Whether the database takes the row from the product's own role; nothing of it stays."""
    insert = f"INSERT INTO approvals ({', '.join(COLUMNS)}) VALUES ({', '.join(':' + c for c in COLUMNS)})"
    try:
        async with talk.db.transaction(talk.tenant) as tx:
            await tx.execute(sa.text(insert), row)
            await tx.execute(sa.text("ROLLBACK"))
    except DBAPIError:
        return False
    return True


def mutations(row: dict[str, Any], expires_at: datetime) -> list[dict[str, Any]]:
    changed: list[dict[str, Any]] = [
        {name: other_byte(row[name], at)}
        for name in ("payload_digest", "policy_digest", "evidence_digest")
        for at in (0, len(row[name]) - 1)
    ]
    changed += [{"tenant_id": "t-other"}, {"operation_id": "op-other"}, {"approver": "customer:else"}]
    changed += [{"approver": "staff:nobody"}, {"approver": ""}, {"decision": "maybe"}, {"role": "agent"}]
    changed += [{"role": "finance"}, {"decided_at": expires_at}, {"expires_at": row["decided_at"]}, {"said_seq": 1}]
    return changed


async def test_the_database_takes_a_customers_row_as_it_is_and_with_nothing_changed(talk: Talk) -> None:
    operation_id = await talk.proposed()
    right = await row_of(talk, operation_id, talk.customer.key, "customer", None)
    assert await taken(talk, right)
    changed = [*mutations(right, right["expires_at"]), {"role": "manager"}, {"staff_role": "manager"}]
    assert [change for change in changed if await taken(talk, {**right, **change})] == []
    assert await taken(talk, right)  # and nothing of it had stayed that could have refused the others


async def test_the_database_takes_a_managers_row_as_it_is_and_with_nothing_changed(
    talk: Talk, manager: Staff, ann: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    right = await row_of(talk, operation_id, manager.key, "manager", "manager")
    assert await taken(talk, right)
    changed = [*mutations(right, right["expires_at"]), {"role": "customer"}, {"staff_role": None}]
    changed += [{"staff_role": "finance"}, {"approver": talk.customer.key}, {"approver": ann.key}]
    assert [change for change in changed if await taken(talk, {**right, **change})] == []
    assert await taken(talk, right)  # and nothing of it had stayed that could have refused the others


@pytest.mark.parametrize("what", ["revoked", "demoted", "policy", "moved", "own"])
async def test_the_database_takes_no_row_after_a_change(
    what: str, talk: Talk, manager: Staff, owner: Owner, make_tenant: MakeTenant
) -> None:
    await talk.take_over(manager) if what == "own" else None
    operation_id = (await talk.act(manager, LARGE)).operation_id if what == "own" else await talk.proposed(LARGE)
    right = await row_of(talk, operation_id, manager.key, "manager", "manager")
    who = (talk.tenant, manager.id)
    match what:
        case "revoked":
            owner.execute("UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)", who)
        case "demoted":
            owner.execute("UPDATE staff SET role = 'agent' WHERE (tenant_id, id) = (%s, %s)", who)
        case "policy":
            publish(owner, make_tenant, talk)
            right["decided_at"] = now()
        case "moved":
            await talk.decide(operation_id, decision=REJECT)
        case _:
            pass
    assert not await taken(talk, right)


@pytest.mark.parametrize("what", ["revoked", "demoted", "policy"])
async def test_the_database_lets_no_approval_be_used_after_a_change(
    what: str, talk: Talk, manager: Staff, owner: Owner, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id, manager)
    who = (talk.tenant, manager.id)
    match what:
        case "revoked":
            owner.execute("UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)", who)
        case "demoted":
            owner.execute("UPDATE staff SET role = 'agent' WHERE (tenant_id, id) = (%s, %s)", who)
        case _:
            publish(owner, make_tenant, talk)
    with pytest.raises(DBAPIError, match="does not fit the action"):
        async with talk.db.transaction(talk.tenant) as tx:
            await tx.execute(sa.text("UPDATE approvals SET consumed_at = now()"))


def test_whoever_has_no_bundle_at_hand_still_lets_nobody_else_decide() -> None:
    answer: Allows = by_table
    question = ToolQuestion(tenant_id="t", tenant_kind="saas", stage="automatic", role="agent", tool="take_over")
    assert not answer("d", question)


async def test_a_role_that_changes_between_the_session_and_the_decision_decides_nothing(
    talk: Talk, owner: Owner, manager: Staff
) -> None:
    operation_id = await talk.proposed(LARGE)
    owner.execute("UPDATE staff SET role = 'agent' WHERE (tenant_id, id) = (%s, %s)", (talk.tenant, manager.id))
    assert await why_not(talk.decide(operation_id, manager)) is NotAllowedReason.NOT_ENTITLED


# ------------------------------------------------------------ in the middle of it
async def meanwhile(postgres: Postgres, attempt: Awaitable[Any], *statements: tuple[str, tuple[Any, ...]]) -> Any:
    """Begin `attempt` while a transaction of somebody else has made a change and not committed it yet."""
    async with await psycopg.AsyncConnection.connect(postgres.owner_url) as other:
        for text, values in statements:
            await other.execute(text.encode(), values)
        running = asyncio.ensure_future(attempt)
        await asyncio.sleep(0.3)
        assert not running.done()
        await other.commit()
        return await running


async def test_an_approver_who_is_revoked_in_the_middle_of_a_reservation_has_approved_nothing(
    talk: Talk, manager: Staff, postgres: Postgres
) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager)
    revoke = "UPDATE staff SET revoked_at = now() WHERE (tenant_id, id) = (%s, %s)"
    result = await meanwhile(postgres, talk.reserve(operation_id), (revoke, (talk.tenant, manager.id)))
    assert result is ReserveResult.ASK_AGAIN
    assert (await load_progress(talk.db, talk.tenant, operation_id)).missing == ("manager",)


async def test_a_policy_that_is_published_in_the_middle_of_a_decision_is_the_one_that_counts(
    talk: Talk, make_tenant: MakeTenant, postgres: Postgres
) -> None:
    operation_id = await talk.proposed()
    make_tenant(policy_digest="newer-bundle")
    lock = ("SELECT FROM tenants WHERE id = %s FOR UPDATE", (talk.tenant,))
    add = (
        "INSERT INTO policy_publications (tenant_id, n, digest, cause, effective_from, published_by)"
        " VALUES (%s, 99, 'newer-bundle', 'published', '2020-01-01', 'test')"
    )
    attempt = why_stale(talk.decide(operation_id))
    assert await meanwhile(postgres, attempt, lock, (add, (talk.tenant,))) is StaleReason.POLICY_CHANGED
