"""Around every request: its id, its headers, its line in the log and in the metrics, and the last word on faults.

The outermost layer, in plain ASGI, so that streams pass through it untouched.
"""

import re
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.refusal import Refusal
from domain.trace import trace
from gateway.metrics import UNMATCHED, Metrics
from gateway.problems import problem
from gateway.refusals import Defect, Unavailable
from store.faults import passes

log = structlog.get_logger(__name__)

REQUEST_ID = "Request-Id"
_SANE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
RETRY_AFTER_S = 2


@dataclass
class Exchange:
    """One request and its answer, as they go by."""

    request_id: str
    began_at: float = field(default_factory=time.perf_counter)
    status: int = 0
    streams: bool = False

    def dress(self, message: Message) -> None:
        """Note the answer, and give it the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self.request_id
            headers.setdefault("Cache-Control", "no-store")
            headers["X-Content-Type-Options"] = "nosniff"
            self.streams = headers.get("content-type", "").startswith("text/event-stream")


class Envelope:
    """Dresses answers, and turns whatever no one else has dealt with into a problem document."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; other scopes pass untouched."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange, app = Exchange(_request_id(scope)), scope.get("app")
        scope.setdefault("state", {})["request_id"] = exchange.request_id

        async def dressed(message: Message) -> None:
            exchange.dress(message)
            await send(message)

        try:
            await self.app(scope, receive, dressed)
        except Exception as fault:  # noqa: BLE001  the one boundary where a fault becomes an answer
            refusal = _refusal_of(fault, exchange.request_id)
            if not exchange.status:  # an answer that broke off stays broken off
                scope["app"] = app  # one of the pages beside the routes may have put itself there
                await problem(Request(scope), refusal)(scope, receive, dressed)
        finally:
            self._note(exchange, scope)

    def _note(self, exchange: Exchange, scope: Scope) -> None:
        route = getattr(scope.get("route"), "path", UNMATCHED)
        took_s = time.perf_counter() - exchange.began_at
        if not exchange.status:
            return  # the client went away first
        self.metrics.answered(route, scope["method"], exchange.status, None if exchange.streams else took_s)
        state: dict[str, Any] = scope["state"]
        if (slug := state.get("slug")) is not None:
            self.metrics.refused(slug)
        session = state.get("session")
        say = log.info if scope["method"] == "POST" or exchange.status >= 400 else log.debug
        say(
            "request.answered",
            method=scope["method"],
            route=route,
            status=exchange.status,
            slug=slug,
            took_ms=round(took_s * 1000, 1),
            request_id=exchange.request_id,
            tenant=session.principal.tenant_id if session else None,
            principal=session.principal.key if session else None,
        )


def _request_id(scope: Scope) -> str:
    given = Headers(scope=scope).get(REQUEST_ID, "")
    return given if _SANE_ID.match(given) else uuid4().hex


def _refusal_of(fault: Exception, request_id: str) -> Refusal:
    if passes(fault):
        log.warning("store.unreachable", cause=type(fault).__name__, request_id=request_id)
        return Unavailable("The database does not answer at the moment.", retry_after_s=RETRY_AFTER_S)
    log.error("request.failed", request_id=request_id, **trace(fault))
    return Defect("The fault has been logged under the id of this request.")
