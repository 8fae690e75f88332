"""How much a customer wants back, where they have said so: never more than they named, and never more than is left.

Pure; two amounts, one that could not be read, or another currency than was paid in, are asked about and never worked
out.
"""

import re
from collections.abc import Iterable

from domain.account import Order, Payment
from domain.action import Action, RefundPayload
from domain.understanding import Entity, EntityKind, Understanding

_VALUE = re.compile(r"(?P<minor>\d{1,15})(?: (?P<currency>[A-Z]{3})?)?")


UNCLEAR = ""  # a part was named, and which is to be asked


def amount_named(told: Understanding) -> str | None:
    """Return the amount that was named, as `MINOR CURRENCY`; None for none, `UNCLEAR` where it has to be asked."""
    found = _amounts(told.entities)
    if not found:
        return None
    return found[0] if len(found) == 1 else UNCLEAR


def with_amount(told: Understanding, amount: str | None) -> Understanding:
    """Return the same with an amount from an earlier turn, where this one names none."""
    if amount is None or _amounts(told.entities):
        return told
    earlier = Entity(kind=EntityKind.AMOUNT, value=amount, words="")
    return told.model_copy(update={"entities": (*told.entities, earlier)})


def names_amount(told: Understanding) -> bool:
    """Return whether any amount was named, be it one that could not be read."""
    return bool(_amounts(told.entities))


def of_refund(action: Action, amount: str | None) -> bool | None:
    """Return whether `amount`, as `amount_named` gives it, is what a refund gives back; None where it is no refund."""
    if not isinstance(action.payload, RefundPayload):
        return None
    minor, _, currency = (amount or UNCLEAR).partition(" ")
    return minor == str(action.payload.amount_minor) and currency in ("", action.payload.currency)


def how_much(told: Understanding, found: Order | Payment, open_refund: Action | None) -> int | None:
    """Return the minor units to propose of what is left of `found`, or None where the customer has to be asked.

    Without an amount in this turn a proposal that stands keeps its own, unless the customer calls it wrong.
    """
    left = found.refundable_minor
    amounts = _amounts(told.entities)
    if not amounts:
        before = open_refund.payload.amount_minor if open_refund and not told.corrects else None
        return min(left, before) if before else left
    if len(amounts) > 1 or UNCLEAR in amounts:
        return None
    minor, _, currency = amounts[0].partition(" ")
    fits = currency in ("", found.currency) and int(minor) > 0
    return min(left, int(minor)) if fits else None


def _amounts(entities: Iterable[Entity]) -> list[str]:
    """The amounts among them, each once; what is not written as an amount is `UNCLEAR`, and never none."""
    named = [e.value for e in entities if e.kind is EntityKind.AMOUNT]
    return list(dict.fromkeys(value.strip() if _VALUE.fullmatch(value) else UNCLEAR for value in named))
