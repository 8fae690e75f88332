"""What is open to everyone, since this is a demo: the contract, faults, effects, the world, a reset, and health.

Tests and people use these to see what really happened and to make things go wrong.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from demo.shop import views
from demo.shop.commands import OPERATIONS, parse_json
from demo.shop.contract import published
from demo.shop.faults import MODES, hidden_look_up, parse_fault
from demo.shop.open_shop import Shop, read_body
from demo.shop.problems import BadRequest, reply, reply_text
from demo.shop.world_file import WorldFileError

PATHS = (
    "GET /contract", "GET /healthz", "GET /_world", "GET /_effects", "GET /_faults", "POST /_faults", "DELETE /_faults",
    "POST /_reset", "GET /tenants/{t}/customers/{c}/account", "GET /tenants/{t}/operations/{operation_id}",
    "GET /tenants/{t}/effects?since=TIME", "POST /tenants/{t}/orders/{order}/tracking/refresh",
    "POST /tenants/{t}/refunds", "POST /tenants/{t}/subscriptions/{id}/cancel", "POST /tenants/{t}/changes/{kind}",
    "POST /tenants/{t}/retail/{write}",
)  # fmt: skip


def routes(shop: Shop) -> APIRouter:
    """The open routes over one shop."""
    router = APIRouter()

    @router.get("/")
    async def index() -> Response:
        return reply(200, {"what": "the demo shop", "paths": PATHS, "operations": OPERATIONS, "fault_modes": MODES})

    @router.get("/healthz")
    async def healthz() -> Response:
        shop.db.execute("SELECT 1 FROM tenants LIMIT 1").fetchone()
        return reply(200, {"status": "ok"})

    @router.get("/contract")
    async def contract() -> Response:
        return reply(200, published(shop.contract))

    @router.get("/_effects")
    async def effects() -> Response:
        return reply(200, {"effects": views.effects(shop.db)})

    @router.get("/_world")
    async def world() -> Response:
        return reply_text(200, views.world(shop.db))

    @router.post("/_reset")
    async def reset() -> Response:
        try:
            shop.world_source.load_into(shop.db)
        except WorldFileError as error:
            raise BadRequest(409, "world_file", str(error)) from error
        shop.faults.clear()
        shop.desk.forget_running()
        shop.tracking.forget()
        return reply(200, {"status": "reset"})

    _add_faults(router, shop)
    return router


def _add_faults(router: APIRouter, shop: Shop) -> None:
    """Arming, listing and clearing faults."""

    @router.get("/_faults")
    async def list_faults() -> Response:
        return reply(200, shop.faults.listing())

    @router.post("/_faults")
    async def arm_fault(request: Request) -> Response:
        body = parse_json(await read_body(request))
        if (hidden := hidden_look_up(body)) is not None:
            shop.faults.hide(hidden)
        else:
            shop.faults.arm(parse_fault(body))
        return reply(201, shop.faults.listing())

    @router.delete("/_faults")
    async def clear_faults() -> Response:
        shop.faults.clear()
        return reply(200, shop.faults.listing())
