"""Every message, result and name that crosses into or out of a workflow: identifiers, labels, amounts and times only.

Temporal histories hold these; no text of anybody may ever be added here (INVARIANT 12).
"""

from datetime import datetime

from domain.base import Noun

CONVERSATION_WORKFLOW = "ConversationWorkflow"
ACTION_WORKFLOW = "ActionWorkflow"
REFRESH_WORKFLOW = "RefreshWorkflow"
WAKE_SIGNAL = "wake"
TASK_QUEUE = "interlock"
SIGNALS_PER_RUN_MAX = 5_000  # before a conversation continues as new; Temporal itself refuses more than 10,000


def conversation_workflow_id(conversation_id: str) -> str:
    """Return the workflow id of a conversation."""
    return f"conversation/{conversation_id}"


def refresh_workflow_id(tenant_id: str, order_id: str) -> str:
    """Return the workflow id under which one order's tracking is refreshed."""
    return f"refresh/{tenant_id}/{order_id}"


class WakeSignal(Noun):
    """Look at the log up to `seq`. May come twice, late or out of order."""

    seq: int
    event_id: str
    owner_epoch: int


class Carry(Noun):
    """What a conversation's workflow carries into its next run: small, typed, and safe to lose."""

    heard_seq: int = 0
    turns: int = 0
    intent: str | None = None
    handoff_reason: str | None = None


class ConversationStart(Noun):
    """The input of `ConversationWorkflow`."""

    tenant_id: str
    conversation_id: str
    idle_close_s: int
    signals_per_run_max: int = SIGNALS_PER_RUN_MAX
    carry: Carry = Carry()


class ActionStart(Noun):
    """The input of `ActionWorkflow`; everything else is read from the ledger."""

    tenant_id: str
    conversation_id: str
    operation_id: str


class RefreshStart(Noun):
    """The input of `RefreshWorkflow`."""

    tenant_id: str
    order_id: str


class OpenAction(Noun):
    """One open action, as a card or a query shows it."""

    operation_id: str
    kind: str
    state: str
    since: datetime


class TimelineEntry(Noun):
    """One thing that a workflow did, for the `timeline` query."""

    at: datetime
    what: str
    detail: str = ""
