"""What a person of the staff does with drafts in a scene, as the gateway would do it for them."""

from uuid import uuid4

from domain.draft_review import DraftDecision, DraftRequest
from domain.refusal import DraftStale
from store.draft_decisions import DraftDecided, decide_draft, renew_draft
from store.drafts import DraftItem, draft_that_waits
from tests.workflows.scene import Scene, now, until


def accepts(text: str | None = None) -> DraftRequest:
    return DraftRequest(request_id=uuid4().hex, decision=DraftDecision.ACCEPT, text=text)


def rejects(reason: str = "Another order.") -> DraftRequest:
    return DraftRequest(request_id=uuid4().hex, decision=DraftDecision.REJECT, reason=reason)


async def waiting(scene: Scene) -> DraftItem | None:
    async with scene.stage.db.transaction(scene.tenant) as tx:
        return await draft_that_waits(tx, scene.id, now())


async def draft_of(scene: Scene, other_than: str = "") -> DraftItem:
    """Wait for a draft, for another one than that."""

    async def made() -> DraftItem | None:
        found = await waiting(scene)
        return found if found is not None and found.draft_id != other_than else None

    found: DraftItem = await until(made, "a draft")
    return found


async def review(scene: Scene, asked: DraftRequest, who: str = "ann", draft_id: str | None = None) -> DraftDecided:
    """Decide the draft that waits, or the one named."""
    ident = draft_id or (await draft_of(scene)).draft_id
    stage = scene.stage
    try:
        done = await decide_draft(stage.db, scene.staff(who), ident, asked, stage.words, now())
    except DraftStale as stale:
        await stage.deliver(*stale.wakes)
        raise
    await stage.deliver(done.wake)
    return done


async def renew(scene: Scene, draft_id: str) -> None:
    done = await renew_draft(scene.stage.db, scene.staff(), draft_id, now())
    await scene.stage.deliver(done.wake)
