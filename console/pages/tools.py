"""What every page has: conversations found by what one types into the palette.

The palette itself, and the sheet of keys, are scripts; here is only what they ask for.
"""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from console.contract import Contract, Problem, contract_of
from console.entrance import staff_route
from console.wording import label

FOUND_MAX = 8
ASKED_MAX = 200

Json = dict[str, Any]


def routes() -> list[BaseRoute]:
    """Return the routes of the tools."""
    return [staff_route("/find", find)]


async def find(request: Request) -> Response:
    """Return the conversations that fit: by their id, by their customer, by words that were said in them."""
    asked = request.query_params.get("q", "").strip()[:ASKED_MAX]
    if not asked:
        return JSONResponse({"items": []})
    contract = contract_of(request)
    own, of_customer, said = await asyncio.gather(
        _called(contract, asked), _search(contract, principal_id=asked), _search(contract, text=asked)
    )
    found: dict[str, Json] = {}
    for item in (*own, *of_customer, *said):
        found.setdefault(item["id"], item)
    return JSONResponse({"items": [_option(item) for item in list(found.values())[:FOUND_MAX]]})


async def _called(contract: Contract, ident: str) -> list[Json]:
    """The conversation of that id, if there is one."""
    if not ident.replace("-", "").replace("_", "").isalnum() or not ident.isascii():
        return []
    try:
        return [await contract.get(f"/conversations/{ident}")]
    except Problem as problem:
        if problem.status in {404, 422}:
            return []
        raise


async def _search(contract: Contract, **by: str) -> list[Json]:
    """What a search finds; one that cannot be asked so finds nothing."""
    try:
        found: list[Json] = (await contract.post("/conversations/search", {**by, "limit": FOUND_MAX}))["items"]
    except Problem as problem:
        if problem.status == 422:
            return []
        raise
    return found


def _option(item: Json) -> Json:
    return {
        "text": f"Conversation {item['id'][:8]} with {_who(item.get('principal'))}",
        "hint": f"the assistant: {label(item['phase'])}" if item["owner"] == "bot" else _has(item["owner"]),
        "href": f"/console/conversations/{item['id']}",
    }


def _who(principal: str | Json | None) -> str:
    """Whose conversation it is: a search says `customer:c-1`, a single one has the parts."""
    kind, ident = (principal["kind"], principal["id"]) if isinstance(principal, dict) else _parts(principal or "")
    return ident if kind == "customer" else "a visitor"


def _parts(principal: str) -> tuple[str, str]:
    kind, _, ident = principal.partition(":")
    return kind, ident


def _has(owner: str) -> str:
    return "a person has it" if owner == "human" else "closed"
