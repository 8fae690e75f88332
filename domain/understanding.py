"""What a customer seems to want: a proposal of a machine, never an authority.

Mentions are the customer's own tokens until they are matched against that customer's evidence.
"""

from enum import StrEnum

from domain.base import Noun


class Intent(StrEnum):
    """What a message is about."""

    ORDER_STATUS = "order_status"
    REFUND_REQUEST = "refund_request"
    DAMAGED_ITEM = "damaged_item"
    MISSING_ITEM = "missing_item"
    DUPLICATE_CHARGE = "duplicate_charge"
    CANCEL_ORDER = "cancel_order"
    CANCEL_SUBSCRIPTION = "cancel_subscription"
    CHANGE_PLAN = "change_plan"
    CHANGE_ADDRESS = "change_address"
    ACCOUNT_ACCESS = "account_access"
    ACTION_STATUS = "action_status"
    CORRECTION = "correction"
    AFFIRMATION = "affirmation"
    REFUSAL = "refusal"
    THANKS_GREETING = "thanks_greeting"
    ASKS_FOR_PERSON = "asks_for_person"
    OUT_OF_SCOPE = "out_of_scope"


class Understanding(Noun):
    """What all unanswered messages of a turn come to. `mentions` are id-like tokens as written, in order."""

    intent: Intent
    language: str
    mentions: tuple[str, ...] = ()
    asks_for_person: bool = False
    corrects: bool = False
    suspicious: bool = False
    confidence: float = 1.0
    route: str = "rules"


class TurnContext(Noun):
    """What earlier turns of the conversation left open, so that "the second one" or "A-10482" makes sense.

    `resource` is the customer's own (`order:ID`), matched when it was recorded.
    """

    intent: Intent | None = None
    resource: str | None = None
    question: str | None = None
    language: str | None = None  # of the conversation so far
