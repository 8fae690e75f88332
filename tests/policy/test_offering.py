"""What a reply offers is read off its own text: the same things, in the same order, in every language."""

import pytest

from domain.step import Answer, Clarify, Question, Topic
from language.drafting import DraftRequest, TemplateDrafter
from language.evidence_words import newest_orders
from policy.turn.offering import offered
from tests.language.things import ACCOUNT, LANGUAGES, NOW, evidence
from tests.policy import worlds as w

OVERVIEW = Answer(topic=Topic.ORDERS_OVERVIEW)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_list_that_is_drafted_is_the_list_that_is_remembered(language: str) -> None:
    request = DraftRequest(step=OVERVIEW, language=language, now=NOW, evidence=evidence())
    text = TemplateDrafter().draft(request).text
    shown = tuple(f"order:{o.id}" for o in newest_orders(ACCOUNT, refundable=False))
    assert offered(OVERVIEW, ACCOUNT, text) == shown[: len(offered(OVERVIEW, ACCOUNT, text))]
    assert len(offered(OVERVIEW, ACCOUNT, text)) > 1


OWNED = w.account(
    w.order("A-1"),
    w.order("A-12"),
    w.subscription("sub_1"),
    w.plan("Team"),
    w.plan("Team Plus"),
    w.address("adr_1", "Home"),
)


@pytest.mark.parametrize(
    ("question", "text", "things"),
    [
        (Question.WHICH_ORDER, "A-12, then A-1.", ("order:A-12", "order:A-1")),
        (Question.WHICH_ORDER, "Only A-12.", ()),
        (Question.WHICH_ORDER, "A-12 or sub_1", ("order:A-12", "subscription:sub_1")),
        (Question.WHICH_PLAN, "– Team Plus\\n– Team", ("plan:Team Plus", "plan:Team")),
        (Question.WHICH_ADDRESS, "– Home", ()),
        (Question.WHAT_TO_DO, "", ()),
    ],
)
def test_only_whole_names_count_and_one_thing_is_no_choice(
    question: Question, text: str, things: tuple[str, ...]
) -> None:
    assert offered(Clarify(question=question), OWNED, text) == things
