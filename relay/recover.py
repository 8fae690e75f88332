"""Rebuilds all open work from Postgres after Temporal's store was lost or set back (design §3).

Every conversation that is not closed and every unsettled action gets its workflow again; running ones are woken.
"""

from collections.abc import Callable

from domain.base import Noun
from relay.relay import AT_ONCE, BATCH, at_most, tried
from relay.temporal import Waker
from store.database import Database
from store.outbox import live_conversations, open_actions


class Recovered(Noun):
    """How many workflows were started or woken, and how many could not be reached."""

    conversations: int
    actions: int
    failed: int


async def recover(db: Database, waker: Waker, progress: Callable[[int], None]) -> Recovered:
    """Start or wake everything open; `progress` is told how many are done. Safe to run again, and beside a worker."""
    conversations = actions = failed = 0
    after = ""
    while page := await live_conversations(db, after, BATCH):
        done = await at_most(AT_ONCE, lambda w: tried(waker.wake, w), page)
        conversations, failed = conversations + sum(done), failed + done.count(False)
        after = page[-1].conversation_id
        progress(len(page))
    after = ""
    while page := await open_actions(db, after, BATCH, older_than_s=0):
        done = await at_most(AT_ONCE, lambda w: tried(waker.wake, w), page)
        actions, failed = actions + sum(done), failed + done.count(False)
        after = str(page[-1].operation_id)
        progress(len(page))
    return Recovered(conversations=conversations, actions=actions, failed=failed)
