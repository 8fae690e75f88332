"""The gateway as one ASGI app, built from its doors: `create_app` is all that a composition root needs.

Everything about one app hangs on its desk, so that two can live in one process.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from domain.refusal import Refusal
from gateway.body import Limit
from gateway.desk import Desk, Doors
from gateway.documents import describe
from gateway.envelope import Envelope
from gateway.problems import problem, refusal_of
from gateway.routes import ROUTERS

# FastAPI's own telemetry holds query strings, bodies and the messages of exceptions (INVARIANT 12).
_SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}

__all__ = ["Doors", "create_app", "routes"]


def create_app(doors: Doors) -> FastAPI:
    """Return the app. Its lifespan starts and stops the hub; the rest of the doors belongs to whoever made them."""
    desk = Desk(doors)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        doors.hub.start()
        try:
            yield
        finally:
            await doors.hub.stop()

    app = FastAPI(
        title="Interlock",
        version=_version(),
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_SILENT,
    )
    app.state.desk = desk
    for kind in (Refusal, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _tell)
    app.add_middleware(Limit, bytes_max=doors.settings.body_bytes_max)
    app.add_middleware(Envelope, metrics=desk.metrics)
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = cache(lambda: _described(app))  # type: ignore[method-assign]
    return app


def routes() -> list[APIRoute]:
    """Return every route of the gateway."""
    return [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def _described(app: FastAPI) -> dict[str, Any]:
    return describe(app, routes())


async def _tell(request: Request, fault: Exception) -> Response:
    refusal, headers = refusal_of(fault)
    return problem(request, refusal, headers)


def _version() -> str:
    try:
        return version("interlock")
    except PackageNotFoundError:
        return "0"
