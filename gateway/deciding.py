"""Deciding on approvals, as the routes do it: under the policy in force, which transactions ask under their locks.

What a decision wakes, or a refusal that has noticed a change, is set to work at once.
"""

from domain.approving import Allows
from domain.fault import OperationalFault
from domain.permission import ToolQuestion
from domain.refusal import ApprovalStale
from gateway.bodies import Decide
from gateway.desk import Desk
from gateway.identity import Caller
from gateway.refusals import Unavailable
from store.approvals import Decided, decide

RETRY_AFTER_S = 1


async def allows_of(desk: Desk, caller: Caller) -> Allows:
    """Return the question to the bundle that is in force for the caller's tenant. Raises Unavailable.

    Where another one comes into force before it is asked, the answer is Unavailable too: a repeat asks that one.
    """
    digest = caller.tenant.policy_digest
    if digest is None:
        raise _unavailable()
    try:
        await desk.policies.open(caller.tenant_id, digest)
    except OperationalFault as fault:
        raise _unavailable() from fault

    def allows(in_force: str, question: ToolQuestion) -> bool:
        try:
            return desk.policies.allows(in_force, question)
        except OperationalFault as fault:
            raise _unavailable() from fault

    return allows


async def decide_one(desk: Desk, caller: Caller, operation_id: str, body: Decide, allows: Allows) -> Decided:
    """Return what was decided, and set to work what that, or its refusal, has woken. Raises what `decide` raises."""
    try:
        decided = await decide(
            desk.db,
            caller,
            operation_id,
            body.payload_digest,
            body.decision,
            body.note,
            int(desk.settings.staff_approval_ttl_s),
            desk.words,
            desk.clock(),
            body.role,
            allows,
        )
    except ApprovalStale as stale:
        desk.send(*stale.wakes)
        raise
    desk.send(*decided.wakes)
    return decided


def _unavailable() -> Unavailable:
    return Unavailable("The policy in force cannot be read at the moment.", retry_after_s=RETRY_AFTER_S)
