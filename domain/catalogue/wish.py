"""A wish: what somebody would like changed, in ids and amounts alone, before the account has made a payload of it.

It may stand in a workflow's history: no text of anybody is ever in it (INVARIANT 12).
"""

from domain.base import Noun
from domain.catalogue.kinds import ActionKind


class Wish(Noun):
    """`resource` is `order:ID` and the like; the other fields are what the kind needs, ids as the account has them."""

    kind: ActionKind
    resource: str
    amount_minor: int | None = None
    currency: str | None = None
    item_ids: tuple[str, ...] = ()
    new_item_ids: tuple[str, ...] = ()  # for each item, in order
    payment_method_id: str | None = None
    address_id: str | None = None
    plan: str | None = None
    reason: str | None = None  # one of the reasons that the kind knows


class NotProposable(ValueError):
    """A wish names what the account does not hold, or a change that does not fit the resource; says which."""
