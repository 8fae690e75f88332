"""The writes, for the holder of the write key: the changes of an account, and those of a retail world.

Each becomes a command for the desk; its answer goes out as it is, or the connection is cut when a fault says so.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from demo.shop.changes import CancelSubscription, Refund
from demo.shop.commands import Command, parse_change, parse_retail
from demo.shop.open_shop import Shop, authorize, read_body
from demo.shop.problems import BadRequest, problem
from demo.shop.serving import cut


def routes(shop: Shop) -> APIRouter:
    """The write routes over one shop."""
    router = APIRouter()

    @router.post("/tenants/{tenant}/refunds")
    async def refund(request: Request, tenant: str) -> Response:
        return await _change(shop, request, tenant, Refund.kind)

    @router.post("/tenants/{tenant}/subscriptions/{subscription}/cancel")
    async def cancel(request: Request, tenant: str, subscription: str) -> Response:
        return await _change(shop, request, tenant, CancelSubscription.kind, subscription_id=subscription)

    @router.post("/tenants/{tenant}/changes/{kind}")
    async def change(request: Request, tenant: str, kind: str) -> Response:
        return await _change(shop, request, tenant, kind)

    @router.post("/tenants/{tenant}/retail/{write}")
    async def retail(request: Request, tenant: str, write: str) -> Response:
        arrived_s, raw = await _arrive(shop, request)
        return await _serve(shop, request, parse_retail(tenant, write, _key(request), raw), arrived_s)

    return router


async def _change(shop: Shop, request: Request, tenant: str, kind: str, **named: str) -> Response:
    arrived_s, raw = await _arrive(shop, request)
    return await _serve(shop, request, parse_change(tenant, kind, _key(request), raw, **named), arrived_s)


async def _arrive(shop: Shop, request: Request) -> tuple[float, bytes]:
    """When this write arrived, and its body. Raises BadRequest where the key is not the one that writes."""
    arrived_s = shop.clock.arrived_s()
    authorize(request, shop.keys.write, shop.keys.read)
    return arrived_s, await read_body(request)


def _key(request: Request) -> str | None:
    return request.headers.get("idempotency-key")


async def _serve(shop: Shop, request: Request, command: Command, arrived_s: float) -> Response:
    try:
        answer = await shop.desk.serve(command, arrived_s)
    except BadRequest as no:
        return problem(no, operation_id=command.operation_id)
    if answer.cut:
        return await cut(request)
    media = "application/json" if answer.status < 400 else "application/problem+json"
    headers = {"Cache-Control": "no-store", **({"Idempotent-Replayed": "true"} if answer.replayed else {})}
    return Response(answer.body, answer.status, headers, media)
