"""The circumstances of a decision: tenant, customer, and what was done before, as policy looks at them.

Read inside the transactions that propose and reserve; a reservation holds locks that let no other one slip between.
"""

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.account import Evidence
from domain.action import MONEY_KINDS, Action, ApprovalRole, Payload
from domain.base import Noun
from domain.verdict import Actor, PolicyQuestion
from store import tables as t
from store.database import Tx
from store.pipeline import Row, Statement, run

CUSTOMER_WINDOW = timedelta(days=30)
TENANT_WINDOW = timedelta(hours=24)
_HAPPENED = ("submitted", "unknown", "confirmed")  # was carried out, or may have been
_IN_FLIGHT = ("submitted", "unknown")
_OPEN = ("proposed", "awaiting_approval", "submitted", "unknown")

_a = t.actions.c
_MOVED_AT = sa.func.coalesce(_a.settled_at, sa.literal_column("'infinity'::timestamptz"))  # as in the index


class Circumstances(Noun):
    """All of it, for one payload."""

    tenant_id: str
    tenant_kind: str
    stage: str
    stopped: bool
    policy_digest: str
    customer_id: str
    customer_status: str
    refunds_30d_count: int
    refunds_30d_minor: int
    tenant_refunds_24h_minor: int
    actions_in_conversation: int
    open_money_actions: int

    def question(
        self,
        payload: Payload,
        found: Evidence,
        now: datetime,
        actor: Actor,
        granted: tuple[ApprovalRole, ...] = (),
    ) -> PolicyQuestion:
        """Return the question that policy is asked about `payload` over the evidence found."""
        return PolicyQuestion(
            **self.model_dump(exclude={"policy_digest"}),
            payload=payload,
            account=found.account,
            evidence_observed_at=found.observed_at,
            evidence_max_age_s=found.max_age_s,
            now=now,
            actor=actor,
            granted=granted,
        )


async def tenant_row(tx: Tx) -> sa.Row[Any]:
    """Return the tenant's row, as it is."""
    return (await tx.execute(sa.select(t.tenants))).one()


async def lock_tenant(tx: Tx, tenant_id: str) -> Row:
    """Return the tenant's row, its switches and stage locked against change until this transaction ends.

    Whoever turns a switch closes the gate first and is next, however many reservations come after it: shared locks
    on a row alone would let them pass it for as long as they keep coming.
    """
    _, (row,) = await run(tx, _PASS_GATE(gate=_gate(tenant_id)), _SHARE_TENANT())
    return row


async def close_gate(tx: Tx, tenant_id: str) -> None:
    """Wait for the reservations and claims of a tenant that are in progress, and let no other one begin."""
    await run(tx, _CLOSE_GATE(gate=_gate(tenant_id)))


_SHARE_TENANT = Statement(sa.select(t.tenants).with_for_update(read=True))
_GATE = sa.func.hashtextextended(sa.bindparam("gate", type_=sa.Text), 0)
_PASS_GATE = Statement(sa.select(sa.func.pg_advisory_xact_lock_shared(_GATE)))
_CLOSE_GATE = Statement(sa.select(sa.func.pg_advisory_xact_lock(_GATE)))


def _gate(tenant_id: str) -> str:
    return f"switches/{tenant_id}"


async def policy_in_force(tx: Tx, tenant_id: str, now: datetime) -> str:
    """Return the digest of the bundle in force. Raises sqlalchemy.exc.NoResultFound where none is."""
    query = sa.select(sa.func.policy_in_force(tenant_id, sa.cast(now, sa.DateTime(timezone=True))).label("digest"))
    digest = (await tx.execute(query)).scalar_one()
    if digest is None:
        raise sa.exc.NoResultFound("no policy is in force for this tenant")
    return str(digest)


async def lock_money(tx: Tx, tenant_id: str) -> None:
    """Let one reservation of money of a tenant pass at a time, so that no two fit into what is left of one limit."""
    key = sa.func.hashtextextended(f"money/{tenant_id}", 0)
    await tx.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))


