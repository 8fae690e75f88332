"""INVARIANTS 4, 9: an action is submitted only as approved, under the policy in force, on fresh evidence."""

import asyncio
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from domain.account import Account, Order, Shipment
from domain.action import ActionState, ApprovalRole, CancelOrderPayload, Cause, evidence_digest
from domain.approving import by_table, reminder_due_at
from domain.conversation import EventKind
from domain.permission import ToolQuestion
from domain.principal import VerifiedPrincipal
from domain.refusal import ApprovalStale
from domain.turn import ReserveResult
from domain.verdict import Judgement, PolicyQuestion, Verdict, VerdictKind
from store.dispatch import reservation_facts
from store.ledger import load_progress
from store.reminders import remind
from tests.conftest import MakeTenant, put_in_force
from tests.postgres import Postgres
from tests.store.publications import publishing
from tests.store.terms import BUNDLE, LARGE, SMALL, STAFF_TTL_S, later, now, order, rule
from tests.store.world import Talk

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]


async def approvals(talk: Talk) -> tuple[int, int, int]:
    """How many approvals are open, consumed, voided."""
    rows = await talk.all("SELECT consumed_at IS NOT NULL, voided_at IS NOT NULL FROM approvals")
    return rows.count((False, False)), rows.count((True, False)), rows.count((False, True))


async def test_without_approval_it_asks_again_and_changes_nothing(talk: Talk) -> None:
    operation_id = await talk.proposed()
    before = await talk.log()
    assert await talk.reserve(operation_id) is ReserveResult.ASK_AGAIN
    assert (await talk.action(operation_id)).state is ActionState.AWAITING_APPROVAL
    assert await talk.log() == before


async def test_the_kill_switch_rejects(talk: Talk, owner: Owner) -> None:
    operation_id = await talk.approved()
    owner.execute("UPDATE tenants SET dispatch_halted = true WHERE id = %s", (talk.tenant,))
    assert await talk.reserve(operation_id) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.DENIED


async def test_after_its_time_it_is_rejected_as_expired(talk: Talk) -> None:
    operation_id = await talk.approved(ttl_s=30)
    at = later(31)
    assert await talk.reserve(operation_id, await talk.read(observed_at=at), at=at) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.EXPIRED
    assert await approvals(talk) == (1, 0, 0)


async def test_what_policy_forbids_by_now_is_rejected(talk: Talk, owner: Owner) -> None:
    operation_id = await talk.approved()
    owner.execute(
        "INSERT INTO customers (tenant_id, id, status) VALUES (%s, %s, 'blocked')", (talk.tenant, talk.customer.id)
    )
    assert await talk.reserve(operation_id) is ReserveResult.REJECTED
    assert (await talk.action(operation_id)).cause is Cause.DENIED


@pytest.mark.parametrize("age_s", [61, 3_600])
async def test_evidence_that_is_too_old_decides_nothing(age_s: int, talk: Talk) -> None:
    operation_id = await talk.approved()
    old = await talk.read(observed_at=now() - timedelta(seconds=age_s))
    assert await talk.reserve(operation_id, old) is ReserveResult.STALE_EVIDENCE


async def test_evidence_from_before_the_last_settlement_on_the_resource_is_stale(talk: Talk) -> None:
    beside = await talk.beside()
    second = await beside.approved()
    first = await talk.claimed()
    before = await beside.read()
    await talk.settle(first)
    assert await beside.reserve(second, before) is ReserveResult.STALE_EVIDENCE
    assert await beside.reserve(second) is ReserveResult.RESERVED


async def test_evidence_read_again_with_the_same_values_keeps_the_approval(talk: Talk) -> None:
    operation_id = await talk.approved()
    assert await talk.reserve(operation_id, await talk.read(order())) is ReserveResult.RESERVED


async def test_evidence_with_other_values_voids_the_approval_and_asks_again(talk: Talk) -> None:
    operation_id = await talk.approved()
    assert await talk.reserve(operation_id, await talk.read(order(refunded=100))) is ReserveResult.ASK_AGAIN
    assert await approvals(talk) == (0, 0, 1)
    assert len(await talk.log(EventKind.PROPOSAL)) == 2
    await talk.decide(operation_id)
    assert await talk.reserve(operation_id, await talk.read(order(refunded=100))) is ReserveResult.RESERVED


