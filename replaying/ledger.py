"""What Postgres adds to a story: events of the log, verdicts with their rules, calls to models, moves of the ledger.

Never the words of anybody: what is told of an event is its kind, its author and the labels in it.
"""

from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from domain.conversation import Event, EventKind
from domain.model import ModelCall
from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.refusal import NotFound
from replaying.chains import ReplayFault
from replaying.story import Entry, Where
from store.approvals import view_action
from store.database import Database
from store.events import events_after
from store.ledger import actions_of
from store.model_calls import calls_of

_LABELS = (
    "operation_id", "state", "cause", "decision", "role", "owner", "owner_epoch", "queue_status", "reason", "notice",
    "intent", "route", "step", "question", "resource", "kind", "required", "rule_ids", "evidence_id", "author",
    "failed", "answers_through",
)  # fmt: skip


async def tell(db: Database, tenant_id: str, conversation_id: str, operation_id: str | None = None) -> list[Entry]:
    """Return a conversation's log, ledger and calls, or what of it is about one operation. Raises ReplayFault."""
    # Whoever may run this holds the database's password, which opens more than what is told here.
    reader = VerifiedPrincipal(tenant_id=tenant_id, kind=PrincipalKind.STAFF, id="replay", role=StaffRole.ADMIN)
    try:
        events = await _events(db, reader, conversation_id)
        async with db.transaction(tenant_id) as tx:
            ids = [a.operation_id for a in await actions_of(tx, conversation_id)]
        calls = await calls_of(db, tenant_id, conversation_id) if operation_id is None else []
        moves = [entry for i in ids if operation_id in (None, i) for entry in await _moves(db, reader, i)]
    except NotFound as gone:
        raise ReplayFault(f"The database has no conversation {conversation_id}.") from gone
    except (SQLAlchemyError, OSError) as fault:
        raise ReplayFault(f"The database cannot be read: {type(fault).__name__}.") from fault
    told = [e for e in events if operation_id is None or e.body.get("operation_id") == operation_id]
    return [*(_entry(e) for e in told), *map(_call, calls), *moves]


async def _events(db: Database, reader: VerifiedPrincipal, conversation_id: str) -> list[Event]:
    found: list[Event] = []
    while True:
        page = await events_after(db, reader, conversation_id, found[-1].seq if found else 0)
        found += page.events
        if not page.events or found[-1].seq >= page.version:
            return found


def _entry(event: Event) -> Entry:
    labels = [f"{name} {_plain(event.body[name])}" for name in _LABELS if event.body.get(name) not in (None, [], "")]
    author = "" if event.kind is EventKind.ACTION_STATE else f" by {event.actor}"
    return Entry(at=event.at, where=Where.LOG, what=f"{event.seq} {event.kind.value}{author}", detail=", ".join(labels))


def _call(call: ModelCall) -> Entry:
    """One call to a model, at the time at which it was begun."""
    ended = f"{call.outcome.value} {call.label}".rstrip()
    took = f"{call.duration_ms} ms, {call.input_tokens} + {call.output_tokens} tokens"
    cost = f"{call.cost_micros / 1_000_000:.6f} {call.currency}"
    detail = f"{ended}, {call.model} with {call.prompt}, {took}, {cost}"
    return Entry(at=call.at, where=Where.MODEL, what=f"{call.route.value} asked to {call.role.value}", detail=detail)


async def _moves(db: Database, reader: VerifiedPrincipal, operation_id: str) -> list[Entry]:
    view = await view_action(db, reader, operation_id)
    return [
        Entry(
            at=move["at"],
            where=Where.LEDGER,
            what=f"{move['from_state'] or 'new'} → {move['to_state']}",
            detail=f"{move['cause']}, by {move['actor']}, {view.action.kind.value} {operation_id}",
        )
        for move in view.history
    ]


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
