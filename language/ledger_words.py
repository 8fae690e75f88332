"""What the customer is told of an action, a proposal and a change of owner: the ledger's own words.

Rendered from a row at the moment of publishing; no model writes these, and no sentence claims more than its row.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from domain.action import Action, ActionKind, ActionState, ApprovalRole, Cause
from domain.catalogue.payload import Label, Money, Thing, Told
from domain.understanding import Intent
from domain.words import NoticeKind
from language.formats import moment, money
from language.next_words import noted_for_later
from language.tongues import SPOKEN
from language.words import say, spoken, texts

S, R = ActionState, ApprovalRole
_ROLES = (R.CUSTOMER, R.MANAGER, R.FINANCE)  # the order in which they are named
_TOLD_CAUSES = frozenset(
    {
        Cause.SUPERSEDED,
        Cause.WITHDRAWN,
        Cause.EXPIRED,
        Cause.DECLINED,
        Cause.DENIED,
        Cause.REFUSED,
        Cause.NEVER_SENT,
        Cause.NOT_FOUND,
    }
)
_STAFF_KEYS = {
    frozenset({R.MANAGER}): "customer_and_manager",
    frozenset({R.FINANCE}): "customer_and_finance",
    frozenset({R.MANAGER, R.FINANCE}): "customer_and_staff",
}


def status_sentence(action: Action, language: str) -> str:
    """Return where `action` stands, by its kind, state and cause."""
    values = _values(action, language)
    key = _status_key(action)
    if key == "awaiting":
        values["who"] = _who(action, language)
    told = say(language, _own_or_general(action.kind, key, language), **values)
    if action.state is S.CONFIRMED and action.external_id:
        return f"{told} {say(language, 'action.reference', reference=action.external_id)}"
    return told


def _status_key(action: Action) -> str:
    match action.state:
        case S.PROPOSED:
            return "proposed"
        case S.AWAITING_APPROVAL:
            if not action.required_approvals:
                return "proposed"
            return "agreed" if set(action.required_approvals) <= set(action.given) else "awaiting"
        case S.SUBMITTED:
            return "sent" if action.sent_at else "submitted"
        case S.UNKNOWN:
            return "unknown"
        case S.CONFIRMED:
            return "found" if action.cause is Cause.FOUND else "confirmed"
        case S.REJECTED:
            return action.cause.value if action.cause in _TOLD_CAUSES else "other"
        case _ as never:
            assert_never(never)


def proposal_summary(action: Action, language: str) -> str:
    """Return what would happen and whose consent it needs before anything does."""
    what = say(language, f"{action.kind.value}.summary", **_values(action, language))
    staff = frozenset(action.required_approvals) - {R.CUSTOMER}
    if R.CUSTOMER in action.required_approvals:
        consent = _STAFF_KEYS.get(staff, "customer_and_staff") if staff else "customer"
    else:
        consent = "staff" if staff else "none"
    return f"{what} {say(language, f'consent.{consent}')}"


def notice(kind: NoticeKind, language: str) -> str:
    """Return the customer-visible notice of a change of owner, or of a wait."""
    return say(language, f"notice.{kind.value}")


def automated_disclosure(language: str) -> str:
    """Return that an automated assistant is speaking (EU AI Act, Art. 50)."""
    return say(language, "speech.disclosure")


class LedgerWords:
    """The words of the ledger behind the interface that transactions know."""

    def __init__(self) -> None:
        for language in SPOKEN:
            texts(language)

    def status(self, action: Action) -> str:
        """Return where `action` stands, in its own language."""
        return status_sentence(action, action.language)

    def proposal(self, action: Action) -> str:
        """Return what would happen and whose consent it needs, in the action's language."""
        return proposal_summary(action, action.language)

    def notice(self, kind: NoticeKind, language: str) -> str:
        """Return the customer-visible notice."""
        return notice(kind, language)

    def back_at(self, opens_at: datetime, timezone: str, language: str) -> str:
        """Return when people are back, on the desk's own clock and with its name."""
        day, time, zone = moment(opens_at, timezone, language)
        return say(language, "notice.back_at", day=day, time=time, zone=zone)

    def noted(self, waiting: Sequence[Intent], language: str) -> str:
        """What else was asked for, and that it is noted."""
        return noted_for_later(waiting, language)

    def disclosure(self, language: str) -> str:
        """Return that an automated assistant is speaking."""
        return automated_disclosure(language)


def _own_or_general(kind: ActionKind, key: str, language: str) -> str:
    """The key of the kind's own sentence, else of the one for all kinds, which names the change by the kind's noun."""
    own = f"{kind.value}.{key}"
    return own if own in texts(spoken(language)) else f"action.{key}"


def _values(action: Action, language: str) -> dict[str, str]:
    """What the kind's texts may name: `amount` in any case, what its payload tells, and its `noun` where it has one."""
    payload, kind = action.payload, action.kind
    values = {"amount": say(language, "action.nothing")}
    if payload.amount_minor is not None and payload.currency is not None:
        values["amount"] = money(payload.amount_minor, payload.currency, language)
    for name, told in payload.told().items():
        values |= _worded(name, told, kind, language)
    noun = f"{kind.value}.noun"
    return {**values, "noun": say(language, noun, **values)} if noun in texts(spoken(language)) else values


def _worded(name: str, told: Told, kind: ActionKind, language: str) -> dict[str, str]:
    """One value in words; an amount also as what the customer would pay (`_due`) or get (`_back`), by its sign."""
    match told:
        case Money(amount_minor=minor, currency=currency):
            amount, nothing = money(abs(minor), currency, language), say(language, "action.nothing")
            due, back = amount if minor > 0 else nothing, amount if minor < 0 else nothing
            return {name: money(minor, currency, language), f"{name}_due": due, f"{name}_back": back}
        case Thing(kind=of, id=ident):
            return {name: say(language, f"{kind.value}.{of}", id=ident)}
        case Label(key=key):
            return {name: say(language, key)}
        case str():
            return {name: " ".join(told.split())}
        case _ as never:
            assert_never(never)


def _who(action: Action, language: str) -> str:
    """Name whose consent is still needed."""
    needed = [role for role in _ROLES if role in action.required_approvals and role not in action.given]
    named = [say(language, f"role.{role.value}") for role in needed]
    whole = named[0] if named else ""
    for further in named[1:]:
        whole = say(language, "role.join", first=whole, second=further)
    return whole
