"""The fixed words that transactions put into the log: what they need said, and the interface that says it.

The texts live in `language`; a transaction renders them at the moment it commits, so no sentence is older than its row.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from domain.action import Action
from domain.understanding import Intent


class NoticeKind(StrEnum):
    """What a customer is told when nothing but the owner, or the waiting, has changed."""

    TAKEN_OVER = "taken_over"
    HANDED_TO_PERSON = "handed_to_person"
    RELEASED = "released"
    CLOSED_IDLE = "closed_idle"
    REOPENED = "reopened"
    WAITING_FOR_OUTCOME = "waiting_for_outcome"
    ACKNOWLEDGED = "acknowledged"
    OUT_OF_HOURS = "out_of_hours"  # beside a handoff: nobody is at the desk now
    CHECKED_FIRST = "checked_first"  # a person looks at the answer before it is sent


class Words(Protocol):
    """Says what the ledger and the row say, in the customer's language."""

    def status(self, action: Action) -> str:
        """One sentence on where `action` stands, in its own language."""
        ...

    def proposal(self, action: Action) -> str:
        """What would happen, and whose consent it needs."""
        ...

    def noted(self, waiting: Sequence[Intent], language: str) -> str:
        """What else was asked for, and that it is noted."""
        ...

    def notice(self, kind: NoticeKind, language: str) -> str:
        """The customer-visible notice."""
        ...

    def back_at(self, opens_at: datetime, timezone: str, language: str) -> str:
        """When people are back, on the desk's own clock and with its name."""
        ...

    def disclosure(self, language: str) -> str:
        """That an automated assistant is speaking (EU AI Act, Art. 50)."""
        ...
