"""Standard Webhooks, inward: whether a tenant has signed exactly these bytes, within minutes of now.

A tenant that is not there, a secret that is not set and a signature that does not fit are told apart by nobody.
"""

import re

import structlog
from standardwebhooks import Webhook, WebhookVerificationError
from standardwebhooks.webhooks import EmptyWebhookSecretError
from starlette.requests import Request

from domain.fault import OperationalFault
from gateway.desk import Desk
from gateway.refusals import BadSignature, InvalidRequest, Unavailable

log = structlog.get_logger(__name__)

ID = "webhook-id"
HEADERS = (ID, "webhook-timestamp", "webhook-signature")
HEADER_CHARS_MAX = 4_096
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z")
_ID = re.compile(r"[\x21-\x7e]{1,255}\Z")
_NOBODYS = "whsec_bm9ib2R5IGhhcyB0aGlzIHNlY3JldCwgYW5kIG5vdGhpbmcgZml0cw=="  # as much work as with a true one


async def signed_id(desk: Desk, request: Request, tenant_id: str, secret_name: str) -> str:
    """Return the `webhook-id` under which `tenant_id` has signed this request.

    Raises BadSignature, InvalidRequest where a signed id cannot be kept, and Unavailable.
    """
    secret = await _secret(desk, tenant_id, secret_name) if _TENANT.match(tenant_id) else None
    headers = {name: request.headers.get(name, "")[:HEADER_CHARS_MAX] for name in HEADERS}
    body = await request.body()
    if not _fits(secret or _NOBODYS, body, headers) or secret is None:
        raise BadSignature(
            "`webhook-signature` does not fit: it signs `webhook-id.webhook-timestamp.body` with the organisation's "
            "secret for this, within 5 minutes."
        )
    if not _ID.match(headers[ID]):
        message = "1 to 255 printable ASCII characters without spaces are needed"
        raise InvalidRequest(
            f"header.webhook-id: {message}", errors=[{"field": "header.webhook-id", "message": message}]
        )
    return headers[ID]


async def _secret(desk: Desk, tenant_id: str, name: str) -> str | None:
    try:
        return await desk.secrets(tenant_id, name)
    except OperationalFault as fault:
        log.error("secret.unreadable", name=name, code=fault.code)
        raise Unavailable("Signatures cannot be checked at the moment.", retry_after_s=30) from fault


def _fits(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    try:
        Webhook(secret).verify(body, headers, json_parse=False)
    except (WebhookVerificationError, EmptyWebhookSecretError, ValueError):  # the last: no UTF-8, base64 or comma
        return False
    return True
