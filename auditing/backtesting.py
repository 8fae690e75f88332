"""A backtest over the database: verdicts are read in order, judged in parallel, and counted in order again.

However early it is stopped, what is counted is a whole beginning of each tenant's record.
"""

import asyncio
import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from auditing.judging import Judging, Terms, begun, judge, prepare
from auditing.setup import SetUp
from domain.audit import VerdictRow
from policy.examining.tally import Tally
from store.database import Database
from store.record import verdict_pages, verdicts_on_record

CHUNK_ROWS = 1_000
JOBS_MAX = 16
FEW = 3_000  # decisions that are judged sooner than another process starts


@dataclass
class Run:
    """How far a backtest has come: what is counted, and up to which number of each tenant's record."""

    tally: Tally
    set_up: SetUp | None = None
    through: dict[str, int] = field(default_factory=dict)
    finished: bool = False


@dataclass(frozen=True)
class Span:
    """Which verdicts: those after number `after` of each tenant, written since then; read so many at a time."""

    after: int = 0
    since: datetime | None = None
    chunk_rows: int = CHUNK_ROWS


async def backtest(
    db: Database, terms: Terms, span: Span, jobs: int, run: Run, progress: Callable[[int], None]
) -> None:
    """Judge what is on record again, counting into `run`; `progress` is told how many more were judged."""
    waiting: deque[tuple[str, int, int, asyncio.Future[Tally]]] = deque()

    async def count(down_to: int) -> None:
        while len(waiting) > down_to:
            tenant, last, rows, judged = waiting.popleft()
            run.tally.add(await judged)
            run.through[tenant] = last
            progress(rows)

    with _judges(terms, jobs) as submit:
        async for tenant, chunk in _chunks(db, terms, span):
            waiting.append((tenant, chunk[-1].n, len(chunk), submit(tenant, chunk)))
            await count(down_to=2 * jobs)
        await count(down_to=0)
    run.finished = True


async def on_record(db: Database, terms: Terms, span: Span) -> int:
    """Return how many verdicts there are to judge."""
    return sum([await verdicts_on_record(db, tenant, span.after, span.since) for tenant in terms.trials])


def jobs_for(decisions: int, asked: int | None) -> int:
    """Return how many processes are worth starting."""
    if asked is not None:
        return max(1, min(asked, JOBS_MAX))
    return 1 if decisions <= FEW else min(os.cpu_count() or 1, JOBS_MAX)


async def _chunks(db: Database, terms: Terms, span: Span) -> AsyncIterator[tuple[str, list[VerdictRow]]]:
    for tenant in terms.trials:
        async for page in verdict_pages(db, tenant, span.after, span.since, span.chunk_rows):
            yield tenant, page


Submit = Callable[[str, list[VerdictRow]], "asyncio.Future[Tally]"]


@contextmanager
def _judges(terms: Terms, jobs: int) -> Iterator[Submit]:
    """Give what hands a chunk to a free judge: a thread of this process, or processes of their own."""
    loop = asyncio.get_running_loop()
    if jobs == 1:
        with ThreadPoolExecutor(1) as thread:
            judging = Judging(terms).tally
            yield lambda tenant, chunk: loop.run_in_executor(thread, judging, tenant, chunk)
        return
    with TemporaryDirectory(prefix="interlock-backtest-") as folder:
        # By a file: more than a pipe holds would keep us waiting until each process has come up.
        told = Path(folder) / "terms"
        told.write_bytes(pickle.dumps(terms))
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), prepare, (str(told),))
        try:
            with _deaf_to_interrupts():
                for _ in range(jobs):  # each starts a process
                    pool.submit(begun)
            yield lambda tenant, chunk: loop.run_in_executor(pool, judge, tenant, chunk)
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that start meanwhile are born deaf to Ctrl-C: one that died of it half-started would be waited for."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
