"""Turns beside their floors, interleaved: what a noisy machine does to one, it does to all three.

Alone, one turn of each follows the other; together, conversations run side by side, in short blocks of each kind.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from temporalio.client import Client

from bench.chat import chatting
from bench.customers import Customer
from bench.floor_postgres import postgres_floor
from bench.floor_temporal import Ear, TemporalFloor
from bench.wire import Wire

Advance = Callable[[], None]


class Turner(Protocol):
    """Whatever takes a turn and says how long it took."""

    async def turn_s(self) -> float:
        """Return the seconds of one turn."""
        ...


class Kind(StrEnum):
    """What is measured beside each other."""

    OURS = "interlock"
    TEMPORAL = "temporal_floor"
    POSTGRES = "postgres_floor"


@dataclass
class Samples:
    """Seconds of turns of one kind; `first` of those that began a conversation. `wall_s` is for turns per second."""

    first_s: list[float] = field(default_factory=list)
    later_s: list[float] = field(default_factory=list)
    wall_s: float = 0.0

    @property
    def all_s(self) -> list[float]:
        """Every turn."""
        return self.first_s + self.later_s

    @property
    def per_second(self) -> float:
        """Turns per second."""
        return len(self.all_s) / self.wall_s


@dataclass(frozen=True)
class Doors:
    """What conversations and floors are made of."""

    api: Wire
    customers: Sequence[Customer]
    temporal: tuple[Client, Ear]
    owner_url: str


@dataclass(frozen=True)
class Plan:
    """How many conversations at once, how often, of how many turns; `block`: turns of one kind in a row."""

    at_once: int
    rounds: int
    turns: int
    block: int = 1


async def measure(doors: Doors, plan: Plan, tick: Advance) -> dict[Kind, Samples]:
    """Return samples of each kind."""
    found = {kind: Samples() for kind in Kind}
    for n in range(plan.rounds):
        async with AsyncExitStack() as open_ones:
            sets = [await _set(doors, n * plan.at_once + i, open_ones) for i in range(plan.at_once)]
            for begun in range(0, plan.turns, plan.block):
                for kind in Kind:
                    await _block(found[kind], [one[kind] for one in sets], plan.block, first=begun == 0)
                tick()
    return found


async def _set(doors: Doors, n: int, open_ones: AsyncExitStack) -> dict[Kind, Turner]:
    name = f"bench/{uuid.uuid4()}"
    return {
        Kind.OURS: await open_ones.enter_async_context(chatting(doors.api, doors.customers[n % len(doors.customers)])),
        Kind.TEMPORAL: TemporalFloor(*doors.temporal, name),
        Kind.POSTGRES: await open_ones.enter_async_context(postgres_floor(doors.owner_url, f"{name}/plain")),
    }


async def _block(samples: Samples, turners: Sequence[Turner], turns: int, *, first: bool) -> None:
    began_at = time.perf_counter()
    took_s = await asyncio.gather(*(_in_a_row(one, turns) for one in turners))
    samples.wall_s += time.perf_counter() - began_at
    for row in took_s:
        samples.first_s += row[:1] if first else []
        samples.later_s += row[1:] if first else row


async def _in_a_row(turner: Turner, turns: int) -> list[float]:
    return [await turner.turn_s() for _ in range(turns)]
