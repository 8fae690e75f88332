"""Actions that people ask for: a member of staff who holds a conversation proposes through the same ledger and gates.

One transaction, fenced by the holder's epoch; every request is answered from its first answer when it is repeated.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.action import Action, ActionState, ApprovalRole, Cause
from domain.base import Noun, digest_of
from domain.catalogue.wish import Wish
from domain.conversation import EventKind, Owner
from domain.principal import VerifiedPrincipal
from domain.refusal import ActionInFlight, CannotPropose, NotOwned, PolicyForbids, RequestConflict, VersionConflict
from domain.verdict import VerdictKind
from domain.wake import Wake
from domain.words import Words
from store.database import Database, Tx
from store.ledger import move, proposal_body
from store.log import append, append_behind, change_row, last_event, leave_wake, lock_conversation
from store.proposals import Proposal, enter, in_the_way, perhaps_sent, supersede
from store.requests import first_answer, record_answer

_ACT = "proposal"


class StaffRequest(Noun):
    """What somebody asks for. `seen_version`: the version that they had seen; None stands for everything there is."""

    request_id: str
    wish: Wish
    seen_version: int | None = None

    @property
    def digest(self) -> str:
        """What a repeat has to be equal in."""
        return digest_of(self.model_dump(mode="json"))


class StaffProposed(Noun):
    """The first answer to a request; a repeat gets the same. `forbidden`: it stands in the ledger as denied."""

    operation_id: str
    state: ActionState
    required_approvals: tuple[ApprovalRole, ...]
    payload_digest: str
    rules: tuple[str, ...]
    forbidden: bool = False
    wakes: tuple[Wake, ...] = ()


class Standing(Noun):
    """How a request begins: answered already, or else whose account it is about, and in which language."""

    answered: StaffProposed | None = None
    customer_id: str = ""
    language: str = ""


async def standing(db: Database, staff: VerifiedPrincipal, conversation_id: str, request: StaffRequest) -> Standing:
    """Return how a request begins; all of it is checked again when it is recorded.

    Raises NotFound, RequestConflict, NotOwned, VersionConflict, PolicyForbids for what was forbidden already, and
    CannotPropose for a visitor's conversation.
    """
    async with db.transaction(staff.tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id, staff)
        if (prior := await _answered(tx, conversation_id, staff, request)) is not None:
            return Standing(answered=allowed(prior))
        _require_holder(row, staff, request)
        if row.principal_kind != "customer":
            raise CannotPropose("An anonymous visitor has no account; only a customer's conversation has actions.")
        return Standing(customer_id=row.principal_id, language=row.language)


async def propose_by_staff(
    db: Database,
    staff: VerifiedPrincipal,
    conversation_id: str,
    request: StaffRequest,
    proposal: Proposal,
    words: Words,
    now: datetime,
) -> StaffProposed:
    """Record a proposal of the person who holds the conversation, and deal with what that person had seen.

    A forbidden one is on record as denied, and raises PolicyForbids. Raises NotFound, RequestConflict, NotOwned,
    VersionConflict, and ActionInFlight where an outcome has to be established first.
    """
    async with db.transaction(staff.tenant_id) as tx:
        row = await lock_conversation(tx, conversation_id, staff)
        proposed = await _answered(tx, conversation_id, staff, request)
        if proposed is None:
            _require_holder(row, staff, request)
            proposed = await _propose(tx, row, request, proposal, words, now)
            answer = {"of": request.digest, **proposed.model_dump(mode="json", exclude={"wakes"})}
            await record_answer(tx, row, staff, request.request_id, _ACT, answer)
    return allowed(proposed)


def allowed(proposed: StaffProposed) -> StaffProposed:
    """Return what was proposed. Raises PolicyForbids, with the rules that forbid it."""
    if proposed.forbidden:
        rules = ", ".join(proposed.rules)
        raise PolicyForbids(
            f"Policy forbids it: {rules}. Nothing was changed; propose what these rules allow.",
            operation_id=proposed.operation_id,
            rules=list(proposed.rules),
        )
    return proposed


async def _answered(
    tx: Tx, conversation_id: str, staff: VerifiedPrincipal, request: StaffRequest
) -> StaffProposed | None:
    prior = await first_answer(tx, conversation_id, staff, request.request_id, _ACT)
    if prior is None:
        return None
    if prior.pop("of") != request.digest:
        raise RequestConflict("This request_id was used for another action; use a new one for this.")
    return StaffProposed.model_validate(prior)


def _require_holder(row: sa.Row[Any], staff: VerifiedPrincipal, request: StaffRequest) -> None:
    if row.owner != Owner.HUMAN or row.holder != staff.id:
        raise NotOwned(
            "Only the person who holds the conversation acts in it. Take it over first.",
            owner=row.owner,
            owner_epoch=row.owner_epoch,
        )
    if request.seen_version is not None and request.seen_version > row.version:
        raise VersionConflict(f"There is no version {request.seen_version} yet.", current_version=row.version)


async def _propose(
    tx: Tx, row: sa.Row[Any], request: StaffRequest, proposal: Proposal, words: Words, now: datetime
) -> StaffProposed:
    replaced = await in_the_way(tx, row, proposal)
    if (sent := perhaps_sent(replaced)) is not None:
        raise ActionInFlight(
            f"{sent.operation_id} is {sent.state.value} on {sent.payload.resource}; wait for its outcome.",
            operation_id=sent.operation_id,
            state=sent.state.value,
        )
    if proposal.verdict.kind is VerdictKind.FORBID:
        action = await enter(tx, row, proposal, now)
        denied = await move(tx, action, ActionState.REJECTED, Cause.DENIED, "policy:engine", now)
        # Its workflow has the parcel asked about, where that was too long ago to decide.
        await leave_wake(tx, row, await last_event(tx, row), row.owner_epoch, action.operation_id)
        return _told(denied, proposal, forbidden=True)
    await supersede(tx, row, replaced, proposal.requested_by, words, now)
    action = await enter(tx, row, proposal, now)
    action = await move(tx, action, ActionState.AWAITING_APPROVAL, Cause.APPROVAL_NEEDED, "policy:engine", now)
    event = await append(tx, row, EventKind.PROPOSAL, proposal.requested_by, proposal_body(action, words))
    await append_behind(tx, row, [_evidence_fact(proposal), _verdict_fact(proposal)])
    seen = row.version if request.seen_version is None else request.seen_version
    await change_row(tx, row.id, answered_seq=max(row.answered_seq, min(seen, row.customer_seq)))
    wakes = (
        await leave_wake(tx, row, event, row.owner_epoch, action.operation_id),
        await leave_wake(tx, row, event, row.owner_epoch),
    )
    return _told(action, proposal).model_copy(update={"wakes": wakes})


def _told(action: Action, proposal: Proposal, *, forbidden: bool = False) -> StaffProposed:
    return StaffProposed(
        operation_id=action.operation_id,
        state=action.state,
        required_approvals=action.required_approvals,
        payload_digest=action.payload_digest,
        rules=proposal.verdict.rule_ids,
        forbidden=forbidden,
    )


def _evidence_fact(proposal: Proposal) -> tuple[EventKind, dict[str, Any]]:
    told = {"evidence_id", "source", "observed_at", "max_age_s"}
    return EventKind.EVIDENCE, proposal.found.model_dump(mode="json", include=told)


def _verdict_fact(proposal: Proposal) -> tuple[EventKind, dict[str, Any]]:
    return EventKind.VERDICT, {"operation_id": proposal.operation_id, **proposal.verdict.model_dump(mode="json")}
