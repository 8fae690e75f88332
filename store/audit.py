"""The audit: append-only, chained per tenant by the database as each transaction commits.

Moves, approvals, publications and switches are written there by triggers; verdicts are written here, with their facts.
It is read elsewhere (`store.record`).
"""

import json
from typing import Any, Literal

import sqlalchemy as sa

from domain.account import Evidence
from domain.verdict import Actor, Judgement
from store import tables as t
from store.database import Tx

Use = Literal["propose", "reserve"]


async def record_verdict(
    tx: Tx,
    tenant_id: str,
    conversation_id: str,
    operation_id: str,
    use: Use,
    actor: Actor,
    judged: Judgement,
    found: Evidence,
    evidence_digest: str,
) -> None:
    """Write one verdict: who, what, under which bundle, by which rules, over which evidence, with whose consent."""
    verdict = judged.verdict
    body: dict[str, Any] = {
        "use": use,
        "verdict": verdict.kind.value,
        "rules": list(verdict.rule_ids),
        "required": [role.value for role in verdict.required],
        "missing": [role.value for role in verdict.missing],
        "granted": [role.value for role in judged.granted],
        "policy_digest": verdict.policy_digest,
        "request": judged.request,
        "evidence": {
            "evidence_id": found.evidence_id,
            "source": found.source,
            "observed_at": found.observed_at.isoformat(),
            "max_age_s": found.max_age_s,
            "digest": evidence_digest,
        },
    }
    await tx.execute(
        sa.insert(t.audit).values(
            tenant_id=tenant_id,
            kind="verdict",
            actor=f"{actor.kind}:{actor.id}",
            conversation_id=conversation_id,
            operation_id=operation_id,
            body=json.dumps(body, sort_keys=True, ensure_ascii=False),
        )
    )
