"""The page of what waits for consent, to be decided alone or together.

What is shown is the ledger's and the system of record's; what is sent is the digest of exactly what was shown.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from console import consent, matters, payloads
from console.changes import done
from console.contract import Problem, contract_of
from console.entrance import staff_route
from console.holdings import also
from console.people import people_of
from console.rendering import is_piece, render
from console.rulebook import meanings

HERE = "/console/approvals"
CLAIM_MINUTES = 5
DECISIONS = {"approve": "Approved", "reject": "Rejected"}


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return [
        staff_route("/approvals", show),
        staff_route("/approvals/list", listed),
        staff_route("/approvals/batch", confirm_batch),
        staff_route("/approvals/batch", decide_batch, "POST"),
        staff_route("/approvals/{operation_id}", detail),
        staff_route("/approvals/{operation_id}/decisions", decide, "POST"),
        staff_route("/approvals/{operation_id}/claim", claim, "POST"),
        staff_route("/approvals/{operation_id}/unclaim", unclaim, "POST"),
    ]


async def show(request: Request) -> Response:
    """Show what waits, and the one that is looked at: the one named, else the first."""
    operation_id = request.query_params.get("operation")
    return await _page(request, operation_id)


async def detail(request: Request) -> Response:
    """Show one approval; to htmx the pane alone."""
    operation_id = request.path_params["operation_id"]
    if not is_piece(request):
        return await _page(request, operation_id)
    return render(request, "approvals/detail.html", **await _looked_at(request, operation_id))


async def listed(request: Request) -> Response:
    """Show the list alone, as it is now."""
    return render(request, "approvals/list.html", **await _waiting(request), operation_id=_chosen(request))


async def decide(request: Request) -> Response:
    """Say yes or no to exactly what was shown; where that is not possible any more, show why and what it is now."""
    form, operation_id = await request.form(), request.path_params["operation_id"]
    decision, digest = str(form.get("decision", "")), str(form.get("digest", ""))
    body = {"payload_digest": digest, "decision": decision, "note": _note(form), "role": form.get("role") or None}
    try:
        await contract_of(request).post(f"/actions/{operation_id}/approvals", body)
    except Problem as problem:
        if problem.slug not in {"approval-stale", "approval-claimed", "approval-not-allowed"}:
            raise
        return await _refused(request, operation_id, problem)
    if not is_piece(request):
        return RedirectResponse(f"{HERE}/{operation_id}", 303)
    told = await _looked_at(request, operation_id)
    shown = render(request, "approvals/detail.html", **told)
    said = f"{DECISIONS[decision]}: {payloads.deed(told['dossier']['payload'])}."
    shown.headers.update(done(request, said + _looked_for(form)).headers)
    return shown


async def claim(request: Request) -> Response:
    """Keep others from deciding it for a few minutes."""
    operation_id = request.path_params["operation_id"]
    try:
        await contract_of(request).post(f"/actions/{operation_id}/claim", {"minutes": CLAIM_MINUTES})
    except Problem as problem:
        if problem.slug not in {"approval-stale", "approval-claimed"}:
            raise
        return await _refused(request, operation_id, problem)
    return done(request, f"Yours to decide for {CLAIM_MINUTES} minutes.", f"{HERE}/{operation_id}")


async def unclaim(request: Request) -> Response:
    """Let others decide it."""
    operation_id = request.path_params["operation_id"]
    await contract_of(request).delete(f"/actions/{operation_id}/claim")
    return done(request, "Given back: anybody entitled can decide it.", f"{HERE}/{operation_id}")


async def confirm_batch(request: Request) -> Response:
    """Ask once more before several are decided: each of them, their count and their sum."""
    chosen = set(request.query_params.getlist("item"))
    told = await _waiting(request)
    items = [item for item in told["items"] if item["operation_id"] in chosen]
    currencies = {item["currency"] for item in items if item["currency"]}
    values = {
        **told,
        "chosen": items,
        "missing_n": len(chosen) - len(items),
        "total_minor": sum(item["amount_minor"] or 0 for item in items),
        "currency": currencies.pop() if len(currencies) == 1 else None,
    }
    return render(request, "approvals/batch.html" if is_piece(request) else "approvals/batch_page.html", **values)


async def decide_batch(request: Request) -> Response:
    """Decide several, each on its own; say of each what has become of it."""
    form = await request.form()
    decision = str(form.get("decision", ""))
    pairs = [str(item).partition(" ") for item in form.getlist("item")]
    items = [{"operation_id": ident, "payload_digest": digest} for ident, _, digest in pairs]
    body = {"decision": decision, "note": _note(form), "items": items}
    answered = (await contract_of(request).post("/approvals/batch", body))["items"]
    deeds = dict(zip((pair[0] for pair in pairs), form.getlist("deed"), strict=False))
    values = {"answered": answered, "deeds": deeds, "done_as": DECISIONS.get(decision, decision)}
    page = "approvals/batch_done.html" if is_piece(request) else "approvals/batch_done_page.html"
    shown = render(request, page, **values)
    decided_n = sum(one["outcome"] == "decided" for one in answered)
    said = f"{DECISIONS.get(decision, decision)} {decided_n} of {len(answered)}."
    if is_piece(request):
        shown.headers.update(done(request, said).headers)
    return shown


async def _page(request: Request, operation_id: str | None) -> Response:
    """The page; where nothing is named the first one is beside the list, if there is room."""
    if operation_id is None:
        told = await _waiting(request)
        first = told["items"][0]["operation_id"] if told["items"] else None
        looked_at = await _looked_at(request, first) if first else {"dossier": None}
    else:
        first = operation_id
        told, looked_at = await asyncio.gather(_waiting(request), _looked_at(request, operation_id))
    values = {**told, **looked_at, "operation_id": first, "by_itself": operation_id is None and first is not None}
    return render(request, "approvals/page.html", **values)


async def _refused(request: Request, operation_id: str, problem: Problem) -> Response:
    told = await _looked_at(request, operation_id)
    conflict = consent.refused(problem, told["dossier"], told["people"], told["at"])
    if is_piece(request):
        shown = render(request, "approvals/detail.html", **{**told, "conflict": conflict})
        shown.headers["HX-Retarget"], shown.headers["HX-Reswap"] = "#detail", "innerHTML"
        shown.headers["X-Problem"] = problem.slug
        return shown
    waiting = await _waiting(request)
    values = {**waiting, **told, "conflict": conflict, "operation_id": operation_id, "by_itself": False}
    return render(request, "approvals/page.html", problem.status, **values)


async def _waiting(request: Request) -> dict[str, Any]:
    """The list, with how fast the person decides."""
    contract = contract_of(request)
    pending, people = await asyncio.gather(contract.get("/approvals"), people_of(contract, request.state.me["id"]))
    return {
        "items": pending["items"],
        "pace": pending["pace"],
        "hurry": consent.pace_warning(pending["pace"]),
        "people": people,
        "payloads": payloads,
        "consent": consent,
    }


async def _looked_at(request: Request, operation_id: str) -> dict[str, Any]:
    """Everything about one approval."""
    contract, now = contract_of(request), datetime.now(UTC)
    dossier, people, stopped = await asyncio.gather(
        contract.get(f"/approvals/{operation_id}"),
        people_of(contract, request.state.me["id"]),
        contract.get("/switches"),
    )
    return {
        "dossier": dossier,
        "rules": await _rules(request, dossier),
        "facts": consent.facts_of(dossier["facts"], dossier["resource"], now),
        "also": also(dossier["facts"]["also"]) if dossier["facts"] else [],
        "facts_now": consent.facts_of(dossier["facts_now"], dossier["resource"], now),
        "payload_changes": consent.payload_changes(dossier),
        "fact_changes": consent.fact_changes(dossier, now),
        "stopped": stopped["everything"] or dossier["kind"] in stopped["kinds"],
        "why_not": consent.why_not(dossier, people, now),
        "roles": consent.open_roles(dossier),
        "people": people,
        "matters": matters,
        "payloads": payloads,
        "conflict": None,
        "at": now,
        "minutes": CLAIM_MINUTES,
    }


async def _rules(request: Request, dossier: dict[str, Any]) -> list[dict[str, Any]]:
    """The rules that decided, each with its words where the bundle is there to be read."""
    judged = dossier["judged"]
    if not judged or not judged["rules"]:
        return []
    try:
        bundle = await contract_of(request).get(f"/policy/bundles/{judged['policy_digest']}")
    except Problem:
        return [{"ident": ident, "rule": None} for ident in judged["rules"]]
    known = meanings({**(bundle["base_files"] or {}), **bundle["files"]})
    return [{"ident": ident, "rule": known.get(ident)} for ident in judged["rules"]]


def _chosen(request: Request) -> str | None:
    return request.query_params.get("operation")


def _note(form: FormData) -> str | None:
    return str(form.get("note") or "").strip() or None


def _looked_for(form: FormData) -> str:
    """How long it was in view, as the page itself counted."""
    told = str(form.get("looked_s") or "")
    return f" You looked at it for {consent.seconds(float(told))}." if told.isdecimal() else ""
