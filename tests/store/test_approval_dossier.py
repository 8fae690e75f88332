"""What an approver looks at: the facts, the rules and the words of others, from the ledger and the evidence alone."""

from datetime import timedelta

from domain.action import ApprovalDecision, ApprovalRole, Cause
from domain.approving import by_table
from domain.principal import StaffRole, VerifiedPrincipal
from domain.refusal import NotAllowedReason, NotFound, StaleReason
from store.approval_dossier import Dossier, dossier
from store.approval_pace import pace, pace_of
from tests.conftest import MakeStaff, MakeTenant
from tests.store.terms import LARGE, now, order
from tests.store.world import Talk

Person = VerifiedPrincipal


async def look(talk: Talk, operation_id: str, who: Person) -> Dossier:
    return await dossier(talk.db, who, operation_id, now(), by_table)


async def test_a_dossier_holds_the_facts_the_rules_and_who_may_decide(talk: Talk, manager: Person, ann: Person) -> None:
    operation_id = await talk.proposed(LARGE)
    told = await look(talk, operation_id, manager)
    assert told.facts is not None
    assert told.facts.resource is not None
    assert told.judged is not None
    assert (told.facts.source, told.facts.resource["id"], told.facts_now) == ("shop", "A-1", None)
    assert (told.judged.verdict, told.judged.rules) == ("ask", ("rule",))
    assert told.missing == (ApprovalRole.CUSTOMER, ApprovalRole.MANAGER)
    assert told.yours.roles == (ApprovalRole.MANAGER,)
    assert (await look(talk, operation_id, ann)).yours.why_not is NotAllowedReason.WRONG_ROLE


async def test_what_was_said_counts_until_it_is_void(talk: Talk, manager: Person) -> None:
    operation_id = await talk.proposed(LARGE)
    await talk.decide(operation_id)
    await talk.decide(operation_id, manager)
    told = await look(talk, operation_id, manager)
    assert [(g.role, g.counts) for g in told.approvals] == [(ApprovalRole.CUSTOMER, True), (ApprovalRole.MANAGER, True)]
    assert (told.missing, told.yours.decided) == ((), ApprovalDecision.APPROVE)
    await talk.read(order(refunded=500))
    after = await look(talk, operation_id, manager)
    assert after.overtaken is StaleReason.EVIDENCE_CHANGED
    assert after.facts_now is not None
    assert after.facts_now.resource is not None
    assert after.facts_now.resource["refunded_minor"] == 500


async def test_a_changed_proposal_shows_what_it_replaces(talk: Talk, manager: Person) -> None:
    first = await talk.proposed(LARGE)
    second = await talk.proposed(LARGE + 100)
    told = await look(talk, second, manager)
    assert told.replaces is not None
    assert told.replaces.operation_id == first
    assert (told.replaces.cause, told.replaces.payload["amount_minor"]) == (Cause.SUPERSEDED, LARGE)
    earlier = await look(talk, first, manager)
    assert earlier.replaced_by is not None
    assert earlier.replaced_by.operation_id == second


async def test_nobody_reads_the_dossier_of_another_tenant(
    talk: Talk, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    operation_id = await talk.proposed(LARGE)
    stranger = make_staff(make_tenant(), StaffRole.MANAGER)
    try:
        await look(talk, operation_id, stranger)
    except NotFound:
        return
    raise AssertionError("it was shown")


async def test_the_pace_counts_each_decision_of_the_asking_person(talk: Talk, manager: Person, ann: Person) -> None:
    begun = now()
    for _ in range(2):
        await talk.decide(await talk.proposed(LARGE), manager)
    told = await pace_of(talk.db, manager, now())
    assert (told.decided_last_10_min, told.decided_last_min, len(told.items)) == (2, 2, 2)
    assert told.median_seconds_apart is not None
    assert told.median_seconds_apart < (now() - begun).total_seconds()
    assert (await pace_of(talk.db, ann, now())).items == ()


def test_a_minute_ago_is_not_lately() -> None:
    at = now()
    told = pace(
        [("a", ApprovalDecision.APPROVE, at - timedelta(seconds=s)) for s in (300, 61, 60, 1)],
        at,
    )
    assert (told.decided_last_10_min, told.decided_last_min, told.median_seconds_apart) == (4, 2, 59)
    assert [item.apart_s for item in told.items] == [59, 1, 239, None]
