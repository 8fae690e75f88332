"""The next step of a turn: the closed union that a decision ends in and the workflow acts on.

Steps hold ids, labels and amounts, and no text of anybody: they are recorded in Temporal histories.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from domain.base import Noun
from domain.catalogue.wish import Wish
from domain.handoff import HandoffReason
from domain.knowledge import PassageRef
from domain.understanding import Intent


class Topic(StrEnum):
    """What an answer is about; each topic has its templates."""

    ORDER_STATUS = "order_status"
    ORDERS_OVERVIEW = "orders_overview"
    NOTHING_TO_REFUND = "nothing_to_refund"
    NO_DUPLICATE_FOUND = "no_duplicate_found"
    ALREADY_CANCELLED = "already_cancelled"
    NO_SUBSCRIPTIONS = "no_subscriptions"
    ACCOUNT_ACCESS = "account_access"
    ACTION_STATUS = "action_status"
    NOTHING_BEGUN = "nothing_begun"
    CONFIRM_WITH_BUTTON = "confirm_with_button"
    PROPOSAL_WITHDRAWN = "proposal_withdrawn"
    GREETING = "greeting"
    SIGN_IN = "sign_in"
    KNOWLEDGE = "knowledge"


class Question(StrEnum):
    """What a clarifying reply asks."""

    WHICH_ORDER = "which_order"
    UNKNOWN_ORDER = "unknown_order"
    WHICH_SUBSCRIPTION = "which_subscription"
    WHICH_PLAN = "which_plan"
    WHICH_ADDRESS = "which_address"
    WHICH_AMOUNT = "which_amount"
    WHAT_TO_DO = "what_to_do"


class Answer(Noun):
    """Publish a checked reply on `topic`. `resource` is `order:ID` and the like, always the customer's own.

    `passages` are what a search has found to answer with; `next_intents` are what was asked for beside this.
    """

    step: Literal["answer"] = "answer"
    topic: Topic
    resource: str | None = None
    operation_id: str | None = None
    passages: tuple[PassageRef, ...] = ()
    next_intents: tuple[Intent, ...] = ()


class Clarify(Noun):
    """Publish one question. `supersedes`: what the customer has called wrong, without saying yet what is right.

    `resource` is what is settled already, the customer's own, so that the next turn need not ask for it again;
    `next_intents` are what was asked for beside this.
    """

    step: Literal["clarify"] = "clarify"
    question: Question
    resource: str | None = None
    supersedes: tuple[str, ...] = ()
    next_intents: tuple[Intent, ...] = ()


class Propose(Wish):
    """Put an action into the ledger and ask for what policy asks for."""

    step: Literal["propose"] = "propose"
    supersedes: tuple[str, ...] = ()


class Withdraw(Noun):
    """The customer does not want what was proposed: reject it and say so."""

    step: Literal["withdraw"] = "withdraw"
    operation_ids: tuple[str, ...]


class Confirm(Noun):
    """The customer has said "yes" to the one proposal that was said last: message `said_seq` is their approval."""

    step: Literal["confirm"] = "confirm"
    operation_id: str
    said_seq: int


class AwaitOutcome(Noun):
    """A submitted action stands in the way: establish its outcome first, and tell the customer just that."""

    step: Literal["await_outcome"] = "await_outcome"
    operation_id: str


class HandOff(Noun):
    """Responsibility passes to a person."""

    step: Literal["hand_off"] = "hand_off"
    reason: HandoffReason


Step = Annotated[Answer | Clarify | Propose | Withdraw | Confirm | AwaitOutcome | HandOff, Field(discriminator="step")]
