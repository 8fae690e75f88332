"""The writes, for the holder of the write key: a refund, the end of a subscription.

Each becomes a command for the desk; its answer goes out as it is, or the connection is cut when a fault says so.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from demo.shop.commands import Command, parse_cancel, parse_refund
from demo.shop.open_shop import Shop, authorize, read_body
from demo.shop.problems import BadRequest, problem
from demo.shop.serving import cut


def routes(shop: Shop) -> APIRouter:
    """The write routes over one shop."""
    router = APIRouter()

    @router.post("/tenants/{tenant}/refunds")
    async def refund(request: Request, tenant: str) -> Response:
        arrived_s = shop.clock.arrived_s()
        authorize(request, shop.keys.write, shop.keys.read)
        raw = await read_body(request)
        return await _serve(shop, request, parse_refund(tenant, _key(request), raw), arrived_s)

    @router.post("/tenants/{tenant}/subscriptions/{subscription}/cancel")
    async def cancel(request: Request, tenant: str, subscription: str) -> Response:
        arrived_s = shop.clock.arrived_s()
        authorize(request, shop.keys.write, shop.keys.read)
        raw = await read_body(request)
        return await _serve(shop, request, parse_cancel(tenant, subscription, _key(request), raw), arrived_s)

    return router


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
