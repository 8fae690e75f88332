"""The reference: OpenAPI made from the routes as they are, with every problem that each can answer.

What every route has in common (token, ids, problems) is added here once, and so cannot be forgotten on one.
"""

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel

from domain.refusal import Refusal
from gateway import refusals as r
from gateway.admission import GuardedRoute
from gateway.envelope import REQUEST_ID
from gateway.idempotency import HEADER as IDEMPOTENCY_KEY
from gateway.idempotency import REPLAYED
from gateway.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

_ALWAYS: tuple[type[Refusal], ...] = (r.Defect,)
_GUARDED: tuple[type[Refusal], ...] = (
    r.Unauthenticated,
    r.CustomerBlocked,
    r.RateLimited,
    r.InvalidRequest,
    r.Unavailable,
)
_POSTED: tuple[type[Refusal], ...] = (
    r.MalformedJson,
    r.BadIdempotencyKey,
    r.IdempotencyConflict,
    r.IdempotencyInProgress,
    r.RequestTimeout,
    r.BodyTooLarge,
    r.UnsupportedMediaType,
)
_KEYED = frozenset({r.BadIdempotencyKey, r.IdempotencyConflict, r.IdempotencyInProgress})
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "RFC 9457. `type` opens a page that explains it; some problems have more fields than these.",
    "required": ["type", "title", "status", "detail", "request_id"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
        "retry_after_s": {"type": "integer"},
        "current_version": {"type": "integer"},
        "limit_bytes": {"type": "integer"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
    "additionalProperties": True,
}
_ABOUT = (
    "A customer writes; the assistant answers from evidence, proposes what it may not decide, and hands over to "
    "people. Ids that you may not see are answered with 404, as if there were none. Every POST may be repeated: by "
    "its own id, and by `Idempotency-Key`."
)


def problems(*kinds: type[Refusal]) -> Responses:
    """Return the documentation of the problems that a route can answer, by status."""
    found: Responses = {}
    for kind in dict.fromkeys((*kinds, *_ALWAYS)):
        entry = found.setdefault(kind.status, {"description": "", "content": {MEDIA_TYPE: {"examples": {}}}})
        entry["description"] += f"{' · ' if entry['description'] else ''}`{kind.slug}`: {kind.title}"
        content = entry["content"][MEDIA_TYPE]
        content["schema"] = {"$ref": "#/components/schemas/Problem"}
        content["examples"][kind.slug] = {"value": _example(kind)}
    return found


def guarded(*kinds: type[Refusal]) -> Responses:
    """Return the problems of a guarded GET, `kinds` among them."""
    return problems(*kinds, *_GUARDED)


def posted(*kinds: type[Refusal]) -> Responses:
    """Return the problems of a guarded POST, `kinds` among them."""
    return problems(*kinds, *_GUARDED, *_POSTED)


def put(*kinds: type[Refusal]) -> Responses:
    """Return the problems of a guarded PUT, `kinds` among them: a repeat is harmless, so it takes no key."""
    return problems(*kinds, *_GUARDED, *(kind for kind in _POSTED if kind not in _KEYED))


def opened(*kinds: type[Refusal]) -> Responses:
    """Return the problems of a POST that needs no token, `kinds` among them; it takes no key either."""
    return problems(*kinds, r.InvalidRequest, *(kind for kind in _POSTED if kind not in _KEYED))


def written_out(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a body that is read by hand: whole, since FastAPI keeps its parts for no other document."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})

    def out(node: Any) -> Any:
        if isinstance(node, dict):
            ref = node.get("$ref")
            return out(parts[ref.rpartition("/")[2]]) if isinstance(ref, str) else {k: out(v) for k, v in node.items()}
        return [out(one) for one in node] if isinstance(node, list) else node

    return {name: out(value) for name, value in schema.items()}


def _example(kind: type[Refusal]) -> dict[str, Any]:
    return {
        "type": f"https://interlock.example/problems/{kind.slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": "What exactly was wrong with this request.",
        "request_id": "4f1d2c8e9b0a4c6e8d7f1a2b3c4d5e6f",
    }


def describe(app: FastAPI, routes: Iterable[APIRoute]) -> dict[str, Any]:
    """Return the OpenAPI document of `app`, whose routes are `routes`."""
    schema = get_openapi(
        title="Interlock", version=app.version, description=_ABOUT, routes=app.routes, openapi_version="3.1.0"
    )
    components = schema.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = _PROBLEM
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "`kind` is customer, anonymous, staff or service; roles are looked up, not read from it.",
        }
    }
    for route in routes:
        for method in sorted(route.methods or ()) if route.include_in_schema else ():
            _complete(schema["paths"][route.path_format][method.lower()], isinstance(route, GuardedRoute), method)
    return schema


def _complete(operation: dict[str, Any], is_guarded: bool, method: str) -> None:
    if "HTTPValidationError" in str(operation["responses"].get("422")):
        del operation["responses"]["422"]  # FastAPI's own guess, on a path that takes any word
    operation["security"] = [{"bearer": []}] if is_guarded else []
    headers = operation.setdefault("parameters", [])
    headers.append(_header(REQUEST_ID, "Your own id for this request, echoed where it is a sane one.", 64))
    if keyed := is_guarded and method == "POST":
        headers.append(_header(IDEMPOTENCY_KEY, "Repeat the request under the same key to get its first answer.", 255))
    for status, response in operation["responses"].items():
        told = response.setdefault("headers", {})
        told[REQUEST_ID] = {"description": "The id of this request in the logs.", "schema": {"type": "string"}}
        if status in {"429", "503"}:
            told["Retry-After"] = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        if keyed and status.startswith("2"):
            told[REPLAYED] = {"description": "`true`: this is the first answer again.", "schema": {"type": "string"}}


def _header(name: str, description: str, length_max: int) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": length_max}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}
