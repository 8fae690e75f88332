"""Considering a turn: read what is unanswered, understand it, read the account, decide the next step.

Nothing here has an effect on the customer; the decision is recorded and the workflow acts on it.
"""

from collections.abc import Callable
from datetime import UTC, datetime

import structlog
from temporalio import activity

from activities.gathering import Gathered, Gathering, needs_account
from activities.policybook import PolicyBook
from domain.account import Account, Evidence
from domain.action import Payload, payload_of
from domain.conversation import Owner
from domain.errand import Considered, ConsiderTurn, Errand
from domain.fault import OperationalFault, Unreachable
from domain.handoff import HandoffReason
from domain.model import Route
from domain.model_task import BudgetSpent
from domain.permission import Tool, ToolRole
from domain.situation import Situation
from domain.step import Confirm, HandOff, Propose, Step
from domain.tenant import TenantStanding
from domain.turn import ActionProgress, TurnRow
from domain.understanding import Intent, Understanding
from language.consent import is_plain_yes
from policy.turn.next_step import Decision, decide
from policy.turn.permitting import Rights, permitted
from policy.turn.refreshing import orders_to_refresh
from policy.turn.routing import drafts_by
from policy.turn.summarising import recalled, summary_due
from store.approval_words import confirmable
from store.database import Database
from store.policies import in_force
from store.reading import TEXTS_PER_TURN_MAX, read_turn
from store.turns import mark_consumed

log = structlog.get_logger()

ATTEMPTS_BEFORE_A_PERSON = 4  # of the ordinary activity, some ten seconds in all beside what a model takes once

May = Callable[[Tool, Payload | None], bool]
"""May the bot use this tool, for a change like this if any?"""


class Considering:
    """Holds what a decision is made with."""

    def __init__(
        self, db: Database, gathering: Gathering, policies: PolicyBook, drafting_models: frozenset[Route] = frozenset()
    ) -> None:
        self._db = db
        self._gathering = gathering
        self._policies = policies
        self._drafting_models = drafting_models

    @activity.defn(name=Errand.CONSIDER_TURN)
    async def consider_turn(self, ask: ConsiderTurn) -> Considered:
        """Return the next step over everything unanswered, or none. Raises Unreachable for another attempt."""
        turn = await read_turn(self._db, ask.tenant_id, ask.conversation_id)
        if turn.owner is not Owner.BOT or not turn.texts or turn.draft_waits:
            if turn.consumed_seq < turn.version:
                await mark_consumed(self._db, ask.tenant_id, ask.conversation_id, turn.version)
            return _considered(turn)
        turn = turn.model_copy(update={"context": recalled(turn.context, turn.summary, turn.notes)})
        last_attempt = ask.patient and activity.info().attempt >= ATTEMPTS_BEFORE_A_PERSON
        try:
            may = await self._permissions(turn.tenant)
            return await self._considered(turn, ask, may)
        except Unreachable:
            if not last_attempt:
                raise
            return await self._given_up(turn, HandoffReason.ACCOUNT_UNREADABLE)
        except OperationalFault as fault:  # nobody's message waits for a bundle to be mended
            if not last_attempt:
                raise
            log.error("policy.unreadable", tenant_id=ask.tenant_id, code=fault.code)
            return await self._given_up(turn, HandoffReason.POLICY_UNREADABLE)
        except BudgetSpent:
            return await self._given_up(turn, HandoffReason.BUDGET_SPENT)

    async def _given_up(self, turn: TurnRow, reason: HandoffReason) -> Considered:
        """A person, and what the turn means as far as this process can tell."""
        return _considered(turn, await self._gathering.understood(turn), HandOff(reason=reason))

    async def _considered(self, turn: TurnRow, ask: ConsiderTurn, may: May) -> Considered:
        if len(turn.texts) > TEXTS_PER_TURN_MAX:
            return await self._given_up(turn, HandoffReason.TOO_MANY_MESSAGES)
        may_write = may(Tool.ANSWER, None) or may(Tool.DRAFT, None)
        found = await self._gathering.gather(
            turn,
            ask,
            may_read=may_write and may(Tool.READ_ACCOUNT, None),
            may_ask=may_write,  # where nobody is answered, nobody's words leave this process
            again=ask.with_model and activity.info().attempt > 1,
        )
        if isinstance(found, Route):
            return _considered(turn).model_copy(update={"ask_model": found})
        understood = found.understood
        if not _wants_person(understood) and not _may_deal_with(turn, understood, may):
            return _considered(turn, understood, HandOff(reason=HandoffReason.POLICY_FORBIDS))
        decided = decide(_situation(turn, found, await self._confirmable(turn, understood)))
        allowed = permitted(decided.step, _rights(decided.step, turn, found.evidence, may))
        step = allowed.step
        considered = _considered(turn, understood, step, found.evidence, decided)
        return considered.model_copy(
            update={
                "refresh": _to_refresh(considered, found.evidence),
                "draft_by": drafts_by(step, understood, models=self._drafting_models),
                "for_review": allowed.for_review,
            }
        )

    async def _permissions(self, tenant: TenantStanding) -> May:
        """What the bundle in force lets the bot use at this stage of rollout; where none is, nothing."""
        digest = tenant.policy_digest
        if digest is None:
            return lambda tool, payload: False
        await self._policies.open(tenant.id, digest)

        def may(tool: Tool, payload: Payload | None) -> bool:
            told = (payload.kind.value, payload.stake_minor, payload.stake_currency) if payload else ()
            return self._policies.allows(digest, tenant.question(ToolRole.BOT, tool, *told))

        return may

    async def _confirmable(self, turn: TurnRow, understood: Understanding) -> Confirm | None:
        """What the customer's plain "yes" may confirm, where the bundle in force lets words count as consent."""
        by_rule = understood.intent is Intent.AFFIRMATION and understood.route == Route.RULES
        plain = by_rule and len(turn.texts) == 1 and is_plain_yes(turn.texts[0])
        if turn.customer_id is None or not plain or not any(a.state.unexecuted for a in turn.actions):
            return None
        now = datetime.now(UTC)
        await self._policies.open(turn.tenant_id, await in_force(self._db, turn.tenant_id, now))
        return await confirmable(self._db, turn.tenant_id, turn.conversation_id, self._policies.allows, now)


