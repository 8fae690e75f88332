"""Laws of the verdicts: what was seen decides, and each thing that is wrong is said."""

from dataclasses import replace

import pytest

from demo.tour import verdicts
from demo.tour.doors import Answer
from tests.demo import tour_records as seen
from tests.demo.tour_records import FIRST, OP, effect, event, state

TAKEOVER = {"owner": "human", "owner_epoch": 2, "in_flight": [OP]}
ENDED = state(5, "confirmed")


def test_a_question_that_was_answered_is_right() -> None:
    assert verdicts.answered(seen.answered(), "A-10482") == []


def test_a_reply_that_does_not_name_the_order_is_wrong() -> None:
    assert verdicts.answered(seen.answered(), "A-99999") == ["the reply does not name the order"]


def test_a_question_that_was_handed_off_is_wrong() -> None:
    record = seen.answered()
    handed = replace(record, events=[*record.events, event(3, "owner_changed", owner="human", owner_epoch=2)])
    assert "handoff" in verdicts.answered(handed, "A-10482")[0]


def test_a_question_told_from_an_article_and_then_handed_off_is_right() -> None:
    assert verdicts.told_from_an_article(seen.told_from_an_article()) == []


def test_a_question_told_from_nothing_proposed_about_or_kept_from_a_person_is_wrong() -> None:
    record = seen.told_from_an_article()
    assert "no article" in verdicts.told_from_an_article(seen.told_from_an_article(cites="ev-1"))[0]
    proposed = seen.told_from_an_article(event(3, "proposal", operation_id=OP))
    assert "proposal" in verdicts.told_from_an_article(proposed)[0]
    assert "a person" in verdicts.told_from_an_article(replace(record, events=record.events[:3]))[0]


def test_a_refund_that_was_made_once_is_right() -> None:
    assert verdicts.refunded_once(seen.refunded("submitted", "confirmed"), OP) == []


@pytest.mark.parametrize("effects", [[], [effect(), effect()]], ids=["none", "two"])
def test_another_number_of_effects_than_one_is_wrong(effects: list[dict[str, object]]) -> None:
    record = replace(seen.refunded("submitted", "confirmed"), effects=effects)
    assert verdicts.refunded_once(record, OP) == [f"{len(effects)} effects in the shop, not 1"]


def test_effects_of_other_operations_do_not_count() -> None:
    record = seen.refunded("submitted", "confirmed")
    assert verdicts.refunded_once(replace(record, effects=[*record.effects, effect(FIRST)]), OP) == []


def test_a_refund_that_was_refused_is_wrong() -> None:
    assert "rejected, not confirmed" in verdicts.refunded_once(seen.refunded("submitted", "rejected"), OP)[0]


def test_a_gap_in_the_log_is_wrong() -> None:
    record = seen.refunded("submitted", "confirmed")
    assert "gaps" in verdicts.refunded_once(replace(record, events=[*record.events[:2], *record.events[3:]]), OP)[0]


def test_an_unknown_that_was_settled_is_right() -> None:
    assert verdicts.settled_from_unknown(seen.refunded("submitted", "unknown", "confirmed"), OP) == []


def test_a_lost_answer_that_was_never_called_unknown_is_wrong() -> None:
    assert "no `unknown`" in verdicts.settled_from_unknown(seen.refunded("submitted", "confirmed"), OP)[0]


def test_silence_and_an_outcome_after_a_takeover_are_right() -> None:
    assert verdicts.silent_after_takeover(seen.taken_over(ENDED), OP, TAKEOVER) == []


@pytest.mark.parametrize("kind", ["bot_reply", "proposal"])
def test_a_bot_that_speaks_after_a_takeover_is_wrong(kind: str) -> None:
    record = seen.taken_over(ENDED, event(6, kind, operation_id=OP, text="Hello"))
    assert verdicts.silent_after_takeover(record, OP, TAKEOVER) == [f"the bot spoke after the takeover: {kind}"]


def test_an_outcome_that_is_not_shown_after_a_takeover_is_wrong() -> None:
    assert "not shown" in verdicts.silent_after_takeover(seen.taken_over(), OP, TAKEOVER)[-1]


def test_a_takeover_that_does_not_name_what_is_in_flight_is_wrong() -> None:
    wrong = verdicts.silent_after_takeover(seen.taken_over(ENDED), OP, {**TAKEOVER, "in_flight": []})
    assert wrong == ["the takeover does not name the refund as in flight"]


def test_a_correction_that_superseded_the_first_proposal_is_right() -> None:
    assert verdicts.corrected(seen.corrected(), FIRST, OP, Answer(409, {})) == []


def test_an_old_button_that_still_works_is_wrong() -> None:
    assert "answered 200" in verdicts.corrected(seen.corrected(), FIRST, OP, Answer(200, {}))[0]


def test_a_superseded_proposal_that_took_effect_is_wrong() -> None:
    record = seen.corrected()
    wrong = verdicts.corrected(replace(record, effects=[*record.effects, effect(FIRST)]), FIRST, OP, Answer(409, {}))
    assert wrong == ["the first proposal took effect"]


def test_two_tabs_that_end_in_one_log_are_right() -> None:
    assert verdicts.one_log_for_two_tabs(*seen.two_tabs()) == []


@pytest.mark.parametrize(
    ("place", "answer", "complaint"),
    [
        (2, Answer(202, {"seq": 3, "duplicate": False}), "the repeat was answered 202"),
        (3, Answer(202, {"seq": 5}), "the stale tab was answered 202"),
        (3, Answer(409, {"type": "/version-conflict", "current_version": 1}), "does not name the version now"),
        (4, Answer(409, {}), "after reading on"),
    ],
)
def test_each_wrong_answer_to_a_tab_is_said(place: int, answer: Answer, complaint: str) -> None:
    record, first, again, stale, anew = seen.two_tabs()
    answers = [first, again, stale, anew]
    answers[place - 1] = answer
    assert complaint in verdicts.one_log_for_two_tabs(record, *answers)[0]
