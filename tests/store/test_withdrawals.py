"""Laws of withdrawals: the holder calls off what was not sent, at once and for good; nobody else, and nothing else."""

import pytest

from domain.action import ActionState, Cause
from domain.principal import VerifiedPrincipal
from domain.refusal import ActionInFlight, NotFound, NotOwned
from domain.turn import ReserveResult
from store.withdrawals import withdraw
from tests.conftest import MakeStaff, MakeTenant
from tests.store.world import Talk

Staff = VerifiedPrincipal


async def test_the_holder_calls_off_what_was_approved_and_it_is_never_sent(talk: Talk, ann: Staff) -> None:
    operation_id = (await (await talk.taken(ann)).act(ann)).operation_id
    await talk.decide(operation_id)
    done = await withdraw(talk.db, ann, operation_id, talk.words, talk.clock())
    assert (done.state, done.cause) == (ActionState.REJECTED, Cause.WITHDRAWN)
    assert await talk.reserve(operation_id) is ReserveResult.MOVED
    again = await withdraw(talk.db, ann, operation_id, talk.words, talk.clock())
    assert again == done


async def test_only_the_holder_calls_off(
    talk: Talk, ann: Staff, make_staff: MakeStaff, make_tenant: MakeTenant
) -> None:
    operation_id = (await (await talk.taken(ann)).act(ann)).operation_id
    with pytest.raises(NotOwned):
        await withdraw(talk.db, make_staff(talk.tenant), operation_id, talk.words, talk.clock())
    with pytest.raises(NotFound):
        await withdraw(talk.db, make_staff(make_tenant()), operation_id, talk.words, talk.clock())
    assert (await talk.action(operation_id)).state is ActionState.AWAITING_APPROVAL


async def test_what_may_have_been_sent_is_not_called_off(talk: Talk, ann: Staff) -> None:
    operation_id = await talk.claimed()
    await talk.take_over(ann)
    with pytest.raises(ActionInFlight):
        await withdraw(talk.db, ann, operation_id, talk.words, talk.clock())
    assert (await talk.action(operation_id)).state is ActionState.SUBMITTED
