"""What staff see behind an event: how the turn understood the customer, what it rested on, what it all comes to so far.

Labels, ids and times; the words stay in the log and the account stays in the evidence.
"""

from collections.abc import Sequence
from typing import Any

from domain.account import Evidence
from domain.conversation import EventKind
from domain.errand import Considered
from domain.reply import Attempt
from domain.verdict import Verdict
from policy.turn.offering import offered
from policy.turn.summarising import note_of

Behind = list[tuple[EventKind, dict[str, Any]]]


def behind(
    considered: Considered,
    evidence: Evidence | None = None,
    verdict: Verdict | None = None,
    operation_id: str | None = None,
    said: str = "",
    attempts: Sequence[Attempt] = (),
) -> Behind:
    """Return the staff-only facts of a turn, in the order in which they came about.

    `said` is what it replies, `attempts` the drafts that did not pass the checks.
    """
    facts: Behind = []
    if considered.understood is not None:
        body = considered.understood.without_words.model_dump(mode="json", exclude={"mentions", "entities"})
        facts.append((EventKind.UNDERSTANDING, {**body, **_left_open(considered, evidence, said)}))
    if considered.evidence_id is not None:
        facts.append((EventKind.EVIDENCE, _read(considered.evidence_id, evidence)))
    if verdict is not None:
        facts.append((EventKind.VERDICT, {"operation_id": operation_id, **verdict.model_dump(mode="json")}))
    facts += [(EventKind.DRAFT, _tried(attempt)) for attempt in attempts]
    if considered.summary is not None:
        facts.append((EventKind.SUMMARY, considered.summary.model_dump(mode="json")))
    return facts


def _tried(attempt: Attempt) -> dict[str, Any]:
    """A draft as it would have been said, what each part rests on, and the checks that it failed."""
    draft = attempt.draft.model_dump(mode="json")
    return {"text": attempt.draft.text, "failed": list(attempt.failed), **draft}


def _read(evidence_id: str, evidence: Evidence | None) -> dict[str, Any]:
    """What was read, from where and when; the values stay in the evidence."""
    told = evidence.model_dump(mode="json", include={"source", "observed_at", "max_age_s"}) if evidence else {}
    return {"evidence_id": evidence_id, **told}


def _left_open(considered: Considered, evidence: Evidence | None, said: str) -> dict[str, Any]:
    """What the next turn may refer back to."""
    step, note = considered.step, note_of(considered)
    more = note.model_dump(mode="json", include={"resource", "question", "waiting", "named"}) if note else {}
    return {
        "step": step.step if step else None,
        "resource": None,
        "question": None,
        **more,
        "meant": considered.meant.value if considered.meant else None,
        "through_seq": considered.through_seq,
        "amount": considered.amount,
        "asked_running": considered.asked_running,
        "offered": list(offered(step, evidence.account if evidence else None, said) or considered.offered),
    }
