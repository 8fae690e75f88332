"""Deciding on an approval: who may give which, by what the bundle in force lets each role use, and when to remind.

Pure; who asks is looked up at every request, and the bundle is asked by a function that its owner hands in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from domain.action import Action, ApprovalRole, Payload
from domain.permission import Tool, ToolQuestion, ToolRole
from domain.principal import StaffRole

Allows = Callable[[str, ToolQuestion], bool]
"""May this role use this tool, under the bundle of that digest?"""

TOOLS = {ApprovalRole.MANAGER: Tool.APPROVE_AS_MANAGER, ApprovalRole.FINANCE: Tool.APPROVE_AS_FINANCE}
# Who is trusted with more may decide what nobody has decided in time.
_HIGHER = {ApprovalRole.MANAGER: ApprovalRole.FINANCE}
REMIND_AFTER, ESCALATE_AFTER = 1 / 3, 2 / 3  # of the time to approve


@dataclass(frozen=True)
class Rights:
    """What the bundle in force lets people of one tenant do, as it stands in one transaction."""

    allows: Allows
    policy_digest: str
    tenant_id: str
    tenant_kind: str
    stage: str

    def may_use(self, tool: Tool, role: ToolRole, payload: Payload) -> bool:
        """Whether `role` may use `tool` on an action of this payload."""
        question = ToolQuestion(
            tenant_id=self.tenant_id,
            tenant_kind=self.tenant_kind,
            stage=self.stage,
            role=role,
            tool=tool,
            kind=payload.kind.value,
            amount_minor=payload.stake_minor,
            currency=payload.stake_currency,
        )
        return self.allows(self.policy_digest, question)

    def may_give(self, approval: ApprovalRole, staff: StaffRole, action: Action) -> bool:
        """Whether a person of the staff in this role may give `approval`; the customer's is nobody else's to give."""
        asked = [approval] if approval in TOOLS else []
        if action.escalated_at is not None and approval in _HIGHER:
            asked.append(_HIGHER[approval])
        return any(self.may_use(TOOLS[role], ToolRole(staff.value), action.payload) for role in asked)


def reminder_due_at(action: Action) -> datetime | None:
    """Return when the staff is reminded of `action`, or it is escalated, next; None once both are done."""
    asked_at = action.asked_at or action.created_at
    time_to_approve = action.expires_at - asked_at
    if action.reminded_at is None:
        return asked_at + time_to_approve * REMIND_AFTER
    if action.escalated_at is None:
        return asked_at + time_to_approve * ESCALATE_AFTER
    return None


_MANAGERS = frozenset({ToolRole.MANAGER, ToolRole.FINANCE, ToolRole.ADMIN})
_TABLE = {
    Tool.APPROVE_AS_MANAGER: _MANAGERS,
    Tool.APPROVE_AS_FINANCE: frozenset({ToolRole.FINANCE}),
    Tool.CONFIRM_OWN: frozenset({ToolRole.CUSTOMER}),
}


def by_table(digest: str, question: ToolQuestion) -> bool:
    """Answer for whoever has no bundle at hand: who gives which approval, and nothing besides."""
    return question.role in _TABLE.get(question.tool, frozenset())
