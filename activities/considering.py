"""Considering a turn: read what is unanswered, understand it, read the account, decide the next step.

Nothing here has an effect on the customer; the decision is recorded and the workflow acts on it.
"""

from uuid import uuid4

from temporalio import activity

from activities.business import BusinessSystem
from domain.account import Account, Evidence
from domain.conversation import Owner
from domain.errand import Considered, ConsiderTurn, Errand
from domain.fault import Unreachable
from domain.handoff import HandoffReason
from domain.situation import Situation
from domain.step import HandOff, Step
from domain.turn import ActionProgress, TurnRow
from domain.understanding import Intent, Understanding
from language.understanding import Understander
from policy.next_step import meant, next_step
from store.database import Database
from store.reading import TEXTS_PER_TURN_MAX, read_turn, record_evidence
from store.turns import mark_consumed

READ_TIMEOUT_S = 1.5
PATIENT_READ_TIMEOUT_S = 5.0
ATTEMPTS_BEFORE_A_PERSON = 4  # of the ordinary activity, some ten seconds in all

_NEEDS_NO_ACCOUNT = frozenset({Intent.THANKS_GREETING, Intent.ASKS_FOR_PERSON})


class Considering:
    """Holds what a decision is made with."""

    def __init__(self, db: Database, business: BusinessSystem, understander: Understander) -> None:
        self._db = db
        self._business = business
        self._understander = understander

    @activity.defn(name=Errand.CONSIDER_TURN)
    async def consider_turn(self, ask: ConsiderTurn) -> Considered:
        """Return the next step over everything unanswered, or none. Raises Unreachable for another attempt."""
        turn = await read_turn(self._db, ask.tenant_id, ask.conversation_id)
        if turn.owner is not Owner.BOT or not turn.texts:
            if turn.consumed_seq < turn.version:
                await mark_consumed(self._db, ask.tenant_id, ask.conversation_id, turn.version)
            return _considered(turn)
        understood = self._understander.understand(turn.texts, turn.context)
        if len(turn.texts) > TEXTS_PER_TURN_MAX:
            return _considered(turn, understood, HandOff(reason=HandoffReason.TOO_MANY_MESSAGES))
        try:
            found = await self._evidence(turn, understood, ask)
        except Unreachable:
            if not ask.patient or activity.info().attempt < ATTEMPTS_BEFORE_A_PERSON:
                raise
            return _considered(turn, understood, HandOff(reason=HandoffReason.ACCOUNT_UNREADABLE))
        situation = _situation(turn, understood, found)
        considered = _considered(turn, understood, next_step(situation), found.evidence_id if found else None)
        return considered.model_copy(update={"meant": meant(situation)})

    async def _evidence(self, turn: TurnRow, understood: Understanding, ask: ConsiderTurn) -> Evidence | None:
        """Read and keep the account of a signed-in customer, where the intent has any use for it."""
        if turn.customer_id is None or understood.intent in _NEEDS_NO_ACCOUNT:
            return None
        timeout_s = PATIENT_READ_TIMEOUT_S if ask.patient else READ_TIMEOUT_S
        found = await self._business.read_account(turn.tenant_id, turn.customer_id, str(uuid4()), timeout_s)
        await record_evidence(self._db, turn.tenant_id, turn.conversation_id, f"customer:{turn.customer_id}", found)
        return found


def _situation(turn: TurnRow, understood: Understanding, found: Evidence | None) -> Situation:
    account = None if turn.customer_id is None else (found.account if found else Account())
    return Situation(
        understanding=understood,
        context=turn.context,
        account=account,
        actions=turn.actions,
        awaited_by_person=turn.cases,
        confirmed_by_customer=turn.confirmed,
    )


def _considered(
    turn: TurnRow, understood: Understanding | None = None, step: Step | None = None, evidence_id: str | None = None
) -> Considered:
    return Considered(
        owner=turn.owner,
        owner_epoch=turn.owner_epoch,
        version=turn.version,
        answered_seq=turn.answered_seq,
        through_seq=turn.customer_seq if step else turn.answered_seq,
        language=understood.language if understood else turn.language,
        step=step,
        understood=understood.model_copy(update={"mentions": ()}) if understood else None,  # no words in histories
        evidence_id=evidence_id,
        open_actions=tuple(_progress(turn, a.operation_id) for a in turn.actions if not a.state.terminal),
        updated_at=turn.updated_at,
        handoff_reason=turn.handoff_reason,
    )


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
