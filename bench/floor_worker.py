"""The second floor's worker process: one workflow, one activity, the SDK options of the real worker.

Started by the bench as `python -m bench.floor_worker ADDRESS NAMESPACE`, with the database's URL on standard input.
"""

import asyncio
import sys
from datetime import timedelta

from psycopg_pool import AsyncConnectionPool
from temporalio import activity
from temporalio.worker import Worker

from bench.floor_workflow import ACTIVITY, CHANNEL, TASK_QUEUE, FloorSignal, FloorWorkflow
from relay.temporal import TemporalAddress, connect
from workflows.runner import workflow_runner

READY = "ready"
_WRITE = f"""
WITH written AS (
    INSERT INTO bench.log (row_id, seq, body) VALUES (%s, %s, jsonb_build_object('text', %s::text))
    ON CONFLICT DO NOTHING
)
SELECT pg_notify('{CHANNEL}', %s)
"""  # noqa: S608  a constant


class Writing:
    """Holds the pool."""

    def __init__(self, pool: AsyncConnectionPool) -> None:
        self._pool = pool

    @activity.defn(name=ACTIVITY)
    async def write(self, signal: FloorSignal) -> None:
        """Write one row and call it out, in one transaction."""
        async with self._pool.connection() as connection:
            called = f"{signal.row_id} {signal.seq}"
            await connection.execute(_WRITE, [signal.row_id, signal.seq, "x" * 200, called])


async def serve(address: str, namespace: str, url: str) -> None:
    """Serve until the bench ends this process."""
    client = await connect(TemporalAddress(address, namespace), lazy=False)
    async with AsyncConnectionPool(url, min_size=10, max_size=20, kwargs={"autocommit": True}) as pool:
        worker = Worker(
            client,
            task_queue=TASK_QUEUE,
            workflows=[FloorWorkflow],
            activities=[Writing(pool).write],
            workflow_runner=workflow_runner("bench"),
            max_cached_workflows=2_000,
            max_concurrent_activities=50,
            max_concurrent_local_activities=50,
            max_concurrent_workflow_tasks=50,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=3),
        )
        async with worker:
            print(READY, flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], sys.stdin.readline().strip()))
