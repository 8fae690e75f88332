"""Books every call to a model, also one that was given up, and counts in this process what could not be written yet.

A budget holds while the database is away: what is owed to the books is spent all the same.
"""

import asyncio

import structlog

from domain.model import ModelCall, Spending
from domain.model_task import Occasion
from store.database import Database
from store.faults import passes
from store.model_calls import book_call, spent

log = structlog.get_logger()

BOOKING_S = 2.0  # how long an answer waits for its booking, which goes on after that
OWED_MAX = 1_000  # calls


class CallBook:
    """Holds the database, and the calls that are not in it yet."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._owed: dict[str, tuple[Occasion, ModelCall]] = {}
        self._writing: dict[str, asyncio.Task[None]] = {}

    async def spent(self, occasion: Occasion) -> Spending:
        """Return what this turn and its conversation have taken, written or not. Raises what the store raises."""
        for made_for, call in self._owed_by(occasion):  # booked late is better than never
            await self.book(made_for, call)
            if call.call_id in self._owed:
                break
        spending = await spent(self._db, occasion)
        for made_for, call in self._owed_by(occasion):
            of_turn = spending.turn.plus(call) if made_for.answered_seq == occasion.answered_seq else spending.turn
            spending = Spending(turn=of_turn, conversation=spending.conversation.plus(call))
        return spending

    async def book(self, occasion: Occasion, call: ModelCall) -> None:
        """Write one call, once. A store that is away, and being cancelled meanwhile, lose neither it nor the answer."""
        self._owe(occasion, call)
        writing = self._writing.get(call.call_id)
        if writing is None:
            writing = self._writing[call.call_id] = asyncio.ensure_future(self._write(occasion, call))
            writing.add_done_callback(lambda _: self._writing.pop(call.call_id))
        done, _ = await asyncio.wait({writing}, timeout=BOOKING_S)  # leaves it to itself when this is cancelled
        for written in done:
            written.result()

    async def close(self) -> None:
        """Wait for what is being written."""
        if self._writing:
            await asyncio.wait(list(self._writing.values()), timeout=BOOKING_S)

    def _owe(self, occasion: Occasion, call: ModelCall) -> None:
        self._owed[call.call_id] = (occasion, call)
        if len(self._owed) > OWED_MAX:
            lost = next(iter(self._owed))
            del self._owed[lost]
            log.error("model_call.lost", call_id=lost)

    def _owed_by(self, occasion: Occasion) -> list[tuple[Occasion, ModelCall]]:
        mine = (occasion.tenant_id, occasion.conversation_id)
        return [(o, call) for o, call in self._owed.values() if (o.tenant_id, o.conversation_id) == mine]

    async def _write(self, occasion: Occasion, call: ModelCall) -> None:
        try:
            await book_call(self._db, occasion, call)
        except Exception as fault:
            if not passes(fault):
                self._owed.pop(call.call_id, None)
                raise
            log.error(
                "model_call.unbooked",
                call_id=call.call_id,
                conversation_id=occasion.conversation_id,
                model=call.model,
                owed=len(self._owed),
            )
        else:
            self._owed.pop(call.call_id, None)
