"""Events as they go over the wire: flat, and without the names of staff where a customer reads them.

What an event says and the fields that every event has share one level; a name that both use is spelled out.
"""

import json
from collections.abc import Iterable
from typing import Any

from domain.conversation import Event, EventKind
from domain.principal import VerifiedPrincipal

_ENVELOPE = frozenset({"seq", "kind", "actor", "at", "event_id"})
# Why a person was called is between the assistant and the staff ("suspicious" is no word for a customer), and so is who
# has looked at an answer, and what they changed: that somebody has is the customer's to know.
_FOR_STAFF = {
    EventKind.HANDOFF: frozenset({"reason"}),
    EventKind.BOT_REPLY: frozenset({"reviewed_by", "draft_id", "edited"}),
}
_SPELLED_OUT = {(EventKind.PROPOSAL, "kind"): "action_kind"}


def actor_for(principal: VerifiedPrincipal, actor: str) -> str:
    """Return `actor` as `principal` may see it: to customers, staff are `staff`."""
    if principal.is_staff or not actor.startswith("staff:"):
        return actor
    return "staff"


def flat(event: Event, principal: VerifiedPrincipal) -> dict[str, Any]:
    """Return an event as `principal` sees it, ready for JSON."""
    unsaid = frozenset() if principal.is_staff else _FOR_STAFF.get(event.kind, frozenset())
    body = {_name(event.kind, name): value for name, value in event.body.items() if name not in unsaid}
    return {
        "seq": event.seq,
        "kind": event.kind.value,
        "actor": actor_for(principal, event.actor),
        "at": event.at.isoformat(),
        "event_id": event.event_id,
        **body,
    }


def _name(kind: EventKind, name: str) -> str:
    return _SPELLED_OUT.get((kind, name), f"{kind.value}_{name}") if name in _ENVELOPE else name


def to_json(content: Any) -> bytes:
    """Return compact JSON in UTF-8."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def sse(events: Iterable[Event], principal: VerifiedPrincipal) -> list[bytes]:
    """Return server-sent events; only the last one of a seq carries its id, so that none is lost in between."""
    listed = list(events)
    frames = []
    for n, event in enumerate(listed):
        last = n + 1 == len(listed) or listed[n + 1].seq != event.seq
        ident = b"id: %d\n" % event.seq if last else b""
        frames.append(
            ident + b"event: " + event.kind.value.encode() + b"\ndata: " + to_json(flat(event, principal)) + b"\n\n"
        )
    return frames
