"""The connector of the demo shop: account reads, refunds, cancellations, look-ups by operation id.

Whatever is not a definite success or a definite refusal is unknown (design §5).
"""

from datetime import UTC, datetime
from typing import Any

import httpx

from domain.account import Account, Evidence
from domain.action import Action, CancelSubscriptionPayload, RefundPayload
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

# Definite refusals that the shop documents as kept under the key; every other 4xx proves nothing.
_REFUSALS = frozenset(
    {
        "unknown_resource",
        "version_conflict",
        "not_refundable",
        "wrong_currency",
        "exceeds_captured",
        "already_cancelled",
        "declined",
        "too_late",
    }
)


class ShopConnector:
    """Speaks to the shop with one key for reads and one for writes."""

    def __init__(
        self, base_url: str, read_key: str, write_key: str, write_timeout_s: float, evidence_max_age_s: int = 60
    ) -> None:
        self.contract = CONTRACT.model_copy(update={"evidence_max_age_s": evidence_max_age_s})
        limits = httpx.Limits(max_connections=50, max_keepalive_connections=20, keepalive_expiry=30)
        self._http = httpx.AsyncClient(base_url=base_url, limits=limits, timeout=5)
        self._read = {"Authorization": f"Bearer {read_key}"}
        self._write = {"Authorization": f"Bearer {write_key}"}
        self._write_timeout = httpx.Timeout(write_timeout_s, connect=3)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def read_account(self, tenant_id: str, customer_id: str, evidence_id: str, timeout_s: float) -> Evidence:
        """Return the account as evidence; a customer that the shop does not know has an empty one. Raises Unreachable.

        `observed_at` is the moment before the request left, by our clock: never younger than the facts.
        """
        asked_at = datetime.now(UTC)
        found = await self._get(f"/tenants/{tenant_id}/customers/{customer_id}/account", timeout_s)
        account = Account() if found is None else Account.model_validate(found)
        return Evidence(
            evidence_id=evidence_id,
            source=SOURCE,
            account=account,
            observed_at=asked_at,
            max_age_s=self.contract.evidence_max_age_s,
        )

    async def look_up(self, tenant_id: str, operation_id: str, timeout_s: float = 5) -> Lookup:
        """Return what the shop knows of an operation. Raises Unreachable."""
        found = await self._get(f"/tenants/{tenant_id}/operations/{operation_id}", timeout_s)
        if found is None:
            return Lookup(kind=LookupKind.NOT_FOUND)
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
        raise Unreachable("shop_answer_not_understood")

    async def effects_since(self, tenant_id: str, since: datetime) -> list[dict[str, Any]]:
        """Return every committed effect of a tenant since then, for reconciliation. Raises Unreachable."""
        found = await self._get(f"/tenants/{tenant_id}/effects", 30, {"since": since.isoformat()})
        return list(found["effects"]) if found else []

    async def execute(self, action: Action) -> WriteOutcome:
        """Send one claimed action, once, under its operation id as the key."""
        path, body = _request(action)
        headers = {**self._write, "Idempotency-Key": action.operation_id}
        try:
            answer = await self._http.post(path, json=body, headers=headers, timeout=self._write_timeout)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            return WriteOutcome(kind=OutcomeKind.UNKNOWN, code="not_connected")
        except httpx.HTTPError:
            return WriteOutcome(kind=OutcomeKind.UNKNOWN, code="response_lost")
        return _outcome(answer, action.operation_id)

    async def _get(self, path: str, timeout_s: float, params: dict[str, str] | None = None) -> dict[str, Any] | None:
        """Return the JSON object at `path`, None for a 404. Raises Unreachable for anything else."""
        try:
            answer = await self._http.get(path, headers=self._read, timeout=timeout_s, params=params)
            if answer.status_code == httpx.codes.NOT_FOUND:
                return None
            if answer.status_code != httpx.codes.OK:
                raise Unreachable(f"shop_{answer.status_code}")
            found = answer.json()
        except httpx.HTTPError as fault:
            raise Unreachable("shop_unreachable") from fault
        except ValueError as fault:
            raise Unreachable("shop_answer_not_understood") from fault
        if not isinstance(found, dict):
            raise Unreachable("shop_answer_not_understood")
        return found


def _request(action: Action) -> tuple[str, dict[str, Any]]:
    common = {
        "operation_id": action.operation_id,
        "customer_id": action.customer_id,
        "expected_version": action.payload.resource_version,
    }
    match action.payload:
        case RefundPayload() as refund:
            money = {"amount_minor": refund.amount_minor, "currency": refund.currency}
            what = {"order_id": refund.order_id, "payment_id": refund.payment_id}
            return f"/tenants/{action.tenant_id}/refunds", {**common, **what, **money}
        case CancelSubscriptionPayload() as cancel:
            return f"/tenants/{action.tenant_id}/subscriptions/{cancel.subscription_id}/cancel", common


def _outcome(answer: httpx.Response, operation_id: str) -> WriteOutcome:
    """Sort an answer. Only a documented refusal is one; "key in use", 429, 5xx and nonsense are unknown."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return WriteOutcome(kind=OutcomeKind.UNKNOWN, code=f"http_{answer.status_code}")
    if answer.status_code == httpx.codes.CREATED and body.get("operation_id") == operation_id and body.get("id"):
        return WriteOutcome(kind=OutcomeKind.SUCCESS, code="created", external_id=str(body["id"]))
    if 400 <= answer.status_code < 500 and body.get("error") in _REFUSALS:
        return WriteOutcome(kind=OutcomeKind.REFUSAL, code=str(body["error"]))
    return WriteOutcome(kind=OutcomeKind.UNKNOWN, code=f"http_{answer.status_code}")
