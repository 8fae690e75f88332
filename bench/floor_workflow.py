"""The second floor's workflow: takes a signal, runs one local activity, waits for the next.

Nothing less is still a durable turn on Temporal.
"""

from datetime import timedelta

from pydantic import BaseModel
from temporalio import workflow

WORKFLOW, SIGNAL, ACTIVITY, TASK_QUEUE, CHANNEL = "BenchFloor", "wake", "write", "bench-floor", "bench_floor"


class FloorSignal(BaseModel):
    """As small as a signal of the real workflow."""

    seq: int
    row_id: str


@workflow.defn(name=WORKFLOW)
class FloorWorkflow:
    """One write for each signal, in order."""

    def __init__(self) -> None:
        self._inbox: list[FloorSignal] = []

    @workflow.signal(name=SIGNAL)
    def wake(self, signal: FloorSignal) -> None:
        """Append."""
        self._inbox.append(signal)

    @workflow.run
    async def run(self) -> None:
        """Write for ever."""
        while True:
            await workflow.wait_condition(lambda: bool(self._inbox))
            await workflow.execute_local_activity(
                ACTIVITY, self._inbox.pop(0), start_to_close_timeout=timedelta(seconds=5)
            )
