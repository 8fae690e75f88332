"""What a backtest is set up from: bundles as they are named become what each tenant's decisions are judged under.

Reads bundles; the decisions are read later.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from auditing.bundles import Candidate, NoBundle, candidate, counts_now, sources_of
from auditing.judging import Terms, Trial
from auditing.sources import Sources
from policy.decision import Use
from policy.examining.backtest import thresholds_in
from store.database import Database


class SetUp(NamedTuple):
    """The terms of a backtest, and what its bundles are called; `against` is None for what came of the decisions."""

    terms: Terms
    under: str
    against: str | None


async def set_up(
    db: Database, tenants: Sequence[str], bundle: str, against: str | None, use: Use | None, examples_max: int
) -> SetUp:
    """Return the set-up for the tenants for whom the bundles count. Raises NoBundle or BundleInvalid."""
    under = await candidate(db, tenants, bundle)
    other = None if against is None else await candidate(db, tenants, against)
    trials = _trials(under, other)
    if not trials:
        raise NoBundle(f"there is no tenant for whom {bundle}{f' and {against}' if against else ''} could count")
    known = [source for trial in trials.values() for source in trial if source is not None]
    # The thresholds of today tell apart the amounts that were decided in different ways.
    known += [sources_of(now) for tenant in trials if (now := await counts_now(db, tenant)) is not None]
    thresholds = thresholds_in(source.bundle() for source in _distinct(known))
    return SetUp(Terms(trials, thresholds, use, examples_max), under.title, other.title if other else None)


def _trials(under: Candidate, other: Candidate | None) -> dict[str, Trial]:
    if other is None:
        return {tenant: Trial(sources) for tenant, sources in under.by_tenant.items()}
    both = (tenant for tenant in under.by_tenant if tenant in other.by_tenant)
    return {tenant: Trial(under.by_tenant[tenant], other.by_tenant[tenant]) for tenant in both}


def _distinct(sources: Iterable[Sources]) -> list[Sources]:
    found: list[Sources] = []
    for source in sources:
        if source not in found:
            found.append(source)
    return found
