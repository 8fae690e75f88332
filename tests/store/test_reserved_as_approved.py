"""INVARIANTS 4, 9: an action is submitted only as approved, under the policy in force, on fresh evidence."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from domain.action import ActionState, Cause
from domain.conversation import EventKind
from domain.principal import VerifiedPrincipal
from domain.turn import ReserveResult
from domain.verdict import Judgement, PolicyQuestion, Verdict, VerdictKind
from store.dispatch import reservation_facts
from store.ledger import load_progress
from tests.conftest import MakeTenant, put_in_force
from tests.store.terms import BUNDLE, LARGE, SMALL, later, now, order, rule
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


async def test_an_approval_that_was_not_needed_and_ran_out_is_not_consumed(talk: Talk, manager: Staff) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager, staff_ttl_s=10)

    def lenient(digest: str, question: PolicyQuestion) -> Judgement:
        smaller = question.payload.model_copy(update={"amount_minor": SMALL})
        return rule(digest, question.model_copy(update={"payload": smaller}))

    at = later(11)
    found = await talk.read(observed_at=at)
    assert await talk.reserve(operation_id, found, at=at, judge=lenient) is ReserveResult.RESERVED
    assert await approvals(talk) == (1, 1, 0)


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