async def test_a_changed_policy_voids_old_approvals_and_asks_under_the_new_one(
    talk: Talk, owner: Owner, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.approved()
    make_tenant(policy_digest="newer-bundle")
    put_in_force(owner, talk.tenant, "newer-bundle")
    assert (await reservation_facts(talk.db, talk.tenant, operation_id, now())).policy_digest == "newer-bundle"
    assert await talk.reserve(operation_id) is ReserveResult.ASK_AGAIN
    assert await approvals(talk) == (0, 0, 1)
    assert (await load_progress(talk.db, talk.tenant, operation_id)).missing == ("customer",)
    assert (await talk.action(operation_id)).policy_digest == "newer-bundle"
    await talk.decide(operation_id)
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED


async def test_a_changed_policy_that_needs_no_approval_is_bound_before_anything_is_submitted(
    talk: Talk, owner: Owner, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.approved()
    make_tenant(policy_digest="trusting-bundle")
    put_in_force(owner, talk.tenant, "trusting-bundle")

    def trusting(digest: str, question: PolicyQuestion) -> Judgement:
        verdict = Verdict(kind=VerdictKind.PERMIT, rule_ids=("rule",), policy_digest=digest)
        return Judgement(verdict=verdict, request={})

    assert await talk.reserve(operation_id, judge=trusting) is ReserveResult.ASK_AGAIN
    assert (await talk.action(operation_id)).policy_digest == "trusting-bundle"
    assert await talk.reserve(operation_id, judge=trusting) is ReserveResult.RESERVED
    assert await approvals(talk) == (0, 0, 1)


async def test_one_of_two_approvals_that_ran_out_is_asked_for_again_and_not_used(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager, staff_ttl_s=10)
    at = later(11)
    assert await talk.reserve(operation_id, await talk.read(observed_at=at), at=at) is ReserveResult.ASK_AGAIN
    assert await approvals(talk) == (1, 0, 1)


async def test_an_approval_that_is_needed_no_more_and_ran_out_is_not_consumed(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager, staff_ttl_s=10)

    def lenient(digest: str, question: PolicyQuestion) -> Judgement:
        smaller = question.payload.model_copy(update={"amount_minor": SMALL})
        return rule(digest, question.model_copy(update={"payload": smaller}))

    at = later(11)
    found = await talk.read(observed_at=at)
    assert await talk.reserve(operation_id, found, at=at, judge=lenient) is ReserveResult.ASK_AGAIN
    assert (await talk.action(operation_id)).required_approvals == (ApprovalRole.CUSTOMER,)
    assert await talk.reserve(operation_id, found, at=at, judge=lenient) is ReserveResult.RESERVED
    assert await approvals(talk) == (0, 1, 1)


async def test_policy_is_asked_with_the_approvals_that_still_hold(talk: Talk) -> None:
    operation_id = await talk.approved()
    asked: list[PolicyQuestion] = []

    def listening(digest: str, question: PolicyQuestion) -> Judgement:
        asked.append(question)
        assert digest == BUNDLE
        return rule(digest, question)

    await talk.reserve(operation_id, judge=listening)
    (question,) = asked
    assert [r.value for r in question.granted] == ["customer"]
    assert (question.refunds_30d_count, question.customer_status, question.stage) == (0, "active", "approval_required")


def permitting(digest: str, question: PolicyQuestion) -> Judgement:
    """Nobody is asked, whatever was consented to."""
    verdict = Verdict(kind=VerdictKind.PERMIT, rule_ids=("r",), required=question.granted, policy_digest=digest)
    return Judgement(verdict=verdict, request={}, granted=question.granted)


def as_manager_too(digest: str, question: PolicyQuestion) -> Judgement:
    return rule(digest, question.model_copy(update={"payload": _larger(question)}))


def _larger(question: PolicyQuestion) -> Any:
    return question.payload.model_copy(update={"amount_minor": LARGE})


async def test_what_is_permitted_on_other_evidence_is_bound_to_it_before_anything_is_sent(talk: Talk) -> None:
    operation_id = await talk.approved()
    changed = order(refunded=100)
    assert await talk.reserve(operation_id, await talk.read(changed), judge=permitting) is ReserveResult.ASK_AGAIN
    action = await talk.action(operation_id)
    assert action.state is ActionState.AWAITING_APPROVAL
    assert (action.evidence_digest, action.required_approvals) == (
        evidence_digest("shop", action.payload, changed),
        (),
    )
    assert await approvals(talk) == (0, 0, 1)  # consent to what was shown before is void, not used
    assert await talk.reserve(operation_id, await talk.read(changed), judge=permitting) is ReserveResult.RESERVED


async def test_nothing_is_sent_without_a_consent_that_it_still_asks_for(talk: Talk) -> None:
    operation_id = await talk.proposed()
    assert await talk.reserve(operation_id, judge=permitting) is ReserveResult.ASK_AGAIN
    assert (await talk.action(operation_id)).required_approvals == ()
    assert await approvals(talk) == (0, 0, 0)


async def test_a_person_who_is_newly_needed_has_their_own_time_and_is_reminded_within_it(talk: Talk) -> None:
    operation_id = await talk.approved()  # the customer has half an hour
    at = later(1_750)
    found = await talk.read(observed_at=at)
    assert await talk.reserve(operation_id, found, at=at, judge=as_manager_too) is ReserveResult.ASK_AGAIN
    action = await talk.action(operation_id)
    assert (action.expires_at - at).total_seconds() >= STAFF_TTL_S
    due = reminder_due_at(action)
    assert due is not None
    assert (due - at).total_seconds() >= STAFF_TTL_S / 3
    assert not await remind(talk.db, talk.tenant, operation_id, at)
    again = await talk.read(observed_at=at)
    assert await talk.reserve(operation_id, again, at=at, judge=as_manager_too) is ReserveResult.ASK_AGAIN
    assert (await talk.action(operation_id)).expires_at == action.expires_at  # asking twice gives no more time


async def test_a_decision_that_waited_for_a_publication_is_made_under_what_was_published(
    talk: Talk, postgres: Postgres, make_tenant: MakeTenant
) -> None:
    make_tenant(policy_digest="newer-bundle")
    operation_id = await talk.proposed()
    asked: list[str] = []

    def listening(digest: str, question: ToolQuestion) -> bool:
        asked.append(digest)
        return by_table(digest, question)

    async with publishing(postgres, talk.tenant, "newer-bundle") as until_waiting:
        deciding = asyncio.create_task(talk.decide(operation_id, allows=listening))
        await until_waiting(deciding)
    with pytest.raises(ApprovalStale, match="another policy"):
        await deciding
    assert set(asked) == {"newer-bundle"}


async def test_a_claim_that_waited_at_the_gate_is_as_old_as_that(
    talk: Talk, postgres: Postgres, make_tenant: MakeTenant
) -> None:
    make_tenant(policy_digest="newer-bundle")
    operation_id = await talk.reserved()
    async with publishing(postgres, talk.tenant, "newer-bundle") as until_waiting:
        claiming = asyncio.create_task(talk.claim(operation_id))
        await until_waiting(claiming)
        passed = now()
    await claiming
    sent_at = (await talk.action(operation_id)).sent_at
    assert sent_at is not None
    assert sent_at > passed


def parcel(seen_s: float, status: str = "paid") -> Account:
    """An order whose parcel was last heard of `seen_s` seconds ago."""
    shipment = Shipment(status="label_created", observed_at=later(-seen_s))
    return Account(orders=(Order(id="A-1", status=status, currency="EUR", captured_minor=SMALL, refunded_minor=0,
                                 version=1, shipment=shipment),))  # fmt: skip


async def cancelling(talk: Talk, account: Account) -> str:
    """A cancellation that its customer has confirmed."""
    payload = CancelOrderPayload(
        customer_id=talk.customer.id, order_id="A-1", reason="no_longer_needed", amount_minor=SMALL, currency="EUR",
        resource_version=1,
    )  # fmt: skip
    operation_id = await talk.proposed(payload=payload, found=await talk.read(account))
    await talk.read(account)  # what a proposal of the world reads of itself is another one
    await talk.decide(operation_id)
    return operation_id


async def test_a_parcel_that_was_not_heard_of_while_people_decided_is_asked_about_and_denies_nothing(
    talk: Talk,
) -> None:
    operation_id = await cancelling(talk, parcel(3_500))
    at = later(200)
    aged = parcel(3_500)
    found = await talk.read(aged, observed_at=at)
    assert await talk.reserve(operation_id, found, at=at) is ReserveResult.STALE_EVIDENCE
    assert (await load_progress(talk.db, talk.tenant, operation_id, at)).refresh == ("A-1",)
    at = later(201)
    heard = await talk.read(parcel(0), observed_at=at)
    assert (await load_progress(talk.db, talk.tenant, operation_id, at)).refresh == ()
    assert await talk.reserve(operation_id, heard, at=at) is ReserveResult.RESERVED


async def test_a_parcel_that_has_arrived_is_not_waited_for(talk: Talk) -> None:
    operation_id = await cancelling(talk, parcel(90_000, "delivered"))
    assert (await load_progress(talk.db, talk.tenant, operation_id, now())).refresh == ()
    assert await talk.reserve(operation_id, await talk.read(parcel(90_000, "delivered"))) is ReserveResult.RESERVED


async def test_an_unread_message_or_another_owner_is_seen_before_anything_is_read(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.approved()
    assert (await reservation_facts(talk.db, talk.tenant, operation_id, now())).refused is None
    await talk.say("Wait!")
    waits = await reservation_facts(talk.db, talk.tenant, operation_id, now())
    assert waits.refused is ReserveResult.UNCONSIDERED
    other = await Talk(talk.db, talk.words, talk.customer).begin()
    mine = await other.acted(ann, "A-2")
    await other.say("Wait!")
    assert (await reservation_facts(talk.db, talk.tenant, mine, now())).refused is ReserveResult.UNCONSIDERED
    await other.reply(ann)
    woken = "SELECT count(*) FROM outbox WHERE operation_id = :op AND event_seq = :seq"
    assert await other.all(woken, op=mine, seq=(await other.row()).version) == [(1,)]
    assert (await reservation_facts(talk.db, talk.tenant, mine, now())).refused is None
