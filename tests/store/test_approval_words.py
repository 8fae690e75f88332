"""A "yes" in words is consent only where the bundle says so, to the one unchanged proposal that was said last."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from domain.conversation import EventKind
from domain.permission import Tool, ToolQuestion
from domain.principal import VerifiedPrincipal
from domain.step import Confirm
from domain.turn import Effect, ReserveResult, TurnFence
from store.approval_words import confirm_in_words, confirmable
from tests.conftest import MakeTenant, put_in_force
from tests.postgres import Postgres
from tests.store.publications import publishing
from tests.store.terms import LARGE, SMALL, later, now, order
from tests.store.world import Talk

Staff = VerifiedPrincipal
Owner = psycopg.Connection[Any]
Change = Callable[[Talk], Awaitable[Any]]


def in_words(digest: str, question: ToolQuestion) -> bool:
    """Words count for small refunds."""
    small = question.kind == "refund" and question.amount_minor <= SMALL
    return question.tool is Tool.CONSENT_IN_WORDS and question.role == "customer" and small


def never(digest: str, question: ToolQuestion) -> bool:
    return False


async def could(talk: Talk, allows: Any = in_words, at: Any = None) -> Confirm | None:
    return await confirmable(talk.db, talk.tenant, talk.id, allows, at or now())


async def confirm(talk: Talk, fence: TurnFence, said: Confirm, allows: Any = in_words, at: Any = None) -> Effect:
    return await confirm_in_words(talk.db, fence, said, allows, [], "en", at or now())


async def asked_and_said_yes(talk: Talk, amount: int = SMALL) -> tuple[str, Confirm, TurnFence]:
    operation_id = await talk.proposed(amount)
    said = await talk.say("Yes")
    return operation_id, Confirm(operation_id=operation_id, said_seq=said.seq), await talk.fence()


async def given(talk: Talk) -> list[tuple[str, str, int | None]]:
    return await talk.all("SELECT approver, role, said_seq FROM approvals")


async def test_a_yes_to_what_was_said_last_is_the_customers_approval_and_answers_the_message(talk: Talk) -> None:
    operation_id, said, fence = await asked_and_said_yes(talk)
    assert await could(talk) == said
    assert await confirm(talk, fence, said) is Effect.DONE
    assert await confirm(talk, fence, said) is Effect.DONE  # again after a crash: its own result
    assert await given(talk) == [(talk.customer.key, "customer", said.said_seq)]
    (event,) = await talk.log(EventKind.APPROVAL)
    assert (event.actor, event.body["answers_through"]) == (talk.customer.key, said.said_seq)
    assert (await talk.row()).answered_seq == said.said_seq
    assert await talk.all("SELECT count(*) FROM outbox WHERE operation_id IS NOT NULL") == [(1,)]
    assert await talk.reserve(operation_id) is ReserveResult.RESERVED


async def test_where_the_bundle_does_not_allow_it_words_are_no_consent(talk: Talk) -> None:
    _, said, fence = await asked_and_said_yes(talk)
    assert await could(talk, never) is None
    assert await confirm(talk, fence, said, never) is Effect.OVERTAKEN
    assert await given(talk) == []


async def test_the_amount_is_the_bundles_to_judge(talk: Talk) -> None:
    await asked_and_said_yes(talk, LARGE)
    assert await could(talk) is None


async def _newer_message(talk: Talk) -> None:
    await talk.say("Wait, stop!")


async def _takeover(talk: Talk) -> None:
    await talk.take_over(talk.anybody)


async def _new_evidence(talk: Talk) -> None:
    await talk.read(order(refunded=100))


async def _button(talk: Talk) -> None:
    await talk.decide((await talk.row()).actions[-1].operation_id)


RACES: list[tuple[Change, Effect]] = [
    (_newer_message, Effect.NEWER_MESSAGE),
    (_takeover, Effect.FENCED),
    (_new_evidence, Effect.OVERTAKEN),
    (_button, Effect.OVERTAKEN),
]


@pytest.mark.parametrize(("change", "effect"), RACES, ids=lambda x: getattr(x, "__name__", None))
async def test_what_happens_between_the_yes_and_its_record_ends_it(change: Change, effect: Effect, talk: Talk) -> None:
    _, said, fence = await asked_and_said_yes(talk)
    await change(talk)
    assert await confirm(talk, fence.model_copy(update={"last_round": True}), said) is effect
    assert [seq for *_, seq in await given(talk) if seq is not None] == []
    assert await could(talk) is None


async def test_a_policy_change_between_the_yes_and_its_record_ends_it(
    talk: Talk, owner: Owner, make_tenant: MakeTenant
) -> None:
    _, said, fence = await asked_and_said_yes(talk)
    make_tenant(policy_digest="newer-bundle")
    put_in_force(owner, talk.tenant, "newer-bundle")
    assert await could(talk) is None
    assert await confirm(talk, fence, said) is Effect.OVERTAKEN
    assert await given(talk) == []


async def test_a_yes_that_came_too_late_ends_it(talk: Talk) -> None:
    operation_id = await talk.proposed(ttl_s=60)
    said = await talk.say("Yes")
    ask = Confirm(operation_id=operation_id, said_seq=said.seq)
    assert await confirm(talk, await talk.fence(), ask, at=later(61)) is Effect.OVERTAKEN


async def test_a_yes_to_anything_said_since_or_to_two_proposals_is_no_consent(talk: Talk, manager: Staff) -> None:
    await talk.proposed()
    await talk.say("Hello?")
    await talk.publish()
    await talk.say("Yes")
    assert await could(talk) is None  # the bot has said something else since
    await talk.publish()
    await talk.proposed(order_id="A-2")
    await talk.say("Yes")
    assert await could(talk) is None  # which of the two?


async def test_of_two_messages_neither_is_the_yes(talk: Talk) -> None:
    await talk.proposed()
    await talk.say("Yes")
    await talk.say("Yes")
    assert await could(talk) is None


async def test_a_yes_and_the_button_at_once_are_one_approval(talk: Talk) -> None:
    operation_id, said, fence = await asked_and_said_yes(talk)
    await asyncio.gather(confirm(talk, fence, said), talk.decide(operation_id), confirm(talk, fence, said))
    assert len(await given(talk)) == 1
    assert await talk.reserve(operation_id) in (ReserveResult.RESERVED, ReserveResult.UNCONSIDERED)


async def test_what_the_ledger_has_asked_anew_is_not_confirmed_in_words_which_may_have_been_on_their_way(
    talk: Talk, owner: Owner, make_tenant: MakeTenant
) -> None:
    operation_id = await talk.proposed()
    make_tenant(policy_digest="newer-bundle")
    put_in_force(owner, talk.tenant, "newer-bundle")
    assert await talk.reserve(operation_id) is ReserveResult.ASK_AGAIN
    said = Confirm(operation_id=operation_id, said_seq=(await talk.say("Yes")).seq)
    assert await could(talk) is None
    assert await confirm(talk, await talk.fence(), said) is Effect.OVERTAKEN
    digest = (await talk.action(operation_id)).payload_digest
    with pytest.raises(psycopg.errors.CheckViolation, match="does not fit"):  # nor does the database take it
        owner.execute(
            "INSERT INTO approvals (tenant_id, operation_id, approver, role, decision, payload_digest, policy_digest,"
            " evidence_digest, said_seq, expires_at) SELECT tenant_id, operation_id, %s, 'customer', 'approve', %s,"
            " policy_digest, evidence_digest, %s, expires_at FROM actions WHERE operation_id = %s",
            (talk.customer.key, digest, said.said_seq, operation_id),
        )
    assert await given(talk) == []


@pytest.mark.parametrize("change", ["policy", "evidence"])
async def test_a_yes_to_what_was_overtaken_wakes_its_action_to_ask_anew(
    change: str, talk: Talk, owner: Owner, make_tenant: MakeTenant
) -> None:
    operation_id, said, fence = await asked_and_said_yes(talk)
    if change == "policy":
        make_tenant(policy_digest="newer-bundle")
        put_in_force(owner, talk.tenant, "newer-bundle")
    else:
        await talk.read(order(refunded=100))
    woken = "SELECT operation_id FROM outbox WHERE operation_id IS NOT NULL"
    assert await confirm(talk, fence, said) is Effect.OVERTAKEN
    assert await talk.all(woken) == []
    assert await could(talk) is None
    assert await talk.all(woken) == [(operation_id,)]


async def test_a_yes_that_waited_for_a_publication_is_judged_under_what_was_published(
    talk: Talk, postgres: Postgres, make_tenant: MakeTenant
) -> None:
    make_tenant(policy_digest="newer-bundle")
    _, said, fence = await asked_and_said_yes(talk)
    asked: list[str] = []

    def listening(digest: str, question: ToolQuestion) -> bool:
        asked.append(digest)
        return in_words(digest, question)

    async with publishing(postgres, talk.tenant, "newer-bundle") as until_waiting:
        deciding = asyncio.create_task(confirm(talk, fence, said, listening))
        await until_waiting(deciding)
    assert await deciding is Effect.OVERTAKEN
    assert set(asked) == {"newer-bundle"}
