"""Laws of the stage draft_only: the bot drafts, a person lets it out; what waits neither spins nor is lost (1, 3)."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest
import pytest_asyncio

from domain.conversation import EventKind, Owner, Phase
from domain.draft_review import DraftState
from domain.errand import Errand
from domain.handoff import HandoffReason
from domain.refusal import DraftStale
from relay.temporal import Waker
from store.handoffs import open_handoff
from tests.workflows.layers import at_stage
from tests.workflows.reviewing import accepts, draft_of, rejects, renew, review, waiting
from tests.workflows.scene import Scene, hint, until
from tests.workflows.shop_world import MARKET
from tests.workflows.stage import IDLE_CLOSE_S, Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module", autouse=True)
def _draft_only(stage: Stage) -> Iterator[None]:
    with at_stage(stage.settings, MARKET, "draft_only"):
        yield


@pytest_asyncio.fixture(loop_scope="module")
async def drafted(scene: Scene) -> Scene:
    """A scene in which a draft waits, and the workflow rests."""
    await scene.ask_status()
    await draft_of(scene)
    await scene.at_rest()
    return scene


async def steps(scene: Scene) -> int:
    return (await scene.handle.describe()).history_length


async def shows(scene: Scene, what: str, value: object) -> None:
    """Wait until the workflow says so of itself: its own view follows the log by a moment."""

    async def said() -> bool:
        return bool((await scene.handle.query("state"))[what] == value)

    await until(said, f"{what} to be {value}")


async def why_a_person(scene: Scene) -> str:
    await scene.owned_by(Owner.HUMAN)
    async with scene.stage.db.transaction(scene.tenant) as tx:
        found = await open_handoff(tx, scene.id)
        assert found is not None
        return str(found.reason)


async def test_an_answer_waits_for_a_person_and_is_sent_once(drafted: Scene) -> None:
    assert [e.kind for e in await drafted.log()] == [EventKind.CUSTOMER_MESSAGE, EventKind.NOTICE]
    await shows(drafted, "phase", Phase.DRAFTING.value)
    done = await review(drafted, accepts())
    (reply,) = await drafted.answered()
    await drafted.at_rest()
    assert (reply.seq, reply.body["reviewed_by"]) == (done.seq, "staff:ann")
    assert drafted.person.order(4) in reply.body["text"]
    await shows(drafted, "phase", Phase.IDLE.value)
    await drafted.ask_status(2)
    await draft_of(drafted)
    assert len(await drafted.answers()) == 1


async def test_what_waits_is_left_alone_by_sweeps_wakes_and_idleness(scene: Scene) -> None:
    scene.stage = replace(scene.stage, waker=Waker(scene.stage.client, scene.stage.settings.task_queue, 1))
    await scene.ask_status()
    draft = await draft_of(scene)
    for _ in range(5):
        await scene.stage.waker.wake(hint(scene))
    await scene.at_rest()
    before = await steps(scene)
    await asyncio.sleep(3.0)
    assert await steps(scene) - before < 50  # a look a second, and nothing else
    await shows(scene, "turns", 1)
    assert await waiting(scene) is not None
    assert (await scene.view()).owner is Owner.BOT
    await review(scene, accepts(), draft_id=draft.draft_id)
    await scene.answered()


async def test_what_waits_outlives_a_continuation_and_the_workflow_itself(scene: Scene) -> None:
    waker = Waker(scene.stage.client, scene.stage.settings.task_queue, IDLE_CLOSE_S, signals_per_run_max=3)
    scene.stage = replace(scene.stage, waker=waker)
    await scene.ask_status()
    draft = await draft_of(scene)
    for _ in range(7):
        await waker.wake(hint(scene))
        await asyncio.sleep(0.1)
    await scene.at_rest()
    await scene.handle.terminate()
    await waker.wake(hint(scene))
    await until(lambda: _runs(scene), "a new run")
    found = await draft_of(scene)
    assert found.draft_id == draft.draft_id
    await review(scene, accepts())
    assert len(await scene.answered()) == 1


async def _runs(scene: Scene) -> bool:
    return bool((await scene.handle.query("state"))["version"])


async def test_a_newer_message_has_one_draft_made_over_both(drafted: Scene) -> None:
    first = await draft_of(drafted)
    await drafted.say("And when will it be here?")
    second = await draft_of(drafted, first.draft_id)
    assert len(second.messages) == 2
    with pytest.raises(DraftStale):
        await review(drafted, accepts(), draft_id=first.draft_id)
    await review(drafted, accepts("Tomorrow."))
    (reply,) = await drafted.answered()
    assert reply.body["text"].endswith("Tomorrow.")
    assert len(await drafted.log(EventKind.NOTICE)) == 1


async def test_a_message_while_the_draft_is_being_made_is_in_it(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.KEEP_DRAFT, scene.id)
    await scene.ask_status()
    await gate.until_reached()
    await scene.say("And when will it be here?")
    gate.open()
    assert len((await draft_of(scene)).messages) == 2
    await scene.at_rest()


async def test_a_takeover_while_the_draft_is_being_made_leaves_none(scene: Scene) -> None:
    gate = scene.stage.gates.before(Errand.KEEP_DRAFT, scene.id)
    await scene.ask_status()
    await gate.until_reached()
    await scene.take_over()
    gate.open()
    await scene.at_rest()
    assert (await waiting(scene), await scene.answers()) == (None, [])


async def test_a_draft_that_was_taken_over_is_made_anew_after_the_release(drafted: Scene) -> None:
    first = await draft_of(drafted)
    await drafted.take_over()
    await drafted.release()
    await draft_of(drafted, first.draft_id)
    with pytest.raises(DraftStale):
        await review(drafted, accepts(), draft_id=first.draft_id)
    assert await drafted.answers() == []


async def test_who_rejects_a_draft_answers_and_the_bot_goes_on_with_what_comes_after(drafted: Scene) -> None:
    done = await review(drafted, rejects(), who="ben")
    assert (done.state, await why_a_person(drafted)) == (DraftState.REJECTED, HandoffReason.DRAFT_REJECTED)
    await drafted.reply("It is with the carrier.", who="ben")
    await drafted.release("ben")
    await drafted.at_rest()
    assert (await waiting(drafted), await drafted.answers()) == (None, [])


async def test_a_renewed_draft_is_another_one(drafted: Scene) -> None:
    first = await draft_of(drafted)
    await renew(drafted, first.draft_id)
    second = await draft_of(drafted, first.draft_id)
    assert second.evidence[0].observed_at > first.evidence[0].observed_at
    assert len(await drafted.log(EventKind.NOTICE)) == 1


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("I want to talk to a person, please.", HandoffReason.HANDOFF_REQUESTED),
        ("I want a refund for order {order}, please", HandoffReason.POLICY_FORBIDS),
    ],
)
async def test_what_is_more_than_words_goes_to_a_person(says: str, why: HandoffReason, scene: Scene) -> None:
    await scene.say(says.format(order=scene.person.order()))
    assert await why_a_person(scene) == why
    assert (await waiting(scene), await scene.actions()) == (None, [])
