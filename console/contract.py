"""The HTTP contract as the pages speak it: JSON out and in, as whoever has signed in.

It goes to the gateway within the process, through the same front door as everybody else's requests.
"""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
from starlette.requests import Request
from starlette.types import ASGIApp

from console.doors import SESSION_COOKIE

TIMEOUT_S = 20.0


class Problem(Exception):
    """The contract's answer was a problem document: `slug`, `status`, `detail` and the fields of its own."""

    def __init__(self, status: int, told: dict[str, Any]) -> None:
        self.status, self.told = status, told
        self.slug = str(told.get("type", "")).rpartition("/")[2] or "defect"
        self.title = str(told.get("title", "This did not work"))
        self.detail = str(told.get("detail", "The server gave no reason."))
        super().__init__(f"{status} {self.slug}")


def client_of(contract: ASGIApp) -> httpx.AsyncClient:
    """Return a client that calls `contract` within this process."""
    transport = httpx.ASGITransport(app=contract, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=TIMEOUT_S)


@dataclass(frozen=True)
class Contract:
    """The routes of the gateway as one person may use them; `token` None: nobody has signed in."""

    http: httpx.AsyncClient
    token: str | None
    _asked: dict[str, "asyncio.Task[Any]"] = field(default_factory=dict, repr=False, compare=False)

    async def get(self, path: str, **query: Any) -> Any:
        """Return the answer's JSON; parameters that are None are left out. Raises Problem."""
        return await self._ask("GET", path, params={k: v for k, v in query.items() if v is not None})

    async def once(self, path: str) -> Any:
        """Return the answer's JSON, asked for once however many parts of a page want it. Raises Problem."""
        if path not in self._asked:
            self._asked[path] = asyncio.create_task(self._ask("GET", path))
        return await self._asked[path]

    async def post(self, path: str, body: dict[str, Any] | None = None, key: str | None = None) -> Any:
        """Return the answer's JSON; `key` is the Idempotency-Key, a new one by default. Raises Problem."""
        return await self._ask("POST", path, json=body or {}, headers={"Idempotency-Key": key or uuid4().hex})

    async def put(self, path: str, body: dict[str, Any]) -> Any:
        """Return the answer's JSON. Raises Problem."""
        return await self._ask("PUT", path, json=body)

    async def delete(self, path: str) -> Any:
        """Return the answer's JSON. Raises Problem."""
        return await self._ask("DELETE", path)

    async def _ask(self, method: str, path: str, **more: Any) -> Any:
        if not _leads_straight(path):
            raise Problem(404, {"title": "There is no such page", "detail": "The address leads nowhere."})
        headers = {**more.pop("headers", {}), "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        answer = await self.http.request(method, path, headers=headers, **more)
        told = _told(answer)
        if answer.is_success:
            return told
        raise Problem(answer.status_code, told if isinstance(told, dict) else {})


def _leads_straight(path: str) -> bool:
    """Whether a path is of one route alone, whatever a page's own address has put into it in the place of an id."""
    parts = path.split("/")[1:]
    return path.isprintable() and not any(part in {"", ".", ".."} or set(part) & set("?#\\") for part in parts)


def _told(answer: httpx.Response) -> Any:
    try:
        return answer.json() if answer.content else None
    except json.JSONDecodeError:
        return None


def contract_of(request: Request) -> Contract:
    """Return the contract as the person of this request may use it, the same to all parts of the page."""
    known: Contract | None = getattr(request.state, "contract", None)
    if known is None:
        known = Contract(request.app.state.http, request.cookies.get(SESSION_COOKIE))
        request.state.contract = known
    return known
