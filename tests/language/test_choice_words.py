"""What may be chosen is told by name alone, in every language, and passes the checks of a reply."""

import pytest

from domain.account import Account, Address, Plan
from domain.reply import Draft, Segment, Source
from domain.step import Clarify, Question
from language.choice_words import CHOICES_MAX, address_book, plans_on_offer
from language.drafting import DraftRequest, TemplateDrafter
from policy.reply.checks import check
from tests.language.things import LANGUAGES, NOW, SUBSCRIPTIONS, evidence, order

PLANS = (
    Plan(name="Pro 10", price_minor=1290, currency="EUR"),
    Plan(name="Crème + Café", price_minor=123456, currency="EUR"),
)
BOOK = (
    Address(id="adr_1", label="Home", lines=("Privet Drive 4", "Surrey")),
    Address(id="adr_2", label="Mum's flat 2", lines=("Elm Street 13",)),
    Address(id="adr_3", label="", lines=("Nowhere 1",)),
)
HOSTILE = ("<b>free</b>", "see https://x.test", "a\nb", "x" * 200, "{amount}", "me@x.test")
ACCOUNT = Account(orders=(order(),), subscriptions=SUBSCRIPTIONS, plans=PLANS, addresses=BOOK)


def asked(question: Question, language: str, account: Account = ACCOUNT) -> Draft:
    request = DraftRequest(step=Clarify(question=question), language=language, now=NOW, evidence=evidence(account))
    return TemplateDrafter().draft(request)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("question", [Question.WHICH_PLAN, Question.WHICH_ADDRESS])
def test_a_question_with_its_choices_passes_the_checks(question: Question, language: str) -> None:
    for account in (ACCOUNT, Account()):
        draft = asked(question, language, account)
        found = evidence(account)
        checks = check(draft, evidence=found, articles=(), actions=(), customer_id="cus_1", now=NOW)
        assert checks.all_exactly_true, (checks.failed, draft.text)


def test_plans_are_told_with_their_prices() -> None:
    assert asked(Question.WHICH_PLAN, "en").text.endswith("– Pro 10: €12.90\n– Crème + Café: €1,234.56")


def test_a_price_that_no_plan_has_is_not_supported() -> None:
    draft = asked(Question.WHICH_PLAN, "en")
    dearer = ACCOUNT.model_copy(update={"plans": (PLANS[0].model_copy(update={"price_minor": 1291}), PLANS[1])})
    checks = check(draft, evidence=evidence(dearer), articles=(), actions=(), customer_id="cus_1", now=NOW)
    assert checks.supported is False


def test_the_price_of_a_plan_is_no_fact_of_an_order() -> None:
    said = Segment(text="Your order A-20418 was €12.90.", source=Source.EVIDENCE, rests_on="ev_1")
    draft = Draft(language="en", segments=(said,))
    checks = check(draft, evidence=evidence(ACCOUNT), articles=(), actions=(), customer_id="cus_1", now=NOW)
    assert checks.supported is False


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_an_address_nothing_but_its_label_is_told(language: str) -> None:
    text = asked(Question.WHICH_ADDRESS, language).text
    assert text.endswith("– Home\n– Mum's flat 2")
    assert not any(line in text for address in BOOK for line in (*address.lines, address.id))


def test_names_that_are_more_than_words_are_left_out() -> None:
    plans = tuple(Plan(name=n, price_minor=1, currency="EUR") for n in HOSTILE)
    book = tuple(Address(id=f"adr_{i}", label=n) for i, n in enumerate(HOSTILE))
    assert plans_on_offer(Account(plans=plans), "en") is None
    assert address_book(Account(addresses=book), "en") is None


def test_a_long_list_is_cut() -> None:
    many = Account(plans=tuple(Plan(name=f"Plan {n}", price_minor=n, currency="EUR") for n in range(30)))
    assert (plans_on_offer(many, "en") or "").count("–") == CHOICES_MAX
