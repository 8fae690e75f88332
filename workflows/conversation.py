"""ConversationWorkflow: takes messages and changes of owner in order, turn by turn, while the conversation lives.

Handlers only append; one loop acts, on the log and the row, never on a remembered signal (design §3).
"""

import asyncio
import contextlib
from datetime import datetime, timedelta
from typing import assert_never

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from domain.conversation import Owner, Phase
from domain.errand import (
    CloseIdle,
    ConfirmInWords,
    Considered,
    ConsiderTurn,
    Errand,
    HandOffTurn,
    ProposeAction,
    TellWaiting,
    TurnEffect,
    WithdrawProposals,
)
from domain.handoff import HandoffReason
from domain.step import Answer, AwaitOutcome, Clarify, Confirm, HandOff, Propose, Withdraw
from domain.turn import ActionProgress, Effect, TurnFence
from workflows import card
from workflows.messages import (
    ACTION_WORKFLOW,
    CONVERSATION_WORKFLOW,
    WAKE_SIGNAL,
    ActionStart,
    Carry,
    ConversationStart,
    OpenAction,
    TimelineEntry,
    WakeSignal,
)
from workflows.options import AWAIT_OUTCOME_POLL, ROUNDS_MAX
from workflows.refresh import have_refreshed
from workflows.steps import StepFailed, patient_step, step

TIMELINE_MAX = 50


