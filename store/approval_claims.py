"""Claims: who of the staff is deciding an approval right now, so that two people do not decide one item.

A claim ends by itself, with the decision, or with its holder's right to be here; it never keeps the customer waiting.
"""

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from domain.action import ActionState
from domain.approving import Allows, by_table
from domain.base import Noun
from domain.principal import VerifiedPrincipal
from domain.refusal import ApprovalClaimed, ApprovalNotAllowed, ApprovalStale, NotAllowedReason, StaleReason
from domain.teamwork import Topic
from store import tables as t
from store.approval_rights import require_missing, require_other_requester, roles_open_to
from store.beside import ring
from store.database import Database, Tx
from store.ledger import lock_action
from store.log import under_lock
from store.validity import rights

_k, _s = t.approval_claims.c, t.staff.c


class ApprovalClaim(Noun):
    """Who has an approval, and until when at most."""

    operation_id: str
    staff: str
    until: datetime


async def claim_approval(
    db: Database,
    staff: VerifiedPrincipal,
    operation_id: str,
    minutes: int,
    now: datetime,
    allows: Allows = by_table,
) -> ApprovalClaim:
    """Take an approval for `minutes`, or longer; again by the same person extends it.

    Raises NotFound, ApprovalStale for what waits for nobody, ApprovalNotAllowed for who could not decide it anyway, and
    ApprovalClaimed while somebody else has it.
    """
    async with db.transaction(staff.tenant_id) as tx:
        action = await lock_action(tx, operation_id)
        now = await under_lock(tx, now)
        if action.state is not ActionState.AWAITING_APPROVAL or now >= action.expires_at:
            told = f"The action is {action.state.value} ({action.cause.value}); there is nothing to decide on it."
            raise ApprovalStale(told, StaleReason.NOT_WAITING, state=action.state.value)
        may = await rights(tx, allows, now)
        roles = roles_open_to(staff.role, action, may) if staff.role is not None else []
        if not roles:
            raise ApprovalNotAllowed("You could not decide this approval.", NotAllowedReason.WRONG_ROLE)
        require_other_requester(action, staff)
        await require_unclaimed(tx, staff, operation_id, now)
        await require_missing(tx, action, roles)
        until = now + timedelta(minutes=minutes)
        taken = {"staff_id": staff.id, "claimed_at": now, "until_at": until}
        await tx.execute(
            insert(t.approval_claims)
            .values(tenant_id=staff.tenant_id, operation_id=operation_id, **taken)
            .on_conflict_do_update(index_elements=["operation_id"], set_=taken)
        )
        await ring(tx, staff.tenant_id, action.conversation_id, Topic.CLAIM)
        return ApprovalClaim(operation_id=operation_id, staff=staff.id, until=until)


async def give_back(db: Database, staff: VerifiedPrincipal, operation_id: str, now: datetime) -> None:
    """End `staff`'s own claim; where there is none, nothing happens. Raises NotFound, ApprovalClaimed."""
    async with db.transaction(staff.tenant_id) as tx:
        action = await lock_action(tx, operation_id)
        await require_unclaimed(tx, staff, operation_id, await under_lock(tx, now))
        await drop_claim(tx, operation_id, staff.id)
        await ring(tx, staff.tenant_id, action.conversation_id, Topic.CLAIM)


async def require_unclaimed(tx: Tx, principal: VerifiedPrincipal, operation_id: str, now: datetime) -> None:
    """Pass unless somebody else of the staff has the approval. A customer always passes. Raises ApprovalClaimed."""
    if not principal.is_staff:
        return
    held = (await tx.execute(standing_claims(now).where(_k.operation_id == operation_id))).one_or_none()
    if held is not None and held.staff_id != principal.id:
        told = f"{held.staff_id} is deciding this, until {held.until_at:%Y-%m-%d %H:%M:%S} UTC at most."
        raise ApprovalClaimed(told, staff=held.staff_id, until=held.until_at.isoformat())


def standing_claims(now: datetime | sa.BindParameter[datetime]) -> sa.Select[tuple[str, str, datetime]]:
    """Return the claims that hold at `now`: not run out, and of people who still work here."""
    return (
        sa.select(_k.operation_id, _k.staff_id, _k.until_at)
        .join(t.staff, sa.and_(_s.tenant_id == _k.tenant_id, _s.id == _k.staff_id))
        .where(_k.until_at > now, _s.revoked_at.is_(None))
    )


async def drop_claim(tx: Tx, operation_id: str, staff_id: str) -> None:
    """End the claim of one person on one approval, if there is one."""
    await tx.execute(sa.delete(t.approval_claims).where(_k.operation_id == operation_id, _k.staff_id == staff_id))
