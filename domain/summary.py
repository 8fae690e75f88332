"""What a long conversation comes to: a typed summary whose every part says which event it came from.

Amounts, approvals and statuses are never in it: those have one home, the ledger, and are read there.
"""

from domain.base import Noun
from domain.conversation import EventKind
from domain.understanding import Intent, Need


class Goal(Noun):
    """What the customer wants, of which resource of theirs, said in event `seq`."""

    intent: Intent
    resource: str | None = None
    seq: int


class Constraint(Noun):
    """What the customer asked to be heeded: a label such as `not:order:A-1`, said in event `seq`."""

    label: str
    seq: int


class OpenQuestion(Noun):
    """What was asked of the customer in answer to event `seq` and is not answered."""

    question: str
    resource: str | None = None
    seq: int


class Correction(Noun):
    """What the customer took back in event `seq`, and what they put in its place."""

    was: str | None
    now: str | None
    seq: int


class Summary(Noun):
    """Everything up to and with event `through_seq`."""

    through_seq: int = 0
    goals: tuple[Goal, ...] = ()  # oldest first; the last is the present one
    waiting: tuple[Goal, ...] = ()  # asked for beside those, and not dealt with yet
    constraints: tuple[Constraint, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    corrections: tuple[Correction, ...] = ()
    named: tuple[str, ...] = ()  # the customer's own resources in the order in which they were first named


class TurnNote(Noun):
    """What one turn came to, as kept behind its reply. `seq` is of the last customer message that it answered."""

    seq: int
    intent: Intent  # with follow-ups and corrections resolved
    resource: str | None = None
    question: str | None = None
    corrects: bool = False
    withdraws: bool = False
    waiting: tuple[Need, ...] = ()
    named: tuple[str, ...] = ()


class Said(Noun):
    """One thing that was said, word for word; it never leaves the activity that has read it."""

    seq: int
    kind: EventKind
    text: str


class Memory(Noun):
    """What a model is told of the conversation so far: the latest words, and what all before came to."""

    recent: tuple[Said, ...] = ()
    summary: Summary = Summary()
