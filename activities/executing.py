"""The guarded executor: reserve under every check, claim, send once, and write the answer into the ledger.

INVARIANT 2: only a claim that is seconds old is written to the wire, and nothing here is ever retried by Temporal.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from uuid import uuid4

import structlog
from temporalio import activity

from activities.business import BusinessSystem
from activities.policybook import PolicyBook
from domain.action import Action, ActionState
from domain.errand import ActionRef, Errand, ReserveAction
from domain.fault import OperationalFault, Unreachable
from domain.turn import ActionProgress, ClaimResult, ReserveResult
from domain.words import Words
from store.database import Database
from store.dispatch import Claim, claim, claim_resend, reservation_facts, reserve
from store.ledger import load_progress
from store.reading import record_evidence
from store.settlement import after_dispatch, expire, settle_write, withdraw_fenced

log = structlog.get_logger()

READ_TIMEOUT_S = 3.0
# A claim older than this is not handed to the connector. With the connector's own bound it stays below SEND_MARGIN_S.
CLAIM_TO_WIRE_MAX_S = 3.0
HEARTBEAT_INTERVAL_S = 0.5


class Executing:
    """Holds what an action is carried out with."""

    def __init__(
        self,
        db: Database,
        business: BusinessSystem,
        policies: PolicyBook,
        words: Words,
        claim_ttl_s: int,
        sends_max: int,
        staff_ttl_s: int,
    ) -> None:
        self._db = db
        self._business = business
        self._policies = policies
        self._words = words
        self._claim_ttl_s = claim_ttl_s
        self._sends_max = sends_max
        self._staff_ttl_s = staff_ttl_s

    @activity.defn(name=Errand.LOAD_ACTION)
    async def load_action(self, ask: ActionRef) -> ActionProgress:
        """Return where the ledger says that the action stands."""
        return await load_progress(self._db, ask.tenant_id, ask.operation_id, datetime.now(UTC))

    @activity.defn(name=Errand.RESERVE_ACTION)
    async def reserve_action(self, ask: ReserveAction) -> ReserveResult:
        """Read the account anew, judge again, and move the action to `submitted`; or say why not.

        What cannot be had now is had later: its workflow tries again, and the time to approve still runs out.
        """
        facts = await reservation_facts(self._db, ask.tenant_id, ask.operation_id, datetime.now(UTC))
        if facts.refused is not None:
            return facts.refused
        if not await self._opened(ask.tenant_id, facts.policy_digest):
            return ReserveResult.UNJUDGED
        try:
            found = await self._business.read_account(ask.tenant_id, facts.customer_id, str(uuid4()), READ_TIMEOUT_S)
        except Unreachable:
            return ReserveResult.STALE_EVIDENCE
        subject = f"customer:{facts.customer_id}"
        await record_evidence(self._db, ask.tenant_id, facts.conversation_id, subject, found)
        return await reserve(
            self._db,
            ask.tenant_id,
            ask.operation_id,
            ask.step_id,
            found,
            self._policies.judge,
            self._words,
            datetime.now(UTC),
            self._staff_ttl_s,
        )

    async def _opened(self, tenant_id: str, digest: str) -> bool:
        """Whether the bundle in force can judge; where it cannot, that is loud, and somebody has to publish."""
        try:
            await self._policies.open(tenant_id, digest)
        except OperationalFault as fault:
            log.error("policy.unreadable", tenant_id=tenant_id, policy_digest=digest, code=fault.code)
            return False
        return True

    @activity.defn(name=Errand.DISPATCH_ACTION)
    async def dispatch_action(self, ask: ActionRef) -> ActionState:
        """Claim the reserved action and send it, once; return the state that the answer leads to."""
        async with _heartbeats():
            began = time.monotonic()
            claimed = await claim(
                self._db, ask.tenant_id, ask.operation_id, self._claim_ttl_s, self._words, datetime.now(UTC)
            )
            return await self._send(ask, claimed, began)

    @activity.defn(name=Errand.RESEND_ACTION)
    async def resend_action(self, ask: ActionRef) -> ActionState:
        """Send an unknown action again under its own key, where its contract and the fence allow it."""
        async with _heartbeats():
            began = time.monotonic()
            claimed = await claim_resend(
                self._db,
                ask.tenant_id,
                ask.operation_id,
                self._business.contract,
                self._sends_max,
                datetime.now(UTC),
            )
            return await self._send(ask, claimed, began)

    async def _send(self, ask: ActionRef, claimed: Claim, began: float) -> ActionState:
        if claimed.result is not ClaimResult.CLAIMED or claimed.action is None:
            return ActionState((await load_progress(self._db, ask.tenant_id, ask.operation_id)).state)
        if time.monotonic() - began > CLAIM_TO_WIRE_MAX_S:
            log.warning("claim.grown_old", operation_id=ask.operation_id)
            return claimed.action.state
        return await self._to_the_wire(claimed.action)

    async def _to_the_wire(self, action: Action) -> ActionState:
        outcome = await self._business.execute(action)
        log.info("write.answered", operation_id=action.operation_id, outcome=outcome.kind.value, code=outcome.code)
        return await settle_write(
            self._db,
            action.tenant_id,
            action.operation_id,
            outcome,
            self._business.contract,
            self._words,
            datetime.now(UTC),
        )

    @activity.defn(name=Errand.AFTER_DISPATCH)
    async def after_dispatch(self, ask: ActionRef) -> ActionState:
        """Say what a dispatch without an answer has come to: unclaimed and late is never sent; claimed is unknown."""
        return await after_dispatch(
            self._db, ask.tenant_id, ask.operation_id, self._claim_ttl_s, self._words, datetime.now(UTC)
        )

    @activity.defn(name=Errand.EXPIRE_ACTION)
    async def expire_action(self, ask: ActionRef) -> ActionState:
        """Reject what nobody approved in time."""
        return await expire(self._db, ask.tenant_id, ask.operation_id, self._words, datetime.now(UTC))

    @activity.defn(name=Errand.WITHDRAW_ACTION)
    async def withdraw_action(self, ask: ActionRef) -> ActionState:
        """Reject what a change of owner has overtaken."""
        return await withdraw_fenced(self._db, ask.tenant_id, ask.operation_id, self._words, datetime.now(UTC))


@asynccontextmanager
async def _heartbeats() -> AsyncIterator[None]:
    """Tell Temporal twice a second that this worker lives, so that a lost one is noticed within seconds."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
