"""What is called out: one `LISTEN` connection on which every change of every tenant is heard as identifiers.

A notification is a hint and may be missed; whoever hears it reads the log.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from psycopg import AsyncConnection, Notify, OperationalError

from domain.base import Noun
from store.database import Database

CHANNEL = "interlock_events"
LOG, DESK = "log", "desk"  # topics of notifications that name none: an event, and what has no event
PULSE_S = 15.0  # after so long a silence the connection is tried, so that a half-open one shows itself
ANSWER_TIMEOUT_S = 5.0


class Heard(Noun):
    """Something about a conversation has been committed: an event of that seq or, with seq 0, what `topic` says."""

    tenant_id: str
    conversation_id: str
    seq: int
    topic: str = LOG

    @property
    def in_log(self) -> bool:
        """Whether the log has something new."""
        return self.seq > 0


@asynccontextmanager
async def listening(db: Database) -> AsyncIterator[AsyncIterator[Heard]]:
    """Open a connection of its own that listens from now on, and give what it hears, without end.

    Raises ConnectionError or TimeoutError once the connection cannot be had, or is lost.
    """
    url = db.url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        connection = await AsyncConnection.connect(
            url, autocommit=True, connect_timeout=5, application_name="interlock-listener"
        )
        try:
            await connection.execute(f"LISTEN {CHANNEL}".encode())
            yield _heard(connection)
        finally:
            await connection.close()
    except OperationalError as fault:
        raise ConnectionError(type(fault).__name__) from None


async def _heard(connection: AsyncConnection) -> AsyncIterator[Heard]:
    while True:
        async for notice in connection.notifies(timeout=PULSE_S):
            if (one := _parsed(notice)) is not None:
                yield one
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            await connection.execute("SELECT 1")


def _parsed(notice: Notify) -> Heard | None:
    tenant_id, conversation_id, seq, topic, *more = [*notice.payload.split(" "), "", "", ""]
    if not (tenant_id and conversation_id and seq.isdecimal()) or any(more):
        return None
    told = topic or (LOG if int(seq) else DESK)
    return Heard(tenant_id=tenant_id, conversation_id=conversation_id, seq=int(seq), topic=told)


async def ping(db: Database) -> None:
    """Return once Postgres has answered; raises what `faults.passes` knows where it does not."""
    async with db.across_tenants() as tx:
        await tx.execute(sa.text("SELECT 1"))
