"""Approving: what is done about consent besides the endpoint: reminders, and a "yes" that was said in words.

Whether a "yes" counts is the bundle's to say, and is asked again under the locks that record it.
"""

from datetime import UTC, datetime

import structlog
from temporalio import activity

from activities.behind import behind
from activities.policybook import PolicyBook
from domain.errand import ActionRef, ConfirmInWords, Errand
from domain.turn import Effect
from store.approval_words import confirm_in_words
from store.database import Database
from store.policies import in_force
from store.reminders import remind

log = structlog.get_logger()


class Approving:
    """Holds what consent is looked after with."""

    def __init__(self, db: Database, policies: PolicyBook) -> None:
        self._db = db
        self._policies = policies

    @activity.defn(name=Errand.REMIND_APPROVERS)
    async def remind_approvers(self, ask: ActionRef) -> bool:
        """Remind the staff of an approval, or escalate it, where that is due; say whether it was."""
        due = await remind(self._db, ask.tenant_id, ask.operation_id, datetime.now(UTC))
        if due:
            log.warning("approval.awaited", operation_id=ask.operation_id)
        return due

    @activity.defn(name=Errand.CONFIRM_IN_WORDS)
    async def confirm_in_words(self, ask: ConfirmInWords) -> Effect:
        """Record the customer's "yes" as their approval of what was said last, where it still is just that."""
        now = datetime.now(UTC)
        await self._policies.open(ask.fence.tenant_id, await in_force(self._db, ask.fence.tenant_id, now))
        return await confirm_in_words(
            self._db,
            ask.fence,
            ask.confirm,
            self._policies.allows,
            behind(ask.considered),
            ask.considered.language,
            now,
        )
