"""Drafts of one conversation, each act as one call of the store: kept, looked at, decided."""

from typing import Any
from uuid import uuid4

from domain.conversation import EventKind
from domain.draft_review import DraftDecision, DraftRequest, DraftState
from domain.principal import VerifiedPrincipal
from domain.reply import CheckedReply, Draft, Segment, Source
from domain.turn import Effect, TurnFence
from store.draft_decisions import DraftDecided, decide_draft
from store.draft_keeping import keep_draft
from store.drafts import DraftItem, DraftSearch, list_drafts, one_draft
from tests.store.world import Talk

Staff = VerifiedPrincipal
ON_ITS_WAY = Segment(text="Your order is on its way.", source=Source.TEMPLATE, rests_on="on_its_way")
UNDERSTOOD = {"intent": "order_status", "meant": "order_status", "language": "en"}


async def keep(talk: Talk, fence: TurnFence | None = None, *segments: Segment) -> Effect:
    draft = Draft(language="en", segments=segments or (ON_ITS_WAY,))
    reply = CheckedReply(draft=draft, draft_digest=draft.digest)
    behind = [(EventKind.UNDERSTANDING, UNDERSTOOD)]
    return await keep_draft(
        talk.db, fence or await talk.fence(), reply, "en", "order_status", talk.words, behind, talk.clock()
    )


async def drafted(talk: Talk, *segments: Segment) -> str:
    """Have the customer write, and a draft of an answer; returns its id."""
    await talk.say("Where is it?")
    assert await keep(talk, None, *segments) is Effect.KEPT
    return (await waiting(talk))[0].draft_id


async def waiting(talk: Talk, state: DraftState = DraftState.WAITING) -> list[DraftItem]:
    return await list_drafts(talk.db, talk.anybody, DraftSearch(state=state), talk.clock())


async def stands(talk: Talk, draft_id: str) -> DraftItem:
    return await one_draft(talk.db, talk.anybody, draft_id, talk.clock())


def accepts(text: str | None = None, request_id: str | None = None) -> DraftRequest:
    return DraftRequest(request_id=request_id or uuid4().hex, decision=DraftDecision.ACCEPT, text=text)


def rejects(reason: str = "Wrong order.", request_id: str | None = None) -> DraftRequest:
    return DraftRequest(request_id=request_id or uuid4().hex, decision=DraftDecision.REJECT, reason=reason)


async def decide(talk: Talk, staff: Staff, draft_id: str, asked: DraftRequest, **other: Any) -> DraftDecided:
    return await decide_draft(talk.db, staff, draft_id, asked, talk.words, other.get("at", talk.clock()))
