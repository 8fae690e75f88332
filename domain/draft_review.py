"""A draft that waits for a person of the staff: how it stands, what may be decided, how much an editor changed.

Pure; the row and its fence live in the store.
"""

from difflib import SequenceMatcher
from enum import StrEnum

from domain.base import Noun

WORDS_COMPARED_MAX = 600  # of either text: comparing takes their product in the worst case


class DraftState(StrEnum):
    """How a draft stands; it leaves `waiting` once."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    EDITED = "edited"  # accepted in other words
    REJECTED = "rejected"
    SUPERSEDED = "superseded"


class Superseded(StrEnum):
    """What ended a draft that nobody has decided."""

    NEWER_MESSAGE = "newer_message"
    OWNER_CHANGED = "owner_changed"
    ANSWERED = "answered"
    FACTS_OLD = "facts_old"  # the account was read too long ago to be told
    FACTS_CHANGED = "facts_changed"  # the ledger says something else by now
    RENEWED = "renewed"  # somebody asked for a new one


class DraftDecision(StrEnum):
    """What a person may decide of a draft."""

    ACCEPT = "accept"
    REJECT = "reject"


class DraftRequest(Noun):
    """A person's decision. `text` is what to send instead, None for the draft as it is; a rejection has a `reason`."""

    request_id: str
    decision: DraftDecision
    text: str | None = None
    reason: str | None = None


def change_permille(before: str, after: str) -> int:
    """Return how much of a text was changed, by words: 0 for nothing, 1000 for all of it."""
    one, other = before.split()[:WORDS_COMPARED_MAX], after.split()[:WORDS_COMPARED_MAX]
    return round(1_000 * (1 - SequenceMatcher(None, one, other, autojunk=False).ratio()))
