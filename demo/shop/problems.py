"""How the shop says no: one error type, and its JSON.

A `Refusal` is a definite answer of the business; `kept` ones are stored under the key of the operation.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import Response


class Refusal(Exception):
    """A definite no with its HTTP status, its slug and a sentence for a person."""

    def __init__(self, status: int, error: str, title: str) -> None:
        super().__init__(error)
        self.status, self.error, self.title = status, error, title


class BadRequest(Refusal):
    """A no that is about the request, not about the operation: nothing is kept under a key."""


def reply(status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
    """A JSON response; ASCII only, so that no text whatsoever can fail to be encoded."""
    return reply_text(status, json.dumps(body), headers)


def reply_text(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    """A response whose body is JSON text already."""
    return Response(text, status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def problem(refusal: Refusal, **more: str) -> Response:
    """A problem document: `error` is the slug, `title` what is meant."""
    body = {"type": "about:blank", "status": refusal.status, "error": refusal.error, "title": refusal.title, **more}
    response = reply(refusal.status, body)
    response.headers["Content-Type"] = "application/problem+json"
    if refusal.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response
