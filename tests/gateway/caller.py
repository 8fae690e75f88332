"""A client that holds every answer against what is documented for its route: model, status, problem, headers."""

import json
import re
from typing import Any

import httpx
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter

from domain.principal import VerifiedPrincipal
from gateway.app import routes
from tests.gateway.issuer import Issuer

PROBLEM_FIELDS = {"type", "title", "status", "detail", "request_id"}


class Caller:
    """Speaks to a gateway as whoever is named, by a fresh token each time."""

    def __init__(self, http: httpx.AsyncClient, issuer: Issuer, document: dict[str, Any]) -> None:
        self.http, self.issuer, self.document = http, issuer, document

    async def get(self, path: str, who: VerifiedPrincipal | str | None = None, **more: Any) -> httpx.Response:
        return await self.ask("GET", path, who, **more)

    async def post(
        self, path: str, body: Any = None, who: VerifiedPrincipal | str | None = None, **more: Any
    ) -> httpx.Response:
        if body is not None and "content" not in more:
            more["json"] = body
        return await self.ask("POST", path, who, **more)

    async def ask(
        self, method: str, path: str, who: VerifiedPrincipal | str | None = None, **more: Any
    ) -> httpx.Response:
        headers = dict(more.pop("headers", {}))
        if who is not None:
            token = who if isinstance(who, str) else self.issuer.token(who)
            headers["Authorization"] = f"Bearer {token}"
        raw = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = await self.http.request(method, path, headers=raw, **more)
        self.check(answer)
        return answer

    def check(self, answer: httpx.Response) -> None:
        assert answer.headers["request-id"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        route = _route(answer.request)
        if answer.headers.get("content-type", "").startswith("application/problem+json"):
            self._check_problem(answer, route)
        elif route is not None:
            _check_model(answer, route)

    def _check_problem(self, answer: httpx.Response, route: APIRoute | None) -> None:
        told = answer.json()
        assert set(told) >= PROBLEM_FIELDS, told
        assert told["status"] == answer.status_code
        assert told["request_id"] == answer.headers["request-id"] or "idempotent-replayed" in answer.headers
        if "retry_after_s" in told:
            assert answer.headers["retry-after"] == str(told["retry_after_s"])
        if answer.status_code == 401:
            assert answer.headers["www-authenticate"] == "Bearer"
        if route is not None and route.include_in_schema:
            operation = self.document["paths"][route.path_format][answer.request.method.lower()]
            slug = told["type"].rpartition("/")[2]
            documented = operation["responses"].get(str(answer.status_code), {}).get("content", {})
            examples = documented.get("application/problem+json", {}).get("examples", {})
            assert slug in examples, f"{route.path} answers {answer.status_code} {slug}, which is not documented"


def _route(request: httpx.Request) -> APIRoute | None:
    for route in routes():
        if request.method in (route.methods or ()) and re.match(route.path_regex, request.url.path):
            return route
    return None


def _check_model(answer: httpx.Response, route: APIRoute) -> None:
    if not answer.headers.get("content-type", "").startswith("application/json") or not route.include_in_schema:
        return
    fields = {status: field.field_info.annotation for status, field in route.response_fields.items()}
    model = fields.get(answer.status_code)
    if model is None and route.response_field is not None and answer.status_code == (route.status_code or 200):
        model = route.response_field.field_info.annotation
    assert model is not None, f"{route.path} answers {answer.status_code} with JSON, which is not documented"
    _only_known(TypeAdapter(model).validate_json(answer.content), json.loads(answer.content))


def _only_known(told: Any, raw: Any) -> None:
    """An answer has no field that its model does not name, unless the model says that it may."""
    if isinstance(told, BaseModel) and told.model_config.get("extra") != "allow":
        assert set(raw) <= set(type(told).model_fields), set(raw) - set(type(told).model_fields)
        for name in raw:
            _only_known(getattr(told, name), raw[name])
    elif isinstance(told, list | tuple) and isinstance(raw, list):
        for one, other in zip(told, raw, strict=True):
            _only_known(one, other)
