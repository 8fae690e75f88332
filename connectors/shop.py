"""The connector of the demo shop: account reads, every change of the catalogue, look-ups by operation id, tracking.

Whatever is not a definite success or a definite refusal is unknown (design §5).
"""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from domain.account import Account, Evidence
from domain.action import Action, CancelSubscriptionPayload, ExchangeItemsPayload, RefundPayload
from domain.connector import ConnectorContract, Lookup, LookupKind, OutcomeKind, WriteOutcome
from domain.fault import Unreachable

SOURCE = "shop"

# What the shop documents at GET /contract.
CONTRACT = ConnectorContract(
    name=SOURCE,
    key_window_s=86_400,
    refusals_kept=True,
    lookup_lag_s=0,
    late_commit_bound_s=30,
    evidence_max_age_s=60,
)

# What a payload holds besides, so that people see what they approve and the ledger what moves.
_NOT_THE_SHOPS = frozenset({"kind", "resource_version", "shown", "method_label", "due_minor", "due_currency"})

# A write that has not begun to leave after this is not sent at all: the rest of SEND_MARGIN_S is the executor's.
FIRST_BYTE_MAX_S = 4.0
_WRITE_POOL_S, _WRITE_CONNECT_S = 1.0, 2.0
_WRITES_MAX = 50  # at once; reads have connections of their own and cannot keep a write waiting
_SEGMENT_CHARS_MAX = 512  # of one id in a path

# What a look-up and an account are answered with, beside 404, when there is none; any other 404 is somebody else's.
_NO_OPERATION, _NO_CUSTOMER = "unknown_operation", "unknown_customer"

# Definite refusals that the shop documents as kept under the key; every other 4xx proves nothing.
_REFUSALS = frozenset(
    {
        "already_cancelled",
        "balance_too_low",
        "declined",
        "exceeds_captured",
        "items_not_paired",
        "not_as_shown",
        "not_duplicate",
        "not_locked",
        "not_offered",
        "not_original",
        "not_refundable",
        "not_returnable",
        "not_verified",
        "reset_already_sent",
        "too_late",
        "unavailable",
        "unchanged",
        "unknown_address",
        "unknown_item",
        "unknown_payment_method",
        "unknown_reason",
        "unknown_resource",
        "unknown_variant",
        "version_conflict",
        "wrong_amount",
        "wrong_currency",
        "wrong_status",
    }
)

# When a carrier may be asked again: what the shop says, within bounds, or this where it says nothing of use.
_ASK_AGAIN_MAX_S, _ASK_AGAIN_S = 3_600, 60


