"""Drafts: facts from evidence alone, honest about their age, with nothing echoed and nothing promised."""

from itertools import product
from typing import Any

import pytest

from domain.account import Account, Item
from domain.knowledge import Article, Passage
from domain.reply import Draft, SegmentKind, Source
from domain.step import Answer, Clarify, Question, Topic
from domain.understanding import Intent, TurnContext
from knowledge.seeds import seed_articles
from language.drafting import DraftRequest, TemplateDrafter
from language.evidence_words import LISTED_MAX
from language.formats import day
from language.knowledge import opening
from language.tongues import RULED
from language.words import status_label
from policy.reply.checks import check
from tests.language.things import ACCOUNT, LANGUAGES, NOW, action, evidence, order, refunded, under_way

DRAFTER = TemplateDrafter()
RESOURCES = {
    Topic.ORDER_STATUS: "order:A-20417",
    Topic.NOTHING_BEGUN: "order:A-20417",
    Topic.NOTHING_TO_REFUND: "order:A-20419",
    Topic.ALREADY_CANCELLED: "subscription:sub_82mr",
}
STEPS: list[Answer | Clarify] = [
    *(Answer(topic=t, resource=RESOURCES.get(t), operation_id="op_1") for t in Topic),
    *(Answer(topic=Topic.ORDER_STATUS, resource=f"order:{o.id}") for o in ACCOUNT.orders),
    *(Clarify(question=q) for q in Question),
]

FORMS_OF_ONE_TWO_AND_FIVE = {"pl": 3, "ru": 3, "tr": 1, "zh": 1, "ja": 1}


def draft(step: Answer | Clarify, language: str = "en", account: Account | None = ACCOUNT, **more: Any) -> Draft:
    read = evidence(account) if account is not None else None
    articles = tuple(a for a in seed_articles() if a.language == language)
    passages = tuple(passage(a) for a in articles if a.slug == "returns")
    given: dict[str, Any] = {"articles": articles, "actions": (action(),), "passages": passages, **more}
    return DRAFTER.draft(DraftRequest(step=step, language=language, now=NOW, evidence=read, **given))


def passage(article: Article, *, certain: bool = True) -> Passage:
    return Passage(article=article, position=0, text=opening(article), score=1.0, certain=certain)


def status(*orders: Any, language: str = "en") -> Draft:
    return draft(Answer(topic=Topic.ORDER_STATUS, resource=f"order:{orders[0].id}"), language, Account(orders=orders))


@pytest.mark.parametrize(("step", "language"), list(product(STEPS, LANGUAGES)))
def test_every_draft_passes_the_four_checks(step: Answer | Clarify, language: str) -> None:
    made = draft(step, language)
    checks = check(
        made,
        evidence=evidence(),
        articles=[a for a in seed_articles() if a.language == language],
        actions=[action()],
        customer_id="cus_1",
        now=NOW,
    )
    unwritten = isinstance(step, Answer) and step.topic is Topic.KNOWLEDGE and language not in RULED
    assert bool(made.segments) is not unwritten  # the pages of a new installation are in those languages alone
    assert made.language == language
    assert checks.all_exactly_true, (checks.failed, made.text)


@pytest.mark.parametrize("step", STEPS)
def test_words_without_a_source_hold_no_digits(step: Answer | Clarify) -> None:
    for segment in draft(step).segments:
        assert segment.rests_on
        assert (segment.text == "") is (segment.source is Source.LEDGER)
        if segment.source is Source.TEMPLATE:
            assert not any(c.isdigit() for c in segment.text)


def test_an_order_on_its_way_is_told_with_carrier_and_last_scan() -> None:
    text = status(under_way(scanned_days_ago=1)).text
    assert all(part in text for part in ("A-20417", "in transit", "DHL", "29 November", "Leipzig"))
    assert "no newer scan" not in text


def test_an_old_scan_is_told_as_old() -> None:
    text = status(under_way(scanned_days_ago=11)).text
    assert "The last scan is from 19 November" in text
    assert "There has been no newer scan since." in text


@pytest.mark.parametrize("asked_days_ago", [None, 4])
@pytest.mark.parametrize("language", ["en", "es", "de", "fr", "pt", "it"])
def test_a_parcel_that_was_not_asked_about_for_long_is_told_as_of_then_and_not_as_current(
    language: str, asked_days_ago: float | None
) -> None:
    parcel = under_way(scanned_days_ago=5, asked_days_ago=asked_days_ago)
    made = status(parcel, language=language)
    first, *others = (s.text for s in made.segments if s.source is Source.EVIDENCE)
    assert status_label(language, "in_transit") not in first
    assert status_label(language, "shipped") in first
    assert parcel.shipment is not None
    assert parcel.shipment.known_at is not None
    assert any(day(parcel.shipment.known_at, NOW, language) in line for line in others[1:])
    assert "no newer scan" not in made.text


def test_a_delivered_order_is_told_with_its_day_and_never_as_stale() -> None:
    made = status(order(delivered_at=under_way(scanned_days_ago=11).shipment.events[-1].at))  # type: ignore[union-attr]
    assert made.text == "Your order A-20418 was delivered on 19 November."


def test_an_order_without_a_parcel_says_so() -> None:
    assert "There is no scan of a parcel yet." in status(order("A-1", "processing")).text


@pytest.mark.parametrize("topic", [Topic.ORDER_STATUS, Topic.NOTHING_TO_REFUND, Topic.ALREADY_CANCELLED])
@pytest.mark.parametrize("resource", [None, "order:B-99999", "subscription:sub_none"])
def test_what_is_not_the_customers_own_leaves_nothing_to_say(topic: Topic, resource: str | None) -> None:
    assert not draft(Answer(topic=topic, resource=resource)).segments


