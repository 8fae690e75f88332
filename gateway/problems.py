"""RFC 9457: every refusal and every fault becomes one problem document, and none repeats what was sent.

The `type` of a problem opens the page that explains it; the pages stand in `pages`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from domain.refusal import NotFound, Refusal
from gateway import refusals

MEDIA_TYPE = "application/problem+json"

_OF_STATUS: Mapping[int, type[Refusal]] = {
    400: refusals.MalformedJson,
    404: NotFound,
    405: refusals.MethodNotAllowed,
    413: refusals.BodyTooLarge,
    415: refusals.UnsupportedMediaType,
}
_ERRORS_MAX = 20
_FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")


class Problem(Response):
    """A problem document, and the slug that it is counted under."""

    media_type = MEDIA_TYPE

    def __init__(self, refusal: Refusal, public_url: str, request_id: str, headers: Mapping[str, str]) -> None:
        self.slug = refusal.slug
        content: dict[str, Any] = {
            **refusal.fields,
            "type": f"{public_url}/problems/{refusal.slug}",
            "title": refusal.title,
            "status": refusal.status,
            "detail": refusal.detail,
            "request_id": request_id,
        }
        raw = json.dumps(content, separators=(",", ":"), default=str).encode()  # ASCII alone: nothing can break it
        super().__init__(raw, refusal.status, {**_headers(refusal), **headers})


def _headers(refusal: Refusal) -> dict[str, str]:
    headers = {}
    if (retry_after_s := refusal.fields.get("retry_after_s")) is not None:
        headers["Retry-After"] = str(retry_after_s)
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def problem(request: Request, refusal: Refusal, headers: Mapping[str, str] | None = None) -> Problem:
    """Return the document that tells the caller of `request` about `refusal`."""
    answer = Problem(refusal, request.app.state.desk.public_url, request.state.request_id, headers or {})
    request.state.slug = answer.slug
    return answer


def refusal_of(fault: Exception) -> tuple[Refusal, Mapping[str, str]]:
    """Return the refusal that an expected exception stands for, and the headers that it brings."""
    match fault:
        case Refusal():
            return fault, {}
        case RequestValidationError():
            return _invalid(fault.errors()), {}
        case HTTPException():
            kind = _OF_STATUS.get(fault.status_code, refusals.InvalidRequest)
            return kind(_DETAIL.get(kind, "The request cannot be taken as it is.")), fault.headers or {}
        case _:
            raise TypeError(f"{type(fault).__name__} is not expected")


_DETAIL: Mapping[type[Refusal], str] = {
    refusals.MalformedJson: "The body could not be read as JSON in UTF-8.",
    NotFound: "There is nothing at this address.",
    refusals.MethodNotAllowed: "The address exists; the header Allow says which methods it takes.",
}


def _invalid(errors: Sequence[Mapping[str, Any]]) -> Refusal:
    if any(error["type"] == "json_invalid" for error in errors):
        return refusals.MalformedJson(_DETAIL[refusals.MalformedJson])
    told = [{"field": _place(error["loc"]), "message": _complaint(error)} for error in errors[:_ERRORS_MAX]]
    first = "; ".join(f"{t['field']}: {t['message']}" for t in told[:3])
    return refusals.InvalidRequest(first, errors=told)


def _place(loc: Sequence[str | int]) -> str:
    """Where the fault is. A name that came from outside is shown only where it looks like the name of a field."""
    steps = [
        str(step) if isinstance(step, int) or _FIELD_NAME.match(step) else "(a name that is no name)" for step in loc
    ]
    return ".".join(steps) or "body"


def _complaint(error: Mapping[str, Any]) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "this field is not known here"
        case "missing":
            return "this field is needed"
        case "value_error":
            return str(error["msg"]).removeprefix("Value error, ")
        case "model_attributes_type" | "model_type" | "dict_type":
            return "a JSON object is needed"
        case _:
            return str(error["msg"])
