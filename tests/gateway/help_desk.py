"""A tenant's help desk: it signs what it sends by Standard Webhooks, as its makers read the documents."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any
from uuid import uuid4

import httpx

from tests.gateway.caller import Caller

SECRET = "whsec_" + base64.b64encode(b"a secret of the help desk's own").decode()


def created(
    ticket: str | None = None, text: str = "Where is my order?", author: str = "contact-1", **changed: Any
) -> dict[str, Any]:
    """A ticket with its first message; `customer_id`, `subject`, `requester`, `message`, `type`: changed by name."""
    requester = {"id": changed.get("requester", "contact-1")}
    if "customer_id" in changed:
        requester["customer_id"] = changed["customer_id"]
    return {
        "type": changed.get("type", "ticket.created"),
        "ticket": {
            "id": ticket or f"T-{uuid4().hex[:8]}",
            "subject": changed.get("subject", ""),
            "requester": requester,
            "cc": [{"id": "contact-2", "email": "boss@example.com"}],
        },
        "message": {"id": changed.get("message", f"M-{uuid4().hex[:8]}"), "author": {"id": author}, "text": text},
    }


def signed(raw: bytes, webhook_id: str, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    """The three headers, made by hand."""
    timestamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"{webhook_id}.{timestamp}.".encode() + raw, hashlib.sha256).digest()
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
        "content-type": "application/json",
    }


class HelpDesk:
    """Sends events of one tenant's tickets to a gateway."""

    def __init__(self, caller: Caller, tenant: str) -> None:
        self.caller, self.tenant = caller, tenant

    async def send(self, event: Any, webhook_id: str | None = None, **more: Any) -> httpx.Response:
        raw = event if isinstance(event, bytes) else json.dumps(event).encode()
        headers = signed(raw, webhook_id or f"msg_{uuid4().hex}", **more)
        return await self.post(raw, headers)

    async def post(self, raw: bytes, headers: dict[str, str], tenant: str | None = None) -> httpx.Response:
        where = f"/tickets?tenant={self.tenant if tenant is None else tenant}"
        return await self.caller.post(where, raw, content=raw, headers=headers)
