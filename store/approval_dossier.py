"""All that an approver looks at before deciding: what would happen, on what facts, by which rules, and who has spoken.

Everything here is read from the ledger and the evidence; nothing that a model has written is in it.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.account import Account
from domain.action import Action, ActionState, ApprovalDecision, ApprovalRole, Cause, Move
from domain.approving import Allows
from domain.base import Noun
from domain.principal import VerifiedPrincipal
from domain.refusal import NotAllowedReason, NotFound, StaleReason
from store import tables as t
from store.approval_queue import Claimed, claims_on
from store.approval_rights import roles_open_to
from store.database import Database, Tx
from store.ledger import fitting, granted, history, to_action
from store.validity import overtaken, rights

PAST_MAX = 10


class Given(Noun):
    """One person's word on it. `counts`: it would be used if the action went out now."""

    approver: str
    name: str | None
    role: ApprovalRole
    decision: ApprovalDecision
    note: str | None
    decided_at: datetime
    expires_at: datetime
    consumed_at: datetime | None
    voided_at: datetime | None
    counts: bool


class Facts(Noun):
    """What was read of the customer's account: the resource as it was then, and what else the action rests on."""

    evidence_id: str
    source: str
    observed_at: datetime
    max_age_s: int
    resource: dict[str, Any] | None
    also: tuple[Any, ...]
    profile: dict[str, Any] | None


class Judged(Noun):
    """The last verdict on it, with the rules that decided."""

    verdict: str
    rules: tuple[str, ...]
    at: datetime
    policy_digest: str


class Other(Noun):
    """Another action, as far as it matters here."""

    operation_id: str
    conversation_id: str
    kind: str
    state: ActionState
    cause: Cause
    resource: str
    payload: dict[str, Any]
    amount_minor: int | None
    currency: str | None
    created_at: datetime


class Yours(Noun):
    """What the reader may do: the approvals open to them, or why there is none."""

    roles: tuple[ApprovalRole, ...]
    why_not: NotAllowedReason | None
    decided: ApprovalDecision | None


class Dossier(Noun):
    """`GET /approvals/{operation_id}`. `overtaken`: what has changed since it was asked for; a yes would be refused."""

    operation_id: str
    conversation_id: str
    customer_id: str
    kind: str
    state: ActionState
    cause: Cause
    payload: dict[str, Any]
    payload_digest: str
    resource: str
    amount_minor: int | None
    currency: str | None
    repair: str
    requested_by: str
    created_at: datetime
    expires_at: datetime
    reminded_at: datetime | None
    escalated_at: datetime | None
    external_id: str | None
    required_approvals: tuple[ApprovalRole, ...]
    missing: tuple[ApprovalRole, ...]
    approvals: tuple[Given, ...]
    claim: Claimed | None
    policy_digest: str
    judged: Judged | None
    facts: Facts | None  # that it was proposed on
    facts_now: Facts | None  # read last, where that is another reading
    overtaken: StaleReason | None
    replaces: Other | None  # what was called off for it, on the same thing
    replaced_by: Other | None
    past: tuple[Other, ...]  # the customer's other actions, the newest first
    history: tuple[Move, ...]
    yours: Yours


async def dossier(db: Database, staff: VerifiedPrincipal, operation_id: str, now: datetime, allows: Allows) -> Dossier:
    """Return one action as an approver looks at it, whatever its state. Raises NotFound."""
    async with db.transaction(staff.tenant_id) as tx:
        row = (await tx.execute(sa.select(t.actions).where(t.actions.c.operation_id == operation_id))).one_or_none()
        if row is None:
            raise NotFound("There is no such action.")
        action = to_action(row)
        given = await _given(tx, action, now)
        have = set(await granted(tx, action, now)) if action.state.unexecuted else set()
        facts = await _facts(tx, action, t.evidence.c.evidence_id == row.evidence_id)
        last = await _facts(tx, action, t.evidence.c.conversation_id == action.conversation_id)
        others = await _others(tx, action)
        own = next((one for one in given if one.approver == staff.key and one.voided_at is None), None)
        may = await rights(tx, allows, now)
        roles = tuple(roles_open_to(staff.role, action, may)) if staff.role is not None else ()
        return Dossier(
            **action.model_dump(
                include={
                    *("operation_id", "conversation_id", "customer_id", "kind", "state", "cause", "payload_digest"),
                    *("requested_by", "created_at", "expires_at", "reminded_at", "escalated_at", "external_id"),
                    *("required_approvals", "policy_digest"),
                }
            ),
            payload=action.payload.model_dump(mode="json"),
            resource=action.payload.resource,
            amount_minor=action.payload.amount_minor,
            currency=action.payload.currency,
            repair=action.payload.repair,
            missing=tuple(r for r in action.required_approvals if r not in have) if action.state.unexecuted else (),
            approvals=given,
            claim=(await claims_on(tx, [operation_id], now)).get(operation_id),
            judged=await _judged(tx, operation_id),
            facts=facts,
            facts_now=last if last and facts and last.evidence_id != facts.evidence_id else None,
            overtaken=await overtaken(tx, action, now),
            replaces=_neighbour(action, others, earlier=True),
            replaced_by=_neighbour(action, others, earlier=False),
            past=tuple(others[:PAST_MAX]),
            history=tuple(await history(tx, operation_id)),
            yours=_yours(action, staff, roles, own),
        )


