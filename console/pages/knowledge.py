"""The pages of what is known: searched with its reasons, read in versions, and as of any day.

Only read here; articles are written and reviewed elsewhere.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from console.contract import Contract, Problem, contract_of
from console.differences import compared
from console.entrance import staff_route
from console.rendering import is_piece, render
from console.wording import moment

Json = dict[str, Any]

FILTERS = ("kind", "language", "audience")
KINDS = ("article", "macro")
AUDIENCES = ("public", "signed_in", "staff")
FOUND_MAX = 10


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return [staff_route("/knowledge", show), staff_route("/knowledge/{slug}", read)]


async def show(request: Request) -> Response:
    """Show the pages there are, or what a search found and why; to htmx the list alone."""
    values = {**await _shelf(request), "page": None, "slug": None}
    return render(request, "knowledge/list.html" if is_piece(request) else "knowledge/page.html", **values)


async def read(request: Request) -> Response:
    """Show one page: the version asked for, else the one that counts at the day asked for."""
    slug = request.path_params["slug"]
    if is_piece(request):
        return render(request, "knowledge/detail.html", **await _read(request, slug))
    shelf, page = await asyncio.gather(_shelf(request), _read(request, slug))
    return render(request, "knowledge/page.html", **{**shelf, **page}, slug=slug)


async def _shelf(request: Request) -> Json:
    contract, query = contract_of(request), request.query_params
    asked = {name: query[name] for name in FILTERS if query.get(name)}
    words = query.get("q", "").strip()
    shelf = await contract.get("/knowledge")
    items = shelf["items"]
    found = await _found(contract, words, asked) if words else None
    return {
        "items": _by_page([one for one in items if all(one["shown"][name] == value for name, value in asked.items())]),
        "pages_n": len({one["shown"]["slug"] for one in items}),
        "found": found,
        "words": words,
        "asked": asked,
        "kinds": KINDS,
        "audiences": AUDIENCES,
        "languages": sorted({one["shown"]["language"] for one in items}),
    }


def _by_page(items: list[Json]) -> list[Json]:
    """One row for a page in all its languages: the English one where there is one, and where it stands otherwise."""
    pages: dict[str, list[Json]] = {}
    for one in items:
        pages.setdefault(one["shown"]["slug"], []).append(one)
    return [_row(of_page) for of_page in pages.values()]


def _row(of_page: list[Json]) -> Json:
    first = next((one for one in of_page if one["shown"]["language"] == "en"), of_page[0])
    return {
        **first,
        "languages": sorted(one["shown"]["language"] for one in of_page),
        "otherwise": sorted(one["shown"]["language"] for one in of_page if one["state"] != first["state"]),
    }


async def _found(contract: Contract, words: str, asked: Json) -> list[Json]:
    """What a reader of that audience would be given; of a kind, where one is asked for."""
    body = {"text": words, "limit": FOUND_MAX, "audience": asked.get("audience", "staff")}
    if "language" in asked:
        body["language"] = asked["language"]
    try:
        found = (await contract.post("/knowledge/search", body))["items"]
    except Problem as problem:
        if problem.status == 422:
            return []
        raise
    return [hit for hit in found if asked.get("kind") in (None, hit["kind"])]


async def _read(request: Request, slug: str) -> Json:
    query, now = request.query_params, datetime.now(UTC)
    page = await contract_of(request).get(f"/knowledge/{slug}")
    languages = sorted({one["page"]["language"] for one in page["versions"]})
    asked = query.get("language")
    language = asked if asked in languages else ("en" if "en" in languages else languages[0])
    versions = [one for one in page["versions"] if one["page"]["language"] == language]
    spans = [span for span in page["timeline"] if span["language"] == language]
    day = _day(query.get("at"))
    at = now if day is None else day + timedelta(days=1, microseconds=-1)
    counting = [span for span in spans if _within(span, at)]
    shown = _shown(versions, query.get("version"), counting)
    other = _numbered(versions, query.get("with"))
    return {
        "page": page,
        "language": language,
        "languages": languages,
        "versions": versions,
        "spans": spans,
        "counting": counting,
        "at": at,
        "day": query.get("at") if day is not None else "",
        "one": shown,
        "other": other,
        "stretches": compared(other["body"], shown["body"]) if other else [],
        "address": f"/console/knowledge/{slug}",
        "link": _link,
    }


def _link(slug: str, **query: Any) -> str:
    told = urlencode({name: value for name, value in query.items() if value not in (None, "")})
    return f"/console/knowledge/{slug}{'?' + told if told else ''}"


def _day(text: str | None) -> datetime | None:
    """The day asked for, in UTC; None where there is none, or none that is a day."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) if text else None
    except ValueError:
        return None


def _within(span: Json, at: datetime) -> bool:
    return moment(span["since"]) <= at and (span["until"] is None or at < moment(span["until"]))


def _numbered(versions: list[Json], number: str | None) -> Json | None:
    return next((one for one in versions if str(one["page"]["version"]) == number), None)


def _shown(versions: list[Json], number: str | None, counting: list[Json]) -> Json:
    """The version asked for, else the newest that counts then, else the newest of all."""
    counted = {span["version"] for span in counting}
    then = next((one for one in versions if one["page"]["version"] in counted), None)
    return _numbered(versions, number) or then or versions[0]
