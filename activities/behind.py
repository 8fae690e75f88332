"""What staff see behind an event: how the turn understood the customer, and what it rested on.

Labels, ids and times; the words stay in the log and the account stays in the evidence.
"""

from typing import Any

from domain.account import Evidence
from domain.conversation import EventKind
from domain.errand import Considered
from domain.verdict import Verdict

Behind = list[tuple[EventKind, dict[str, Any]]]


def behind(
    considered: Considered,
    evidence: Evidence | None = None,
    verdict: Verdict | None = None,
    operation_id: str | None = None,
) -> Behind:
    """Return the staff-only facts of a turn, in the order in which they came about."""
    facts: Behind = []
    if considered.understood is not None:
        body = considered.understood.model_dump(mode="json", exclude={"mentions"})
        facts.append((EventKind.UNDERSTANDING, {**body, **_left_open(considered)}))
    if considered.evidence_id is not None:
        facts.append((EventKind.EVIDENCE, _read(considered.evidence_id, evidence)))
    if verdict is not None:
        facts.append((EventKind.VERDICT, {"operation_id": operation_id, **verdict.model_dump(mode="json")}))
    return facts


def _read(evidence_id: str, evidence: Evidence | None) -> dict[str, Any]:
    """What was read, from where and when; the values stay in the evidence."""
    told = evidence.model_dump(mode="json", include={"source", "observed_at", "max_age_s"}) if evidence else {}
    return {"evidence_id": evidence_id, **told}


def _left_open(considered: Considered) -> dict[str, Any]:
    """What the next turn may refer back to."""
    step = considered.step
    question = getattr(step, "question", None)
    return {
        "step": step.step if step else None,
        "resource": getattr(step, "resource", None),
        "question": question.value if question else None,
        "meant": considered.meant.value if considered.meant else None,
    }
