"""The pages of the policy: what is stopped, which rules count and since when, what another bundle would change.

Rules are only read here. The one thing that is done here is to stop dispatch, or to let it go on.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from console.changes import done
from console.contract import contract_of
from console.entrance import staff_route
from console.people import people_of
from console.rendering import is_piece, render
from console.rulebook import rules_of
from console.wording import label, moment

Json = dict[str, Any]

HERE = "/console/policy"
KINDS = (
    "refund",
    "refund_duplicate_charge",
    "store_credit",
    "cancel_order",
    "return_items",
    "exchange_items",
    "change_delivery_address",
    "change_payment_method",
    "cancel_subscription",
    "change_plan",
    "restore_account_access",
)
EVERYTHING = ""


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return [
        staff_route("/policy", show),
        staff_route("/policy/switches", switches),
        staff_route("/policy/switches", turn, "POST"),
        staff_route("/policy/bundles/{digest}", rules),
        staff_route("/policy/backtests/{backtest_id}", backtest),
    ]


async def show(request: Request) -> Response:
    """Show what is stopped, what counts, what was published and what was tried."""
    contract = contract_of(request)
    stands, kept, stopped, people = await asyncio.gather(
        contract.get("/policy"),
        contract.get("/policy/backtests"),
        contract.get("/switches"),
        people_of(contract, request.state.me["id"]),
    )
    by_digest = {bundle["digest"]: bundle for bundle in stands["bundles"]}
    values = {
        **_switches(request, stopped),
        "in_force": by_digest.get(stands["in_force"]),
        "since": _since(stands),
        "publications": [{**one, "bundle": by_digest.get(one["digest"])} for one in stands["publications"]],
        "bundles": by_digest,
        "backtests": kept["items"],
        "by": lambda actor: "the set-up" if actor.startswith("seed:") else people.name(actor),
    }
    return render(request, "policy/page.html", **values)


async def switches(request: Request) -> Response:
    """Show what is stopped; a piece of its own, since it changes while one looks."""
    stopped = await contract_of(request).get("/switches")
    return render(request, "policy/switches.html", **_switches(request, stopped))


async def turn(request: Request) -> Response:
    """Stop one kind of action, or everything, or let it go on."""
    form = await request.form()
    kind, on = str(form.get("kind", EVERYTHING)) or None, form.get("on") == "true"
    body = {"kind": kind, "on": on, "reason": str(form.get("reason") or "").strip()}
    stopped = await contract_of(request).post("/switches", body)
    what = label(kind).capitalize() if kind else "Everything"
    left = [label(one) for one in stopped["kinds"]]
    still = "" if on or stopped["everything"] or not left else f" Stopped as before: {', '.join(left)}."
    held = f"{what} may go on, but everything is stopped still." if not on and stopped["everything"] else ""
    said = done(request, held or f"{what} {'is stopped' if on else 'goes on'}.{still}", HERE)
    if not is_piece(request):
        return said
    shown = render(request, "policy/switches.html", **_switches(request, stopped))
    shown.headers.update(said.headers)
    return shown


async def rules(request: Request) -> Response:
    """Show the rules of one bundle, each with its words, and its files line by line."""
    contract, digest = contract_of(request), request.path_params["digest"]
    bundle, stands = await asyncio.gather(contract.get(f"/policy/bundles/{digest}"), contract.get("/policy"))
    layers = [(bundle["bundle_id"], bundle["files"])]
    if bundle["base_files"] is not None:
        layers.append((f"the base under {bundle['bundle_id']}", bundle["base_files"]))
    values = {
        "bundle": bundle,
        "in_force": stands["in_force"] == digest,
        "layers": [{"name": name, "rules": rules_of(files), "files": _cedar(files)} for name, files in layers],
    }
    return render(request, "policy/bundle.html", **values)


async def backtest(request: Request) -> Response:
    """Show what a bundle would have changed."""
    found = await contract_of(request).get(f"/policy/backtests/{request.path_params['backtest_id']}")
    return render(request, "policy/backtest.html", kept=found, report=found["report"])


def _switches(request: Request, stopped: Json) -> Json:
    tools = request.state.me["tools"]
    return {
        "stopped": stopped,
        "kinds": [*KINDS, *(kind for kind in stopped["kinds"] if kind not in KINDS)],
        "may_stop": "stop_dispatch" in tools,
        "may_resume": "resume_dispatch" in tools,
        "everything": EVERYTHING,
    }


def _since(stands: Json) -> Json | None:
    """The publication by which the bundle in force counts: the last one that is effective."""
    now = datetime.now(UTC)
    effective = (
        one
        for one in stands["publications"]
        if moment(one["effective_from"]) <= now
        and (one["effective_until"] is None or now < moment(one["effective_until"]))
    )
    return next((one for one in effective if one["digest"] == stands["in_force"]), None)


def _cedar(files: dict[str, str]) -> list[tuple[str, list[str]]]:
    return [(name, text.splitlines()) for name, text in sorted(files.items()) if name.endswith(".cedar")]
