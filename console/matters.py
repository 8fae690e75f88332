"""Why something waits for a person, and how urgent it is, in words for the staff.

Pure; a label that is not known here is said as it stands.
"""

from console.wording import sentence

_WHY = {
    "customer_requested": "The customer pressed “Talk to a person”",
    "handoff_requested": "The customer asked for a person",
    "out_of_scope": "Outside what the assistant may do",
    "understanding_failed": "The assistant did not understand",
    "suspicious": "The message tries to steer the assistant",
    "policy_forbids": "The policy forbids what was asked for",
    "account_unreadable": "The customer's account could not be read",
    "policy_unreadable": "The policy in force could not be read",
    "high_risk": "A risk that needs a person's judgement",
    "budget_spent": "The models' budget of this conversation is spent",
    "handoff_generation_failed": "No answer could be written",
    "handoff_checks_failed": "The answer did not pass its checks",
    "unknown_outcome": "Nobody knows yet whether an action took effect",
    "too_many_messages": "More messages than one turn can weigh",
    "staff_takeover": "A person took over",
    "dispatch_stopped": "Actions are stopped at the moment",
    "draft_rejected": "A person rejected the draft",
    "draft": "An answer waits for a person's eye",
    "approval": "An action waits for consent",
    "approval_escalated": "Nobody has decided an approval in time",
    "unknown_action": "Nobody knows whether this action took effect",
    "effect_without_row": "The shop shows a change that is not in our books",
    "row_without_effect": "Our books show a change that the shop does not have",
    "other_amount": "The shop shows another amount than our books",
}
_KINDS = {"handoff": "Handoff", "case": "Money case", "draft": "Draft", "approval": "Approval"}
_DUE = {"first_reply": "First reply", "next_reply": "Next reply", "resolution": "Resolution"}
_STATES = {
    "proposed": "Proposed",
    "awaiting_approval": "Awaits approval",
    "submitted": "Sent, no answer yet",
    "confirmed": "Done",
    "rejected": "Did not happen",
    "unknown": "Unknown: it may have happened",
}
_CAUSES = {
    "proposed": "proposed",
    "approval_needed": "asked for consent",
    "denied": "the policy forbids it",
    "declined": "somebody said no",
    "superseded": "replaced by another wish",
    "expired": "nobody decided in time",
    "withdrawn": "called off",
    "reserved": "all consent is there; on its way",
    "never_sent": "it was certainly never sent",
    "succeeded": "the business system did it",
    "refused": "the business system refused it",
    "response_lost": "it was sent, and no answer came",
    "found": "looked up, and there",
    "not_found": "looked up, and not there",
}
_URGENT_BECAUSE = {"intent": "it is about", "risk": "a risk", "mark": "how it is said"}
FAULTS = {
    "timeout": "it did not answer in time",
    "unreachable": "it could not be reached",
    "forbidden_address": "its address is not public, or not https",
    "redirected": "it pointed elsewhere, which is not followed",
    "answered": "it answered with an error",
    "gone": "it said that it wants no more",
    "no_secret": "its secret is missing",
    "defect": "the fault was ours",
    "removed": "it was taken away before it was told",
}
_PHASES = {"human_owned": "A person has it"}


def why(reason: str) -> str:
    """Return why something waits."""
    return _WHY.get(reason) or sentence(reason)


def sort(kind: str) -> str:
    """Return what sort of thing waits."""
    return _KINDS.get(kind) or sentence(kind)


def stand(status: str) -> str:
    """Return whether somebody has it."""
    return "In somebody's hands" if status == "claimed" else "Nobody has it"


def target(kind: str) -> str:
    """Return which target is to be met."""
    return _DUE.get(kind) or sentence(kind)


def state(name: str) -> str:
    """Return how an action stands."""
    return _STATES.get(name) or sentence(name)


def cause(name: str) -> str:
    """Return why an action moved."""
    return _CAUSES.get(name) or name.replace("_", " ")


def urgent_because(ground: str | None) -> str:
    """Return what decided the urgency: `risk:safety` is `a risk: safety`; nothing where nothing did."""
    kind, _, what = (ground or "").partition(":")
    if ground == "money:unknown":
        return "nobody knows where the money is"
    if kind == "reason" and what:
        return why(what)[:1].lower() + why(what)[1:]
    return f"{_URGENT_BECAUSE[kind]}: {what.replace('_', ' ')}" if kind in _URGENT_BECAUSE and what else ""


def fault(name: str | None) -> str:
    """Return why a webhook could not be told."""
    return FAULTS.get(name or "") or (name or "nobody knows why").replace("_", " ")


def phase(name: str) -> str:
    """Return what is being done in a conversation."""
    return _PHASES.get(name) or sentence(name)
