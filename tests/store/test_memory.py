"""What a turn is told of the conversation before it: notes since the last summary, the summary, the latest words."""

from typing import Any

import pytest

from domain.conversation import EventKind
from domain.handoff import HandoffReason
from domain.principal import VerifiedPrincipal
from domain.reply import CheckedReply, Draft, Segment, Source
from domain.summary import Goal, Summary
from domain.turn import Effect
from domain.understanding import Intent, Need
from store import ownership, turns
from store.bundle import handoff_bundle
from store.reading import RECENT_MAX
from store.turns import Behind
from tests.store.world import Talk

Staff = VerifiedPrincipal


def understood(seq: int, intent: Intent = Intent.ORDER_STATUS, **more: Any) -> dict[str, Any]:
    """The body that is kept behind a reply."""
    given: dict[str, Any] = {
        "step": "answer",
        "resource": None,
        "question": None,
        "waiting": [],
        "named": [],
        "amount": None,
    }
    body = {"intent": intent.value, "meant": intent.value, "language": "en", "corrects": False, "through_seq": seq}
    return {**given, **body, "offered": [], **more}


def summed_up(seq: int, **more: Any) -> dict[str, Any]:
    return Summary(through_seq=seq, **more).model_dump(mode="json")


async def answer(talk: Talk, text: str, *behind: tuple[EventKind, dict[str, Any]]) -> None:
    draft = Draft(language="en", segments=(Segment(text=text, source=Source.TEMPLATE, rests_on="x"),))
    reply = CheckedReply(draft=draft, draft_digest=draft.digest)
    done = await turns.publish_reply(talk.db, await talk.fence(), reply, "en", talk.words, list(behind))
    assert done is Effect.DONE


async def test_a_turn_reads_the_notes_since_the_last_summary_and_what_was_said_last(talk: Talk) -> None:
    for n in range(6):
        seq = (await talk.say(f"question {n}")).seq
        kept: Behind = [(EventKind.UNDERSTANDING, understood(seq, named=[f"order:A-{n}"]))]
        if n == 2:
            kept.append((EventKind.SUMMARY, summed_up(seq, named=("order:A-0",))))
        await answer(talk, f"answer {n}", *kept)
    await talk.say("and now?")
    row = await talk.row()
    assert row.summary == Summary(through_seq=5, named=("order:A-0",))
    assert [note.named[0] for note in row.notes if note.seq > 5] == ["order:A-3", "order:A-4", "order:A-5"]
    assert [said.text for said in row.recent[-3:]] == ["answer 4", "question 5", "answer 5"]
    assert len(row.recent) == RECENT_MAX


async def test_a_conversation_without_a_past_has_none(talk: Talk) -> None:
    await talk.say()
    row = await talk.row()
    assert (row.summary, row.notes, row.recent) == (Summary(), (), ())


async def test_what_an_older_version_kept_is_still_a_context(talk: Talk) -> None:
    await talk.say()
    await answer(talk, "yes", (EventKind.UNDERSTANDING, {"intent": "refund_request", "language": "en"}))
    await talk.say()
    row = await talk.row()
    assert (row.context.intent, row.context.waiting, row.notes) == (Intent.REFUND_REQUEST, (), ())


LEFT = {
    "question": "which_order",
    "amount": "500 EUR",
    "offered": ["order:A-1", "order:A-2"],
    "waiting": [{"intent": "change_address", "resource": "order:A-2", "amount": None}],
}


@pytest.mark.parametrize("by_a_person", [False, True])
async def test_what_was_left_open_is_the_next_turns_unless_a_person_had_it_since(
    talk: Talk, ann: Staff, by_a_person: bool
) -> None:
    seq = (await talk.say()).seq
    await answer(talk, "which?", (EventKind.UNDERSTANDING, understood(seq, Intent.REFUND_REQUEST, **LEFT)))
    if by_a_person:
        taken = await talk.take_over(ann)
        await talk.release(ann, taken.owner_epoch)
    await talk.say("hm")
    context = (await talk.row()).context
    assert context.intent is Intent.REFUND_REQUEST
    left = (context.question, context.amount, context.offered, context.waiting)
    waiting = (Need(intent=Intent.CHANGE_ADDRESS, resource="order:A-2"),)
    expected = ("which_order", "500 EUR", ("order:A-1", "order:A-2"), waiting)
    assert left == ((None, None, (), ()) if by_a_person else expected)


async def test_a_handoff_tells_what_waits_what_was_asked_and_what_it_was_all_for(talk: Talk, ann: Staff) -> None:
    seq = (await talk.say("Refund 5 euros, and send the other one to the office.")).seq
    await answer(talk, "which?", (EventKind.UNDERSTANDING, understood(seq, Intent.REFUND_REQUEST, **LEFT)))
    seq = (await talk.say("A person, please.")).seq
    goal = Goal(intent=Intent.REFUND_REQUEST, seq=1)
    kept: Behind = [
        (EventKind.UNDERSTANDING, understood(seq, Intent.ASKS_FOR_PERSON, waiting=LEFT["waiting"])),
        (EventKind.SUMMARY, summed_up(seq, goals=(goal,), open_questions=({"question": "which_order", "seq": 1},))),
    ]
    reason = HandoffReason.HANDOFF_REQUESTED
    await ownership.hand_off(talk.db, await talk.fence(), reason, talk.words, talk.clock(), kept)
    [(handoff_id,)] = await talk.all("SELECT id FROM handoffs WHERE conversation_id = :id")
    bundle = await handoff_bundle(talk.db, ann, handoff_id)
    assert bundle.goal == "refund_request"
    assert bundle.open_questions == (
        "A person, please.",
        "asked for and not dealt with yet: change_address of order:A-2",
        "the customer was asked and has not answered: which_order",
    )
