"""What every payload is: a typed change of one resource, with its facts for policy and its values for people's words.

Pure; a subclass lives in the module of its kind and says there what it rests on and how it is undone.
"""

from abc import abstractmethod
from datetime import datetime
from typing import Any, ClassVar, Self

from domain.account import Account
from domain.base import Noun
from domain.catalogue.kinds import ActionKind
from domain.catalogue.wish import Wish

CARD_READ_MAX_AGE_S = 60


class Money(Noun):
    """An amount for a sentence, in minor units."""

    amount_minor: int
    currency: str


class Thing(Noun):
    """A resource for a sentence: `kind` is order, payment, subscription or account."""

    kind: str
    id: str


class Label(Noun):
    """A word of a closed list, such as a reason, that the languages put into their own words."""

    key: str


Told = Money | Thing | Label | str


class ActionPayload(Noun):
    """One change. Each class says what it acts on, whether money moves, how fresh its evidence is, and its repair."""

    acts_on: ClassVar[frozenset[str]]  # the types of resource
    moves_money: ClassVar[bool] = False  # counts in the totals, and keeps other money actions off its order
    evidence_max_age_s: ClassVar[int] = CARD_READ_MAX_AGE_S  # the most that a decision may rest on, whatever the source
    repair: ClassVar[str]  # for people: how it is reversed, or what repairs it where it cannot be

    kind: ActionKind
    customer_id: str
    resource_version: int
    amount_minor: int | None = None
    currency: str | None = None

    @property
    @abstractmethod
    def resource(self) -> str:
        """`TYPE:ID`; two actions are never in flight on one."""

    @property
    def effect_on(self) -> str:
        """`TYPE:ID` of what the business system names as changed, where that is not the resource itself."""
        return self.resource

    @property
    def stake_minor(self) -> int:
        """What is at stake, never below 0: what moves one way or the other, or is to be paid; 0 where no amount is."""
        return self.amount_minor or 0

    @property
    def stake_currency(self) -> str:
        """The currency of `stake_minor`, empty where no amount is at stake."""
        return self.currency or ""

    @classmethod
    @abstractmethod
    def wished(cls, wish: Wish, account: Account, customer_id: str) -> Self:
        """Return the payload that `wish` comes to over the customer's account. Raises NotProposable."""

    @abstractmethod
    def facts(self, account: Account, now: datetime) -> dict[str, Any]:
        """Return what rules may look at besides the circumstances; `target` is the resource, without its owner.

        What the account does not hold has neutral values, so that a rule denies it and none fails.
        """

    @abstractmethod
    def told(self) -> dict[str, Told]:
        """Return the values of the kind's templates."""

    def rests_on(self, account: Account) -> list[Any]:
        """Return what of the account, besides the resource itself, an approval rests on, as JSON values."""
        return []
