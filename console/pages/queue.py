"""The page of what waits for a person, live, with claims, filters and views."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from console import matters
from console.changes import Undo, back_of, done
from console.contract import contract_of
from console.entrance import staff_route
from console.people import people_of
from console.rendering import is_piece, render
from console.wording import clock, label, moment

FILTERS = ("kind", "status", "urgency", "reason", "language", "skill", "assignee", "tag", "snoozed")
KINDS = ("handoff", "case", "approval", "draft")
URGENCIES = ("urgent", "high", "normal", "low")
ABOUT_TO_S = 600  # so long before its time a target counts as about to be missed
PAGE_ITEMS = 50


def routes() -> list[BaseRoute]:
    """Return the routes of the queue."""
    return [
        staff_route("/", show),
        staff_route("/handoffs/{handoff_id}/claim", claim, "POST"),
        staff_route("/handoffs/{handoff_id}/unclaim", unclaim, "POST"),
        staff_route("/views", save_view, "POST"),
        staff_route("/views/{view_id}/delete", delete_view, "POST"),
    ]


async def show(request: Request) -> Response:
    """Show what waits, most urgent first; to htmx the list alone."""
    asked = {name: request.query_params[name] for name in FILTERS if request.query_params.get(name)}
    contract, cursor = contract_of(request), request.query_params.get("cursor")
    queue, people, views = await asyncio.gather(
        contract.get("/queue", limit=PAGE_ITEMS, cursor=cursor, **asked),
        people_of(contract, request.state.me["id"]),
        contract.get("/views"),
    )
    values: dict[str, Any] = {
        "queue": queue,
        "people": people,
        "matters": matters,
        "asked": asked,
        "cursor": cursor,
        "address": address_of(asked, cursor),
        "top": address_of(asked),
        "next_page": address_of(asked, queue["next_cursor"]) if queue["next_cursor"] else None,
        "soon": is_soon,
        "new_id": lambda: uuid4().hex,
    }
    if is_piece(request):
        return render(request, "queue/list.html", **values)
    choices: dict[str, Any] = {"kinds": KINDS, "urgencies": URGENCIES, "label": label}
    return render(request, "queue/page.html", views=_views(views["items"]), **choices, **values)


def is_soon(due: dict[str, Any]) -> bool:
    """Return whether a target is about to be missed."""
    return not due["overdue"] and (moment(due["at"]) - datetime.now(UTC)).total_seconds() < ABOUT_TO_S


def address_of(asked: dict[str, Any], cursor: str | None = None) -> str:
    """Return the page's address with these filters: views and pages are links."""
    told = urlencode({**asked, **({"cursor": cursor} if cursor else {})})
    return f"/console/?{told}" if told else "/console/"


def _views(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**view, "address": address_of(_as_query(view["filters"]))} for view in items]


def _as_query(filters: dict[str, Any]) -> dict[str, str]:
    kept = {name: filters[name] for name in FILTERS if filters.get(name)}
    return {name: "true" if value is True else str(value) for name, value in kept.items()}


async def claim(request: Request) -> Response:
    """Say that one is about to take a handoff."""
    form, handoff_id = await request.form(), request.path_params["handoff_id"]
    taken = await contract_of(request).post(f"/handoffs/{handoff_id}/claim")
    said = f"Claimed: nobody else claims it until {clock(taken['until'])[11:16]} UTC."
    return done(request, said, back_of(form.get("back")), Undo(f"/console/handoffs/{handoff_id}/unclaim", {}))


async def unclaim(request: Request) -> Response:
    """Give a claim back."""
    form = await request.form()
    await contract_of(request).delete(f"/handoffs/{request.path_params['handoff_id']}/claim")
    return done(request, "Given back: anybody can take it.", back_of(form.get("back")))


async def save_view(request: Request) -> Response:
    """Keep the filters in view under a name."""
    form = await request.form()
    filters = {name: str(form[name]) for name in FILTERS if form.get(name)}
    body = {"name": str(form.get("name", "")), "filters": filters, "shared": form.get("shared") == "on"}
    kept = await contract_of(request).post("/views", body)
    return done(request, f"Saved as “{kept['name']}”.", address_of(filters), reload=True)


async def delete_view(request: Request) -> Response:
    """Delete a view of one's own."""
    await contract_of(request).delete(f"/views/{request.path_params['view_id']}")
    return done(request, "View deleted.", reload=True)