async def circumstances(
    tx: Tx,
    tenant: sa.Row[Any],
    customer_id: str,
    conversation_id: str,
    payload: Payload,
    now: datetime,
    itself: Action | None = None,
) -> Circumstances:
    """Return the circumstances of `payload`; `itself` is the action, where it is in the ledger already."""
    operation_id = itself.operation_id if itself else ""
    totals = (await tx.execute(_totals(customer_id, payload, now, operation_id))).one()
    counts = (await tx.execute(_counts(conversation_id, payload, operation_id, itself))).one()
    return Circumstances(
        tenant_id=tenant.id,
        tenant_kind=tenant.kind,
        stage=tenant.stage,
        stopped=stopped(tenant, payload.kind.value),
        policy_digest=await policy_in_force(tx, tenant.id, now),
        customer_id=customer_id,
        customer_status=await _customer_status(tx, customer_id),
        refunds_30d_count=totals.count,
        refunds_30d_minor=int(totals.customer),
        tenant_refunds_24h_minor=int(totals.tenant),
        actions_in_conversation=counts.actions,
        open_money_actions=counts.money,
    )


def stopped(tenant: sa.Row[Any], kind: str) -> bool:
    """Whether a kill switch holds for the tenant, or for this kind of action."""
    return bool(tenant.dispatch_halted or kind in tenant.halted_kinds)


def _totals(customer_id: str, payload: Payload, now: datetime, operation_id: str) -> sa.Select[Any, Any]:
    """Money given back, in the payload's currency: to the customer and by the tenant, each over its window.

    A window is about when an action was settled, not when it was proposed; what may still move money always counts.
    """
    moved = sa.and_(
        _a.kind.in_(sorted(MONEY_KINDS)),
        _a.amount_minor.is_not(None),
        _a.state.in_(_HAPPENED),
        _a.operation_id != operation_id,
        now - CUSTOMER_WINDOW < _MOVED_AT,
    )
    same_currency = _a.currency == (payload.currency or "")
    of_customer = _a.customer_id == customer_id
    today = now - TENANT_WINDOW < _MOVED_AT
    amount = sa.func.sum(_a.amount_minor)
    return sa.select(
        sa.func.count().filter(of_customer).label("count"),
        sa.func.coalesce(amount.filter(sa.and_(of_customer, same_currency)), 0).label("customer"),
        sa.func.coalesce(amount.filter(sa.and_(today, same_currency)), 0).label("tenant"),
    ).where(moved)


def _counts(conversation_id: str, payload: Payload, operation_id: str, itself: Action | None) -> sa.Select[Any, Any]:
    """Actions of the conversation, and open money actions that stand in the way on the same resource.

    Open is what somebody has agreed to, or what may have been sent. What was merely proposed stands in nobody's way:
    a customer who asks again in another chat is not sent to a person for it, and what was proposed on another version
    of the thing is forbidden when its turn comes. Of two that were agreed to, the one proposed earlier goes first.
    """
    here = _a.conversation_id == conversation_id
    p = t.approvals.c
    agreed = sa.exists().where(p.operation_id == _a.operation_id, p.decision == "approve", p.voided_at.is_(None))
    competing = sa.and_(
        _a.resource == payload.resource,
        _a.state.in_(_OPEN),
        _a.kind.in_(sorted(MONEY_KINDS)),
        sa.or_(_a.state.in_(_IN_FLIGHT), sa.and_(~here, agreed)),
        sa.or_(_a.state.in_(_IN_FLIGHT), _a.created_at < itself.created_at) if itself else sa.true(),
    )
    return sa.select(
        sa.func.count().filter(here).label("actions"), sa.func.count().filter(competing).label("money")
    ).where(_a.operation_id != operation_id, sa.or_(here, competing))


async def _customer_status(tx: Tx, customer_id: str) -> str:
    """Return `active` or `blocked`; a customer never seen before is active."""
    query = sa.select(t.customers.c.status).where(t.customers.c.id == customer_id)
    return (await tx.execute(query)).scalar_one_or_none() or "active"
