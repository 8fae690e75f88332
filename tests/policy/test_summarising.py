"""A summary is a fold over turns: every part has its event, nothing but labels and own resources gets in."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.conversation import Owner
from domain.errand import Considered
from domain.handoff import HandoffReason
from domain.step import Answer, Clarify, HandOff, Propose, Question, Step, Topic
from domain.summary import Constraint, Correction, Goal, OpenQuestion, Summary, TurnNote
from domain.understanding import Intent, Need, TurnContext, Understanding
from policy.turn.summarising import KEPT_MAX, NAMED_MAX, SUMMARY_EVERY, recalled, summarise, summary_due

I = Intent  # noqa: E741 — the tables read better so
ONE, TWO = "order:A-1", "order:A-2"


def turn(seq: int, intent: Intent, resource: str | None = None, **more: Any) -> TurnNote:
    return TurnNote(seq=seq, intent=intent, resource=resource, **more)


def told(*notes: TurnNote) -> Summary:
    return summarise(Summary(), notes)


def test_goals_are_kept_in_order_and_told_with_more_once_more_is_known() -> None:
    found = told(
        turn(1, I.ORDER_STATUS, ONE),
        turn(3, I.REFUND_REQUEST, question="which_order"),
        turn(5, I.THANKS_GREETING),
        turn(7, I.DAMAGED_ITEM, TWO),
    )
    assert found.goals == (
        Goal(intent=I.ORDER_STATUS, resource=ONE, seq=1),
        Goal(intent=I.DAMAGED_ITEM, resource=TWO, seq=3),
    )
    assert (found.named, found.through_seq, found.open_questions) == ((ONE, TWO), 7, ())


def test_small_talk_answers_no_question() -> None:
    found = told(turn(1, I.REFUND_REQUEST, question="which_order"), turn(3, I.THANKS_GREETING))
    assert found.open_questions == (OpenQuestion(question="which_order", seq=1),)


def test_a_correction_is_kept_with_what_was_and_what_is() -> None:
    found = told(turn(1, I.REFUND_REQUEST, ONE), turn(4, I.REFUND_REQUEST, TWO, corrects=True))
    assert found.goals == (Goal(intent=I.REFUND_REQUEST, resource=TWO, seq=4),)
    assert found.corrections == (Correction(was=ONE, now=TWO, seq=4),)
    assert found.constraints == (Constraint(label=f"not:{ONE}", seq=4),)
    back = summarise(found, [turn(8, I.REFUND_REQUEST, ONE, corrects=True)])
    assert [c.label for c in back.constraints] == [f"not:{TWO}"]
    assert [c.now for c in back.corrections] == [TWO, ONE]


def test_what_is_taken_back_is_no_goal_any_more() -> None:
    found = told(turn(1, I.ORDER_STATUS, ONE), turn(3, I.REFUND_REQUEST, TWO), turn(6, I.REFUSAL, withdraws=True))
    assert found.goals == (Goal(intent=I.ORDER_STATUS, resource=ONE, seq=1),)
    assert found.corrections == (Correction(was=TWO, now=None, seq=6),)


def test_what_waits_is_told_with_the_event_in_which_it_was_said() -> None:
    waits = (Need(intent=I.CHANGE_ADDRESS, resource=TWO, amount="500 EUR"),)
    found = told(turn(1, I.ORDER_STATUS, ONE, waiting=waits), turn(3, I.THANKS_GREETING, waiting=waits))
    assert found.waiting == (Goal(intent=I.CHANGE_ADDRESS, resource=TWO, seq=1),)
    assert summarise(found, [turn(5, I.CHANGE_ADDRESS, TWO)]).waiting == ()


NOTES = st.lists(
    st.builds(
        TurnNote,
        seq=st.integers(1, 60),
        intent=st.sampled_from(list(Intent)),
        resource=st.sampled_from([None, *(f"order:A-{n}" for n in range(30))]),
        question=st.sampled_from([None, *(q.value for q in Question)]),
        corrects=st.booleans(),
        withdraws=st.booleans(),
        named=st.lists(st.sampled_from([f"order:B-{n}" for n in range(30)]), max_size=3).map(tuple),
    ),
    max_size=40,
    unique_by=lambda note: note.seq,
).map(lambda notes: sorted(notes, key=lambda note: note.seq))


@given(NOTES, st.integers(0, 40))
def test_where_a_summary_is_kept_changes_nothing_that_it_comes_to(notes: list[TurnNote], cut: int) -> None:
    assert summarise(summarise(Summary(), notes[:cut]), notes[max(0, cut - 2) :]) == summarise(Summary(), notes)


@given(NOTES)
def test_every_part_names_an_event_and_none_grows_without_end(notes: list[TurnNote]) -> None:
    found, seqs = summarise(Summary(), notes), {n.seq for n in notes}
    for parts in (found.goals, found.waiting, found.constraints, found.open_questions, found.corrections):
        assert {part.seq for part in parts} <= seqs
        assert len(parts) <= KEPT_MAX
    assert len(found.named) <= NAMED_MAX
    assert not any(c.now is not None and c.was == c.now for c in found.corrections)


def considered(step: Step, seq: int = 9) -> Considered:
    return Considered(
        owner=Owner.BOT,
        owner_epoch=1,
        version=seq,
        answered_seq=0,
        through_seq=seq,
        language="en",
        step=step,
        understood=Understanding(intent=I.REFUND_REQUEST, language="en"),
        updated_at=datetime(2026, 11, 20, tzinfo=UTC),
    )


def test_a_summary_is_due_at_every_fourth_turn_and_at_a_handoff() -> None:
    since = [turn(n, I.ORDER_STATUS, ONE) for n in range(1, SUMMARY_EVERY)]
    answer = considered(Answer(topic=Topic.GREETING))
    assert summary_due(Summary(), since[:-1], answer) is None
    assert summary_due(Summary(through_seq=1), since, answer) is None
    due = summary_due(Summary(), since, answer)
    assert due is not None
    assert due.through_seq == 9
    assert summary_due(Summary(), [], considered(HandOff(reason=HandoffReason.OUT_OF_SCOPE))) is not None


def test_no_amount_is_ever_in_a_summary() -> None:
    step = Propose(kind="refund", resource=ONE, amount_minor=4711, currency="EUR")
    more = {"amount": "4711 EUR", "waiting": (Need(intent=I.REFUND_REQUEST, amount="4711 EUR"),)}
    kept = summary_due(
        Summary(), [turn(n, I.ORDER_STATUS) for n in range(1, 5)], considered(step).model_copy(update=more)
    )
    assert kept is not None
    assert "4711" not in kept.model_dump_json()
    assert kept.goals[-1] == Goal(intent=I.REFUND_REQUEST, resource=ONE, seq=9)


def test_the_context_reaches_back_through_the_summary() -> None:
    kept = told(turn(1, I.ORDER_STATUS, ONE), turn(3, I.REFUND_REQUEST, TWO))
    context = recalled(TurnContext(intent=I.THANKS_GREETING), kept, [turn(5, I.THANKS_GREETING)])
    assert (context.goal, context.named) == (Need(intent=I.REFUND_REQUEST, resource=TWO), (ONE, TWO))


def test_a_question_is_noted_with_its_turn() -> None:
    kept = summary_due(
        Summary(), [turn(n, I.THANKS_GREETING) for n in range(1, 5)], considered(Clarify(question=Question.WHICH_ORDER))
    )
    assert kept is not None
    assert kept.open_questions == (OpenQuestion(question="which_order", seq=9),)
