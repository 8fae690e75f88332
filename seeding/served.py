"""What people have done in the demo: handoffs taken and answered, notes, ratings, and drafts decided or waiting.

So that the numbers rest on something; each step is the product's own transaction, then moved into the past.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from domain.base import Noun
from domain.conversation import EventKind
from domain.draft_review import DraftDecision, DraftRequest
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from seeding.hand import Hand
from store.conversations import view_conversation
from store.database import Database
from store.draft_decisions import decide_draft
from store.drafts import DraftSearch, list_drafts
from store.events import events_after
from store.notes import add_note
from store.ownership import release, take_over
from store.provision import backdate
from store.ratings import rate_answer, rate_handoff
from store.replies import staff_reply

Case = tuple[str, str, dict[str, Any]]


class Served(Noun):
    """What a customer said and a person answered and noted, and how each of them rated it."""

    said: str
    answer: str
    score: int  # of the handoff, by who received it
    right: bool = True  # to escalate
    rating: int | None = None  # of the answer, by the customer
    note: str | None = None


_SERVED = (
    Served(said="I want to talk to a person, please.", answer="Ada here. What can I do?", score=5, rating=5),
    Served(
        said="My parcel broke my window, I am calling my lawyer!",
        answer="I am sorry. I have passed this on to our insurer.",
        score=5,
        rating=4,
        note="Insurer informed, case 881.",
    ),
    Served(
        said="Ich möchte bitte mit einem Mitarbeiter sprechen.", answer="Guten Tag, hier ist Ada.", score=4, rating=5
    ),
    Served(
        said="Do you sponsor football clubs?",
        answer="We do, through our press office.",
        score=3,
        right=False,
        note="Could have been an article.",
    ),
    Served(said="Quiero hablar con una persona, por favor.", answer="Hola, soy Bruno.", score=4, rating=3),
    Served(said="Can your founder sign my order?", answer="I am afraid not.", score=2, right=False, rating=5),
    Served(said="Je voudrais parler à quelqu'un.", answer="Bonjour, Ada à l'appareil.", score=5),
    Served(
        said="A person, please. Nobody answers my letters.",
        answer="I have found your letters, and answered them today.",
        score=4,
        rating=2,
        note="Letters were in the wrong inbox.",
    ),
)
SERVED = len(_SERVED)
_RATINGS = (5, 4, 5, None, 5, 3, None, 4, 5, None, 5, 2)  # of the answers of the bot
_DRAFTED = (
    ("Where is my order {order}?", DraftDecision.ACCEPT, None),
    ("Can you tell me when order {order} arrives?", DraftDecision.ACCEPT, "Thank you for your patience! "),
    ("Hi, where is my order {order}?", DraftDecision.REJECT, "The customer has called; I will ring them back."),
    ("How long do I have to return something?", None, None),
    ("Where is order {order} now?", None, None),
)


def agent_of(tenant_id: str, n: int) -> VerifiedPrincipal:
    """Return one of the demo's two agents."""
    return VerifiedPrincipal(
        tenant_id=tenant_id, kind=PrincipalKind.STAFF, id=f"agent-{1 + n % 2}", role=StaffRole.AGENT
    )


async def serve(hand: Hand, owner: Database, cases: list[Case]) -> int:
    """Have people deal with handoffs over the last days; return how many."""
    for n, ((tenant_id, customer_id, _), told) in enumerate(zip(cases, _SERVED, strict=False)):
        who, conversation_id = await hand.begin(tenant_id, customer_id)
        await hand.say(who, conversation_id, told.said)
        staff, now = agent_of(tenant_id, n), datetime.now(UTC)
        taken = await take_over(hand.db, staff, conversation_id, str(uuid4()), hand.words, now)
        if told.note is not None:
            await add_note(hand.db, staff, conversation_id, str(uuid4()), told.note)
        replied = await staff_reply(hand.db, staff, conversation_id, str(uuid4()), told.answer, None)
        if told.rating is not None:
            await rate_answer(hand.db, who, conversation_id, replied.seq, told.rating, None, now)
        await release(hand.db, staff, conversation_id, str(uuid4()), taken.owner_epoch, hand.words, now)
        if taken.handoff_id is not None:
            await rate_handoff(hand.db, staff, taken.handoff_id, told.score, told.right, None, now)
        await hand.close(tenant_id, conversation_id)
        await backdate(owner, [conversation_id], timedelta(hours=3 + 21 * n))
    return min(len(cases), SERVED)


async def rate(hand: Hand, answered: list[tuple[Case, str]]) -> None:
    """Have customers rate the first answer of the bot in their conversations."""
    for ((tenant_id, customer_id, _), conversation_id), score in zip(answered, _RATINGS, strict=False):
        who = VerifiedPrincipal(tenant_id=tenant_id, kind=PrincipalKind.CUSTOMER, id=customer_id)
        page = await events_after(hand.db, who, conversation_id, 0)
        seq = next((event.seq for event in page.events if event.kind is EventKind.BOT_REPLY), None)
        if seq is not None and score is not None:
            await rate_answer(hand.db, who, conversation_id, seq, score, None, datetime.now(UTC))


async def draft(hand: Hand, cases: list[Case]) -> int:
    """Have turns end in drafts, as they do in the stage of drafts, and some of them decided; return how many wait."""
    waiting = 0
    for n, (case, told) in enumerate(zip(cases, _DRAFTED, strict=False)):
        waiting += await _drafted(hand, agent_of(case[0], n), case, told)
    return waiting


async def _drafted(
    hand: Hand,
    staff: VerifiedPrincipal,
    case: Case,
    told: tuple[str, DraftDecision | None, str | None],
) -> bool:
    """One turn whose answer waits for a person; say whether it waits still."""
    said, decision, words = told
    who, conversation_id = await hand.begin(staff.tenant_id, case[1])
    await hand.say(who, conversation_id, said.format(order=case[2]["id"]), for_review=True)
    waiting = await list_drafts(hand.db, staff, DraftSearch(limit=100), datetime.now(UTC))
    kept = next((one for one in waiting if one.conversation_id == conversation_id), None)
    if kept is None or decision is None:
        return kept is not None
    accepts = decision is DraftDecision.ACCEPT
    asked = DraftRequest(
        decision=decision,
        text=words + kept.text if accepts and words else None,
        reason=None if accepts else words,
        request_id=str(uuid4()),
    )
    await decide_draft(hand.db, staff, kept.draft_id, asked, hand.words, datetime.now(UTC))
    if not accepts:
        view = await view_conversation(hand.db, staff, conversation_id)
        await release(hand.db, staff, conversation_id, str(uuid4()), view.owner_epoch, hand.words, datetime.now(UTC))
    await hand.close(staff.tenant_id, conversation_id)
    return False
