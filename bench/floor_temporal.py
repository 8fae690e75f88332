"""The second floor: signal-with-start, one local activity with one write, the write heard through LISTEN/NOTIFY.

Its worker is a process of its own, as ours is.
"""

import asyncio
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from temporalio.client import Client

from bench.floor_workflow import CHANNEL, SIGNAL, TASK_QUEUE, WORKFLOW, FloorSignal
from bench.running import Running
from bench.wire import BenchFault
from relay.temporal import TemporalAddress, connect

START_S, PATIENCE_S = 60.0, 30.0


class TemporalFloor:
    """One workflow of the floor."""

    def __init__(self, client: Client, ear: "Ear", row_id: str) -> None:
        self._client, self._ear, self._row_id, self._seq = client, ear, row_id, 0

    async def turn_s(self) -> float:
        """Signal, hear the write, and return the seconds between the two. Raises BenchFault."""
        self._seq += 1
        heard = self._ear.expect(f"{self._row_id} {self._seq}")
        began_at = time.perf_counter()
        await self._client.start_workflow(
            WORKFLOW,
            id=self._row_id,
            task_queue=TASK_QUEUE,
            start_signal=SIGNAL,
            start_signal_args=[FloorSignal(seq=self._seq, row_id=self._row_id)],
        )
        try:
            return await asyncio.wait_for(heard, PATIENCE_S) - began_at
        except TimeoutError:
            raise BenchFault(f"the floor's workflow wrote nothing within {PATIENCE_S:g} s") from None


class Ear:
    """Hears every write of the floor, with its time."""

    def __init__(self) -> None:
        self._expected: dict[str, asyncio.Future[float]] = {}

    def expect(self, name: str) -> asyncio.Future[float]:
        """Return the moment at which `name` will have been heard."""
        return self._expected.setdefault(name, asyncio.get_running_loop().create_future())

    async def listen(self, connection: psycopg.AsyncConnection) -> None:
        """Listen until cancelled."""
        async for notice in connection.notifies():
            if (heard := self._expected.pop(notice.payload, None)) is not None:
                heard.set_result(time.perf_counter())


@asynccontextmanager
async def temporal_floor(stack: Running) -> AsyncIterator[tuple[Client, Ear]]:
    """Start the floor's worker and listen; give what a `TemporalFloor` is made of. Raises BenchFault."""
    client = await connect(TemporalAddress(stack.temporal_address, stack.temporal_namespace), lazy=False)
    ear = Ear()
    async with _worker(stack), await psycopg.AsyncConnection.connect(stack.owner_url, autocommit=True) as connection:
        await connection.execute(f"LISTEN {CHANNEL}".encode())
        listening = asyncio.create_task(ear.listen(connection))
        try:
            yield client, ear
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


@asynccontextmanager
async def _worker(stack: Running) -> AsyncIterator[None]:
    words = ("-m", "bench.floor_worker", stack.temporal_address, stack.temporal_namespace)
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{stack.owner_url}\n".encode())
        async with asyncio.timeout(START_S):
            if not await process.stdout.readline():
                raise BenchFault("the floor's worker did not come up")
        yield
    except TimeoutError:
        raise BenchFault("the floor's worker did not come up in time") from None
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
