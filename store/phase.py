"""What a conversation is doing, derived from its owner, its log and its open actions whenever somebody asks.

Never stored: a stored phase would be a second home of a fact.
"""

import sqlalchemy as sa

from domain.action import ActionState, ApprovalRole
from domain.conversation import Owner, Phase
from domain.draft_review import DraftState
from store import tables as t

_c, _a, _p, _d = t.conversations.c, t.actions.c, t.approvals.c, t.drafts.c


def _has_action(*conditions: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.exists().where(_a.conversation_id == _c.id, *conditions)


_OPEN = _a.state.in_([s.value for s in ActionState if s.unexecuted])
_CONFIRMED = sa.exists().where(
    _p.operation_id == _a.operation_id, _p.role == ApprovalRole.CUSTOMER.value, _p.voided_at.is_(None)
)

_DRAFTED = sa.exists().where(_d.conversation_id == _c.id, _d.state == DraftState.WAITING.value)

PHASE: sa.Case[str] = sa.case(
    (_c.owner == Owner.HUMAN.value, Phase.HUMAN_OWNED.value),
    (_c.owner == Owner.CLOSED.value, Phase.CLOSED.value),
    (_has_action(_a.state == ActionState.UNKNOWN.value), Phase.RECONCILING.value),
    (_has_action(_a.state == ActionState.SUBMITTED.value), Phase.DISPATCHING.value),
    (_DRAFTED, Phase.DRAFTING.value),
    (_c.customer_seq > _c.answered_seq, Phase.UNDERSTANDING.value),
    (_has_action(_OPEN, ~_CONFIRMED), Phase.AWAITING_CONFIRMATION.value),
    (_has_action(_OPEN), Phase.AWAITING_APPROVAL.value),
    else_=Phase.IDLE.value,
)