class ShopConnector:
    """Speaks to the shop with one key for reads and one for writes."""

    def __init__(
        self, base_url: str, read_key: str, write_key: str, write_timeout_s: float, evidence_max_age_s: int = 60
    ) -> None:
        self.contract = CONTRACT.model_copy(update={"evidence_max_age_s": evidence_max_age_s})
        limits = httpx.Limits(max_connections=50, max_keepalive_connections=20, keepalive_expiry=30)
        self._http = httpx.AsyncClient(base_url=base_url, limits=limits, timeout=5)
        self._write_http = httpx.AsyncClient(
            base_url=base_url,
            limits=httpx.Limits(max_connections=_WRITES_MAX, max_keepalive_connections=20, keepalive_expiry=30),
            timeout=httpx.Timeout(write_timeout_s, connect=_WRITE_CONNECT_S, pool=_WRITE_POOL_S),
        )
        self._read = {"Authorization": f"Bearer {read_key}"}
        self._write = {"Authorization": f"Bearer {write_key}"}

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()
        await self._write_http.aclose()

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        """Return the account as evidence; a customer that the shop does not know has an empty one. Raises Unreachable.

        `observed_at` is the moment before the request left, by our clock: never younger than the facts.
        """
        asked_at = datetime.now(UTC)
        path = _path("tenants", tenant_id, "customers", customer_id, "account")
        found = await self._get(path, timeout_s, absent=_NO_CUSTOMER)
        account = Account() if found is None else _account(found, customer_id)
        return Evidence(
            evidence_id=evidence_id,
            source=SOURCE,
            account=account,
            observed_at=asked_at,
            max_age_s=self.contract.evidence_max_age_s,
        )

    async def look_up(self, tenant_id: str, operation_id: str, timeout_s: float = 5) -> Lookup:
        """Return what the shop knows of an operation. Raises Unreachable."""
        path = _path("tenants", tenant_id, "operations", operation_id)
        found = await self._get(path, timeout_s, absent=_NO_OPERATION)
        if found is None:
            return Lookup(kind=LookupKind.NOT_FOUND)
        if found.get("operation_id") != operation_id:
            raise Unreachable("shop_answered_for_another")
        return _lookup(found)

    async def effects_since(self, tenant_id: str, since: datetime) -> list[dict[str, Any]]:
        """Return every committed effect of a tenant since then, for reconciliation. Raises Unreachable."""
        found = await self._get(_path("tenants", tenant_id, "effects"), 30, params={"since": since.isoformat()})
        effects = None if found is None else found.get("effects")
        if not isinstance(effects, list) or not all(isinstance(e, dict) for e in effects):
            raise Unreachable("shop_answer_not_understood")
        if any(e.get("tenant", tenant_id) != tenant_id for e in effects):
            raise Unreachable("shop_answered_for_another")
        return effects

    async def execute(self, action: Action) -> WriteOutcome:
        """Send one claimed action, once, under its operation id as the key."""
        try:
            path, body = _request(action)
        except Unreachable as fault:  # it was claimed, so only a look-up may say that nothing happened
            return WriteOutcome(kind=OutcomeKind.UNKNOWN, code=fault.code)
        headers = {**self._write, "Idempotency-Key": action.operation_id}
        begun_in_time = {"trace": _no_later_than(time.monotonic() + FIRST_BYTE_MAX_S)}
        try:
            answer = await self._write_http.post(path, json=body, headers=headers, extensions=begun_in_time)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            return WriteOutcome(kind=OutcomeKind.UNKNOWN, code="not_connected")
        except httpx.HTTPError:
            return WriteOutcome(kind=OutcomeKind.UNKNOWN, code="response_lost")
        return _outcome(answer, action.operation_id)

    async def refresh_tracking(self, tenant_id: str, order_id: str, timeout_s: float = 5) -> datetime | None:
        """Let the shop ask the carrier anew; its answer shows in an account that is read later.

        Return None once it is asked, else the time before which the shop does not ask again. Raises Unreachable, also
        where the order has no parcel.
        """
        path = _path("tenants", tenant_id, "orders", order_id, "tracking", "refresh")
        try:
            answer = await self._http.post(path, headers=self._read, timeout=timeout_s)
        except httpx.HTTPError as fault:
            raise Unreachable("shop_unreachable") from fault
        if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
            return datetime.now(UTC) + timedelta(seconds=_wait_s(answer))
        if answer.status_code != httpx.codes.ACCEPTED:
            raise Unreachable(f"shop_{answer.status_code}")
        return None

    async def _get(
        self, path: str, timeout_s: float, absent: str | None = None, params: dict[str, str] | None = None
    ) -> dict[str, Any] | None:
        """Return the JSON object at `path`, None for a 404 whose `error` is `absent`. Raises Unreachable for the rest.

        A proxy, a moved path and a wrong address answer 404 too: that says nothing about what was asked for.
        """
        try:
            answer = await self._http.get(path, headers=self._read, timeout=timeout_s, params=params)
        except httpx.HTTPError as fault:
            raise Unreachable("shop_unreachable") from fault
        found = _object(answer)
        if answer.status_code == httpx.codes.NOT_FOUND and absent and found and found.get("error") == absent:
            return None
        if answer.status_code != httpx.codes.OK:
            raise Unreachable(f"shop_{answer.status_code}")
        if found is None:
            raise Unreachable("shop_answer_not_understood")
        return found


def _path(*segments: str) -> str:
    """Return the path of these segments, each quoted whole. Raises Unreachable where one cannot be a segment.

    INVARIANT 8: no id can reach another path. "." and ".." are refused, since clients, proxies and servers fold them.
    """
    if any(not s.strip(".") or len(s) > _SEGMENT_CHARS_MAX for s in segments):
        raise Unreachable("shop_cannot_be_asked")
    try:
        return "".join("/" + quote(s, safe="") for s in segments)
    except UnicodeEncodeError:
        raise Unreachable("shop_cannot_be_asked") from None


