"""What a person does about one conversation: takes it, answers, notes, proposes, assigns, lets it sleep, tags, rates.

Each is one request of the contract; what it answers is said in place, with the way back while there is one.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from console import proposing
from console.changes import Undo, done, going
from console.contract import contract_of
from console.entrance import staff_route
from console.holdings import reading
from console.people import people_of
from console.rendering import is_piece, render
from console.wording import clock, label

HOME = "/console/conversations/{conversation_id}"


def routes() -> list[BaseRoute]:
    """Return the routes of what can be done."""
    posts = {
        "takeover": take_over,
        "release": release,
        "replies": reply,
        "notes": write_note,
        "notes/delete": take_note_back,
        "tags": put_tag_on,
        "tags/delete": take_tag_off,
        "assignee": assign,
        "snooze": snooze,
        "presence": attend,
        "proposal/review": review,
        "proposals": propose,
        "withdrawals": withdraw,
        "rating": rate,
    }
    return [
        staff_route(f"{HOME.removeprefix('/console')}/proposal", ask),
        *(staff_route(f"{HOME.removeprefix('/console')}/{path}", page, "POST") for path, page in posts.items()),
    ]


def _at(request: Request, path: str = "") -> str:
    return f"/conversations/{request.path_params['conversation_id']}{path}"


def _page(request: Request) -> str:
    return f"/console{_at(request)}"


async def _fields(request: Request) -> dict[str, str]:
    return {name: str(value) for name, value in (await request.form()).items()}


async def take_over(request: Request) -> Response:
    """Take the conversation at once."""
    form = await _fields(request)
    body = {"request_id": form.get("request_id") or uuid4().hex}
    taken = await contract_of(request).post(_at(request, "/takeover"), body)
    count = len(taken["in_flight"])
    flying = f" {count} {'action is' if count == 1 else 'actions are'} in flight; the outcome will appear in the log."
    return done(request, "You have the conversation." + (flying if count else ""), _page(request))


async def release(request: Request) -> Response:
    """Give it back to the assistant."""
    form = await _fields(request)
    epoch = form.get("owner_epoch", "")
    body = {"request_id": form.get("request_id") or uuid4().hex, "owner_epoch": int(epoch) if epoch.isdigit() else None}
    await contract_of(request).post(_at(request, "/release"), body)
    return done(request, "The assistant has the conversation again.", _page(request))


async def reply(request: Request) -> Response:
    """Answer the customer, once."""
    form = await _fields(request)
    seen = form.get("seen_version", "")
    body = {
        "client_message_id": form.get("client_message_id") or uuid4().hex,
        "text": form.get("text", ""),
        "seen_version": int(seen) if seen.isdigit() else None,
    }
    await contract_of(request).post(_at(request, "/replies"), body)
    return done(request, "", _page(request), sent=True)


async def write_note(request: Request) -> Response:
    """Keep a note for the staff."""
    form = await _fields(request)
    body = {"note_id": form.get("client_message_id") or uuid4().hex, "text": form.get("text", "")}
    kept = await contract_of(request).post(_at(request, "/notes"), body)
    undo = Undo(f"{_page(request)}/notes/delete", {"note_id": kept["note_id"]})
    return done(request, "Noted. Only the staff see it.", _page(request), undo, sent=True)


async def take_note_back(request: Request) -> Response:
    """Take a note of one's own back."""
    form = await _fields(request)
    await contract_of(request).delete(_at(request, f"/notes/{_part(form.get('note_id'))}"))
    return done(request, "The note is gone.", _page(request))


async def put_tag_on(request: Request) -> Response:
    """Put a tag on."""
    tag = (await _fields(request)).get("tag", "").strip()
    await contract_of(request).post(_at(request, f"/tags/{_part(tag)}"))
    return done(request, f"Tagged “{tag}”.", _page(request), Undo(f"{_page(request)}/tags/delete", {"tag": tag}))


async def take_tag_off(request: Request) -> Response:
    """Take a tag off."""
    tag = (await _fields(request)).get("tag", "")
    await contract_of(request).delete(_at(request, f"/tags/{_part(tag)}"))
    return done(request, f"“{tag}” taken off.", _page(request), Undo(f"{_page(request)}/tags", {"tag": tag}))


def _part(given: str | None) -> str:
    """Return what stands as one part of a path; nothing given is a name that nothing has."""
    return quote(given or "-", safe="")


