"""Webhooks: where the organisation is told of what, what became of telling it, and telling it again.

Only who manages the organisation makes them; whether a customer was told of a reply is for all of its staff to see.
"""

from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from domain.permission import Tool
from domain.refusal import Forbidden, NotFound, Refusal
from domain.webhook import networks_of, url_fault
from domain.webhook_kinds import DeliveryState
from gateway import refusals as r
from gateway.admission import GuardedRoute
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from gateway.idempotency import ShownOnce
from gateway.identity import Caller
from gateway.shapes import ClientId, Id
from gateway.webhook_shapes import DeliveryPage, MakeWebhook, WebhookAnswer, WebhookRemoved, Webhooks
from store import delivery_facts, webhooks
from store.delivery_facts import Delivery
from store.secrets import new_secret

router = APIRouter(route_class=GuardedRoute, tags=["webhooks"])

PAGE_MAX = 200
DELIVERY_MAX = 2**63 - 1


@router.get("/webhooks", summary="Where your organisation is told of what", responses=guarded(Forbidden))
async def listed(request: Request) -> Webhooks:
    """Return the organisation's webhooks, without their secrets."""
    desk = desk_of(request)
    staff = await _manager(desk, caller_of(request))
    found = await webhooks.webhooks_of(desk.db, staff.tenant_id)
    return Webhooks(items=[_told(one) for one in found])


@router.post(
    "/webhooks",
    status_code=201,
    summary="Be told of what happens",
    responses=posted(Forbidden, Refusal),
    response_model=WebhookAnswer,
)
async def make(request: Request, body: MakeWebhook) -> Response:
    """Make a webhook; its `secret`, which signs all that is sent there, is in this answer and in no other."""
    desk = desk_of(request)
    staff = await _manager(desk, caller_of(request))
    if desk.vault is None:
        raise r.Unavailable("Secrets cannot be kept here: INTERLOCK_SECRETS_KEY is missing.", retry_after_s=60)
    fault = url_fault(body.url, networks_of(desk.settings.webhook_networks))
    if fault is not None:
        raise r.InvalidRequest(f"body.url: {fault}", errors=[{"field": "body.url", "message": fault}])
    ident = f"wh-{uuid4().hex[:12]}"
    secret = new_secret(webhooks.secret_name(ident))
    new = webhooks.NewWebhook(id=ident, url=body.url, types=body.types, active=body.active, secret=secret)
    made = _told(await webhooks.make_webhook(desk.db, desk.vault, staff.tenant_id, new, staff.key))
    shown = made.model_copy(update={"secret": secret})
    return ShownOnce(shown.model_dump_json().encode(), kept=made.model_dump_json().encode(), status_code=201)


@router.delete("/webhooks/{webhook_id}", summary="Be told no more", responses=guarded(NotFound, Forbidden))
async def remove(request: Request, webhook_id: Id) -> WebhookRemoved:
    """Take a webhook away, with its secret; what waited for it is dead."""
    desk = desk_of(request)
    staff = await _manager(desk, caller_of(request))
    await webhooks.remove_webhook(desk.db, staff.tenant_id, webhook_id)
    return WebhookRemoved(id=webhook_id)


@router.get("/webhooks/deliveries", summary="What became of what was to be told", responses=guarded(Forbidden))
async def deliveries(
    request: Request,
    state: DeliveryState | None = None,
    conversation_id: ClientId | None = None,
    cursor: Annotated[int | None, Query(ge=1, le=DELIVERY_MAX)] = None,
    limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = 50,
) -> DeliveryPage:
    """Return deliveries, the latest first: `dead` ones are the dead letters, `seen` ones were read in the chat."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_CONVERSATIONS)
    found = await delivery_facts.deliveries_of(desk.db, staff.tenant_id, state, conversation_id, cursor, limit + 1)
    page = list(found[:limit])
    return DeliveryPage(items=page, next_cursor=str(page[-1].id) if len(found) > limit else None)


@router.post(
    "/webhooks/deliveries/{delivery_id}/replays",
    summary="Tell it again",
    responses=posted(NotFound, Forbidden, Refusal),
)
async def replay(request: Request, delivery_id: Id) -> Delivery:
    """Let a delivery be made again, under its first `webhook-id`, whether it was dead, delivered or seen."""
    desk = desk_of(request)
    staff = await _manager(desk, caller_of(request))
    if not delivery_id.isdecimal() or int(delivery_id) > DELIVERY_MAX:
        raise NotFound("There is no such delivery.")
    return await delivery_facts.replay_delivery(desk.db, staff.tenant_id, int(delivery_id))


async def _manager(desk: Desk, caller: Caller) -> Caller:
    """Return the caller, who may manage the organisation. Raises Forbidden."""
    staff = require_staff(caller)
    await require_tool(desk, staff, Tool.MANAGE_STAFF)
    return staff


def _told(one: webhooks.Webhook) -> WebhookAnswer:
    return WebhookAnswer.model_validate(one, from_attributes=True)
