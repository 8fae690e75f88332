"""The page of the service desk: when people are there, what is urgent, who can do what, and who is told by webhook.

Everybody of the staff reads it; who manages the organisation changes it.
"""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from console import deskform, matters
from console.changes import done
from console.contract import Contract, Problem, contract_of
from console.entrance import staff_route
from console.rendering import is_piece, render

Json = dict[str, Any]

HERE = "/console/desk"
MANAGES = "manage_staff"
TYPES = {
    "reply": "Replies for a customer who has left",
    "tag": "Tags put on or taken off",
    "handoff": "Handoffs to a person and back",
    "action": "What becomes of actions",
}
LETTERS_N = 50


def routes() -> list[BaseRoute]:
    """Return the routes of this page."""
    return [
        staff_route("/desk", show),
        staff_route("/desk", put, "POST"),
        staff_route("/desk/staff/{staff_id}", set_skills, "POST"),
        staff_route("/desk/webhooks", listed),
        staff_route("/desk/webhooks", make, "POST"),
        staff_route("/desk/webhooks/{webhook_id}/delete", remove, "POST"),
        staff_route("/desk/deliveries/{delivery_id}/replay", replay, "POST"),
    ]


async def show(request: Request) -> Response:
    """Show all of it."""
    contract = contract_of(request)
    desk, queue, staff, told = await asyncio.gather(
        contract.get("/desk"), contract.get("/queue", limit=1), contract.once("/staff"), _webhooks(request, contract)
    )
    values = {
        "desk": desk,
        "doc": desk["document"],
        "hours": queue["hours"],
        "staff": staff["items"],
        "form": deskform,
        **told,
    }
    return render(request, "desk/page.html", **values)


async def put(request: Request) -> Response:
    """Set the document, in the place of the version that was shown."""
    form = {name: str(value) for name, value in (await request.form()).items()}
    contract = contract_of(request)
    shown = (await contract.get("/desk"))["document"]
    try:
        document = deskform.document_of(form, shown)
    except deskform.Mistyped as fault:
        raise Problem(422, {"title": "Nothing was changed", "detail": str(fault)}) from None
    version = form.get("version", "")
    body = {"document": document, "expected_version": int(version) if version.isdecimal() else 0}
    try:
        kept = await contract.put("/desk", body)
    except Problem as problem:
        problem.detail = problem.detail.replace("body.document.", "")
        raise
    return done(request, f"The desk counts as typed, version {kept['version']}.", HERE, reload=True)


async def set_skills(request: Request) -> Response:
    """Say what somebody can do, and in which languages."""
    form = await request.form()
    body = {name: deskform.words(str(form.get(name, ""))) for name in ("skills", "languages")}
    told = await contract_of(request).put(f"/staff/{request.path_params['staff_id']}/skills", body)
    return done(request, f"Kept for {told['name']}.", HERE)


async def listed(request: Request) -> Response:
    """Show the webhooks and the dead letters as they are now."""
    return render(request, "desk/webhooks.html", **await _webhooks(request, contract_of(request)))


async def make(request: Request) -> Response:
    """Make a webhook, and show its secret this once."""
    form, contract = await request.form(), contract_of(request)
    body = {"url": str(form.get("url", "")).strip(), "types": [str(one) for one in form.getlist("type")]}
    made = await contract.post("/webhooks", body)
    told = {**await _webhooks(request, contract), "made": made}
    return render(request, "desk/webhooks.html" if is_piece(request) else "desk/webhooks_page.html", **told)


async def remove(request: Request) -> Response:
    """Take a webhook away."""
    await contract_of(request).delete(f"/webhooks/{request.path_params['webhook_id']}")
    return done(request, "It is told nothing any more.", HERE)


async def replay(request: Request) -> Response:
    """Let a dead letter be told again."""
    await contract_of(request).post(f"/webhooks/deliveries/{request.path_params['delivery_id']}/replays")
    return done(request, "It is being told again.", HERE)


async def _webhooks(request: Request, contract: Contract) -> Json:
    manages = MANAGES in request.state.me["tools"]
    dead, hooks = await asyncio.gather(
        contract.get("/webhooks/deliveries", state="dead", limit=LETTERS_N), _hooks(contract, manages)
    )
    return {
        "hooks": hooks,
        "letters": dead["items"],
        "more_letters": dead["next_cursor"] is not None,
        "manages": manages,
        "types": TYPES,
        "matters": matters,
        "made": None,
    }


async def _hooks(contract: Contract, manages: bool) -> list[Json]:
    """The webhooks, which only who manages them sees."""
    items: list[Json] = (await contract.get("/webhooks"))["items"] if manages else []
    return items