async def assign(request: Request) -> Response:
    """Ask somebody of the staff to look at it, or nobody."""
    form, contract = await _fields(request), contract_of(request)
    before = (await contract.get(_at(request)))["assignee"] or ""
    chosen = form.get("staff_id") or None
    await contract.put(_at(request, "/assignee"), {"staff_id": chosen})
    people = await people_of(contract, request.state.me["id"])
    said = f"Assigned to {people.name(chosen).replace('You', 'you')}." if chosen else "Assigned to nobody."
    return done(request, said, _page(request), Undo(f"{_page(request)}/assignee", {"staff_id": before}))


async def snooze(request: Request) -> Response:
    """Keep it out of the queue for a while; nothing chosen: wake it."""
    form = await _fields(request)
    hours, until = form.get("hours", ""), None
    if form.get("until"):
        until = f"{form['until']}Z"
    elif hours.isdigit():
        until = (datetime.now(UTC) + timedelta(hours=int(hours))).isoformat()
    slept = await contract_of(request).put(_at(request, "/snooze"), {"until": until})
    if slept["until"] is None:
        return done(request, "It is awake.", _page(request))
    said = f"It sleeps until {clock(slept['until'])} UTC, or until the customer writes."
    return done(request, said, _page(request), Undo(f"{_page(request)}/snooze", {"hours": ""}))


async def attend(request: Request) -> Response:
    """Say that one looks, types or is gone; shows who else is there."""
    state = (await _fields(request)).get("state", "looking")
    contract = contract_of(request)
    here = await contract.put(_at(request, "/presence"), {"state": state})
    return render(request, "conversation/presence.html", presence=here, me_id=request.state.me["id"])


async def ask(request: Request) -> Response:
    """Show the form of a proposal, for the kind and the resource chosen."""
    query = request.query_params
    kind = query.get("kind", "")
    read = (await contract_of(request).get(_at(request, "/evidence")))["evidence"]
    known = reading(read, datetime.now(UTC)) if read else None
    offered = proposing.offer(kind, query.get("resource", ""), known) if kind in proposing.NEEDS else None
    template = "conversation/proposal.html" if is_piece(request) else "conversation/proposal_page.html"
    return render(request, template, **_asked(request, offered, known), new_id=lambda: uuid4().hex)


def _asked(request: Request, offered: proposing.Offer | None, known: Any) -> dict[str, Any]:
    return {"kinds": proposing.NEEDS, "offer": offered, "read": known, "label": label, "page": _page(request)}


async def review(request: Request) -> Response:
    """Show what would be proposed, exactly, before it is."""
    form = await request.form()
    seen = str(form.get("seen_version", ""))
    template = "conversation/review.html" if is_piece(request) else "conversation/review_page.html"
    try:
        wish, wrong = proposing.wish_of(form), None
    except proposing.Unclear as unclear:
        wish, wrong = {}, str(unclear)
    told = proposing.told(wish) if wish else []
    fields = [(name, str(value)) for name, value in form.multi_items() if name not in {"seal", "request_id"}]
    values: dict[str, Any] = {"wrong": wrong, "told": told, "fields": fields, "page": _page(request), "seen": seen}
    return render(request, template, **values, request_id=uuid4().hex)


async def propose(request: Request) -> Response:
    """Propose an action through the same gates as the assistant's."""
    form = await request.form()
    try:
        wish = proposing.wish_of(form)
    except proposing.Unclear:
        return going(request, _page(request))
    seen = str(form.get("seen_version", ""))
    ids = {
        "request_id": str(form.get("request_id") or uuid4().hex),
        "seen_version": int(seen) if seen.isdigit() else None,
    }
    made = await contract_of(request).post(_at(request, "/actions"), {**wish, **ids})
    needs = " and ".join(f"the {label(role)}" for role in made["required_approvals"])
    said = f"Proposed. It waits for {needs}." if needs else "Proposed. It needs nobody's consent beside yours."
    return done(request, f"{said} Decided by: {', '.join(made['rules'])}.", _page(request), proposed=True)


async def withdraw(request: Request) -> Response:
    """Call an action off that was not sent."""
    operation_id = (await _fields(request)).get("operation_id")
    called_off = await contract_of(request).post(f"/actions/{_part(operation_id)}/withdrawals")
    return done(request, f"It did not happen: {label(called_off['cause'])}.", _page(request))


async def rate(request: Request) -> Response:
    """Rate the handoff that one has received."""
    form = await _fields(request)
    score = form.get("score", "")
    body = {
        "score": int(score) if score.isdigit() else 0,
        "right_to_escalate": form.get("right_to_escalate") == "yes",
        "note": form.get("note") or None,
    }
    await contract_of(request).post(f"/handoffs/{_part(form.get('handoff_id'))}/rating", body)
    return done(request, "Thank you: it counts in the numbers.", _page(request))
