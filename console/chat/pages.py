"""The pages of the chat: alone, in a frame on an organisation's own sites, and an example of such a site.

A page holds nothing about anybody: who asks is between its script and the contract.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from console.contract import Contract, Problem
from console.doors import ConsoleDoors
from console.entrance import open_route
from console.rendering import doors_of, render
from console.security import policy

_NOBODYS: dict[str, Any] = {"name": "", "allowed_origins": [], "languages": []}


def routes() -> list[Route]:
    """Return the routes of the pages."""
    return [open_route("/", alone), open_route("/embed", embedded), open_route("/example", example)]


async def alone(request: Request) -> Response:
    """Show the chat as a page of its own; without a tenant it offers a demo's people."""
    tenant = request.query_params.get("tenant", "")
    shown = await _contract(request).get("/widget", tenant=tenant) if tenant else _NOBODYS
    return render(request, "chat/chat.html", tenant=tenant, shown=shown, embedded=False)


async def embedded(request: Request) -> Response:
    """Show the chat for a frame, which only the organisation's own sites may hold."""
    tenant = request.query_params.get("tenant", "")
    shown = await _contract(request).get("/widget", tenant=tenant)
    page = render(request, "chat/chat.html", tenant=tenant, shown=shown, embedded=True)
    page.headers["Content-Security-Policy"] = policy(frame_ancestors=" ".join(["'self'", *shown["allowed_origins"]]))
    return page


async def example(request: Request) -> Response:
    """Show a shop's page with the widget on it: of the tenant named, else of a demo's first."""
    contract = _contract(request)
    tenant = request.query_params.get("tenant") or await _first_of_demo(contract)
    shown = await contract.get("/widget", tenant=tenant)
    page = render(request, "chat/example.html", tenant=tenant, shown=shown, public_url=_public_url(doors_of(request)))
    page.headers["Content-Security-Policy"] = policy(frame_src="'self'")
    return page


async def _first_of_demo(contract: Contract) -> str:
    """Return the demo's first organisation. Raises Problem where this is no demo."""
    people = await contract.get("/sessions/people")
    if not people["tenants"]:
        raise Problem(404, {"title": "No such page", "detail": "Name an organisation: /chat/example?tenant=…"})
    return str(people["tenants"][0]["id"])


def _contract(request: Request) -> Contract:
    """Return the contract as a stranger may use it: a member of staff's session in this browser counts for nothing."""
    return Contract(request.app.state.http, None)


def _public_url(doors: ConsoleDoors) -> str:
    return doors.public_url.rstrip("/")
