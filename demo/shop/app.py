"""The shop's HTTP application: which handlers answer, and how their refusals become problem documents.

Nothing is decided here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from demo.shop import routes_demo, routes_reads, routes_writes
from demo.shop.open_shop import Shop
from demo.shop.problems import BadRequest, Refusal, problem
from demo.shop.writes import ShopFailure


def make_app(shop: Shop) -> FastAPI:
    """The application over one open shop; closes its database at the end."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        ticking = asyncio.create_task(shop.clock.run())
        yield
        ticking.cancel()
        shop.tracking.forget()
        shop.db.close()

    app = FastAPI(title="Demo shop", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    for part in (routes_reads, routes_writes, routes_demo):
        app.include_router(part.routes(shop))
    _answer_errors(app)
    return app


def _answer_errors(app: FastAPI) -> None:
    """Every error becomes a problem document; a failure of the shop promises nothing."""

    @app.exception_handler(Refusal)
    async def refused(_: Request, no: Refusal) -> Response:
        return problem(no)

    @app.exception_handler(ShopFailure)
    async def failed(_: Request, error: ShopFailure) -> Response:
        return problem(Refusal(500, "internal_error", f"Nothing is promised about this operation: {error}."))

    @app.exception_handler(ClientDisconnect)
    async def left(_: Request, error: ClientDisconnect) -> Response:
        return problem(BadRequest(400, "incomplete", "The request ended before its body did."))

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        slug = {404: "unknown_path", 405: "method_not_allowed"}.get(error.status_code, "http_error")
        response = problem(Refusal(error.status_code, slug, str(error.detail)))
        response.headers.update(error.headers or {})
        return response
