"""ActionWorkflow: sees one action of the ledger through to confirmed, rejected, or visibly unknown with a person.

It goes by the row alone, so it can be started again at any time, from any state (design §5).
"""

from datetime import timedelta
from typing import Any, assert_never

from temporalio import workflow

from domain.action import ActionState
from domain.errand import ActionRef, Errand, LookedUp, ReserveAction
from domain.turn import ActionProgress, ReserveResult
from workflows import card
from workflows.messages import ACTION_WORKFLOW, WAKE_SIGNAL, ActionStart, TimelineEntry, WakeSignal
from workflows.options import (
    AFTER_A_DEFECT,
    CLOCKS_APART,
    DISPATCH_AGAIN_AFTER,
    LOOK_UP_BACKOFF_MAX,
    LOOK_UP_FIRST,
    LOOK_UP_WITH_A_PERSON,
    RESERVE_BACKOFF_FIRST,
    RESERVE_BACKOFF_MAX,
)
from workflows.refresh import have_refreshed
from workflows.steps import StepFailed, business_call, step

_SHOWN = {"state", "cause", "missing", "send_count", "person_has_it"}


@workflow.defn(name=ACTION_WORKFLOW)
class ActionWorkflow:
    """One operation."""

    @workflow.init
    def __init__(self, start: ActionStart) -> None:
        self._ref = ActionRef(tenant_id=start.tenant_id, operation_id=start.operation_id)
        self._woken = False
        self._progress: ActionProgress | None = None
        self._backoff = RESERVE_BACKOFF_FIRST
        self._timeline: list[TimelineEntry] = []

    @workflow.run
    async def run(self, start: ActionStart) -> str:
        """Work until the action is settled; return its last state.

        A defect in a step is loud in the worker's log and tried again: no action is ever left without its workflow.
        """
        while True:
            try:
                progress = await self._load()
                if ActionState(progress.state).terminal:
                    await have_refreshed(self._ref.tenant_id, progress.refresh)
                    return progress.state
                await self._advance(progress)
            except StepFailed as failed:
                if failed.not_found:  # its conversation is gone from the database
                    return failed.label
                self._note("failed", failed.label)
                await self._woken_within(AFTER_A_DEFECT)
            if workflow.info().is_continue_as_new_suggested() and workflow.all_handlers_finished():
                workflow.continue_as_new(start)

    async def _advance(self, progress: ActionProgress) -> None:
        """Do what the action's state asks for."""
        match ActionState(progress.state):
            case ActionState.PROPOSED | ActionState.AWAITING_APPROVAL if progress.missing and not progress.overtaken:
                await self._await_approval(progress)
            case ActionState.PROPOSED | ActionState.AWAITING_APPROVAL:
                await have_refreshed(self._ref.tenant_id, progress.refresh)
                await self._reserve(progress)
            case ActionState.SUBMITTED:
                await self._dispatch()
            case ActionState.UNKNOWN:
                await self._reconcile()
            case ActionState.CONFIRMED | ActionState.REJECTED:
                pass
            case other:
                assert_never(other)

    @workflow.signal(name=WAKE_SIGNAL)
    def wake(self, signal: WakeSignal) -> None:
        """Something about the action, or its conversation, has changed: look at the row."""
        self._woken = True

    @workflow.query(name="state")
    def state(self) -> dict[str, Any]:
        """Return where the ledger said that the action stands."""
        p = self._progress
        return p.model_dump(mode="json", include=_SHOWN) if p else {"state": None}

    @workflow.query(name="timeline")
    def timeline(self) -> list[TimelineEntry]:
        """Return the steps of this run, oldest first."""
        return self._timeline

    async def _load(self) -> ActionProgress:
        self._woken = False
        progress = await step(Errand.LOAD_ACTION, self._ref, ActionProgress)
        if self._progress is None or self._progress.state != progress.state:
            self._note(progress.state, progress.cause)
        self._progress = progress
        workflow.set_current_details(card.action_line(progress))
        return progress

    async def _await_approval(self, progress: ActionProgress) -> None:
        """Wait for a decision, for a reminder to be due, or for the time to run out.

        A timer never consents: it reminds the staff, and in the end it rejects.
        """
        remind_at = progress.remind_at or progress.expires_at
        left = min(remind_at, progress.expires_at) - workflow.now()
        if left > timedelta(0) and await self._woken_within(left):
            return
        if remind_at < progress.expires_at:
            await self._remind()
        else:
            await self._expire()

    async def _remind(self) -> None:
        """Remind the staff, or escalate; where the database's clock says not yet, look again in a moment."""
        if await step(Errand.REMIND_APPROVERS, self._ref, bool):
            self._note("remind", "the staff")
        else:
            await self._woken_within(CLOCKS_APART)

    async def _expire(self) -> None:
        """Reject what ran out; where the database's clock says that it has not quite, look again in a moment."""
        if not (await step(Errand.EXPIRE_ACTION, self._ref, ActionState)).terminal:
            await self._woken_within(CLOCKS_APART)

    async def _reserve(self, progress: ActionProgress) -> None:
        """Try the one transaction that moves the action to `submitted`, and act on why it did not."""
        ask = ReserveAction(
            tenant_id=self._ref.tenant_id,
            operation_id=self._ref.operation_id,
            step_id=str(workflow.uuid4()),
        )
        try:
            result = await step(Errand.RESERVE_ACTION, ask, ReserveResult)
        except StepFailed as failed:  # a defect of ours: loud in the log, and the time to approve still runs out
            self._note("reserve", failed.label)
            await self._try_later(progress)
            return
        self._note("reserve", result.value)
        match result:
            case ReserveResult.RESERVED | ReserveResult.MOVED | ReserveResult.REJECTED:
                self._backoff = RESERVE_BACKOFF_FIRST
            case ReserveResult.FENCED:
                await step(Errand.WITHDRAW_ACTION, self._ref, ActionState)
            case ReserveResult.ASK_AGAIN | ReserveResult.UNCONSIDERED | ReserveResult.BUSY:
                await self._try_later(progress)
            case ReserveResult.STALE_EVIDENCE | ReserveResult.UNJUDGED:
                await self._try_later(progress)
            case _:
                assert_never(result)

    async def _try_later(self, progress: ActionProgress) -> None:
        left = progress.expires_at - workflow.now()
        if left <= timedelta(0):
            await self._expire()
            return
        await self._woken_within(min(self._backoff, left))
        self._backoff = min(self._backoff * 2, RESERVE_BACKOFF_MAX)

    async def _dispatch(self) -> None:
        """Send once. Without an answer the ledger says what that means; what is unclaimed may be claimed anew."""
        state = await business_call(Errand.DISPATCH_ACTION, self._ref, ActionState)
        self._note("dispatch", state.value if state else "no answer")
        if state is None or state is ActionState.SUBMITTED:
            after = await step(Errand.AFTER_DISPATCH, self._ref, ActionState)
            if after is ActionState.SUBMITTED:
                await self._woken_within(DISPATCH_AGAIN_AFTER)

    async def _reconcile(self) -> None:
        """Look up until it is settled; a person has it from the deadline on, and a late answer still settles it."""
        pause = LOOK_UP_FIRST
        while not workflow.info().is_continue_as_new_suggested():
            await self._woken_within(pause)
            self._woken = False
            found = await business_call(Errand.LOOK_UP_ACTION, self._ref, LookedUp)
            self._note("look up", found.state.value if found else "no answer")
            if found is not None and found.state is not ActionState.UNKNOWN:
                return
            if found is None or found.past_deadline:
                await self._give_to_a_person()
            elif found.may_resend and await self._settled_by_resend():
                return
            late = found is not None and found.past_deadline
            pause = min(pause * 2, LOOK_UP_WITH_A_PERSON if late else LOOK_UP_BACKOFF_MAX)

    async def _give_to_a_person(self) -> None:
        """Open the case, once; a look-up that fails for a defect of ours does not keep it from a person."""
        progress = await self._load()
        if not progress.person_has_it:
            await step(Errand.OPEN_CASE, self._ref, ActionState)
            await self._load()

    async def _settled_by_resend(self) -> bool:
        state = await business_call(Errand.RESEND_ACTION, self._ref, ActionState)
        self._note("send again under the same key", state.value if state else "no answer")
        return state is not None and state.terminal

    async def _woken_within(self, limit: timedelta) -> bool:
        try:
            await workflow.wait_condition(lambda: self._woken, timeout=limit)
        except TimeoutError:
            return False
        return True

    def _note(self, what: str, detail: str) -> None:
        self._timeline.append(TimelineEntry(at=workflow.now(), what=what, detail=detail))
