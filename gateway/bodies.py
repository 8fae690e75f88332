"""What the routes take: every field named, typed strictly, bounded, and no other field.

Nothing in a body says who is asking.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from domain.action import ApprovalDecision
from domain.conversation import Owner, Phase
from gateway.shapes import ClientId, Label, Remark, Text, Version

SEARCH_LIMIT_MAX = 100


class Body(BaseModel):
    """A body that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class OpenConversation(Body):
    """Begin a conversation."""

    channel: Label = Field(default="chat", description="Where it takes place.", examples=["chat"])


class PostMessage(Body):
    """One message of the customer. The same id with the same text is a repeat."""

    client_message_id: ClientId = Field(examples=["6f1c8c0a"])
    text: Text = Field(examples=["Where is my order A-10482?"])
    expected_conversation_version: Version | None = Field(
        default=None, description="Refuse the message where the conversation is at another version."
    )


class PostReply(Body):
    """One reply of a person. It deals with what its author had seen, through `seen_version`."""

    client_message_id: ClientId = Field(examples=["a-reply-1"])
    text: Text = Field(examples=["I am looking into it."])
    seen_version: Version | None = Field(default=None, description="Default: everything there is.")


class AskForPerson(Body):
    """Hand the conversation to a person."""

    request_id: ClientId = Field(examples=["h-1"])
    reason: Remark = Field(description="In the asker's own words.", examples=["customer asked"])


class TakeOver(Body):
    """Take the conversation, at once."""

    request_id: ClientId = Field(examples=["t-1"])


class Release(Body):
    """Give the conversation back to the assistant, ending exactly the epoch named."""

    request_id: ClientId = Field(examples=["r-1"])
    owner_epoch: Version | None = Field(default=None, description="Release only where this is the epoch still.")


class Decide(Body):
    """Consent, or not, to exactly what `payload_digest` stands for."""

    payload_digest: ClientId = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"])
    decision: ApprovalDecision
    note: Remark | None = None


class SearchConversations(Body):
    """Every condition that is given has to hold. `cursor` is `next_cursor` of the page before."""

    owner: Owner | None = None
    phase: Phase | None = None
    principal_id: ClientId | None = Field(default=None, description="Conversations of this customer or visitor alone.")
    text: ClientId | None = Field(default=None, description="Words that somebody has written, in any case.")
    limit: Annotated[int, Field(strict=True, ge=1, le=SEARCH_LIMIT_MAX)] = 25
    cursor: Annotated[str, Field(strict=True, max_length=400)] | None = None
