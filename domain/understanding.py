"""What a customer seems to want: a proposal of a machine, never an authority.

Mentions and entities are the customer's own words until they are matched against that customer's evidence.
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

    @property
    def is_need(self) -> bool:
        """Whether it is something to be told or done, and not a word about what is open already."""
        return self not in _NO_NEEDS


_NO_NEEDS = frozenset(
    {Intent.CORRECTION, Intent.AFFIRMATION, Intent.REFUSAL, Intent.THANKS_GREETING, Intent.ASKS_FOR_PERSON}
)


class EntityKind(StrEnum):
    """What a stretch of a customer's words may name."""

    ORDER = "order"
    SUBSCRIPTION = "subscription"
    PAYMENT = "payment"
    ID = "id"  # an id whose kind the words do not tell
    PLAN = "plan"
    ADDRESS = "address"
    AMOUNT = "amount"
    DATE = "date"
    POSITION = "position"  # "the first one" of a list that was shown


class Entity(Noun):
    """A candidate. `words` are the very words that carried it; `value` is the same in one form.

    An amount's value is `MINOR CURRENCY`, as in `2050 EUR`, the currency empty where none was named, and all of it
    empty where a part was named that cannot be read; a date's is ISO 8601; a position's is a number from 1, or -1 for
    the last.
    """

    kind: EntityKind
    value: str
    words: str


class RiskMark(StrEnum):
    """What makes a message one that a person should see soon."""

    LEGAL = "legal"  # a lawyer, a court, an authority
    SAFETY = "safety"  # somebody is or may be hurt
    FRAUD = "fraud"  # somebody else acts on the account
    PRIVACY = "privacy"  # personal data: erasure, a leak
    PRESS = "press"
    CHARGEBACK = "chargeback"


class Understanding(Noun):
    """What all unanswered messages of a turn come to. `mentions` are id-like tokens as written, in order.

    `intents` are all that were said, in order; `intent` is the one that the turn deals with first.
    `seeks_information`: asks how something works, and not that it be done.
    """

    intent: Intent
    language: str
    mentions: tuple[str, ...] = ()
    asks_for_person: bool = False
    corrects: bool = False
    suspicious: bool = False
    confidence: float = 1.0
    route: str = "rules"
    intents: tuple[Intent, ...] = ()
    entities: tuple[Entity, ...] = ()
    seeks_information: bool = False
    urgent: bool = False
    risks: tuple[RiskMark, ...] = ()

    @property
    def every_intent(self) -> tuple[Intent, ...]:
        """All intents in the order of saying, the first of them where only one was told apart."""
        return self.intents or (self.intent,)

    @property
    def without_words(self) -> "Understanding":
        """The same without any of the customer's words: what may stand in a history or in a staff event."""
        return self.model_copy(update={"mentions": (), "entities": ()})


class Need(Noun):
    """One thing that a customer wants told or done, of which of their own, and how much where they have said so."""

    intent: Intent
    resource: str | None = None
    amount: str | None = None  # as an entity's value: empty where it has to be asked
    information: bool = False  # perhaps only how it works was asked


class TurnContext(Noun):
    """What earlier turns of the conversation left open, so that "the second one" or "A-10482" makes sense.

    Every resource is the customer's own (`order:ID`), matched when it was recorded.
    """

    intent: Intent | None = None
    resource: str | None = None
    question: str | None = None
    language: str | None = None  # of the conversation so far
    amount: str | None = None  # that the customer named for what is being asked about, as an entity's value
    asked_running: int = 0  # questions in a row that the customer has not answered with anything of theirs
    offered: tuple[str, ...] = ()  # what was listed last on this matter, in its order
    waiting: tuple[Need, ...] = ()  # asked for beside something else, and not dealt with yet
    goal: Need | None = None  # what the customer last wanted, small talk apart, be it long ago
    named: tuple[str, ...] = ()  # in the order in which they were first spoken of
