"""The page of answers that wait for a person: read beside what they rest on, changed in place, let out or kept in.

Accepting sends what is in the field, once; what was changed is shown before and kept afterwards.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from console.changes import done
from console.contract import Problem, contract_of
from console.differences import compared
from console.entrance import staff_route
from console.people import People, people_of
from console.rendering import is_piece, render
from console.wording import clock, label

HERE = "/console/drafts"
ENDED = ("accepted", "edited", "rejected", "superseded")
STALE = {
    "newer_message": "The customer has written again.",
    "owner_changed": "The conversation has changed hands.",
    "answered": "What it would answer has been answered.",
    "facts_old": "The facts in it were read too long ago.",
    "facts_changed": "An action that it tells of has moved on.",
    "renewed": "A new draft was asked for.",
}


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return [
        staff_route("/drafts", show),
        staff_route("/drafts/list", listed),
        staff_route("/drafts/changes", changes, "POST"),
        staff_route("/drafts/{draft_id}", detail),
        staff_route("/drafts/{draft_id}/decisions", decide, "POST"),
        staff_route("/drafts/{draft_id}/renewals", renew, "POST"),
    ]


async def show(request: Request) -> Response:
    """Show the drafts that wait, or those that ended so; and the one named, else the first."""
    return await _page(request, request.query_params.get("draft"))


async def detail(request: Request) -> Response:
    """Show one draft; to htmx the pane alone."""
    draft_id = request.path_params["draft_id"]
    if not is_piece(request):
        return await _page(request, draft_id)
    return render(request, "drafts/detail.html", **await _looked_at(request, draft_id))


async def listed(request: Request) -> Response:
    """Show the list alone, as it is now."""
    return render(request, "drafts/list.html", **await _waiting(request), draft_id=None)


async def changes(request: Request) -> Response:
    """Show what was changed in a draft, as one types."""
    form = await request.form()
    stretches = compared(_plain(form.get("drafted")), _plain(form.get("text")))
    return render(request, "drafts/changes.html", stretches=stretches)


async def decide(request: Request) -> Response:
    """Let a draft out, in other words where they were changed, or keep it in and take the conversation."""
    form, draft_id = await request.form(), request.path_params["draft_id"]
    accepts = form.get("decision") == "accept"
    text, drafted = _plain(form.get("text")), _plain(form.get("drafted"))
    body: dict[str, Any] = {"request_id": str(form.get("request_id") or uuid4().hex)}
    if accepts:
        body |= {"decision": "accept", "text": text if text.strip() != drafted.strip() else None}
    else:
        body |= {"decision": "reject", "reason": str(form.get("reason") or "").strip() or None}
    try:
        decided = await contract_of(request).post(f"/drafts/{draft_id}/decisions", body)
    except Problem as problem:
        if problem.slug != "draft-stale":
            raise
        return await _refused(request, draft_id, problem)
    return await _decided(request, draft_id, decided["state"])


async def renew(request: Request) -> Response:
    """Have it drafted anew."""
    draft_id = request.path_params["draft_id"]
    await contract_of(request).post(f"/drafts/{draft_id}/renewals")
    return done(request, "A new draft is being made; it appears in the list.", HERE)


async def _decided(request: Request, draft_id: str, state: str) -> Response:
    told = await _looked_at(request, draft_id)
    if state == "rejected":  # who rejects it has the conversation
        where = f"/console/conversations/{told['draft']['conversation_id']}"
        if not is_piece(request):
            return RedirectResponse(where, 303)
        return Response(status_code=204, headers={"HX-Redirect": where})
    if not is_piece(request):
        return RedirectResponse(f"{HERE}/{draft_id}", 303)
    shown = render(request, "drafts/detail.html", **told)
    said = "Sent in your words." if state == "edited" else "Sent as it was drafted."
    shown.headers.update(done(request, said).headers)
    return shown


async def _refused(request: Request, draft_id: str, problem: Problem) -> Response:
    told = await _looked_at(request, draft_id)
    conflict = _conflict(problem, told["people"])
    if is_piece(request):
        shown = render(request, "drafts/detail.html", **{**told, "conflict": conflict})
        shown.headers["X-Problem"] = problem.slug
        return shown
    values = {**await _waiting(request), **told, "conflict": conflict, "draft_id": draft_id, "by_itself": False}
    return render(request, "drafts/page.html", problem.status, **values)


def _conflict(problem: Problem, people: People) -> str:
    """Who was first and when, or what has passed; nothing of the person's own was sent."""
    if problem.told.get("staff"):
        when = f" at {clock(problem.told['decided_at'])} UTC" if problem.told.get("decided_at") else ""
        first = f"{people.name(problem.told['staff'])} {label(problem.told['state'])} this draft{when}, before you."
    else:
        first = STALE.get(str(problem.told.get("reason")), problem.detail)
    return f"{first} Nothing of yours was sent."


async def _page(request: Request, draft_id: str | None) -> Response:
    """The page; where nothing is named the first one is beside the list, if there is room."""
    if draft_id is None:
        told = await _waiting(request)
        first = told["drafts"][0]["draft_id"] if told["drafts"] else None
        looked_at = await _looked_at(request, first) if first else {"draft": None}
    else:
        first = draft_id
        told, looked_at = await asyncio.gather(_waiting(request), _looked_at(request, draft_id))
    values = {**told, **looked_at, "draft_id": first, "by_itself": draft_id is None and first is not None}
    return render(request, "drafts/page.html", **values)


async def _waiting(request: Request) -> dict[str, Any]:
    state = request.query_params.get("state", "waiting")
    state = state if state in ENDED else "waiting"
    contract = contract_of(request)
    page, people = await asyncio.gather(
        contract.get("/drafts", state=state, cursor=request.query_params.get("cursor")),
        people_of(contract, request.state.me["id"]),
    )
    return {
        "drafts": page["items"],
        "next_cursor": page["next_cursor"],
        "state": state,
        "states": ("waiting", *ENDED),
        "people": people,
        "STALE": STALE,
    }


async def _looked_at(request: Request, draft_id: str) -> dict[str, Any]:
    contract = contract_of(request)
    draft, people = await asyncio.gather(
        contract.get(f"/drafts/{draft_id}"), people_of(contract, request.state.me["id"])
    )
    return {
        "draft": draft,
        "stretches": compared(draft["text"], draft["said"]) if draft["said"] else [],
        "may": "review_draft" in request.state.me["tools"],
        "people": people,
        "request_id": uuid4().hex,
        "conflict": None,
        "STALE": STALE,
        "at": datetime.now(UTC),
    }


def _plain(text: object) -> str:
    """A text of a form with the line ends that were typed."""
    return str(text or "").replace("\r\n", "\n")
