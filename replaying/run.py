"""`interlock replay`: fetch or read, replay, add what Postgres knows, show."""

from pathlib import Path

from relay.temporal import address_of, connect
from replaying import ledger, rendering
from replaying.chains import Chain, ReplayFault, fetch, read, save
from replaying.determinism import replay
from replaying.story import Entry, in_order, started_with, tell
from settings import Settings
from store.database import Database


async def examine(
    ident: str, told: Settings | None, run_id: str | None = None, keep: Path | None = None
) -> rendering.Report:
    """Return the report on a conversation, an operation, a workflow id, or a saved file. Raises ReplayFault."""
    chain = await _chain(ident, told, run_id)
    if keep is not None:
        save(chain, keep)
    replayed = await replay(chain.runs)
    kept, missing = await _kept(chain, told)
    return rendering.Report(
        workflow_id=chain.workflow_id,
        runs=tuple(replayed),
        story=tuple(in_order(tell(chain.runs), kept)),
        missing=missing,
    )


async def _chain(ident: str, told: Settings | None, run_id: str | None) -> Chain:
    if ident.endswith(".json"):
        return read(Path(ident))
    if told is None:
        raise ReplayFault("No stack is given: name its --data-dir, or set INTERLOCK_DATABASE_URL and the rest.")
    return await fetch(await connect(address_of(told)), ident, run_id)


async def _kept(chain: Chain, told: Settings | None) -> tuple[list[Entry], str | None]:
    """What Postgres adds, or why it adds nothing: a history replays without it."""
    start = started_with(chain.runs[0])
    if told is None or not {"tenant_id", "conversation_id"} <= start.keys():
        return [], "told from the history alone: no database is given"
    db = Database(told.database_url, 2)
    try:
        return await ledger.tell(db, start["tenant_id"], start["conversation_id"], start.get("operation_id")), None
    except ReplayFault as fault:
        return [], f"told from the history alone: {fault}"
    finally:
        await db.close()
