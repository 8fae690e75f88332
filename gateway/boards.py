"""Boards: everything that waits in one tenant, read and put in order once for all who look in the same moment.

A board is never older than a second, nor than what was heard to change, nor than what its reader changed here.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from domain.desk import DeskSettings
from domain.opening import Calendar, calendar_of
from domain.principal import VerifiedPrincipal
from domain.waiting import Person, Placed
from gateway.hub import Hub
from policy.desk.estimate import WINDOW_S, Throughput, throughput
from policy.desk.placing import Known, line, placed
from store.queue import Look

AGE_MAX_S = 1.0
PAUSE_TIMES, PAUSE_MAX_S = 4, 0.25  # after a board, as many times what making it took: so many changes cost no more
KEPT_S = 60.0  # a board that nobody looked at for so long is forgotten

Read = Callable[[str, datetime, datetime], Awaitable[Look]]  # of a tenant, at a moment, with what was taken since one


@dataclass(frozen=True)
class Board:
    """All that waits in one tenant at one moment, in order. INVARIANT 8: it is shown to staff of that tenant alone."""

    tenant_id: str
    began_at: float  # on the clock of its boards, before anything was read
    made_at: float
    look: Look
    order: list[Placed]
    now: datetime

    @property
    def next_at(self) -> float:
        """When the next one may be begun."""
        return self.made_at + min(PAUSE_MAX_S, PAUSE_TIMES * (self.made_at - self.began_at))

    @property
    def document(self) -> DeskSettings:
        """What it is sorted by."""
        return self.look.desk.document

    @cached_property
    def calendar(self) -> Calendar:
        """The desk's open hours."""
        return calendar_of(self.document)

    @cached_property
    def measured(self) -> Throughput:
        """What people took lately."""
        return throughput(self.look.waits_s, self.look.done_last_hour, self.calendar, self.now)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place, from 1, of each handoff that nobody has, by its id."""
        return line(self.order)

    def person(self, staff_id: str) -> Person:
        """Return what somebody of the staff can do."""
        return self.look.able.get(staff_id, Person(id=staff_id))


class Boards:
    """The last board of each tenant, and who has to see a newer one."""

    def __init__(
        self,
        read: Read,
        hub: Hub,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._hub, self._now, self._clock = read, hub, now, clock
        self._kept: dict[str, Board] = {}
        self._making: dict[str, asyncio.Task[None]] = {}
        self._changed_at: dict[tuple[str, str], float] = {}

    def changed_by(self, principal: VerifiedPrincipal) -> None:
        """Note that `principal` may have changed something: they see no board any more that was begun before."""
        now = self._clock()
        self._changed_at = {who: at for who, at in self._changed_at.items() if now - at < AGE_MAX_S}
        self._changed_at[principal.tenant_id, principal.key] = now

    async def of(self, staff: VerifiedPrincipal) -> Board:
        """Return the board of the tenant that `staff` belongs to, begun now or, where it still holds, a moment ago."""
        tenant_id, asked_at = staff.tenant_id, self._clock()
        while True:
            board = self._kept.get(tenant_id)
            if board is not None and (board.began_at >= asked_at or self._holds(board, staff)):
                return board
            making = self._making.get(tenant_id)
            if making is None:
                making = asyncio.create_task(self._make(tenant_id, board), name="board")
                self._making[tenant_id] = making
            await asyncio.shield(making)

    def _holds(self, board: Board, staff: VerifiedPrincipal) -> bool:
        mine_at = self._changed_at.get((staff.tenant_id, staff.key), -math.inf)
        changed_at = max(mine_at, self._hub.heard_at(board.tenant_id))
        return self._hub.listening and changed_at < board.began_at and self._clock() - board.began_at < AGE_MAX_S

    async def _make(self, tenant_id: str, last: Board | None) -> None:
        try:
            if last is not None and (pause_s := last.next_at - self._clock()) > 0:
                await asyncio.sleep(pause_s)
            board = await self._made(tenant_id, last)
            self._kept = {t: b for t, b in self._kept.items() if board.began_at - b.began_at < KEPT_S}
            self._kept[tenant_id] = board
        finally:
            del self._making[tenant_id]

    async def _made(self, tenant_id: str, last: Board | None) -> Board:
        began_at, now = self._clock(), self._now()
        found = await self._read(tenant_id, now, now - timedelta(seconds=WINDOW_S))
        known: Known = {}
        if last is not None and last.look.desk == found.desk:
            known = {one.waiting: one for one in last.order}
        order = placed(found.waiting, found.desk.document, known)
        return Board(tenant_id, began_at, self._clock(), found, order, now)
