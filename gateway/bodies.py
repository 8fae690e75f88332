"""What the routes take: every field named, typed strictly, bounded, and no other field.

Nothing in a body says who is asking.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from domain.action import ActionKind, ApprovalDecision, ApprovalRole
from domain.conversation import Owner, Phase
from gateway.shapes import (
    Amount,
    ClientId,
    Currency,
    Label,
    Names,
    Reason,
    Remark,
    ResourceName,
    Text,
    Version,
)

SEARCH_LIMIT_MAX = 100
CLAIM_MINUTES_MAX = 30
BATCH_ITEMS_MAX = 50


class Body(BaseModel):
    """A body that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _each_once(items: tuple["BatchItem", ...]) -> tuple["BatchItem", ...]:
    if len({item.operation_id for item in items}) < len(items):
        raise ValueError("each action is named once")
    return items


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


class ProposeAction(Body):
    """An action for the customer whose conversation you hold, in ids of the customer's own account."""

    request_id: ClientId = Field(examples=["p-1"])
    kind: ActionKind
    resource: ResourceName = Field(examples=["order:A-10482"])
    amount_minor: Amount | None = Field(default=None, description="In minor units.", examples=[2590])
    currency: Currency | None = Field(default=None, examples=["EUR"])
    item_ids: Names = Field(default=(), description="Of the order; one id for each piece.")
    new_item_ids: Names = Field(default=(), description="For each item, in order, what it is exchanged for.")
    payment_method_id: ClientId | None = None
    address_id: ClientId | None = None
    plan: ClientId | None = None
    reason: Label | None = Field(default=None, description="One of the reasons that the kind knows.")
    seen_version: Version | None = Field(
        default=None, description="The proposal deals with what you had seen. Default: everything there is."
    )


class CallOff(Body):
    """Call an action off; there is nothing to say beside."""


class TurnSwitch(Body):
    """Stop (`on`) one kind of action or, with `kind` null, everything; or let it go on."""

    kind: ActionKind | None
    on: Annotated[bool, Field(strict=True, description="true: stopped.")]
    reason: Reason = Field(examples=["refunds are paid twice; incident 42"])


class PublishPolicy(Body):
    """A tenant's layer over the base in force: its manifest, its rules and, if you like, its cases, by file name."""

    files: Annotated[dict[ClientId, Text], Field(max_length=50)] = Field(
        examples=[{"manifest.json": "{…}", "limits.cedar": '@id("…") forbid (…) when {…};', "cases.jsonl": "{…}"}]
    )
    note: Remark | None = Field(default=None, description="Why; it stands in the audit.")


class GoBack(Body):
    """Let an earlier bundle count again."""

    to: ClientId | None = Field(default=None, description="Its digest. Default: the one before the one in force.")
    note: Remark | None = None


class Decide(Body):
    """Consent, or not, to exactly what `payload_digest` stands for."""

    payload_digest: ClientId = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"])
    decision: ApprovalDecision
    note: Remark | None = None
    role: ApprovalRole | None = Field(
        default=None, description="In which role, where yours may give several. Default: the first still missing."
    )


class TakeApproval(Body):
    """Take an approval for yourself, for a while; again, to keep it longer."""

    minutes: Annotated[int, Field(strict=True, ge=1, le=CLAIM_MINUTES_MAX)] = 5


class BatchItem(Body):
    """One action of a batch, by exactly what it says."""

    operation_id: ClientId
    payload_digest: ClientId


class DecideBatch(Body):
    """One decision on equal low-risk items: of one kind and currency, each allowed in a batch by the policy."""

    decision: ApprovalDecision
    note: Remark | None = None
    items: Annotated[tuple[BatchItem, ...], Field(min_length=1, max_length=BATCH_ITEMS_MAX), AfterValidator(_each_once)]


class SearchConversations(Body):
    """Every condition that is given has to hold. `cursor` is `next_cursor` of the page before."""

    owner: Owner | None = None
    phase: Phase | None = None
    principal_id: ClientId | None = Field(default=None, description="Conversations of this customer or visitor alone.")
    text: ClientId | None = Field(default=None, description="Words that somebody has written, in any case.")
    limit: Annotated[int, Field(strict=True, ge=1, le=SEARCH_LIMIT_MAX)] = 25
    cursor: Annotated[str, Field(strict=True, max_length=400)] | None = None
