"""Drafts from evidence, articles and templates: the first form of drafting, local and without a model.

A draft with no segments means that there is nothing honest to say; what an action's status is, the ledger says.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Protocol, assert_never

from domain.account import Account, Evidence, Order, Payment, Profile, Subscription
from domain.action import Action
from domain.base import Noun
from domain.freshness import TELL, tracking_is_current
from domain.knowledge import Article, Passage
from domain.reply import NOTED, SHALL_I, Draft, Segment, SegmentKind, Source
from domain.step import Answer, Clarify, Question, Topic
from domain.understanding import Intent, TurnContext
from language.choice_words import address_book, plans_on_offer
from language.evidence_words import Teller, is_stale, newest_orders, newest_payments
from language.formats import day, money
from language.knowledge import opening, pick_articles
from language.next_words import noted_for_later, shall_i_go_on
from language.tongues import SPOKEN
from language.words import say, spoken

_LEDGER_SENTENCES_MAX = 3
_PASSAGES_MAX = 3
_ABOUT_MONEY = frozenset({Intent.REFUND_REQUEST, Intent.DAMAGED_ITEM, Intent.MISSING_ITEM, Intent.CORRECTION})


class DraftRequest(Noun):
    """All that a draft is made of. `articles` may be every article of the tenant: the fitting ones are picked."""

    step: Answer | Clarify
    language: str
    now: datetime
    evidence: Evidence | None = None
    articles: tuple[Article, ...] = ()
    actions: tuple[Action, ...] = ()
    passages: tuple[Passage, ...] = ()  # what a search has found to answer with, likeliest first
    context: TurnContext = TurnContext()


class Drafter(Protocol):
    """Whoever can write what the bot would say."""

    def draft(self, request: DraftRequest) -> Draft:
        """Return the draft of an answer or of a question; without segments where nothing can be said."""
        ...


class TemplateDrafter:
    """Drafts by topic: facts from the evidence, fixed words from the templates, status from the ledger."""

    def __init__(self) -> None:
        for language in SPOKEN:  # loaded now, so that the first reply is no slower than the others
            money(1, "EUR", language)
            day(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), language)

    def draft(self, request: DraftRequest) -> Draft:
        """Return the draft of an answer or of a question; without segments where nothing can be said."""
        page, step = _Page(request), request.step
        told = page.answer(step.topic) if isinstance(step, Answer) else page.question(step.question)
        return Draft(language=page.language, segments=(*told, *(beside(request) if told else ())))


def beside(request: DraftRequest) -> tuple[Segment, ...]:
    """Return what a reply says of what else was asked for, if anything; whoever has drafted the rest of it.

    It is asked about only where nothing else is asked, and no action is open: else a "yes" would be about that.
    """
    step = request.step
    if not step.next_intents:
        return ()
    free = isinstance(step, Answer) and all(a.state.terminal for a in request.actions)
    key, sentence = (SHALL_I, shall_i_go_on) if free else (NOTED, noted_for_later)
    text = sentence(step.next_intents, spoken(request.language))
    kind = SegmentKind.QUESTION if free else SegmentKind.TEXT
    return (Segment(text=text, source=Source.TEMPLATE, rests_on=key, kind=kind),)


class _Page:
    """One draft being written."""

    def __init__(self, request: DraftRequest) -> None:
        self.request = request
        self.language = spoken(request.language)
        self.teller = Teller(language=self.language, now=request.now)
        self.account: Account | None = request.evidence.account if request.evidence else None

    def answer(self, topic: Topic) -> list[Segment]:
        """Return the segments of an answer."""
        match topic:
            case Topic.ORDER_STATUS:
                return self._order_status()
            case Topic.ORDERS_OVERVIEW:
                return self._orders()
            case Topic.NOTHING_TO_REFUND:
                return self._nothing_to_refund()
            case Topic.NO_DUPLICATE_FOUND:
                return self._no_duplicate()
            case Topic.ALREADY_CANCELLED:
                return self._already_cancelled()
            case Topic.ACCOUNT_ACCESS:
                return self._articles(topic) or self._templates("access")
            case Topic.NO_SUBSCRIPTIONS:
                return self._facts(self._say("no_subscriptions"))
            case Topic.ACTION_STATUS:
                return self._ledger()
            case Topic.NOTHING_BEGUN:
                order = self._order_status()
                return [*self._templates("nothing_begun"), *order] if order else []
            case Topic.CONFIRM_WITH_BUTTON:
                return [*self._ledger(), *self._templates("confirm_with_button")]
            case Topic.PROPOSAL_WITHDRAWN:
                told = self._ledger()
                return [*told, *self._templates("anything_else")] if told else []
            case Topic.GREETING:
                return self._templates("greeting")
            case Topic.SIGN_IN:
                return self._templates("sign_in")
            case Topic.KNOWLEDGE:
                certain = [p for p in self.request.passages if p.certain][:_PASSAGES_MAX]
                return [self._quoted(p) for p in sorted(certain, key=lambda p: p.position)]  # all are of one page
            case _ as never:
                assert_never(never)

    def question(self, question: Question) -> list[Segment]:
        """Return the segments of a question; what the customer named in vain is never repeated."""
        match question:
            case Question.WHICH_ORDER:
                known = self._orders()
                return [*self._templates("which_order"), *known] if self.account and self.account.orders else known
            case Question.UNKNOWN_ORDER:
                listed = self._orders() if self.account and self.account.orders else []
                return [*self._templates("unknown_order"), *listed]
            case Question.WHICH_SUBSCRIPTION:
                return self._which_subscription()
            case Question.WHICH_PLAN:
                return [*self._templates("which_plan"), *self._choices(plans_on_offer)]
            case Question.WHICH_AMOUNT:
                return self._templates("which_amount")
            case Question.WHICH_ADDRESS:
                return [*self._templates("which_address"), *self._choices(address_book)]
            case Question.WHAT_TO_DO:
                return self._templates("what_to_do")
            case _ as never:
                assert_never(never)

    def _order_status(self) -> list[Segment]:
        order = self._resource()
        if not isinstance(order, Order):
            return []
        told = self._facts(*self.teller.order_status(order))
        if is_stale(order, self.request.now) or not tracking_is_current(order, TELL, self.request.now):
            told += [*self._articles(Topic.ORDER_STATUS), *self._templates("stale_offer")]
        return told

    def _orders(self) -> list[Segment]:
        if self.account is None:
            return []
        orders = newest_orders(self.account, refundable=self.request.context.intent in _ABOUT_MONEY)
        return self._facts(self.teller.orders(orders, len(self.account.orders)) if orders else self._say("no_orders"))

    def _which_subscription(self) -> list[Segment]:
        if self.account is None:
            return []
        if not self.account.subscriptions:
            return self._facts(self._say("no_subscriptions"))
        listed = self._facts(self.teller.subscriptions(self.account.subscriptions))
        return [*self._templates("which_subscription"), *listed]

    def _choices(self, listed: Callable[[Account, str], str | None]) -> list[Segment]:
        told = listed(self.account, self.language) if self.account else None
        return self._facts(told) if told else []

    def _nothing_to_refund(self) -> list[Segment]:
        thing = self._resource()
        if not isinstance(thing, Order | Payment) or thing.refundable_minor > 0:
            return []
        return [*self._facts(self.teller.nothing_left(thing)), *self._articles(Topic.NOTHING_TO_REFUND)]

    def _no_duplicate(self) -> list[Segment]:
        if self.account is None:
            return []
        payments = newest_payments(self.account)
        return [
            *self._facts(self._say("no_duplicate")),
            *self._articles(Topic.NO_DUPLICATE_FOUND),
            *self._templates("no_duplicate_hint"),
            *(self._facts(self.teller.payments(payments)) if payments else ()),
        ]

    def _already_cancelled(self) -> list[Segment]:
        subscription = self._resource()
        if not isinstance(subscription, Subscription):
            return []
        return [
            *self._facts(self.teller.subscription_status(subscription)),
            *self._articles(Topic.ALREADY_CANCELLED),
        ]

    def _resource(self) -> Order | Subscription | Payment | None:
        step = self.request.step
        if self.account is None or not isinstance(step, Answer) or step.resource is None:
            return None
        found = self.account.resource(step.resource)
        return None if isinstance(found, Profile) else found

    def _ledger(self) -> list[Segment]:
        """Leave the place of a status sentence: of the action named, else of the newest ones."""
        step = self.request.step
        named = step.operation_id if isinstance(step, Answer) else None
        actions = sorted(self.request.actions, key=lambda a: a.created_at)
        chosen = [a for a in actions if a.operation_id == named] if named else actions[-_LEDGER_SENTENCES_MAX:]
        return [Segment(text="", source=Source.LEDGER, rests_on=a.operation_id) for a in chosen]

    def _facts(self, *sentences: str) -> list[Segment]:
        evidence = self.request.evidence
        if evidence is None:
            return []
        return [Segment(text=s, source=Source.EVIDENCE, rests_on=evidence.evidence_id) for s in sentences]

    def _articles(self, topic: Topic) -> list[Segment]:
        picked: Iterable[Article] = pick_articles(self.request.articles, topic, self.language)
        return [Segment(text=opening(a), source=Source.ARTICLE, rests_on=f"{a.slug}@{a.version}") for a in picked]

    def _quoted(self, passage: Passage) -> Segment:
        return Segment(text=passage.text, source=Source.ARTICLE, rests_on=passage.article.ref)

    def _templates(self, *keys: str) -> list[Segment]:
        return [Segment(text=self._say(k), source=Source.TEMPLATE, rests_on=f"draft.{k}") for k in keys]

    def _say(self, key: str) -> str:
        return say(self.language, f"draft.{key}")
