"""The page of one conversation, whole: its log, its facts, and what a person can do."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from console import logbook, matters, payloads
from console.contract import Contract, Problem, contract_of
from console.entrance import staff_route
from console.holdings import reading
from console.pages import casework
from console.people import people_of
from console.rendering import doors_of, is_piece, render
from console.wording import moment

Json = dict[str, Any]
LOG_EVENTS = 200  # of the end of the log, unless all of it is asked for
ACTIONS_SHOWN = 12
SNOOZES = ((1, "1 hour"), (3, "3 hours"), (24, "1 day"), (72, "3 days"), (168, "1 week"))


def routes() -> list[BaseRoute]:
    """Return the routes of a conversation: to look at it, and to do something about it."""
    return [
        staff_route("/conversations/{conversation_id}", show),
        staff_route("/conversations/{conversation_id}/log", log),
        staff_route("/conversations/{conversation_id}/facts", facts),
        *casework.routes(),
    ]


async def show(request: Request) -> Response:
    """Show all of it."""
    contract, ident = contract_of(request), request.path_params["conversation_id"]
    conversation = await contract.get(f"/conversations/{ident}")
    said, known = await asyncio.gather(_log(request, contract, conversation), _facts(request, contract, conversation))
    return render(request, "conversation/page.html", **{**said, **known}, new_id=lambda: uuid4().hex)


async def log(request: Request) -> Response:
    """Show the log alone."""
    contract, ident = contract_of(request), request.path_params["conversation_id"]
    conversation = await contract.get(f"/conversations/{ident}")
    said, people = await asyncio.gather(
        _log(request, contract, conversation), people_of(contract, request.state.me["id"])
    )
    return render(request, "conversation/log.html", **said, people=people, matters=matters)


async def facts(request: Request) -> Response:
    """Show who has it and everything beside the log; to htmx as pieces."""
    contract, ident = contract_of(request), request.path_params["conversation_id"]
    conversation = await contract.get(f"/conversations/{ident}")
    known = await _facts(request, contract, conversation)
    template = "conversation/facts_pieces.html" if is_piece(request) else "conversation/facts_page.html"
    return render(request, template, **known, new_id=lambda: uuid4().hex)


async def _log(request: Request, contract: Contract, conversation: Json) -> Json:
    ident = conversation["id"]
    first = 0 if request.query_params.get("all") else max(0, conversation["version"] - LOG_EVENTS)
    events, notes, deliveries, ticket = await asyncio.gather(
        events_from(contract, ident, first),
        contract.get(f"/conversations/{ident}/notes"),
        contract.get("/webhooks/deliveries", conversation_id=ident, limit=100),
        _or_none(contract, f"/conversations/{ident}/ticket", conversation["channel"] == "ticket"),
    )
    shown_from = moment(events[0]["at"]) if events and first else None
    written = [n for n in notes["items"] if shown_from is None or moment(n["at"]) >= shown_from]
    return {
        "conversation": conversation,
        "log": logbook.entries(events, written),
        "earlier": first,
        "all": bool(request.query_params.get("all")),
        "ratings": {one["seq"]: one for one in conversation["ratings"]},
        "deliveries": _by_seq(deliveries["items"]),
        "ticket": ticket,
    }


async def events_from(contract: Contract, ident: str, after: int) -> list[Json]:
    """Return the log's events after a seq, all pages of them."""
    told: list[Json] = []
    while True:
        page = await contract.get(f"/conversations/{ident}/events", after=after)
        told += page["events"]
        if not page["events"] or page["events"][-1]["seq"] >= page["version"]:
            return told
        after = page["events"][-1]["seq"]


def _by_seq(items: list[Json]) -> dict[int, list[Json]]:
    told: dict[int, list[Json]] = {}
    for one in items:
        if one["seq"] is not None:
            told.setdefault(one["seq"], []).append(one)
    return told


async def _or_none(contract: Contract, path: str, wanted: bool = True) -> Any:
    """Return what is there, or None where nothing is, or nothing was wanted."""
    try:
        return await contract.get(path) if wanted else None
    except Problem as problem:
        if problem.status == 404:
            return None
        raise


async def _facts(request: Request, contract: Contract, conversation: Json) -> Json:
    ident, now, doors = conversation["id"], datetime.now(UTC), doors_of(request)
    shown = conversation["actions"][-ACTIONS_SHOWN:]
    people, presence, read, bundle, *dossiers = await asyncio.gather(
        people_of(contract, request.state.me["id"]),
        contract.get(f"/conversations/{ident}/presence"),
        contract.get(f"/conversations/{ident}/evidence"),
        _bundle(contract, conversation),
        *(contract.get(f"/approvals/{action['operation_id']}") for action in shown),
    )
    return {
        "conversation": conversation,
        "people": people,
        "presence": presence,
        "bundle": bundle,
        "dossiers": dossiers[::-1],
        "older_actions": len(conversation["actions"]) - len(shown),
        "read": reading(read["evidence"], now) if read["evidence"] else None,
        "matters": matters,
        "payloads": payloads,
        "mine": conversation["owner"] == "human" and conversation["holder"] == request.state.me["id"],
        "in_flight": [one for one in dossiers if one["state"] in {"submitted", "unknown"}],
        "temporal": temporal_address(doors.temporal_ui_url, doors.temporal_namespace, conversation["workflow_id"]),
        "snoozes": SNOOZES,
    }


async def _bundle(contract: Contract, conversation: Json) -> Json | None:
    """Return the bundle of the open handoff."""
    handoff = conversation["handoff"]
    return await contract.get(f"/handoffs/{handoff['id']}") if handoff else None


def temporal_address(url: str | None, namespace: str, workflow_id: str) -> str | None:
    """Return the address of a workflow in Temporal's own pages, where there are any."""
    if url is None:
        return None
    return f"{url.rstrip('/')}/namespaces/{quote(namespace, safe='')}/workflows/{quote(workflow_id, safe='')}"