def _wants_person(understood: Understanding) -> bool:
    return understood.asks_for_person or understood.intent is Intent.ASKS_FOR_PERSON


def _may_deal_with(turn: TurnRow, understood: Understanding, may: May) -> bool:
    """Whether the bot may answer such a turn, or draft an answer, and read the account where that is needed."""
    reads = turn.customer_id is not None and needs_account(understood)
    writes = may(Tool.ANSWER, None) or may(Tool.DRAFT, None)
    return writes and (may(Tool.READ_ACCOUNT, None) or not reads)


def _rights(step: Step, turn: TurnRow, found: Evidence | None, may: May) -> Rights:
    """What the bot may do of this step; whether it may even propose such a thing depends on what is at stake."""
    proposes = isinstance(step, Propose)
    payload = (
        payload_of(step, found.account, turn.customer_id)
        if isinstance(step, Propose) and found and turn.customer_id
        else None
    )
    return Rights(
        answers=may(Tool.ANSWER, None),
        drafts=may(Tool.DRAFT, None),
        proposes=proposes and may(Tool.PROPOSE, payload),
    )


def _to_refresh(considered: Considered, found: Evidence | None) -> tuple[str, ...]:
    if found is None or considered.step is None:
        return ()
    return orders_to_refresh(considered.step, found.account, datetime.now(UTC))


def _situation(turn: TurnRow, found: Gathered, confirmable: Confirm | None) -> Situation:
    own = found.evidence.account if found.evidence else Account()
    return Situation(
        understanding=found.understood,
        context=turn.context,
        account=None if turn.customer_id is None else own,
        actions=turn.actions,
        awaited_by_person=turn.cases,
        confirmed_by_customer=turn.confirmed,
        passages=tuple(p.ref for p in found.passages),
        confirmable=confirmable,
    )


def _considered(
    turn: TurnRow,
    understood: Understanding | None = None,
    step: Step | None = None,
    evidence: Evidence | None = None,
    decided: Decision | None = None,
) -> Considered:
    told = understood.without_words if understood else None  # no words in histories
    considered = Considered(
        owner=turn.owner,
        owner_epoch=turn.owner_epoch,
        version=turn.version,
        answered_seq=turn.answered_seq,
        through_seq=turn.customer_seq if step else turn.answered_seq,
        language=understood.language if understood else turn.language,
        step=step,
        understood=told.model_copy(update={"corrects": decided.corrects}) if told and decided else told,
        meant=decided.meant if decided else None,
        waiting=decided.waiting if decided else turn.context.waiting,
        named=decided.named if decided else (),
        amount=decided.amount if decided else None,
        offered=decided.offered if decided else (),
        asked_running=decided.asked_running if decided else 0,
        evidence_id=evidence.evidence_id if evidence else None,
        open_actions=tuple(_progress(turn, a.operation_id) for a in turn.actions if not a.state.terminal),
        updated_at=turn.updated_at,
        handoff_reason=turn.handoff_reason,
        draft_waits=turn.draft_waits,
    )
    return considered.model_copy(update={"summary": summary_due(turn.summary, turn.notes, considered)})


def _progress(turn: TurnRow, operation_id: str) -> ActionProgress:
    action = next(a for a in turn.actions if a.operation_id == operation_id)
    return ActionProgress(
        operation_id=operation_id,
        kind=action.kind.value,
        state=action.state.value,
        cause=action.cause.value,
        owner_epoch=action.owner_epoch,
        expires_at=action.expires_at,
        created_at=action.created_at,
        missing=tuple(r.value for r in action.required_approvals) if action.state.unexecuted else (),
        person_has_it=operation_id in turn.cases,
    )
