"""Signing in and out of the staff's pages: one cookie that no script can read, and nothing else kept in a browser.

In a demo the page lists its people; elsewhere an identity provider stands in front.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from console.contract import Problem, contract_of
from console.doors import SESSION_COOKIE
from console.entrance import SIGN_IN, open_route
from console.rendering import doors_of, render

HOME = "/console/"


def routes() -> list[Route]:
    """Return the pages of signing in and out."""
    return [
        open_route("/sign-in", ask),
        open_route("/sign-in", sign_in, "POST"),
        open_route("/sign-out", leave, "POST"),
    ]


async def ask(request: Request) -> Response:
    """Show who may sign in."""
    try:
        people, waiting = await contract_of(request).get("/sessions/people"), False
    except Problem as problem:
        if problem.status not in {404, 503}:
            raise
        people, waiting = {"tenants": []}, problem.status == 503
    return render(request, "sign_in.html", people=people, waiting=waiting, next=_next(request))


async def sign_in(request: Request) -> Response:
    """Begin the session of the person chosen."""
    form = await request.form()
    tenant, _, ident = str(form.get("who", "")).partition(" ")
    begun = await contract_of(request).post("/sessions/dev", {"tenant": tenant, "kind": "staff", "id": ident})
    answer = RedirectResponse(_next(request, str(form.get("next", HOME))), 303)
    doors = doors_of(request)
    answer.set_cookie(
        SESSION_COOKIE,
        begun["token"],
        max_age=doors.session_ttl_s,
        path="/",
        secure=doors.secure,
        httponly=True,
        samesite="lax",
    )
    return answer


async def leave(request: Request) -> Response:
    """End the session in this browser."""
    answer = RedirectResponse(SIGN_IN, 303)
    answer.delete_cookie(SESSION_COOKIE, path="/", secure=doors_of(request).secure, httponly=True, samesite="lax")
    return answer


def _next(request: Request, given: str | None = None) -> str:
    """Where to go afterwards: a page of ours, whatever was asked for."""
    asked = given if given is not None else request.query_params.get("next", HOME)
    return asked if asked.startswith(HOME) and asked.isprintable() and "\\" not in asked else HOME
