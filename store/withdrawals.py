"""Withdrawals: the person who holds a conversation calls off an action in it that was certainly not sent.

A stop that a customer has written is worth what somebody does about it: a reply alone lets what was approved go on.
"""

from datetime import datetime

from domain.action import Action, ActionState, Cause
from domain.base import Noun
from domain.conversation import Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import ActionInFlight, NotOwned
from domain.words import Words
from store.database import Database
from store.ledger import conversation_of, lock_action, reject_unsent
from store.log import lock_conversation, under_lock


class Withdrawn(Noun):
    """How the action stands now."""

    operation_id: str
    state: ActionState
    cause: Cause


async def withdraw(db: Database, staff: VerifiedPrincipal, operation_id: str, words: Words, now: datetime) -> Withdrawn:
    """Reject an unsent action as withdrawn; what was rejected already stays as it was, whoever asks again.

    Raises NotFound, NotOwned, and ActionInFlight for what may have been sent.
    """
    async with db.transaction(staff.tenant_id) as tx:
        row = await lock_conversation(tx, await conversation_of(tx, operation_id), staff)
        action = await lock_action(tx, operation_id)
        if action.state is ActionState.REJECTED:
            return _told(action)
        if row.owner != Owner.HUMAN or row.holder != staff.id:
            raise NotOwned(
                "Only the person who holds the conversation withdraws an action in it. Take it over first.",
                owner=row.owner,
                owner_epoch=row.owner_epoch,
            )
        if not action.unsent:
            raise ActionInFlight(
                f"It is {action.state.value} and may have taken effect; what can be done now is a repair.",
                operation_id=operation_id,
                state=action.state.value,
            )
        now = await under_lock(tx, now)
        return _told(await reject_unsent(tx, row, action, Cause.WITHDRAWN, staff.key, words, now))


def _told(action: Action) -> Withdrawn:
    return Withdrawn(operation_id=action.operation_id, state=action.state, cause=action.cause)
