"""What a webhook is told of a fact, in the shape of `docs/webhooks.md`.

Pure; the words are those of the log, and the same at every try.
"""

import json
from typing import Any, assert_never

from domain.conversation import EventKind
from domain.webhook_kinds import WebhookType
from store.delivery_facts import Fact

_CUSTOMER_TEXT = {EventKind.PROPOSAL.value: "summary"}  # where the words for the customer are not called `text`


def told(fact: Fact) -> str:
    """Return the message's JSON: `type`, `timestamp` and `data`."""
    data: dict[str, Any] = {
        "conversation_id": fact.conversation_id,
        "channel": fact.channel,
        "ticket_id": fact.ticket_id,
        "principal": fact.principal,
        "seq": fact.seq,
        "kind": fact.kind,
        "actor": fact.actor,
        **_of_type(fact),
    }
    whole = {"type": fact.type.value, "timestamp": fact.at.isoformat(), "tenant": fact.tenant_id, "data": data}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)


def _of_type(fact: Fact) -> dict[str, Any]:
    body = fact.body
    match fact.type:
        case WebhookType.REPLY:
            names = ("citations", "notice", "operation_id", "payload_digest")
            automated = bool(body.get("automated", not fact.actor.startswith("staff:")))
            return {"text": body[_CUSTOMER_TEXT.get(fact.kind, "text")], "automated": automated} | _of(body, *names)
        case WebhookType.HANDOFF:
            return _of(body, "handoff_id", "queue_status", "reason")
        case WebhookType.ACTION if fact.kind == EventKind.PROPOSAL:
            asked = _of(body, "operation_id", "payload_digest", "required_approvals", "expires_at")
            return asked | {"action_kind": body["kind"], "state": "awaiting_approval"}
        case WebhookType.ACTION:
            return _of(body, "operation_id", "state", "cause", "external_id")
        case WebhookType.TAG:
            return _of(body, "tag", "source")
        case _:
            assert_never(fact.type)


def _of(body: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: body[name] for name in names if name in body}
