"""The order of a run: start, warm up, one at a time, many at once, a thousand conversations, a thousand turns, replay.

Everything that is compared is measured in the same run, on the same servers.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from bench.chat import chatting
from bench.customers import Customer, customers_of
from bench.figures import Figures, circumstances, history_figures, latency_figures, memory_figures, processor_figures
from bench.floor_postgres import prepare
from bench.floor_temporal import temporal_floor
from bench.histories import chain_of, per_turn, replay
from bench.latency import Doors, Kind, Plan, Samples, measure
from bench.memory import processor_s, resident
from bench.running import Running, running
from bench.wire import Wire
from relay.temporal import TemporalAddress, connect

TURNS_FOR_A_HISTORY = 20
AT_ONCE_WHEN_MANY = 20

Tick = Callable[[], None]


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    warm_up: Plan
    alone: Plan
    together: Plan
    conversations: int
    long_turns: int


FULL = Sizes(Plan(4, 3, 3), Plan(1, 60, 4), Plan(30, 3, 8, block=4), conversations=1_000, long_turns=1_000)
QUICK = Sizes(Plan(4, 2, 3), Plan(1, 20, 4), Plan(30, 1, 8, block=4), conversations=100, long_turns=100)


class Bars:
    """The progress of a run: bars on a terminal, one line a step elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal)

    def begin(self, what: str, steps: int) -> Tick:
        """Say what begins, and return what tells that one step is done."""
        if not self._console.is_terminal:
            self._console.print(f"bench: {what}")
        task: TaskID = self.progress.add_task(what, total=steps)
        return lambda: self.progress.advance(task)


async def measure_all(sizes: Sizes, folder: Path, console: Console) -> Figures:
    """Return every figure. Raises BenchFault where one could not be had."""
    bars = Bars(console)
    with bars.progress:
        done = bars.begin("start the stack", 1)
        async with running(folder / "data") as stack:
            done()
            await prepare(stack.owner_url)
            api = Wire(stack.api_url)
            customers = await customers_of(Wire(stack.shop_url), stack.data_dir)
            latency = await _latency(sizes, stack, api, customers, bars)
            return circumstances() | latency | await _at_length(sizes, stack, api, customers, bars)


async def _latency(sizes: Sizes, stack: Running, api: Wire, customers: Sequence[Customer], bars: Bars) -> Figures:
    async with temporal_floor(stack) as temporal:
        doors = Doors(api, customers, temporal, stack.owner_url)

        async def run(what: str, plan: Plan) -> dict[Kind, Samples]:
            return await measure(doors, plan, bars.begin(what, plan.rounds * plan.turns // plan.block))

        await run("warm up", sizes.warm_up)
        alone = await run("one conversation", sizes.alone)
        together = await run(f"{sizes.together.at_once} conversations", sizes.together)
    return latency_figures(alone, together, sizes.together.at_once)


async def _at_length(sizes: Sizes, stack: Running, api: Wire, customers: Sequence[Customer], bars: Bars) -> Figures:
    """Many conversations and one long one at the same time: here nothing is timed but the replay."""
    client = await connect(TemporalAddress(stack.temporal_address, stack.temporal_namespace), lazy=False)
    tick_many = bars.begin(f"{sizes.conversations} conversations", sizes.conversations)
    tick_long = bars.begin(f"{sizes.long_turns} turns in one", sizes.long_turns)
    before_s = processor_s(stack.pids)
    long_id, _ = await asyncio.gather(
        _one(api, customers[0], sizes.long_turns, tick_long), _many(api, customers, sizes.conversations, tick_many)
    )
    used = processor_figures(before_s, processor_s(stack.pids), sizes.conversations + sizes.long_turns)
    memory = resident(stack.pids)
    short_id = await _one(api, customers[0], TURNS_FOR_A_HISTORY, lambda: None)
    turn = per_turn((await chain_of(client, short_id))[-1])
    done = bars.begin("replay", 1)
    replayed = await replay(await chain_of(client, long_id))
    done()
    return history_figures(turn, replayed, sizes.long_turns) | used | memory_figures(memory, sizes.conversations)


async def _one(api: Wire, customer: Customer, turns: int, tick: Tick) -> str:
    """Have one conversation of so many turns and return its id."""
    async with chatting(api, customer) as chat:
        for _ in range(turns):
            await chat.turn_s()
            tick()
        return chat.id


async def _many(api: Wire, customers: Sequence[Customer], count: int, tick: Tick) -> None:
    """Have so many conversations of one turn, some at once."""
    left = iter(range(count))

    async def some() -> None:
        for n in left:
            await _one(api, customers[n % len(customers)], 1, tick)

    await asyncio.gather(*(some() for _ in range(AT_ONCE_WHEN_MANY)))
