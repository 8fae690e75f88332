"""Drafts over the wire: which ones are asked for, what is decided of one, and what became of it.

Nothing in a body says who is asking.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain.draft_review import DraftDecision, DraftState
from gateway.answers import Answer
from gateway.bodies import Body
from gateway.shapes import ClientId, Reason, Text
from store.drafts import DraftItem

PAGE_MAX = 200


class DraftFilters(BaseModel):
    """Which drafts. `cursor` is `next_cursor` of the page before."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: DraftState = DraftState.WAITING
    limit: Annotated[int, Field(ge=1, le=PAGE_MAX)] = 50
    cursor: Annotated[str, Field(max_length=400)] | None = None


class DraftPage(Answer):
    """What waits, the longest first, or what ended so, the latest first. `next_cursor` is null on the last page."""

    items: list[DraftItem]
    next_cursor: str | None


class DecideDraft(Body):
    """Send a draft, in other words where there is a `text`, or keep it in and take the conversation."""

    request_id: ClientId = Field(examples=["d-1"])
    decision: DraftDecision
    text: Text | None = Field(default=None, description="With `accept`: what to send instead.")
    reason: Reason | None = Field(default=None, description="With `reject`: why. It is kept, and no customer sees it.")

    @model_validator(mode="after")
    def _fits(self) -> "DecideDraft":
        rejects = self.decision is DraftDecision.REJECT
        if rejects and (self.reason is None or self.text is not None):
            raise ValueError("a rejection needs a reason, and takes no text")
        if not rejects and self.reason is not None:
            raise ValueError("an acceptance takes no reason")
        return self


class DraftDone(Answer):
    """What became of it: `seq` is of the reply, `handoff_id` yours if you rejected it. Repeated, the first answer."""

    draft_id: str
    state: DraftState
    seq: int | None = None
    handoff_id: str | None = None


class RenewDraft(Body):
    """Have a draft made anew; there is nothing to say beside."""


class DraftRenewed(Answer):
    """The draft does not wait any more; where the assistant has the conversation, another one is being made."""

    draft_id: str
    state: DraftState
