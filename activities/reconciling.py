"""Reconciliation of an unknown action: look up, settle what is proved, and give it to a person at the deadline.

Not found proves nothing before the contract says so; a new key is never used (design §5).
"""

from datetime import UTC, datetime, timedelta

from temporalio import activity

from activities.business import BusinessSystem
from domain.action import ActionState
from domain.errand import ActionRef, Errand, LookedUp
from domain.fault import Unreachable
from domain.turn import ActionProgress
from domain.words import Words
from store.database import Database
from store.ledger import load_progress
from store.settlement import open_case, resend_allowed, settle_lookup


class Reconciling:
    """Holds what an unknown is established with."""

    def __init__(self, db: Database, business: BusinessSystem, words: Words, deadline_s: int, sends_max: int) -> None:
        self._db = db
        self._business = business
        self._words = words
        self._deadline = timedelta(seconds=deadline_s)
        self._sends_max = sends_max

    @activity.defn(name=Errand.LOOK_UP_ACTION)
    async def look_up_action(self, ask: ActionRef) -> LookedUp:
        """Ask the business system what became of the action, settle what that proves, and say what may come next."""
        began = datetime.now(UTC)
        try:
            found = await self._business.look_up(ask.tenant_id, ask.operation_id)
        except Unreachable:
            return await self._report(ask, began, reached=False)
        contract = self._business.contract
        await settle_lookup(
            self._db, ask.tenant_id, ask.operation_id, found, contract, began, self._words, datetime.now(UTC)
        )
        return await self._report(ask, began, reached=True)

    async def _report(self, ask: ActionRef, now: datetime, *, reached: bool) -> LookedUp:
        progress = await load_progress(self._db, ask.tenant_id, ask.operation_id)
        may = reached and await resend_allowed(
            self._db, ask.tenant_id, ask.operation_id, self._business.contract, self._sends_max, now
        )
        return LookedUp(
            state=ActionState(progress.state),
            reached=reached,
            may_resend=may,
            past_deadline=self._past_deadline(progress, now),
        )

    @activity.defn(name=Errand.OPEN_CASE)
    async def open_case(self, ask: ActionRef) -> ActionState:
        """Give an unknown that nobody could establish in time to a person; before its deadline nothing happens."""
        now = datetime.now(UTC)
        progress = await load_progress(self._db, ask.tenant_id, ask.operation_id)
        if not self._past_deadline(progress, now):
            return ActionState(progress.state)
        return await open_case(self._db, ask.tenant_id, ask.operation_id, self._words, now)

    def _past_deadline(self, progress: ActionProgress, now: datetime) -> bool:
        return progress.sent_at is not None and now - progress.sent_at > self._deadline
