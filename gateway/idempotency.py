"""`Idempotency-Key`: a request that is repeated under its key is answered with the first answer, and done once.

Keys belong to their principal and are kept for two days; a request without the header touches nothing here.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid4, uuid5

import structlog
from starlette.requests import Request
from starlette.responses import Response

from domain.principal import VerifiedPrincipal
from gateway.refusals import BadIdempotencyKey, IdempotencyConflict, IdempotencyInProgress
from store import admission
from store.database import Database
from store.faults import passes

log = structlog.get_logger(__name__)

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
LEASE_S = 60  # after so long, a request that never came to an answer may be made again under its key
KEPT = timedelta(hours=48)
_FORGET_EVERY = timedelta(hours=1)
_KEY = re.compile(r"[\x21-\x7e]{1,255}\Z")
_CONVERSATIONS = uuid5(NAMESPACE_URL, "interlock:conversations")

Answer = Callable[[], Awaitable[Response]]


def key_of(request: Request) -> str | None:
    """Return the request's key, or None where it has none. Raises BadIdempotencyKey."""
    key = request.headers.get(HEADER)
    if key is not None and not _KEY.match(key):
        raise BadIdempotencyKey("A key is 1 to 255 printable ASCII characters without spaces.")
    return key


def conversation_id(principal: VerifiedPrincipal, key: str | None) -> str:
    """Return the id of a conversation to begin: under a key always the same one, so that a crash cannot make two."""
    if key is None:
        return str(uuid4())
    return str(uuid5(_CONVERSATIONS, json.dumps([principal.tenant_id, principal.key, key])))


class ShownOnce(Response):
    """A JSON answer with a secret in it: a repeat gets `kept`, without it, and that alone is written down."""

    media_type = "application/json"

    def __init__(self, content: bytes, kept: bytes, status_code: int) -> None:
        super().__init__(content, status_code)
        self.kept = kept


@dataclass
class Once:
    """Makes requests once per key."""

    db: Database
    now: Callable[[], datetime]
    _swept: dict[str, datetime] = field(default_factory=dict)

    async def answer(self, request: Request, principal: VerifiedPrincipal, key: str, first: Answer) -> Response:
        """Return the first answer under `key`, made now where there is none. Raises the two idempotency refusals."""
        digest = await _digest(request)
        tenant, who = principal.tenant_id, principal.key
        known = await admission.begin_request(self.db, tenant, who, key, digest, self.now(), LEASE_S)
        if known is not None:
            return _replayed(known)
        try:
            response = await first()
        except BaseException:
            await self._abandon(principal, key)
            raise
        if response.status_code >= 500 or response.status_code == 429:
            await self._abandon(principal, key)
        else:
            await self._finish(principal, key, response)
        return response

    async def _finish(self, principal: VerifiedPrincipal, key: str, response: Response) -> None:
        kept = {
            "media_type": response.headers.get("content-type", "application/json"),
            "location": response.headers.get("location"),
            "body": json.loads(response.kept if isinstance(response, ShownOnce) else bytes(response.body)),
        }
        try:
            await admission.finish_request(self.db, principal.tenant_id, principal.key, key, response.status_code, kept)
            await self._forget_old(principal.tenant_id)
        except Exception as fault:
            if not passes(fault):
                raise
            log.warning("answer.unkept", cause=type(fault).__name__)  # what was done is done: the caller is told so

    async def _abandon(self, principal: VerifiedPrincipal, key: str) -> None:
        try:
            await admission.abandon_request(self.db, principal.tenant_id, principal.key, key)
        except Exception as fault:
            if not passes(fault):
                raise
            log.warning("key.unreturned", cause=type(fault).__name__, free_in_s=LEASE_S)

    async def _forget_old(self, tenant_id: str) -> None:
        now = self.now()
        if now - self._swept.get(tenant_id, datetime.min.replace(tzinfo=now.tzinfo)) >= _FORGET_EVERY:
            self._swept[tenant_id] = now
            await admission.forget_old_requests(self.db, tenant_id, now - KEPT)


async def _digest(request: Request) -> str:
    """The digest of what is asked: the path, the query and every byte of the body."""
    whole = hashlib.sha256()
    for part in (request.scope["path"].encode("utf-8", "surrogatepass"), request.scope["query_string"]):
        whole.update(part + b"\0")
    whole.update(await request.body())
    return whole.hexdigest()


def _replayed(known: admission.Repeat) -> Response:
    if not known.same_request:
        raise IdempotencyConflict("The request under this key was another one; use a new key for a new request.")
    if known.status is None:
        raise IdempotencyInProgress("The first request under this key has no answer yet.", retry_after_s=1)
    headers = {REPLAYED: "true", "Content-Type": known.answer["media_type"]}
    if known.answer["location"]:
        headers["Location"] = known.answer["location"]
    return Response(json.dumps(known.answer["body"], separators=(",", ":")), known.status, headers)
