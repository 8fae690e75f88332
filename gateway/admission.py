"""Admission: every request to a guarded route is identified, counted and, where it asks for it, done once.

Only then are its body and its parameters looked at.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from domain.refusal import Refusal
from gateway.desk import Desk, desk_of
from gateway.idempotency import key_of
from gateway.problems import problem, refusal_of
from gateway.refusals import InvalidRequest, UnsupportedMediaType

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

SESSION_COOKIE = "interlock_session"
_READS = frozenset({"GET", "HEAD"})

EXPECTED = (Refusal, RequestValidationError, HTTPException)


class GuardedRoute(APIRoute):
    """A route that only an identified principal within its rates gets to."""

    counts_as_message = False

    def get_route_handler(self) -> Handler:
        """Return the handler with admission before it, and problems after it."""
        inner = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                return await inner(request)
            except EXPECTED as fault:
                refusal, headers = refusal_of(fault)
                return problem(request, refusal, headers)

        async def guarded(request: Request) -> Response:
            desk = desk_of(request)
            session = await desk.identity.session(carried(request))
            request.state.session = session
            writes = request.method not in _READS
            desk.rates.admit(session.principal, writes=writes, message=self.counts_as_message)
            if not writes:
                return await inner(request)
            await require_json(request)
            key = key_of(request) if request.method == "POST" else None  # the others may be repeated by nature
            try:
                if key is None:
                    return await inner(request)
                return await desk.once.answer(request, session.principal, key, lambda: told(request))
            finally:
                desk.boards.changed_by(session.principal)

        return guarded


class MessageRoute(GuardedRoute):
    """A guarded route that takes what people write, which has a rate of its own."""

    counts_as_message = True


def carried(request: Request) -> str | None:
    """Return the credentials that a request brings: its header or, to read alone, the cookie of a session.

    A cookie goes along with whatever another site makes a browser send; so it changes nothing here.
    """
    given = request.headers.get("authorization")
    cookie = request.cookies.get(SESSION_COOKIE) if request.method in _READS else None
    return f"Bearer {cookie}" if given is None and cookie else given


async def require_json(request: Request) -> None:
    """Let JSON in UTF-8 pass, and a request without a body. Raises UnsupportedMediaType."""
    if not await request.body():
        return
    essence, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "").partition("charset=")[2]
    if essence.strip() != "application/json" or charset.partition(";")[0] not in {"", "utf-8", "utf8"}:
        raise UnsupportedMediaType("The body has to be application/json, in UTF-8.")


def require_short(desk: Desk, text: str) -> None:
    """Return where a text is no longer than one may be. Raises InvalidRequest."""
    limit = desk.settings.text_chars_max
    if len(text) > limit:
        message = f"at most {limit} characters are taken"
        raise InvalidRequest(f"body.text: {message}", errors=[{"field": "body.text", "message": message}])
