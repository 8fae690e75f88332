"""`python -m bench.backtest [--decisions N] [--json FILE]`: how fast recorded decisions are judged again and verified.

Measured over a database of its own, beside plain judging of the same decisions in the same run.
"""

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path

import psycopg

from auditing.backtesting import Run, Span, backtest
from auditing.judging import Terms
from auditing.setup import set_up
from auditing.verifying import verify_tenant
from bench.decisions import record
from bench.figures import Figures, circumstances, report
from bench.scratch import Urls, scratch_database
from bench.wire import BenchFault
from policy.bundle import BASE, Bundle
from policy.examining.tally import Tally
from store.database import Database
from store.policies import NewBundle, put_base

TENANT, SEED = "bench", 1
TENANT_SQL = "INSERT INTO tenants (id, name, kind) VALUES (%s, %s, 'marketplace')"
PUBLICATION_SQL = (
    "INSERT INTO policy_publications (tenant_id, n, digest, cause, effective_from, published_by)"
    " VALUES (%s, 1, %s, 'seeded', '2020-01-01', 'bench')"
)


def main() -> int:
    """Measure and return the exit status: 0 measured, 1 it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.backtest", description="Measure backtests.")
    parser.add_argument("--decisions", type=int, default=100_000, metavar="N", help="decisions on record")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    asked = parser.parse_args()
    try:
        with scratch_database() as urls:
            figures = circumstances() | asyncio.run(_measure(urls, asked.decisions))
    except (BenchFault, psycopg.Error, OSError) as fault:
        print(f"bench: could not measure: {fault}", file=sys.stderr)
        return 1
    report(figures, asked.json)
    return 0


async def _measure(urls: Urls, decisions: int) -> Figures:
    """Return every figure: rates are of one second, on all cores where the name says so."""
    cores = os.cpu_count() or 1
    await _prepare(urls)
    db = Database(urls.app, 4)
    try:
        made = await record(db, TENANT, decisions, SEED)
        terms = (await set_up(db, [TENANT], str(BASE), None, None, 3)).terms
        alone_s, together_s = await _backtest_s(db, terms, 1), await _backtest_s(db, terms, cores)
        began_at = time.perf_counter()
        whole = await verify_tenant(db, TENANT, {}, lambda _: None)
        verified_s = time.perf_counter() - began_at
    finally:
        await db.close()
    if whole.faults_n:
        raise BenchFault("the audit that was written is not whole")
    return {
        "decisions": decisions,
        "rules": len(Bundle.load().rules),
        "recorded_per_s": round(decisions / made.writing_s),
        "judged_per_s": round(decisions / made.judging_s),
        "backtest_1_process_s": round(alone_s, 1),
        "backtest_1_process_per_s": round(decisions / alone_s),
        f"backtest_{cores}_processes_s": round(together_s, 1),
        f"backtest_{cores}_processes_per_s": round(decisions / together_s),
        "backtest_1_process_over_judging": round(alone_s / made.judging_s, 2),
        f"backtest_{cores}_processes_over_judging": round(together_s / made.judging_s, 2),
        "verified_rows_per_s": round(whole.rows / verified_s),
    }


async def _backtest_s(db: Database, terms: Terms, jobs: int) -> float:
    run, began_at = Run(Tally(terms.examples_max)), time.perf_counter()
    await backtest(db, terms, Span(), jobs, run, lambda _: None)
    if run.tally.flipped or run.tally.unjudged:
        raise BenchFault("decisions come out otherwise under the bundle that they were decided under")
    return time.perf_counter() - began_at


async def _prepare(urls: Urls) -> None:
    """One tenant under the base bundle."""
    base, owner = Bundle.load(), Database(urls.owner, 1)
    kept = NewBundle(
        digest=base.digest,
        bundle_id=base.manifest.id,
        version=base.manifest.version,
        manifest=base.manifest.model_dump(mode="json"),
        files=dict(base.files),
    )
    await put_base(owner, kept)
    await owner.close()
    async with await psycopg.AsyncConnection.connect(urls.owner, autocommit=True) as connection:
        await connection.execute(TENANT_SQL, [TENANT, TENANT])
        await connection.execute(PUBLICATION_SQL, [TENANT, base.digest])


if __name__ == "__main__":
    sys.exit(main())