def _no_later_than(deadline_s: float) -> Callable[[str, Any], Awaitable[None]]:
    """Return what keeps a request from leaving after `deadline_s` (monotonic), however long it waited to connect."""

    async def check(event: str, _: Any) -> None:
        if event.endswith("send_request_headers.started") and time.monotonic() > deadline_s:
            raise httpx.ConnectTimeout("too late to be sent")

    return check


def _object(answer: httpx.Response) -> dict[str, Any] | None:
    """Return the JSON object of an answer, None where it holds none."""
    try:
        found = answer.json()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _account(found: dict[str, Any], customer_id: str) -> Account:
    """Return the account in an answer. Raises Unreachable when it is another customer's, or none."""
    customer = found.get("customer")
    if not isinstance(customer, dict) or customer.get("id") != customer_id:
        raise Unreachable("shop_answered_for_another")
    try:
        return Account.model_validate(found)
    except ValidationError:
        raise Unreachable("shop_answer_not_understood") from None  # its message would hold what was in the account


def _lookup(found: dict[str, Any]) -> Lookup:
    """Return what an answer says of its operation. Raises Unreachable where it says nothing that we know."""
    try:
        if found.get("status") == "committed":
            effect = found["effect"]
            return Lookup(
                kind=LookupKind.COMMITTED,
                external_id=effect["id"],
                amount_minor=effect["amount_minor"],
                currency=effect["currency"],
            )
        if found.get("status") == "refused":
            return Lookup(kind=LookupKind.REFUSED, code=str(found.get("error")))
    except (KeyError, TypeError, ValidationError):
        raise Unreachable("shop_answer_not_understood") from None
    raise Unreachable("shop_answer_not_understood")


def _request(action: Action) -> tuple[str, dict[str, Any]]:
    """Return where a write goes and what it says. Raises Unreachable where its ids cannot be in a path.

    The shop takes the catalogue's own fields, so that what it does is what was approved, to the last of them; of a
    payment of an order it takes the payment and its version, of an exchange the difference alone.
    """
    asked = {"operation_id": action.operation_id, "customer_id": action.customer_id}
    common = {**asked, "expected_version": action.payload.resource_version}
    besides = _NOT_THE_SHOPS
    match action.payload:
        case CancelSubscriptionPayload() as cancel:
            return _path("tenants", action.tenant_id, "subscriptions", cancel.subscription_id, "cancel"), common
        case RefundPayload() as refund:
            path = _path("tenants", action.tenant_id, "refunds")
            if refund.payment_id and refund.payment_version is not None:
                besides |= {"order_id", "payment_version"}
                common["expected_version"] = refund.payment_version
        case ExchangeItemsPayload() as exchange:
            path = _path("tenants", action.tenant_id, "changes", exchange.kind.value)
            besides |= {"amount_minor", "currency"}
        case payload:
            path = _path("tenants", action.tenant_id, "changes", payload.kind.value)
    fields = action.payload.model_dump(mode="json", exclude=set(besides), exclude_none=True)
    return path, {**fields, **common}


def _wait_s(answer: httpx.Response) -> int:
    """Return how many seconds to wait before asking again."""
    told = answer.headers.get("Retry-After", "")
    understood = told.isascii() and told.isdigit() and len(told) < 10
    return min(int(told), _ASK_AGAIN_MAX_S) if understood else _ASK_AGAIN_S


def _outcome(answer: httpx.Response, operation_id: str) -> WriteOutcome:
    """Sort an answer. Only a documented refusal is one; "key in use", 429, 5xx and nonsense are unknown."""
    body = _object(answer)
    if body is None:
        return WriteOutcome(kind=OutcomeKind.UNKNOWN, code=f"http_{answer.status_code}")
    if answer.status_code == httpx.codes.CREATED and body.get("operation_id") == operation_id and body.get("id"):
        return WriteOutcome(kind=OutcomeKind.SUCCESS, code="created", external_id=str(body["id"]))
    if 400 <= answer.status_code < 500 and body.get("error") in _REFUSALS:
        return WriteOutcome(kind=OutcomeKind.REFUSAL, code=str(body["error"]))
    return WriteOutcome(kind=OutcomeKind.UNKNOWN, code=f"http_{answer.status_code}")
