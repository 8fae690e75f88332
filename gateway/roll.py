"""The roll: people of the staff looked up together where many are asked about in one moment.

A change rings the streams of everybody at once; one look-up then serves them all, and none is older than its question.
"""

import asyncio
from dataclasses import dataclass, field

from store.admission import StaffStanding, staff_standings
from store.database import Database


@dataclass
class _Call:
    """One look-up to come, of one tenant."""

    ids: set[str] = field(default_factory=set)
    answer: asyncio.Task[dict[str, StaffStanding]] | None = None


class Roll:
    """Looks people of the staff up."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._calls: dict[str, _Call] = {}

    async def standing(self, tenant_id: str, staff_id: str) -> StaffStanding | None:
        """Return how a person stands as of now, or None when the tenant has no such person."""
        call = self._calls.setdefault(tenant_id, _Call())
        call.ids.add(staff_id)
        if call.answer is None:  # it begins when everybody who is awake in this moment has asked
            call.answer = asyncio.create_task(self._answer(tenant_id), name="roll")
        return (await asyncio.shield(call.answer)).get(staff_id)

    async def _answer(self, tenant_id: str) -> dict[str, StaffStanding]:
        call = self._calls.pop(tenant_id)
        return await staff_standings(self._db, tenant_id, sorted(call.ids))
