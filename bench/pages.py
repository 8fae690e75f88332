"""`python -m bench.pages [--json FILE] [--quick]`: how long the server takes for each page of the staff.

Over 10,000 conversations and 2,000 handoffs that wait; each page beside the smallest one, that of signing in.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import LiteralString

import httpx
import psycopg

from bench.crowding import TENANT, crowd
from bench.figures import Figures, circumstances, percentile_ms, report
from bench.running import Running, running
from bench.wire import BenchFault

CONVERSATIONS, HANDOFFS, TIMES = 10_000, 2_000, 40
QUICK = 10  # a tenth of each
FLOOR = "sign_in"
PAGES = {
    FLOOR: "/console/sign-in",
    "queue": "/console/",
    "queue_filtered": "/console/?language=de&status=waiting",
    "approvals": "/console/approvals",
    "drafts": "/console/drafts",
    "knowledge": "/console/knowledge",
    "policy": "/console/policy",
    "numbers": "/console/numbers",
    "numbers_figures": "/console/numbers/figures",
    "desk": "/console/desk",
}
PIECE = {"HX-Request": "true"}  # a piece of a page, as an open page asks for it when something changes


def main() -> int:
    """Measure and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description="Measure the pages of the staff.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything: a look, not a measurement")
    asked = parser.parse_args()
    part = QUICK if asked.quick else 1
    try:
        with tempfile.TemporaryDirectory(prefix="interlock-bench-", ignore_cleanup_errors=True) as folder:
            found = asyncio.run(_measure(Path(folder), CONVERSATIONS // part, HANDOFFS // part, TIMES // part))
    except (BenchFault, OSError, psycopg.Error, httpx.HTTPError) as fault:
        print(f"bench: could not measure: {str(fault) or type(fault).__name__}", file=sys.stderr)
        return 1
    figures = circumstances() | found
    report(figures, asked.json)
    return 0


async def _measure(folder: Path, conversations: int, handoffs: int, times: int) -> Figures:
    async with running(folder / "data") as stack:
        await asyncio.to_thread(crowd, stack.owner_url, conversations, handoffs)
        figures: Figures = {"conversations": conversations, "handoffs_waiting": handoffs}
        async with httpx.AsyncClient(base_url=stack.api_url, timeout=60) as http:
            http.cookies.set("interlock_session", await _signed_in(stack, http))
            pages = PAGES | await _single(stack)
            samples: dict[str, list[float]] = {name: [] for name in pages}
            for _ in range(times):  # in turns, so that a slow moment of the machine meets all of them
                for name, path in pages.items():
                    began = time.perf_counter()
                    (await http.get(path, headers=PIECE if name.endswith("_piece") else {})).raise_for_status()
                    samples[name].append(time.perf_counter() - began)
    floor = percentile_ms(samples[FLOOR], 0.5)
    for name, taken in samples.items():
        figures[f"{name}_p50_ms"] = percentile_ms(taken, 0.5)
        figures[f"{name}_p95_ms"] = percentile_ms(taken, 0.95)
        figures[f"{name}_p50_over_{FLOOR}"] = round(percentile_ms(taken, 0.5) / floor, 2)
    return figures


async def _signed_in(stack: Running, http: httpx.AsyncClient) -> str:
    while (
        begun := await http.post("/sessions/dev", json={"tenant": TENANT, "kind": "staff", "id": "manager-1"})
    ).is_error:
        if begun.status_code != httpx.codes.SERVICE_UNAVAILABLE:
            raise BenchFault(f"nobody can sign in: {begun.text[:200]}")
        await asyncio.sleep(1)  # the demo is being filled
    return str(begun.json()["token"])


async def _single(stack: Running) -> dict[str, str]:
    """The pages of one conversation whose handoff waits, and of one approval that waits."""
    conversation = "/console/conversations/" + await _one(
        stack, "SELECT conversation_id FROM handoffs WHERE id LIKE 'handoff-%' LIMIT 1"
    )
    approval = "/console/approvals/" + await _one(
        stack,
        "SELECT operation_id FROM actions WHERE state = 'awaiting_approval' AND tenant_id = 'acme-market' LIMIT 1",
    )
    return {
        "conversation": conversation,
        "conversation_log_piece": f"{conversation}/log",
        "conversation_facts_piece": f"{conversation}/facts",
        "approval": approval,
        "approval_piece": approval,
        "queue_list_piece": PAGES["queue"],
    }


async def _one(stack: Running, query: LiteralString) -> str:
    async with await psycopg.AsyncConnection.connect(stack.owner_url) as owner:
        row = await (await owner.execute(query)).fetchone()
    if row is None:
        raise BenchFault("there is no handoff, or no approval, to look at")
    return str(row[0])


if __name__ == "__main__":
    sys.exit(main())
