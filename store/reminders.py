"""Approvals that nobody gives: the staff is reminded, then whoever is trusted with more may decide as well.

Nothing of it is told to the customer, and none of it is consent; the queue shows it.
"""

from datetime import datetime

from domain.action import ActionState, ApprovalRole
from domain.approving import reminder_due_at
from domain.teamwork import Topic
from store.beside import ring
from store.database import Database
from store.ledger import change_action, lock_action, missing_approvals
from store.log import under_lock


async def remind(db: Database, tenant_id: str, operation_id: str, now: datetime) -> bool:
    """Mark an action as reminded of, or after that as escalated, where that is due; say whether anything was marked.

    Raises NotFound.
    """
    async with db.transaction(tenant_id) as tx:
        action = await lock_action(tx, operation_id)
        now = await under_lock(tx, now)
        due_at = reminder_due_at(action)
        if action.state is not ActionState.AWAITING_APPROVAL or due_at is None or now < due_at:
            return False
        if all(role is ApprovalRole.CUSTOMER for role in await missing_approvals(tx, action)):
            return False
        step = "reminded_at" if action.reminded_at is None else "escalated_at"
        await change_action(tx, operation_id, **{step: now})
        await ring(tx, tenant_id, action.conversation_id, Topic.REMINDER)
        return True