def _yours(action: Action, staff: VerifiedPrincipal, roles: tuple[ApprovalRole, ...], own: Given | None) -> Yours:
    why_not = None
    if action.requested_by == staff.key:
        why_not, roles = NotAllowedReason.OWN_PROPOSAL, ()
    elif not roles:
        why_not = NotAllowedReason.WRONG_ROLE
    return Yours(roles=roles, why_not=why_not, decided=own.decision if own else None)


async def _given(tx: Tx, action: Action, now: datetime) -> tuple[Given, ...]:
    """Every word on it, the oldest first; what was voided too."""
    p, who = t.approvals.c, t.staff.alias("who")
    query = (
        sa.select(t.approvals, who.c.name, fitting(action, now).label("counts"))
        .outerjoin(who, sa.and_(who.c.tenant_id == p.tenant_id, "staff:" + who.c.id == p.approver))
        .where(p.operation_id == action.operation_id)
        .order_by(p.decided_at, p.id)
    )
    return tuple(Given.model_validate(r, from_attributes=True) for r in (await tx.execute(query)).all())


async def _facts(tx: Tx, action: Action, which: sa.ColumnElement[bool]) -> Facts | None:
    """The newest evidence of those that `which` picks, about the action's customer."""
    e = t.evidence.c
    query = (
        sa.select(t.evidence)
        .where(which, e.subject == f"customer:{action.customer_id}")
        .order_by(e.observed_at.desc())
        .limit(1)
    )
    row = (await tx.execute(query)).one_or_none()
    if row is None:
        return None
    account = Account.model_validate(row.value)
    found = account.resource(action.payload.resource)
    return Facts(
        evidence_id=row.evidence_id,
        source=row.source,
        observed_at=row.observed_at,
        max_age_s=row.max_age_s,
        resource=found.model_dump(mode="json") if found else None,
        also=tuple(action.payload.rests_on(account)),
        profile=account.profile.model_dump(mode="json") if account.profile else None,
    )


async def _judged(tx: Tx, operation_id: str) -> Judged | None:
    """The last verdict on record; its body is kept as it was hashed."""
    a = t.audit.c
    body = sa.cast(a.body, sa.dialects.postgresql.JSONB)
    query = (
        sa.select(
            body["verdict"].astext.label("verdict"),
            body["rules"].label("rules"),
            body["policy_digest"].astext.label("policy_digest"),
            a.at,
        )
        .where(a.operation_id == operation_id, a.kind == "verdict")
        .order_by(a.n.desc())
        .limit(1)
    )
    row = (await tx.execute(query)).one_or_none()
    return None if row is None else Judged.model_validate(row, from_attributes=True)


async def _others(tx: Tx, action: Action) -> list[Other]:
    """The customer's other actions, the newest first."""
    a = t.actions.c
    query = (
        sa.select(t.actions)
        .where(a.customer_id == action.customer_id, a.operation_id != action.operation_id)
        .order_by(a.created_at.desc())
        .limit(5 * PAST_MAX)
    )
    return [_other(to_action(r)) for r in (await tx.execute(query)).all()]


def _other(action: Action) -> Other:
    told = {"operation_id", "conversation_id", "kind", "state", "cause", "created_at"}
    payload = action.payload
    return Other(
        **action.model_dump(include=told),
        resource=payload.resource,
        payload=payload.model_dump(mode="json"),
        amount_minor=payload.amount_minor,
        currency=payload.currency,
    )


def _neighbour(action: Action, others: list[Other], *, earlier: bool) -> Other | None:
    """What was called off for `action`, or what it was called off for: the next one on the same thing."""
    same = [
        other
        for other in others
        if (other.conversation_id, other.resource) == (action.conversation_id, action.payload.resource)
        and (other.created_at < action.created_at) is earlier
    ]
    if earlier:
        return next((o for o in same if o.cause is Cause.SUPERSEDED), None)
    return same[-1] if same and action.cause is Cause.SUPERSEDED else None
