"""The reads, for the holder of the read key: an account, an operation, a tenant's effects, a carrier's word.

They answer from the database as it stands, so a look-up right after a commit finds it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from demo.shop import views
from demo.shop.open_shop import Shop, authorize
from demo.shop.problems import BadRequest, Refusal, problem, reply, reply_text
from demo.shop.shapes import stamp
from demo.shop.tracking import TooSoon


def routes(shop: Shop) -> APIRouter:
    """The read routes over one shop."""
    router = APIRouter()

    @router.get("/tenants/{tenant}/customers/{customer}/account")
    async def account(request: Request, tenant: str, customer: str) -> Response:
        authorize(request, shop.keys.read, shop.keys.write)
        found = views.account(shop.db, tenant, customer, datetime.now(UTC))
        return (
            reply_text(200, found) if found else problem(Refusal(404, "unknown_customer", "There is no such customer."))
        )

    @router.get("/tenants/{tenant}/operations/{operation_id}")
    async def operation(request: Request, tenant: str, operation_id: str) -> Response:
        authorize(request, shop.keys.read, shop.keys.write)
        if shop.faults.hides(operation_id):
            raise Refusal(503, "look_up_unavailable", "The shop cannot say at the moment; ask again later.")
        window_s = shop.contract.key_window_s
        found = views.operation(shop.db, tenant, operation_id, datetime.now(UTC), window_s)
        unknown = Refusal(404, "unknown_operation", "No such operation was committed or refused.")
        return reply(200, found) if found else problem(unknown, operation_id=operation_id)

    @router.get("/tenants/{tenant}/effects")
    async def effects(request: Request, tenant: str) -> Response:
        authorize(request, shop.keys.read, shop.keys.write)
        since = parse_since(request.query_params.get("since"))
        observed_at = stamp(datetime.now(UTC))
        return reply(200, {"effects": views.effects(shop.db, tenant, since), "observed_at": observed_at})

    @router.post("/tenants/{tenant}/orders/{order}/tracking/refresh")
    async def refresh(request: Request, tenant: str, order: str) -> Response:
        authorize(request, shop.keys.read, shop.keys.write)
        try:
            expected_at = shop.tracking.ask(tenant, order)
        except TooSoon as no:
            response = problem(no)
            response.headers["Retry-After"] = str(no.wait_s)
            return response
        return reply(202, {"status": "asked", "order_id": order, "expected_at": stamp(expected_at)})

    return router


def parse_since(text: str | None) -> str:
    """The stamp that an ISO time stands for, the beginning of time without one. Raises BadRequest."""
    if text is None:
        return ""
    try:
        at = datetime.fromisoformat(text.replace(" ", "+"))
        if at.tzinfo is None:
            raise ValueError("naive")
        return stamp(at)
    except (ValueError, OverflowError) as error:
        what = "since must be an ISO 8601 time with its offset, such as 2026-01-31T12:00:00Z."
        raise BadRequest(422, "invalid_request", what) from error
