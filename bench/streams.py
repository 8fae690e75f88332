"""`python -m bench.streams [--json FILE] [--quick]`: 500 event streams on one api: its memory, and how soon they hear.

Half of them are the staff's, which hear of everything, half those of customers, one a conversation. Messages come one
a second, and the assistant answers each.
"""

import argparse
import asyncio
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from bench.customers import TOKEN_TTL_S, Customer, customers_of
from bench.figures import Figures, circumstances, percentile_ms, report
from bench.memory import processor_s, resident
from bench.running import Running, running
from bench.wire import BenchFault, Json, Wire
from stack import keys
from stack.layout import DataDir

STREAMS, MESSAGES, QUICK = 500, 40, 10
STAFF = ("agent-1", "manager-1", "finance-1", "admin-1")
TENANT_OF_STAFF = "acme-market"
PAUSE_S, PATIENCE_S = 1.0, 20.0

Heard = Callable[[str, int], None]  # of which conversation, through which seq


class Ears:
    """When each stream that should hear of a message has heard of it."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[str, int, float]] = {}

    def hears(self, ear: int) -> Heard:
        """Return what a stream calls for each event that it is told."""

        def heard(conversation_id: str, seq: int) -> None:
            self._told[ear] = conversation_id, seq, time.perf_counter()

        return heard

    async def all_of(self, ears: Sequence[int], conversation_id: str, seq: int) -> list[float]:
        """Return when each of `ears` first heard of that event. Raises BenchFault where one does not."""
        heard_at: dict[int, float] = {}
        deadline = time.perf_counter() + PATIENCE_S
        while len(heard_at) < len(ears):
            if time.perf_counter() > deadline:
                raise BenchFault(f"{len(ears) - len(heard_at)} of {len(ears)} streams did not hear of a message")
            for ear in ears:
                told = self._told.get(ear)
                if ear not in heard_at and told is not None and told[0] == conversation_id and told[1] >= seq:
                    heard_at[ear] = told[2]
            await asyncio.sleep(0.01)  # each has its time from when it was told
        return [heard_at[ear] for ear in ears]


def main() -> int:
    """Measure and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.streams", description="Measure event streams.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything: a look, not a measurement")
    asked = parser.parse_args()
    part = QUICK if asked.quick else 1
    try:
        with tempfile.TemporaryDirectory(prefix="interlock-bench-", ignore_cleanup_errors=True) as folder:
            found = asyncio.run(_measure(Path(folder), STREAMS // part, MESSAGES // part))
    except (BenchFault, OSError, EOFError) as fault:
        print(f"bench: could not measure: {str(fault) or type(fault).__name__}", file=sys.stderr)
        return 1
    figures = circumstances() | found
    report(figures, asked.json)
    return 0


async def _measure(folder: Path, streams: int, messages: int) -> Figures:
    async with running(folder / "data") as stack, AsyncExitStack() as open_ones:
        api, ears, half = Wire(stack.api_url), Ears(), streams // 2
        everybody = await customers_of(Wire(stack.shop_url), stack.data_dir)
        tenants = await _tenant_of(stack)
        mine = [one for one in everybody if one.id in tenants]
        before = resident({"api": stack.pids["api"]})["api"]
        for n in range(half):
            token = keys.mint(DataDir.at(stack.data_dir), "staff", TENANT_OF_STAFF, STAFF[n % len(STAFF)], TOKEN_TTL_S)
            follow = api.events("/events/staff", token)
            _listen(open_ones, await open_ones.enter_async_context(follow), _of_staff(ears.hears(n)))
        talks = [await _begun(open_ones, api, ears, half + n, mine[n % len(mine)]) for n in range(streams - half)]
        await asyncio.sleep(PAUSE_S)
        opened = resident({"api": stack.pids["api"]})["api"]
        used_s = processor_s({"api": stack.pids["api"]})["api"]
        staff_s, customer_s = await _spoken(api, ears, half, talks[:messages])
        used_s = processor_s({"api": stack.pids["api"]})["api"] - used_s
        after = resident({"api": stack.pids["api"]})["api"]
        await api.close()
    return {
        "streams": streams,
        "api_before_rss_mib": round(before.rss_mib, 1),
        "api_open_rss_mib": round(opened.rss_mib, 1),
        "api_after_messages_rss_mib": round(after.rss_mib, 1),
        "api_processor_ms_per_message": round(1_000 * used_s / messages, 1),
        "staff_heard": len(staff_s),
        "staff_heard_p50_ms": percentile_ms(staff_s, 0.5),
        "staff_heard_p95_ms": percentile_ms(staff_s, 0.95),
        "customer_heard_p50_ms": percentile_ms(customer_s, 0.5),
        "customer_heard_p95_ms": percentile_ms(customer_s, 0.95),
    }


Talk = tuple[int, str, Customer]  # ear, conversation, whose


async def _begun(open_ones: AsyncExitStack, api: Wire, ears: Ears, ear: int, customer: Customer) -> Talk:
    begun = await api.ask("POST", "/conversations", customer.token, {})
    follow = api.events(f"/conversations/{begun['id']}/events", customer.token)
    heard = ears.hears(ear)
    _listen(open_ones, await open_ones.enter_async_context(follow), lambda event: heard(begun["id"], int(event["seq"])))
    return ear, str(begun["id"]), customer


async def _spoken(api: Wire, ears: Ears, staff: int, talks: Sequence[Talk]) -> tuple[list[float], list[float]]:
    """Have one customer after the other write; return how long the staff, and the customer, took to hear of it.

    From before the message is sent, so that accepting and committing it are in every figure.
    """
    staff_s: list[float] = []
    customer_s: list[float] = []
    for ear, conversation_id, customer in talks:
        began_at = time.perf_counter()
        listening = asyncio.create_task(ears.all_of([*range(staff), ear], conversation_id, 1))
        body = {"client_message_id": str(uuid.uuid4()), "text": customer.question}
        await api.ask("POST", f"/conversations/{conversation_id}/messages", customer.token, body)
        *by_staff, own = await listening
        staff_s += [at - began_at for at in by_staff]
        customer_s.append(own - began_at)
        await asyncio.sleep(PAUSE_S)
    return staff_s, customer_s


def _of_staff(heard: Heard) -> Callable[[Json], None]:
    def told(change: Json) -> None:
        if change["conversation_id"] is not None:
            heard(change["conversation_id"], int(change["seq"]))

    return told


def _listen(open_ones: AsyncExitStack, events: AsyncIterator[Json], told: Callable[[Json], None]) -> None:
    async def listen() -> None:
        async for event in events:
            told(event)

    task = asyncio.create_task(listen())
    open_ones.callback(task.cancel)


async def _tenant_of(stack: Running) -> set[str]:
    """The customers of the tenant whose staff listens."""
    world = await Wire(stack.shop_url).ask("GET", "/_world")
    return {c["id"] for tenant in world["tenants"] if tenant["id"] == TENANT_OF_STAFF for c in tenant["customers"]}


if __name__ == "__main__":
    sys.exit(main())
