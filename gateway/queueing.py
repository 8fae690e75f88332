"""A page of the queue: what of a board was asked for, and the figures beside it.

Pure but for the reading of what its rows show besides.
"""

import base64
import binascii
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from operator import attrgetter

from pydantic import TypeAdapter

from domain.handoff import QueueStatus
from domain.principal import VerifiedPrincipal
from domain.waiting import Person, Place, Placed, Waiting, WaitingKind
from gateway.boards import Board, Boards
from gateway.queue_shapes import Counts, Hours, Queue, QueueFilters, QueueItem, Taken
from gateway.refusals import InvalidRequest
from policy.desk.estimate import WINDOW_S, estimate_s
from policy.desk.placing import fits, in_order
from store.database import Database
from store.queue_details import Detail, details, tagged

_PLACE: TypeAdapter[Place] = TypeAdapter(Place)
_PLAIN = ("kind", "status", "reason", "language", "skill", "urgency")  # filters that name what they are compared with

Condition = Callable[[Waiting], bool]


async def page_of(db: Database, boards: Boards, staff: VerifiedPrincipal, wanted: QueueFilters, now: datetime) -> Queue:
    """Return the page that was asked for. Raises InvalidRequest for a cursor that is none."""
    after = _place(wanted.cursor) if wanted.cursor else None
    board = await boards.of(staff)
    with_tag = await tagged(db, staff.tenant_id, wanted.tag) if wanted.tag else None
    person, conditions = board.person(staff.id), list(_conditions(wanted, with_tag, staff.id))
    in_turn = in_order(board.order, person if wanted.mine_first else None)
    found = (
        (place, one)
        for place, one in in_turn
        if (after is None or place > after) and all(holds(one.waiting) for holds in conditions)
    )
    page = list(islice(found, wanted.limit + 1))
    more, page = len(page) > wanted.limit, page[: wanted.limit]
    beside = await details(db, staff.tenant_id, [w for _, one in page if (w := one.waiting.conversation_id)])
    stand = board.calendar.stand(now)
    return Queue(
        items=[_item(one, beside, board, person, now, is_open=stand.open) for _, one in page],
        next_cursor=_cursor(page[-1][0]) if more else None,
        counts=_counts(board.order, now),
        throughput=_taken(board),
        hours=Hours(**stand.model_dump(), timezone=board.document.timezone),
    )


def _conditions(wanted: QueueFilters, with_tag: frozenset[str] | None, staff_id: str) -> Iterator[Condition]:
    """Give what has to hold of each: only what was asked for."""
    asleep = wanted.snoozed
    yield lambda w: (w.snoozed_until is not None) is asleep
    for name in _PLAIN:
        if (value := getattr(wanted, name)) is not None:
            yield _is(attrgetter(name), value)
    if with_tag is not None:
        yield lambda w: w.conversation_id in with_tag
    match wanted.assignee:
        case None:
            return
        case "none":
            yield lambda w: w.assignee is None
        case named:
            whose = staff_id if named == "me" else named
            yield lambda w: w.belongs_to(whose)


def _is(part: Callable[[Waiting], object], value: object) -> Condition:
    return lambda w: part(w) == value


def _item(
    one: Placed, beside: dict[str, Detail], board: Board, person: Person, now: datetime, *, is_open: bool
) -> QueueItem:
    w, detail = one.waiting, beside.get(one.waiting.conversation_id or "", Detail())
    position = board.places.get(w.id) if w.kind is WaitingKind.HANDOFF else None
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
        fits=fits(w, person),
        tags=detail.tags,
        owner=w.owner,
        holder=w.holder,
        in_flight=detail.in_flight,
        claim=w.claim,
        due=one.due(now),
        snoozed_until=w.snoozed_until,
        position=position,
        estimate_s=estimate_s(position - 1, board.measured, is_open=is_open) if position else None,
        channel=w.channel,
        customer_id=w.customer_id,
        last_message_at=detail.last_message_at,
    )


def _counts(everything: Iterable[Placed], now: datetime) -> Counts:
    awake = [p for p in everything if p.waiting.snoozed_until is None]
    waiting = [p.waiting for p in awake]
    status = Counter(w.status for w in waiting)
    return Counts(
        waiting=status[QueueStatus.WAITING],
        claimed=status[QueueStatus.CLAIMED],
        urgent=sum(p.place[0] == 0 for p in awake),
        overdue=sum(p.target is not None and now >= p.target[0] for p in awake),
        by_language=dict(Counter(w.language for w in waiting if w.language).most_common()),
        by_reason=dict(Counter(w.reason for w in waiting).most_common()),
    )


def _taken(board: Board) -> Taken:
    measured = board.measured
    return Taken(
        done_last_hour=measured.done_last_hour, median_wait_s=measured.median_wait_s, n=measured.n, window_s=WINDOW_S
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
