"""A page of the queue: everything that is open, filtered and placed by policy, and the figures beside it.

Pure but for the reading at its end; the store reads, policy places, and this puts the two together.
"""

import base64
import binascii
import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from domain.handoff import QueueStatus
from domain.opening import calendar_of
from domain.principal import VerifiedPrincipal
from domain.waiting import Placed, Waiting, WaitingKind
from gateway.queue_shapes import Counts, Hours, Queue, QueueFilters, QueueItem, Taken
from gateway.refusals import InvalidRequest
from policy.desk.estimate import WINDOW_S, Throughput, estimate_s, throughput
from policy.desk.placing import Place, line, place_of, placed
from store import queue
from store.database import Database
from store.queue import Detail, Look

_PLACE: TypeAdapter[Place] = TypeAdapter(Place)


async def page_of(db: Database, staff: VerifiedPrincipal, wanted: QueueFilters, now: datetime) -> Queue:
    """Return the page that was asked for. Raises InvalidRequest for a cursor that is none."""
    after = _place(wanted.cursor) if wanted.cursor else None
    look = await queue.look(db, staff, now, now - timedelta(seconds=WINDOW_S), wanted.tag)
    document = look.desk.document
    everything = placed(look.waiting, document, look.person, now, for_person=wanted.mine_first)
    found = [p for p in everything if matches(p.waiting, wanted, look.tagged, staff.id)]
    rest = [p for p in found if after is None or place_of(p, for_person=wanted.mine_first) > after]
    page = rest[: wanted.limit]
    details = await queue.details(db, staff.tenant_id, [w for p in page if (w := p.waiting.conversation_id)])
    calendar = calendar_of(document)
    stand, measured = calendar.stand(now), throughput(look.waits_s, look.done_last_hour, calendar, now)
    places = line(everything)
    last = place_of(page[-1], for_person=wanted.mine_first) if len(rest) > len(page) else None
    return Queue(
        items=[_item(p, details, places, measured, now, is_open=stand.open) for p in page],
        next_cursor=_cursor(last) if last else None,
        counts=_counts(everything),
        throughput=_taken(look, measured),
        hours=Hours(**stand.model_dump(), timezone=document.timezone),
    )


def matches(waiting: Waiting, wanted: QueueFilters, tagged: frozenset[str] | None, staff_id: str) -> bool:
    """Return whether every condition holds of it."""
    return (
        wanted.kind in (None, waiting.kind)
        and wanted.status in (None, waiting.status)
        and wanted.reason in (None, waiting.reason)
        and wanted.language in (None, waiting.language)
        and wanted.skill in (None, waiting.skill)
        and wanted.urgency in (None, waiting.urgency)
        and wanted.snoozed is (waiting.snoozed_until is not None)
        and (tagged is None or waiting.conversation_id in tagged)
        and _assigned(waiting, wanted.assignee, staff_id)
    )


def _assigned(waiting: Waiting, to: str | None, staff_id: str) -> bool:
    match to:
        case None:
            return True
        case "none":
            return waiting.assignee is None
        case "me":
            return waiting.belongs_to(staff_id)
        case _:
            return waiting.belongs_to(to)


def _item(
    one: Placed,
    details: dict[str, Detail],
    places: dict[str, int],
    measured: Throughput,
    now: datetime,
    *,
    is_open: bool,
) -> QueueItem:
    w, detail = one.waiting, details.get(one.waiting.conversation_id or "", Detail())
    position = places.get(w.id) if w.kind is WaitingKind.HANDOFF else None
    return QueueItem(
        item=w.kind,
        handoff_id=w.id if w.kind is WaitingKind.HANDOFF else None,
        case_id=w.id if w.kind is WaitingKind.CASE else None,
        draft_id=w.id if w.kind is WaitingKind.DRAFT else None,
        conversation_id=w.conversation_id,
        operation_id=w.operation_id,
        reason=w.reason,
        goal=w.goal,
        queue_status=w.status,
        assignee=w.assignee,
        language=w.language,
        opened_at=w.opened_at,
        waited_s=max(0, int((now - w.opened_at).total_seconds())),
        urgency=w.urgency,
        urgency_why=w.urgency_why,
        skill=w.skill,
        fits=one.fits,
        tags=detail.tags,
        owner=w.owner,
        holder=w.holder,
        in_flight=detail.in_flight,
        claim=w.claim,
        due=one.due,
        snoozed_until=w.snoozed_until,
        position=position,
        estimate_s=estimate_s(position - 1, measured, is_open=is_open) if position else None,
        channel=w.channel,
        customer_id=w.customer_id,
        last_message_at=detail.last_message_at,
    )


def _counts(everything: Iterable[Placed]) -> Counts:
    awake = [p for p in everything if p.waiting.snoozed_until is None]
    waiting = [p.waiting for p in awake]
    return Counts(
        waiting=sum(w.status is QueueStatus.WAITING for w in waiting),
        claimed=sum(w.status is QueueStatus.CLAIMED for w in waiting),
        urgent=sum(w.urgency.rank == 0 for w in waiting),
        overdue=sum(p.due is not None and p.due.overdue for p in awake),
        by_language=dict(Counter(w.language for w in waiting if w.language).most_common()),
        by_reason=dict(Counter(w.reason for w in waiting).most_common()),
    )


def _taken(look: Look, measured: Throughput) -> Taken:
    return Taken(
        done_last_hour=look.done_last_hour, median_wait_s=measured.median_wait_s, n=measured.n, window_s=WINDOW_S
    )


def _cursor(place: Place) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _place(cursor: str) -> Place:
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return _PLACE.validate_json(raw, strict=False)
    except (ValueError, binascii.Error):
        message = "this is no cursor of the queue"
        raise InvalidRequest(
            f"query.cursor: {message}", errors=[{"field": "query.cursor", "message": message}]
        ) from None
