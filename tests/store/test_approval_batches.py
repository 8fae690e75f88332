"""Laws of batches: equal low-risk items alone, refused whole or decided one by one."""

import pytest

from domain.action import ExchangeItemsPayload
from domain.permission import Tool, ToolQuestion
from domain.principal import VerifiedPrincipal
from domain.refusal import ApprovalNotAllowed, NotAllowedReason, NotFound
from store.approval_batches import require_batch
from store.approval_queue import pending_approvals
from tests.conftest import MakeStaff, MakeTenant
from tests.store.terms import LARGE, SMALL, now
from tests.store.world import Talk

Staff = VerifiedPrincipal
BATCH_MAX = LARGE


def lenient(digest: str, question: ToolQuestion) -> bool:
    """Managers give their approval, and up to a limit in a batch."""
    match question.tool:
        case Tool.APPROVE_AS_MANAGER:
            return question.role == "manager"
        case Tool.APPROVE_IN_BATCH:
            return question.role == "manager" and question.amount_minor <= BATCH_MAX
        case _:
            return False


async def why_not(talk: Talk, who: Staff, *operation_ids: str) -> NotAllowedReason:
    with pytest.raises(ApprovalNotAllowed) as refused:
        await require_batch(talk.db, who, operation_ids, lenient, now())
    return refused.value.reason


async def test_equal_low_risk_items_make_a_batch_and_the_queue_says_which(talk: Talk, manager: Staff) -> None:
    one, two = await talk.proposed(LARGE, "A-1"), await talk.proposed(LARGE - 1, "A-2")
    above = await (await talk.beside()).proposed(BATCH_MAX + 1, "A-2")
    await require_batch(talk.db, manager, [one, two], lenient, now())
    items = {i.operation_id: i.batch_with for i in await pending_approvals(talk.db, manager, now(), lenient)}
    assert items == {one: (two,), two: (one,), above: ()}


async def test_any_other_batch_is_refused_whole_with_its_reason(
    talk: Talk, manager: Staff, ann: Staff, make_tenant: MakeTenant, make_staff: MakeStaff
) -> None:
    fine, small = await talk.proposed(LARGE, "A-1"), await talk.proposed(SMALL, "A-2")
    beside = await talk.beside()
    above = await beside.proposed(BATCH_MAX + 1, "A-2")
    assert await why_not(talk, manager, fine, above) is NotAllowedReason.NOT_LOW_RISK
    assert await why_not(talk, ann, fine) is NotAllowedReason.NOT_LOW_RISK
    assert await why_not(talk, manager, fine, small) is NotAllowedReason.WRONG_ROLE
    made = await beside.proposal(LARGE, "A-1")
    dollars = made.model_copy(update={"payload": made.payload.model_copy(update={"currency": "USD"})})
    await beside.say()
    await beside.propose(dollars)
    assert await why_not(talk, manager, fine, made.operation_id) is NotAllowedReason.NOT_ALIKE
    with pytest.raises(NotFound):
        await require_batch(talk.db, manager, [fine, "op-none"], lenient, now())
    with pytest.raises(NotFound):
        await require_batch(talk.db, make_staff(make_tenant()), [fine], lenient, now())


def exchange(talk: Talk, difference_minor: int, currency: str = "EUR") -> ExchangeItemsPayload:
    return ExchangeItemsPayload(
        customer_id=talk.customer.id,
        order_id="A-1",
        item_ids=("a",),
        new_item_ids=("b",),
        payment_method_id="pm_1",
        difference_minor=difference_minor,
        difference_currency=currency,
        resource_version=1,
    )


@pytest.mark.parametrize("sign", [1, -1])
async def test_low_risk_goes_by_what_is_at_stake_whatever_the_kind_calls_it(
    sign: int, talk: Talk, manager: Staff
) -> None:
    talks = [talk, await talk.beside(), await talk.beside()]
    low, above, dollars = [
        await each.proposed(LARGE, payload=exchange(each, sign * stake, currency))
        for each, (stake, currency) in zip(
            talks, [(BATCH_MAX, "EUR"), (BATCH_MAX + 1, "EUR"), (BATCH_MAX, "USD")], strict=True
        )
    ]
    await require_batch(talk.db, manager, [low], lenient, now())
    assert await why_not(talk, manager, above) is NotAllowedReason.NOT_LOW_RISK
    assert await why_not(talk, manager, low, dollars) is NotAllowedReason.NOT_ALIKE


async def test_ones_own_proposal_is_in_no_batch_of_ones_own(talk: Talk, manager: Staff, other_manager: Staff) -> None:
    await talk.take_over(manager)
    own = (await talk.act(manager, LARGE)).operation_id
    other = await (await talk.beside()).proposed(LARGE, "A-2")
    assert await why_not(talk, manager, own, other) is NotAllowedReason.OWN_PROPOSAL
    items = {i.operation_id: i.batch_with for i in await pending_approvals(talk.db, manager, now(), lenient)}
    assert items == {own: (), other: ()}
    await require_batch(talk.db, other_manager, [own, other], lenient, now())