@workflow.defn(name=CONVERSATION_WORKFLOW)
class ConversationWorkflow:
    """One conversation, from its first message to its idle close."""

    @workflow.init
    def __init__(self, start: ConversationStart) -> None:
        self._start = start
        self._inbox: list[WakeSignal] = []
        self._heard_seq = start.carry.heard_seq
        self._signals = 0
        self._turns = start.carry.turns
        self._intent = start.carry.intent
        self._handoff_reason = start.carry.handoff_reason
        self._owner = Owner.BOT
        self._owner_epoch = 0
        self._draft_waits = False
        self._version = 0
        self._actions: tuple[ActionProgress, ...] = ()
        self._timeline: list[TimelineEntry] = []
        self._shown: dict[str, str | int] = {}
        self._active_at: datetime = workflow.now()
        self._idle = False
        self._looked = False  # a run begins with a look at the log, whatever has woken it
        self._gone = False

    @workflow.run
    async def run(self, start: ConversationStart) -> None:
        """Work until the conversation is closed for idleness, or continue as new."""
        idle_watch = asyncio.create_task(self._watch_idleness())
        while True:
            await self._until_something_happens()
            self._drain_inbox()
            await self._work_until_rest()
            self._show()
            if await self._is_over() and self._may_end():
                idle_watch.cancel()
                return
            if self._should_continue_as_new():
                idle_watch.cancel()
                workflow.continue_as_new(self._next_run())

    # ------------------------------------------------------------ what comes in

    @workflow.signal(name=WAKE_SIGNAL)
    def wake(self, signal: WakeSignal) -> None:
        """Append; the loop looks at the log."""
        self._inbox.append(signal)
        self._signals += 1

    @workflow.query(name="state")
    def state(self) -> dict[str, str | int | None]:
        """Return phase, owner, epoch, version and counters."""
        return {
            "phase": self._phase().value,
            "owner": self._owner.value,
            "owner_epoch": self._owner_epoch,
            "version": self._version,
            "turns": self._turns,
            "intent": self._intent,
            "handoff_reason": self._handoff_reason,
        }

    @workflow.query(name="actions")
    def actions(self) -> list[OpenAction]:
        """Return the open actions as last read from the ledger."""
        return [
            OpenAction(operation_id=a.operation_id, kind=a.kind, state=a.state, since=a.created_at)
            for a in self._actions
        ]

    @workflow.query(name="timeline")
    def timeline(self) -> list[TimelineEntry]:
        """Return the last steps of this run, oldest first."""
        return self._timeline

    async def _until_something_happens(self) -> None:
        await workflow.wait_condition(lambda: bool(self._inbox) or self._idle or not self._looked)
        self._looked = True

    def _drain_inbox(self) -> None:
        if self._inbox:
            self._heard_seq = max(self._heard_seq, *(s.seq for s in self._inbox))
            self._inbox.clear()
            self._active_at = workflow.now()
            self._idle = False

    async def _watch_idleness(self) -> None:
        """One timer for the whole wait, set again only when it has run out and something has happened since."""
        idle_close = timedelta(seconds=self._start.idle_close_s)
        while True:
            left = idle_close - (workflow.now() - self._active_at)
            if left > timedelta(0):
                await asyncio.sleep(left.total_seconds())
                continue
            self._idle = True
            await workflow.wait_condition(lambda: not self._idle)

    # ------------------------------------------------------------ turns

    async def _work_until_rest(self) -> None:
        """Take turns until nothing is unanswered, or somebody else has the conversation."""
        rounds = 0
        while True:
            considered = await self._consider()
            if considered is None or considered.step is None:
                return
            self._turns += 1
            effect = await self._take(considered, rounds)
            await have_refreshed(self._start.tenant_id, considered.refresh)
            self._active_at = workflow.now()
            self._draft_waits = effect is Effect.KEPT
            self._note(considered.step.step, effect.value)
            match effect:
                case Effect.DONE | Effect.KEPT if self._nothing_newer(considered):
                    self._drain_inbox()  # what is in it was seen by this turn
                    return
                case Effect.DONE | Effect.KEPT:
                    rounds = 0
                case Effect.NEWER_MESSAGE:
                    rounds += 1
                case Effect.HANDED_OFF | Effect.FENCED | Effect.OVERTAKEN | Effect.IN_FLIGHT:
                    pass
                case _:
                    assert_never(effect)
            self._drain_inbox()

    def _nothing_newer(self, considered: Considered) -> bool:
        """Whether no message beyond the turn has been heard of, so that no second look is needed."""
        heard = max([self._heard_seq, *(s.seq for s in self._inbox)])
        changes_actions = isinstance(considered.step, AwaitOutcome | Confirm | Propose | Withdraw)
        return heard <= considered.through_seq and not changes_actions

    async def _consider(self) -> Considered | None:
        """Read, understand and decide, as one recorded step; a defect in it goes to a person."""
        ask = ConsiderTurn(
            tenant_id=self._start.tenant_id,
            conversation_id=self._start.conversation_id,
            step_id=str(workflow.uuid4()),
        )
        patient = ask.model_copy(update={"patient": True})
        try:
            considered = await step(Errand.CONSIDER_TURN, ask, Considered, patient_ask=patient)
            if considered.ask_model is not None:
                with_model = patient.model_copy(update={"with_model": True})
                considered = await patient_step(Errand.CONSIDER_TURN, with_model, Considered)
        except StepFailed as failed:
            self._note("consider_turn", failed.label)
            self._gone = failed.not_found
            if not self._gone:
                await self._hand_off_unread(ask)
            return None
        self._remember(considered)
        return considered

    async def _take(self, considered: Considered, rounds: int) -> Effect:
        """Take the decided step under the turn's fence; a defect in it goes to a person."""
        fence = self._fence(considered, last_round=rounds >= ROUNDS_MAX)
        try:
            return await self._effect(considered, fence)
        except StepFailed as failed:
            self._note(considered.step.step if considered.step else "", failed.label)
            again = fence.model_copy(update={"step_id": str(workflow.uuid4())})
            return await self._hand_off(considered, again, HandoffReason.GENERATION_FAILED)

    async def _effect(self, considered: Considered, fence: TurnFence) -> Effect:
        match considered.step:
            case Answer() | Clarify():
                take = step if considered.draft_by is None else patient_step  # a model is slow
                errand = Errand.KEEP_DRAFT if considered.for_review else Errand.PUBLISH_REPLY
                return await take(errand, TurnEffect(fence=fence, considered=considered), Effect)
            case Propose() as proposed:
                return await self._propose(considered, fence, proposed)
            case Withdraw() as withdraw:
                ask = WithdrawProposals(fence=fence, considered=considered, withdraw=withdraw)
                return await step(Errand.WITHDRAW_PROPOSALS, ask, Effect)
            case Confirm() as confirm:
                said = ConfirmInWords(fence=fence, considered=considered, confirm=confirm)
                return await step(Errand.CONFIRM_IN_WORDS, said, Effect)
            case AwaitOutcome() as awaited:
                return await self._await_outcome(considered, fence, awaited)
            case HandOff(reason=reason):
                return await self._hand_off(considered, fence, reason)
            case None:
                return Effect.DONE
            case _:
                assert_never(considered.step)

    async def _propose(self, considered: Considered, fence: TurnFence, proposed: Propose) -> Effect:
        """Mint the operation id, put it into the ledger, and start the workflow that sees it through."""
        operation_id = str(workflow.uuid4())
        ask = ProposeAction(fence=fence, considered=considered, operation_id=operation_id, propose=proposed)
        effect = await step(Errand.PROPOSE_ACTION, ask, Effect)
        if effect is Effect.DONE:
            await self._start_action(operation_id, proposed.kind.value)
        return effect

    async def _start_action(self, operation_id: str, kind: str) -> None:
        start = ActionStart(
            tenant_id=self._start.tenant_id,
            conversation_id=self._start.conversation_id,
            operation_id=operation_id,
        )
        try:
            await workflow.start_child_workflow(
                ACTION_WORKFLOW,
                start,
                id=operation_id,
                parent_close_policy=ParentClosePolicy.ABANDON,
                static_summary=f"{kind} {operation_id}",
                search_attributes=TypedSearchAttributes([SearchAttributePair(card.TENANT, self._start.tenant_id)]),
                priority=workflow.info().priority,
            )
        except WorkflowAlreadyStartedError:
            self._note("action", "started already")

    async def _await_outcome(self, considered: Considered, fence: TurnFence, awaited: AwaitOutcome) -> Effect:
        """Tell the customer once that an outcome comes first, then look again when anything happens."""
        once = f"wait/{awaited.operation_id}/{considered.through_seq}"
        ask = TellWaiting(
            fence=fence.model_copy(update={"step_id": once}), considered=considered, await_outcome=awaited
        )
        effect = await step(Errand.TELL_WAITING, ask, Effect)
        if effect is Effect.DONE:
            self._show()
            with contextlib.suppress(TimeoutError):
                await workflow.wait_condition(lambda: bool(self._inbox), timeout=AWAIT_OUTCOME_POLL)
        return effect

    async def _hand_off(self, considered: Considered, fence: TurnFence, reason: HandoffReason) -> Effect:
        self._handoff_reason = reason.value
        ask = HandOffTurn(fence=fence, considered=considered, reason=reason)
        return await step(Errand.HAND_OFF, ask, Effect)

    async def _hand_off_unread(self, ask: ConsiderTurn) -> None:
        """A turn that could not be considered for a defect of ours still gets an acknowledgement and a person."""
        self._handoff_reason = HandoffReason.UNDERSTANDING_FAILED.value
        await step(Errand.HAND_OFF_UNREAD, ask, Effect)

    def _fence(self, considered: Considered, *, last_round: bool) -> TurnFence:
        return TurnFence(
            tenant_id=self._start.tenant_id,
            conversation_id=self._start.conversation_id,
            owner_epoch=considered.owner_epoch,
            answered_seq=considered.answered_seq,
            through_seq=considered.through_seq,
            step_id=str(workflow.uuid4()),
            last_round=last_round,
        )

    # ------------------------------------------------------------ ending a run

    async def _is_over(self) -> bool:
        """Whether there is no such conversation, or it has just been closed for idleness."""
        return self._gone or (self._idle and not self._inbox and await self._closed_for_idleness())

    async def _closed_for_idleness(self) -> bool:
        idle_close = timedelta(seconds=self._start.idle_close_s)
        if workflow.now() - self._active_at < idle_close:  # something has happened since of which no signal has told
            self._idle = False
            return False
        ask = CloseIdle(
            tenant_id=self._start.tenant_id,
            conversation_id=self._start.conversation_id,
            idle_since=workflow.now() - idle_close,
        )
        closed = await step(Errand.CLOSE_IDLE, ask, bool)
        if closed:
            self._owner, self._owner_epoch = Owner.CLOSED, self._owner_epoch + 1
            self._show()
        else:
            self._active_at = workflow.now()
            self._idle = False
        return closed

    def _may_end(self) -> bool:
        """Whether nothing has come in meanwhile; a completion that the server refuses comes back here (look again)."""
        return not self._inbox and workflow.all_handlers_finished()

    def _should_continue_as_new(self) -> bool:
        due = workflow.info().is_continue_as_new_suggested() or self._signals >= self._start.signals_per_run_max
        return due and self._may_end()

    def _next_run(self) -> ConversationStart:
        carry = Carry(
            heard_seq=self._heard_seq,
            turns=self._turns,
            intent=self._intent,
            handoff_reason=self._handoff_reason,
        )
        return self._start.model_copy(update={"carry": carry})

    # ------------------------------------------------------------ what people see

    def _remember(self, considered: Considered) -> None:
        self._owner = considered.owner
        self._owner_epoch = considered.owner_epoch
        self._version = considered.version
        self._active_at = max(self._active_at, considered.updated_at)
        self._actions = considered.open_actions
        self._draft_waits = considered.draft_waits
        if considered.understood is not None:
            self._intent = considered.understood.intent.value
        if considered.owner is Owner.BOT and considered.step is None:
            self._handoff_reason = None
        self._handoff_reason = considered.handoff_reason or self._handoff_reason

    def _note(self, what: str, detail: str) -> None:
        self._timeline = [
            *self._timeline[1 - TIMELINE_MAX :],
            TimelineEntry(at=workflow.now(), what=what, detail=detail),
        ]

    def _phase(self) -> Phase:
        return card.phase_of(self._owner, self._actions, draft_waits=self._draft_waits)

    def _show(self) -> None:
        """Bring the card up to date, and those search attributes that have changed."""
        phase = self._phase()
        workflow.set_current_details(
            card.conversation_card(self._owner, self._owner_epoch, self._version, phase, self._actions)
        )
        unknown = sum(a.state == "unknown" for a in self._actions)
        keywords = {
            card.TENANT: self._start.tenant_id,
            card.PHASE: phase.value,
            card.OWNER: self._owner.value,
            card.INTENT: self._intent or "none",
            card.HANDOFF_REASON: self._handoff_reason or "none",
        }
        numbers = {
            card.OWNER_EPOCH: self._owner_epoch,
            card.OPEN_ACTIONS: len(self._actions),
            card.UNKNOWN_ACTIONS: unknown,
        }
        changed = [k.value_set(v) for k, v in keywords.items() if self._shown.get(k.name) != v]
        moved = [k.value_set(v) for k, v in numbers.items() if self._shown.get(k.name) != v]
        self._shown = {k.name: v for k, v in keywords.items()} | {k.name: v for k, v in numbers.items()}
        if changed or moved:
            workflow.upsert_search_attributes([*changed, *moved])
