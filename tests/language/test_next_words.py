"""What was asked for beside is told in every language, passes the checks, and asks nothing while a proposal stands."""

import pytest

from domain.action import ActionState
from domain.reply import SegmentKind
from domain.step import Answer, Topic
from domain.understanding import Intent
from language.drafting import DraftRequest, TemplateDrafter
from language.next_words import noted_for_later, shall_i_go_on
from policy.reply.checks import check
from tests.language.things import LANGUAGES, NOW, action, evidence

NEEDS = [i for i in Intent if i.is_need]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("state", [ActionState.AWAITING_APPROVAL, ActionState.CONFIRMED])
def test_what_waits_is_told_and_is_a_question_only_while_nothing_else_is_open(
    language: str, state: ActionState
) -> None:
    standing = action(state=state)
    step = Answer(topic=Topic.ORDER_STATUS, resource="order:A-20417", next_intents=tuple(NEEDS))
    request = DraftRequest(step=step, language=language, now=NOW, evidence=evidence(), actions=(standing,))
    draft = TemplateDrafter().draft(request)
    alone = TemplateDrafter().draft(request.model_copy(update={"step": step.model_copy(update={"next_intents": ()})}))
    assert draft.segments[:-1] == alone.segments
    told = draft.segments[-1]
    settled = state.terminal
    assert told.text == (shall_i_go_on if settled else noted_for_later)(NEEDS, language)
    assert bool({"?", "？"} & set(told.text)) is settled
    assert told.kind is (SegmentKind.QUESTION if settled else SegmentKind.TEXT)
    checks = check(draft, evidence=evidence(), articles=[], actions=[standing], customer_id="cus_1", now=NOW)
    assert checks.all_exactly_true, (checks.failed, told.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_need_has_a_name_of_its_own(language: str) -> None:
    assert len({shall_i_go_on([need], language) for need in NEEDS}) == len(NEEDS)
