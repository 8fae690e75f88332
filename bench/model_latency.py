"""`python -m bench.model_latency [--json FILE] [--quick]`: how long customers wait, by how long a model takes.

The whole product with every check on: in the local setting, then asking a scripted model that answers 0, 300 and
1,500 ms late; and what a conversation then costs, by the price book in force.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psycopg
from rich.console import Console

from bench.figures import Figures, circumstances, percentile_ms, show
from bench.matters import Asker, Matter, askers, world_of
from bench.memory import resident
from bench.model_costs import cost_figures
from bench.running import Running, running
from bench.scripted import scripted_model
from bench.timed import Timed, timed_chat
from bench.wire import BenchFault, Wire

LATENCIES_MS = (0, 300, 1_500)
AT_ONCE = 2
SAMPLES, SAMPLES_QUICK = 20, 4
WARM_UP = 3
OPENAI = {"INTERLOCK_MODEL": "openai", "INTERLOCK_MODEL_API_KEY": "none-is-needed"}

Pools = Mapping[Matter, Iterator[Asker]]


def main() -> int:
    """Measure and return the exit status: 0 measured, 1 it could not be, 130 stopped."""
    parser = argparse.ArgumentParser(prog="python -m bench.model_latency", description="Measure waiting for models.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--quick", action="store_true", help="a fifth of everything: a look, not a measurement")
    asked = parser.parse_args()
    console = Console()
    try:
        with tempfile.TemporaryDirectory(prefix="interlock-bench-", ignore_cleanup_errors=True) as folder:
            figures = asyncio.run(measure(Path(folder), SAMPLES_QUICK if asked.quick else SAMPLES, console))
    except (BenchFault, OSError, EOFError, psycopg.Error) as fault:
        print(f"bench: could not measure: {str(fault) or type(fault).__name__}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: stopped", file=sys.stderr)
        return 130
    show(figures, console)
    if asked.json is not None:
        asked.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


async def measure(folder: Path, samples: int, console: Console) -> Figures:
    """Return every figure. Raises BenchFault where one could not be had."""
    figures = circumstances() | {"samples": samples, "at_once": AT_ONCE}
    console.print("bench: local")
    async with running(folder / "local") as stack:
        figures |= await _setting("local", stack, await _pools(stack), samples)
        figures |= {"local_worker_rss_mib": round(resident(stack.pids)["worker"].rss_mib, 1)}
    with scripted_model(folder) as model:
        told = {**OPENAI, "INTERLOCK_MODEL_BASE_URL": model.base_url}
        async with running(folder / "openai", told) as stack:
            pools = await _pools(stack)
            for latency_ms in LATENCIES_MS:
                console.print(f"bench: a model that takes {latency_ms} ms")
                await model.take_ms(latency_ms)
                figures |= await _setting(f"model_{latency_ms}", stack, pools, samples)
    return figures


async def _pools(stack: Running) -> Pools:
    """Everybody who may ask; nobody's order is asked about twice in one stack, but for reading."""
    world = await world_of(stack.shop_url)
    return {matter: _again_and_again(list(askers(world, stack.data_dir, matter)), matter) for matter in Matter}


def _again_and_again(found: Sequence[Asker], matter: Matter) -> Iterator[Asker]:
    yield from found
    while matter is not Matter.ACTION:
        yield from found


async def _setting(name: str, stack: Running, pools: Pools, samples: int) -> Figures:
    """Return the figures of one setting; what came to a person is counted, and its waiting with it."""
    api, figures = Wire(stack.api_url), Figures()
    conversations: dict[str, list[str]] = {}
    await _matter(api, pools[Matter.KNOWLEDGE], WARM_UP)
    for matter in Matter:
        had = await _matter(api, pools[matter], samples)
        conversations[matter.value] = [one.conversation_id for one in had]
        figures |= _figures(f"{name}_{matter}", had)
    return figures | cost_figures(name, stack.owner_url, conversations)


class Had:
    """One conversation that was had, and how long everything in it took."""

    def __init__(self, conversation_id: str, timed: Timed, outcome_s: float | None) -> None:
        self.conversation_id, self.timed, self.outcome_s = conversation_id, timed, outcome_s


async def _matter(api: Wire, pool: Iterator[Asker], samples: int) -> list[Had]:
    left = itertools.islice(pool, samples)

    async def some() -> list[Had]:
        return [await _have(api, asker) for asker in left]

    rows = await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return [one for row in rows for one in row]


async def _have(api: Wire, asker: Asker) -> Had:
    async with timed_chat(api, asker.token) as chat:
        timed = await chat.say(asker.text)
        outcome_s = None
        if timed.answer["kind"] == "proposal":
            outcome_s = await chat.approve(timed.answer["operation_id"], timed.answer["payload_digest"])
        return Had(chat.id, timed, outcome_s)


def _figures(name: str, had: Sequence[Had]) -> Figures:
    if not had:
        raise BenchFault(f"nobody was left to ask: {name}")
    waits_s = {
        "first_sign": [one.timed.sign_s for one in had],
        "first_content": [one.timed.content_s for one in had],
        "answer": [one.timed.answer_s for one in had],
        "outcome": [one.outcome_s for one in had if one.outcome_s is not None],
    }
    figures: Figures = {f"{name}_to_a_person": sum(one.timed.answer["kind"] == "owner_changed" for one in had)}
    for what, samples_s in waits_s.items():
        if samples_s:
            figures[f"{name}_{what}_p50_ms"] = percentile_ms(samples_s, 0.5)
            figures[f"{name}_{what}_p95_ms"] = percentile_ms(samples_s, 0.95)
    return figures


if __name__ == "__main__":
    sys.exit(main())
