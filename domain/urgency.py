"""How urgent something is that waits for a person, and the one thing that made it so.

Pure; it is decided when a handoff opens, by the tenant's document and by what was last understood.
"""

from collections.abc import Iterable
from typing import Any

from domain.base import Noun
from domain.desk import Urgency, UrgencyRules
from domain.understanding import RiskMark

DEFAULT = "default"
_RISKS = {RiskMark.SAFETY: Urgency.URGENT, RiskMark.FRAUD: Urgency.URGENT}
_RISK_ELSE = Urgency.HIGH
_SAID_TO_BE = Urgency.HIGH  # what a customer calls urgent is seen soon, and does not overtake money or harm


class Marks(Noun):
    """What is known of a matter beside the reason: what was wanted, and what the customer's words were marked with."""

    intent: str | None = None
    urgent: bool = False
    risks: tuple[RiskMark, ...] = ()
    money_unknown: bool = False  # an action whose outcome nobody knows

    @classmethod
    def of(cls, understood: dict[str, Any], intent: str | None, *, money_unknown: bool = False) -> "Marks":
        """Return the marks of an understanding as it stands in the log, with what the customer wants."""
        known = [mark for mark in understood.get("risks", ()) if mark in set(RiskMark)]
        return cls(
            intent=intent, urgent=bool(understood.get("urgent")), risks=tuple(known), money_unknown=money_unknown
        )


class Judged(Noun):
    """How urgent, and why: `reason:…`, `intent:…`, `risk:…`, `mark:urgent`, `money:unknown` or `default`."""

    urgency: Urgency
    why: str


def urgency_of(rules: UrgencyRules, reason: str, marks: Marks) -> Judged:
    """Return the most urgent of all that speaks for it; between equals, what stands first here says why."""
    return min(_grounds(rules, reason, marks), key=lambda judged: judged.urgency.rank)


def _grounds(rules: UrgencyRules, reason: str, marks: Marks) -> Iterable[Judged]:
    if marks.money_unknown:
        yield Judged(urgency=Urgency.URGENT, why="money:unknown")
    for risk in marks.risks:
        yield Judged(urgency=_RISKS.get(risk, _RISK_ELSE), why=f"risk:{risk.value}")
    if reason in rules.by_reason:
        yield Judged(urgency=rules.by_reason[reason], why=f"reason:{reason}")
    if marks.urgent:
        yield Judged(urgency=_SAID_TO_BE, why="mark:urgent")
    if marks.intent in rules.by_intent:
        yield Judged(urgency=rules.by_intent[str(marks.intent)], why=f"intent:{marks.intent}")
    if reason not in rules.by_reason and marks.intent not in rules.by_intent:
        yield Judged(urgency=Urgency.NORMAL, why=DEFAULT)