@pytest.mark.parametrize("topic", [*RESOURCES, Topic.ORDERS_OVERVIEW, Topic.NO_DUPLICATE_FOUND])
def test_without_evidence_no_fact_is_told(topic: Topic) -> None:
    assert not draft(Answer(topic=topic, resource=RESOURCES.get(topic)), account=None).segments


def test_something_left_to_refund_is_not_called_nothing() -> None:
    assert not draft(Answer(topic=Topic.NOTHING_TO_REFUND, resource="order:A-20418")).segments


def test_a_question_lists_at_most_five_orders_newest_first() -> None:
    many = Account(orders=tuple(order(f"A-{n}", placed_at=NOW.replace(day=n)) for n in range(10, 20)))
    text = draft(Clarify(question=Question.WHICH_ORDER), account=many).text
    assert text.count("A-1") == LISTED_MAX
    assert text.index("A-19") < text.index("A-18")


def test_a_question_about_money_lists_what_has_money_left() -> None:
    asked = TurnContext(intent=Intent.REFUND_REQUEST)
    text = draft(
        Clarify(question=Question.WHICH_ORDER), account=Account(orders=(order(), refunded())), context=asked
    ).text
    assert "A-20418" in text
    assert "A-20419" not in text


def test_titles_that_are_more_than_words_are_left_out() -> None:
    hostile = ("<b>free</b>", "see https://x.test", "a\nb", "x" * 200)
    listed = order(items=tuple(Item(title=t, price_minor=1) for t in (*hostile, "Blue kettle")))
    text = draft(Clarify(question=Question.WHICH_ORDER), account=Account(orders=(listed,))).text
    assert "(Blue kettle)" in text
    assert not any(t in text for t in hostile)


def test_status_is_left_to_the_ledger() -> None:
    made = draft(Answer(topic=Topic.ACTION_STATUS, operation_id="op_1"))
    assert [(s.source, s.rests_on, s.text) for s in made.segments] == [(Source.LEDGER, "op_1", "")]
    assert not draft(Answer(topic=Topic.ACTION_STATUS, operation_id="op_2")).segments


def test_an_article_is_quoted_only_in_the_language_of_the_reply() -> None:
    every: dict[str, Any] = {"articles": [a for a in seed_articles() if a.language != "it"]}
    german = draft(Answer(topic=Topic.ACCOUNT_ACCESS), "de", **every)
    assert [s.rests_on for s in german.segments] == ["account-access@1"]
    assert "Passwort" in german.text
    assert [s.source for s in draft(Answer(topic=Topic.ACCOUNT_ACCESS), "it", **every).segments] == [Source.TEMPLATE]


def test_a_certain_passage_is_quoted_word_for_word_and_an_uncertain_one_not_at_all() -> None:
    article = next(a for a in seed_articles() if (a.slug, a.language) == ("returns", "en"))
    quoted = draft(Answer(topic=Topic.KNOWLEDGE), passages=(passage(article),)).segments
    assert [(s.text, s.source, s.rests_on) for s in quoted] == [(opening(article), Source.ARTICLE, article.ref)]
    assert not draft(Answer(topic=Topic.KNOWLEDGE), passages=(passage(article, certain=False),)).segments


def test_passages_of_one_page_that_are_as_certain_are_quoted_in_the_order_of_the_page() -> None:
    article = next(a for a in seed_articles() if (a.slug, a.language) == ("returns", "en"))
    later = passage(article).model_copy(update={"position": 4, "text": "And send it back."})
    quoted = draft(Answer(topic=Topic.KNOWLEDGE), passages=(later, passage(article))).segments
    assert [s.text for s in quoted] == [opening(article), "And send it back."]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_list_counts_in_the_forms_of_the_language_and_every_count_passes(language: str) -> None:
    def heading(count: int) -> str:
        many = Account(orders=tuple(order(f"A-{n}") for n in range(10, 10 + count)))
        made = draft(Answer(topic=Topic.ORDERS_OVERVIEW), language, many)
        checks = check(made, evidence=evidence(many), articles=[], actions=[], customer_id="cus_1", now=NOW)
        assert checks.failed == (), made.text
        return made.text.splitlines()[0]

    one, two, five, seven = (heading(n).replace(str(n), "#") for n in (1, 2, 5, 7))
    assert len({one, two, five}) == FORMS_OF_ONE_TWO_AND_FIVE.get(language, 2)
    assert seven not in (one, two, five)  # of which only some are listed
    assert "#" in one


def test_what_else_was_asked_for_comes_last_and_as_a_question_while_nothing_is_open() -> None:
    step = Answer(topic=Topic.ORDER_STATUS, resource="order:A-20417", next_intents=(Intent.CHANGE_ADDRESS,))
    last = draft(step, actions=()).segments[-1]
    assert last.kind is SegmentKind.QUESTION
    assert "address" in last.text
    assert draft(step).segments[-1].kind is SegmentKind.TEXT


def test_beside_a_question_nothing_else_is_asked() -> None:
    step = Clarify(question=Question.WHICH_ORDER, next_intents=(Intent.CHANGE_ADDRESS,))
    last = draft(step, actions=()).segments[-1]
    assert (last.kind, last.rests_on) == (SegmentKind.TEXT, "next.noted")


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_nothing_was_begun_that_is_said_before_how_the_order_stands(language: str) -> None:
    told, *status = draft(Answer(topic=Topic.NOTHING_BEGUN, resource="order:A-20417"), language).segments
    assert told.rests_on == "draft.nothing_begun"
    assert "A-20417" in status[0].text


def test_an_unspoken_language_is_answered_in_english() -> None:
    assert draft(Answer(topic=Topic.GREETING), "sv").language == "en"
