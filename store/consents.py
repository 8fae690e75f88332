"""Consents as rows: one person's word on exactly one digest, put on record, and what makes room for another's.

The transactions that take consent stand in `approvals` (the endpoint) and in `approval_words` (a "yes" in the chat).
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.action import Action, ApprovalDecision, ApprovalRole
from domain.base import Noun
from store import tables as t
from store.approval_rights import require_missing
from store.database import Tx
from store.ledger import still_entitled


class Consent(Noun):
    """One person's word on exactly one digest, in a role; `said_seq` where it was said in words."""

    approver: str
    role: ApprovalRole
    staff_role: str | None
    decision: ApprovalDecision
    digest: str
    expires_at: datetime
    note: str | None = None
    said_seq: int | None = None


def told(action: Action, consent: Consent) -> dict[str, Any]:
    """Return the body of an approval's event."""
    return {
        "operation_id": action.operation_id,
        "role": consent.role.value,
        "decision": consent.decision.value,
    }


async def void_uncounted(tx: Tx, action: Action, now: datetime) -> None:
    """What counts no more and was not used makes room for another's: it ran out, or its giver's role has changed."""
    p = t.approvals.c
    if action.state.unexecuted:
        await tx.execute(
            sa.update(t.approvals)
            .where(
                p.operation_id == action.operation_id,
                p.voided_at.is_(None),
                p.consumed_at.is_(None),
                sa.or_(p.expires_at <= now, ~still_entitled()),
            )
            .values(voided_at=now)
        )


async def record_consent(tx: Tx, action: Action, consent: Consent, now: datetime) -> None:
    """Put a decision on record, bound to all that `action` is now. Raises ApprovalStale where its role has decided.

    The database refuses what does not fit the action (INVARIANT 4).
    """
    if consent.decision is ApprovalDecision.APPROVE:  # a no is heard also after a yes
        await require_missing(tx, action, [consent.role])
    await tx.execute(
        sa.insert(t.approvals).values(
            tenant_id=action.tenant_id,
            operation_id=action.operation_id,
            approver=consent.approver,
            role=consent.role.value,
            staff_role=consent.staff_role,
            decision=consent.decision.value,
            payload_digest=consent.digest,
            policy_digest=action.policy_digest,
            evidence_digest=action.evidence_digest,
            note=consent.note,
            said_seq=consent.said_seq,
            decided_at=now,
            expires_at=consent.expires_at,
        )
    )
