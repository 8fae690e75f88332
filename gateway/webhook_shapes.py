"""What the routes of webhooks take and answer; what is sent to them stands in `docs/webhooks.md`.

A webhook's secret is in the answer that makes it, and in no other.
"""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from domain.webhook import URL_CHARS_MAX
from domain.webhook_kinds import WebhookType
from gateway.answers import Answer
from gateway.bodies import Body
from gateway.shapes import storable
from store.delivery_facts import Delivery


def _each_once(types: tuple[WebhookType, ...]) -> tuple[WebhookType, ...]:
    if len(set(types)) < len(types):
        raise ValueError("each type is named once")
    return types


class MakeWebhook(Body):
    """Be told at `url` of what happens in your organisation's conversations."""

    url: Annotated[str, Field(strict=True, max_length=URL_CHARS_MAX), AfterValidator(storable)] = Field(
        description="https://, without user, password or fragment.",
        examples=["https://desk.example.com/hooks/interlock"],
    )
    types: Annotated[tuple[WebhookType, ...], Field(min_length=1), AfterValidator(_each_once)] = Field(
        examples=[["reply", "handoff"]]
    )
    active: Annotated[bool, Field(strict=True)] = True


class WebhookAnswer(Answer):
    """A webhook. `secret` is there only in the first answer to the request that made it."""

    id: str = Field(examples=["wh-3f0f3a1c2b77"])
    url: str
    types: list[WebhookType]
    active: bool
    made_by: str
    made_at: datetime
    secret: str | None = Field(default=None, description="By Standard Webhooks: `whsec_` and base64.")


class Webhooks(Answer):
    """The organisation's webhooks, the oldest first."""

    items: list[WebhookAnswer]


class WebhookRemoved(Answer):
    """It is told nothing any more; what waited for it is dead."""

    id: str


class DeliveryPage(Answer):
    """Deliveries, the latest first; `next_cursor` where there are more."""

    items: list[Delivery]
    next_cursor: str | None
