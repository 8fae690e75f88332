"""Laws of the next step and of the payload made of it, over any account, conversation and understanding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.account import OWN_ACCOUNT, Account
from domain.action import Action, ActionKind, ActionState, CancelSubscriptionPayload, RefundPayload, payload_of
from domain.catalogue.wish import NotProposable
from domain.knowledge import PassageRef
from domain.situation import Situation
from domain.step import Answer, AwaitOutcome, Clarify, HandOff, Propose, Question, Topic, Withdraw
from domain.understanding import Entity, EntityKind, Intent, Need, RiskMark, TurnContext
from policy.turn.mentions import addresses_named, plans_named
from policy.turn.needs import one_matter
from policy.turn.next_step import decide, next_step
from tests.policy import worlds as w

ORDERS = ["A-10001", "A-10002", "B-10001"]
SUBS = ["sub_1", "sub_2"]
NAMES = st.sampled_from(
    [
        *(*ORDERS, *SUBS, "pay_1", "pay_2", "pay_3", "10001", "10002", "a 10002", "A-9", "x", "ß١٢٣", ""),
        *("Team", "business", "adr_2", "office", "Home"),
    ]
)
RESOURCES = st.sampled_from(
    [
        *(f"order:{o}" for o in ORDERS),
        *(f"subscription:{s}" for s in SUBS),
        *("payment:pay_1", "payment:pay_9", f"account:{w.CUSTOMER}", "account:cus_9", "odd"),
    ]
)
ENTITIES = st.sampled_from(
    [
        Entity(kind=EntityKind.AMOUNT, value="500 EUR", words="5 euros"),
        Entity(kind=EntityKind.AMOUNT, value="999999 EUR", words="9,999.99 euros"),
        Entity(kind=EntityKind.AMOUNT, value="500 USD", words="5 dollars"),
        Entity(kind=EntityKind.AMOUNT, value="500 ", words="5"),
        Entity(kind=EntityKind.AMOUNT, value="", words="half"),
        Entity(kind=EntityKind.POSITION, value="1", words="the first one"),
        Entity(kind=EntityKind.POSITION, value="-1", words="the last"),
        Entity(kind=EntityKind.POSITION, value="9", words="the ninth"),
        Entity(kind=EntityKind.PLAN, value="Business", words="business"),
        Entity(kind=EntityKind.ADDRESS, value="Office", words="office"),
    ]
)
NEEDS = st.sampled_from(
    [
        Need(intent=Intent.REFUND_REQUEST, resource="order:A-10001", amount="500 EUR"),
        Need(intent=Intent.CHANGE_ADDRESS, resource="order:A-10002"),
        Need(intent=Intent.CANCEL_SUBSCRIPTION),
        Need(intent=Intent.OUT_OF_SCOPE),
    ]
)
PASSAGE = PassageRef(slug="refunds", version=1, language="en", position=0, certain=False)
PLANS = [w.plan("Team", 2900), w.plan("Business"), w.plan("Starter", 900)]
BOOK = [w.address("adr_1", "Home"), w.address("adr_2", "Office"), w.address("adr_3", "office")]
ALL = w.account(
    *(w.order(ident, "processing") for ident in ORDERS),
    *(w.subscription(ident) for ident in SUBS),
    *(w.payment(ident, order_id="A-10001") for ident in ("pay_1", "pay_2")),
    *PLANS,
    *BOOK,
    w.profile(),
)
WISHES = [Intent.CANCEL_ORDER, Intent.CHANGE_ADDRESS, Intent.CHANGE_PLAN, Intent.DUPLICATE_CHARGE, Intent.CORRECTION]
OF_NEW_KINDS = [
    payload_of(Propose(kind=kind, resource=resource, **more), ALL, w.CUSTOMER)
    for kind, resource, more in (
        (ActionKind.CANCEL_ORDER, "order:A-10001", {"reason": "no_longer_needed"}),
        (ActionKind.CHANGE_DELIVERY_ADDRESS, "order:A-10002", {"address_id": "adr_2"}),
        (ActionKind.CHANGE_PLAN, "subscription:sub_1", {"plan": "Business"}),
        (ActionKind.REFUND_DUPLICATE_CHARGE, "payment:pay_2", {}),
        (ActionKind.RESTORE_ACCOUNT_ACCESS, f"account:{w.CUSTOMER}", {}),
        (
            ActionKind.STORE_CREDIT,
            f"account:{w.CUSTOMER}",
            {"amount_minor": 1, "currency": "EUR", "reason": "goodwill"},
        ),
    )
]


@st.composite
def accounts(draw: st.DrawFn) -> Account:
    statuses = st.sampled_from(["delivered", "shipped", "processing", "cancelled", "refunded"])
    orders = [
        w.order(
            ident,
            draw(statuses),
            draw(st.integers(0, 9000)),
            refunded=draw(st.sampled_from([0, 0, 500, 9000])),
            address_id=draw(st.sampled_from([None, "adr_1"])),
        )
        for ident in draw(st.sets(st.sampled_from(ORDERS)))
    ]
    subs = [
        w.subscription(ident, draw(st.sampled_from(["active", "cancelled", "past_due"])))
        for ident in draw(st.sets(st.sampled_from(SUBS)))
    ]
    payments = [
        w.payment(
            ident,
            3000,
            draw(st.sampled_from([1, 2, 300])),
            order_id=draw(st.sampled_from([None, "A-10001", "A-77777"])),
            subscription_id=draw(st.sampled_from([None, "sub_1"])),
        )
        for ident in draw(st.sets(st.sampled_from(["pay_1", "pay_2", "pay_3"])))
    ]
    offers = draw(st.sampled_from([[], PLANS]))
    book = draw(st.sampled_from([[], BOOK[:2], BOOK]))
    profile = draw(st.sampled_from([[], [w.profile()], [w.profile("ok")], [w.profile(verified=False)]]))
    return w.account(*orders, *subs, *payments, *offers, *book, *profile)


@st.composite
def actions(draw: st.DrawFn) -> tuple[Action, ...]:
    made = []
    for n in range(draw(st.integers(0, 3))):
        payload = draw(
            st.one_of(
                st.sampled_from([w.refund(f"order:{o}", 2000) for o in ORDERS]),
                st.sampled_from([w.cancellation(s) for s in SUBS]),
                st.sampled_from(OF_NEW_KINDS),
            )
        )
        made.append(w.action(payload, draw(st.sampled_from(list(ActionState))), f"op_{n}", draw(st.integers(0, 3))))
    return tuple(made)


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    plainly = draw(st.booleans())  # a signed-in customer with much to choose from says clearly what is wanted
    return w.situation(
        draw(st.sampled_from(WISHES if plainly else list(Intent))),
        *draw(st.lists(NAMES, max_size=3)),
        owned=draw(st.just(ALL) | accounts() if plainly else st.none() | accounts()),
        actions=draw(actions()),
        corrects=draw(st.booleans()),
        suspicious=draw(st.booleans()),
        confidence=0.9 if plainly else draw(st.sampled_from([0.2, 0.5, 0.9])),
        awaited_by_person=draw(st.sampled_from([(), ("op_0",)])),
        intents=draw(st.just(()) | st.lists(st.sampled_from(list(Intent)), max_size=3).map(tuple)),
        entities=draw(st.just(()) | st.lists(ENTITIES, max_size=2).map(tuple)),
        seeks_information=draw(st.sampled_from([False, False, True])),
        risks=draw(st.sampled_from([(), (), (RiskMark.LEGAL,), (RiskMark.CHARGEBACK,)])),
        passages=draw(st.sampled_from([(), (PASSAGE,), (PASSAGE.model_copy(update={"certain": True}),)])),
        context=TurnContext(
            intent=draw(st.none() | st.sampled_from(list(Intent))),
            resource=draw(st.none() | RESOURCES),
            question=draw(st.none() | st.sampled_from(list(Question))),
            amount=draw(st.sampled_from([None, "700 EUR"])),
            offered=draw(st.sampled_from([(), ("order:A-10002", "order:B-10001"), ("order:A-9", "order:A-8")])),
            named=draw(st.sampled_from([(), ("order:B-10001", "order:A-10001")])),
            waiting=draw(st.just(()) | st.lists(NEEDS, max_size=2).map(tuple)),
        ),
    )


@given(situations())
def test_every_resource_in_a_step_exists_in_the_account(situation: Situation) -> None:
    step = next_step(situation)
    if isinstance(step, Answer | Propose | Clarify) and step.resource is not None:
        assert situation.account is not None
        found = situation.account.resource(step.resource)
        assert found is not None
        own_account = found is situation.account.profile  # whose id stays out of a step, and so out of histories
        assert step.resource == OWN_ACCOUNT if own_account else step.resource.endswith(f":{found.id}")


@given(situations())
def test_whatever_the_next_turn_is_told_of_exists_in_the_account_or_was_told_before(situation: Situation) -> None:
    decided = decide(situation)
    before = {need.resource for need in situation.context.waiting}
    for resource in (*decided.named, *(n.resource for n in decided.waiting if n.resource and n.resource not in before)):
        assert situation.account is not None
        assert situation.account.resource(resource) is not None


@given(situations())
def test_no_need_is_dropped(situation: Situation) -> None:
    decided = decide(situation)
    if isinstance(decided.step, HandOff):
        return  # a person has it all
    settled = (Need(intent=decided.meant), *decided.waiting, *situation.context.waiting)
    for intent in situation.understanding.every_intent:
        taken_for_a_name = intent in (Intent.OUT_OF_SCOPE, situation.understanding.intent)
        assert not intent.is_need or taken_for_a_name or any(one_matter(Need(intent=intent), s) for s in settled)
    if isinstance(decided.step, Answer | Clarify):
        assert decided.step.next_intents == tuple(n.intent for n in decided.waiting)


@st.composite
def plain_wishes(draw: st.DrawFn) -> Situation:
    """A customer names one order of theirs, and perhaps an amount, or asks how such a thing works."""
    wished = [Intent.REFUND_REQUEST, Intent.CANCEL_ORDER, Intent.CANCEL_SUBSCRIPTION, Intent.ACCOUNT_ACCESS]
    return w.situation(
        draw(st.sampled_from(wished)),
        *draw(st.lists(st.sampled_from(ORDERS), max_size=1)),
        owned=ALL,
        actions=draw(st.just(()) | actions()),
        corrects=draw(st.booleans()),
        entities=tuple(draw(st.lists(ENTITIES, max_size=2))),
        seeks_information=draw(st.booleans()),
    )


@given(situations() | plain_wishes())
def test_a_question_how_something_works_proposes_nothing(situation: Situation) -> None:
    told = situation.understanding
    answering = situation.context.question or situation.context.offered  # what answers us asks nothing
    if told.seeks_information and not answering:
        assert not isinstance(next_step(situation), Propose)
    if isinstance(step := next_step(situation), Answer) and step.topic is Topic.KNOWLEDGE:
        assert step.passages
        assert all(p.certain for p in step.passages)


@given(situations() | plain_wishes())
def test_no_more_is_given_back_than_was_named(situation: Situation) -> None:
    told, step = situation.understanding, next_step(situation)
    amounts = [e.value for e in told.entities if e.kind is EntityKind.AMOUNT]
    if isinstance(step, Propose) and step.kind is ActionKind.REFUND and amounts:
        assert len(set(amounts)) == 1
        minor, _, currency = amounts[0].partition(" ")
        assert minor, "a part that could not be read is asked about"
        assert step.amount_minor is not None
        assert step.amount_minor <= int(minor)
        assert currency in ("", step.currency)


@given(situations())
def test_what_a_person_has_to_judge_never_stays_with_the_bot(situation: Situation) -> None:
    if RiskMark.LEGAL in situation.understanding.risks:
        assert isinstance(next_step(situation), HandOff)


@given(situations())
def test_every_operation_in_a_step_is_of_this_conversation_and_in_a_fitting_state(situation: Situation) -> None:
    states = {a.operation_id: a.state for a in situation.actions}
    match next_step(situation):
        case Withdraw(operation_ids=ids):
            assert ids
            assert all(states[op].unexecuted for op in ids)
        case Propose(supersedes=ids):
            assert {op for op, state in states.items() if state.unexecuted} == set(ids)
        case AwaitOutcome(operation_id=op):
            assert states[op].in_flight
            assert op not in situation.awaited_by_person
        case Answer(operation_id=str(op)):
            assert op in states
        case _:
            pass


@given(situations())
def test_what_is_proposed_is_nowhere_in_flight_and_has_a_payload_of_its_own_resource(situation: Situation) -> None:
    step = next_step(situation)
    if isinstance(step, Propose):
        assert situation.account is not None
        payload = payload_of(step, situation.account, w.CUSTOMER)
        assert payload.kind is step.kind
        assert step.amount_minor in (None, payload.amount_minor)
        assert step.resource == payload.resource or step.kind is ActionKind.REFUND_DUPLICATE_CHARGE
        assert not any(a.state.in_flight and a.payload.resource == payload.resource for a in situation.actions)


@st.composite
def choices(draw: st.DrawFn) -> Situation:
    """A customer with one order and one subscription who wants another plan or another address."""
    one = w.account(w.order(ORDERS[0], "processing", address_id="adr_1"), w.subscription(SUBS[0]), *PLANS, *BOOK)
    return w.situation(
        draw(st.sampled_from([Intent.CHANGE_PLAN, Intent.CHANGE_ADDRESS, Intent.CORRECTION])),
        *draw(st.lists(st.sampled_from(["Team", "business", "starter", "adr_2", "office", "Home", "x"]), max_size=3)),
        owned=one,
        actions=draw(actions()),
        corrects=draw(st.booleans()),
    )


@given(situations() | choices())
def test_a_plan_or_an_address_is_proposed_only_as_named_or_as_it_was_before_a_correction(situation: Situation) -> None:
    step = next_step(situation)
    if isinstance(step, Propose) and situation.account is not None:
        mentions = situation.understanding.mentions
        named = {p.name for p in plans_named(mentions, situation.account)}
        named |= {a.id for a in addresses_named(mentions, situation.account)}
        corrects = situation.understanding.corrects or situation.understanding.intent is Intent.CORRECTION
        before = {getattr(a.payload, field, None) for a in situation.actions for field in ("new_plan", "address_id")}
        assert {step.plan, step.address_id} - {None} <= named | (before if corrects else set())


@given(situations())
def test_access_is_never_restored_to_an_account_that_is_not_locked_and_verified(situation: Situation) -> None:
    step = next_step(situation)
    if isinstance(step, Propose) and step.kind is ActionKind.RESTORE_ACCOUNT_ACCESS:
        assert situation.account is not None
        assert situation.account.profile == w.profile("locked", verified=True)


@given(situations())
def test_another_customers_order_is_treated_as_one_that_does_not_exist(situation: Situation) -> None:
    def naming(mention: str) -> object:
        told = situation.understanding.model_copy(update={"mentions": (mention,)})
        return next_step(situation.model_copy(update={"understanding": told}))

    assert naming("C-55555") == naming("no-such-order-1")


@given(situations())
def test_a_step_does_not_hang_on_the_order_in_which_facts_are_listed(situation: Situation) -> None:
    turned = situation.model_copy(update={"actions": situation.actions[::-1]})
    assert next_step(turned) == next_step(situation)


OWNED = w.account(w.order(version=7), w.subscription("sub_1", version=4), w.payment("pay_1", version=2))


def step(kind: ActionKind, resource: str, amount: int | None = 100, currency: str | None = "EUR") -> Propose:
    return Propose(kind=kind, resource=resource, amount_minor=amount, currency=currency)


def test_a_payload_carries_the_version_that_the_account_shows() -> None:
    order = payload_of(step(ActionKind.REFUND, "order:a-10001"), OWNED, w.CUSTOMER)
    assert order == w.refund(amount=100, resource_version=7)
    charge = payload_of(step(ActionKind.REFUND, "payment:pay_1"), OWNED, w.CUSTOMER)
    assert isinstance(charge, RefundPayload)
    assert (charge.order_id, charge.payment_id, charge.resource_version) == (None, "pay_1", 2)
    ended = payload_of(step(ActionKind.CANCEL_SUBSCRIPTION, "subscription:sub_1", None, None), OWNED, w.CUSTOMER)
    assert isinstance(ended, CancelSubscriptionPayload)
    assert ended.resource_version == 4


@pytest.mark.parametrize(
    "wrong",
    [
        step(ActionKind.REFUND, "order:A-9"),
        step(ActionKind.REFUND, "subscription:sub_1"),
        step(ActionKind.REFUND, "order:A-10001", None),
        step(ActionKind.REFUND, "order:A-10001", 0),
        step(ActionKind.REFUND, "order:A-10001", 100, None),
        step(ActionKind.CANCEL_SUBSCRIPTION, "order:A-10001"),
        step(ActionKind.CANCEL_SUBSCRIPTION, "subscription:sub_9"),
        step(ActionKind.REFUND, "odd"),
    ],
)
def test_what_does_not_fit_the_account_cannot_be_proposed(wrong: Propose) -> None:
    with pytest.raises(NotProposable):
        payload_of(wrong, OWNED, w.CUSTOMER)
